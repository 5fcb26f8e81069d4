"""The results of a run and what they are compared with, as rows of the page's table."""

from __future__ import annotations

from typing import Any

import numpy as np

from agssl.base.errors import SettingsError
from agssl.data.graph import Graph
from agssl.data.splits import check_split
from agssl.fitting.summary import MEASURES, spread
from agssl.metrics import evaluate, softmax
from agssl.report.compare import paired_interval, pairs, results_of, seed_results
from agssl.store.fitted import FittedModel, judged
from agssl.store.run import Run


def result_rows(run: Run, graph: Graph, part: str, baseline: Run | None) -> list[dict[str, Any]]:
    """One row per model: the baseline, the teachers, and the model itself, each over its seeds."""
    rows = []
    if baseline is not None:
        if baseline.settings.method != "gcn":
            raise SettingsError(
                f"the baseline {baseline.path} is of method {baseline.settings.method}; give a run of method gcn, "
                "and use `agssl compare` for others"
            )
        if baseline.source.fingerprint != run.source.fingerprint:
            raise SettingsError(f"the baseline {baseline.path} is not of the same graph; fit GCN on {run.source.given}")
        rows.append(
            _row(
                baseline.settings.encoder.upper(),
                "baseline",
                [_measured(baseline, seed, part) for seed in baseline.seeds],
            )
        )
    names = run.fitted().task_names if run.settings.method == "agssl" else ()
    taught = [_teachers(run, seed, graph, part) for seed in run.seeds] if names else []
    for name in names:  # another seed may have other teachers
        rows.append(_row(name, "teacher", [one[name] for one in taught if name in one]))
    own = own_name(run.fitted()) if names else run.settings.method
    return [*rows, _row(own, "model", [_measured(run, seed, part) for seed in run.seeds])]


def own_name(fitted: FittedModel) -> str:
    """What to call the model that answers, among teachers."""
    return "student" if fitted.student_logits is None else "teachers together"


def _row(name: str, role: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    keys = dict.fromkeys(key for one in found for key in one)
    return {"name": name, "role": role, **{key: spread([one.get(key) for one in found]) for key in keys}}


def _measured(run: Run, seed: int, part: str) -> dict[str, Any]:
    found = run.seed_metrics(seed)
    _ = seed_results(run, seed)  # complains if damaged
    return {name: (found[part] or {}).get(name) for name in MEASURES} | {"val_accuracy": found["val"]["accuracy"]}


def _teachers(run: Run, seed: int, graph: Graph, part: str) -> dict[str, dict[str, Any]]:
    """The measures of each teacher of a seed; accuracies as the run has them, the others from its logits."""
    fitted = run.fitted(seed)
    said, rows = judged(fitted, check_split(run.split(seed), graph.y), part), {}
    for k, noted in enumerate(run.seed_metrics(seed)["teachers"]):
        measured = evaluate(graph.y[said.nodes], softmax(said.teachers[k]))
        measured["accuracy"] = noted[f"{part}_accuracy"]
        rows[fitted.task_names[k]] = measured | {"val_accuracy": noted["val_accuracy"], "weight": noted["weight"]}
    return rows


def gain_over(baseline: Run, run: Run, part: str) -> dict[str, Any]:
    """By how much the run is more accurate than the baseline, pair by pair where that can be.

    Pairs are seeds with the same splits; of a single one, its nodes.
    """
    measure = f"{part}_accuracy"
    seeds, why = pairs(baseline, run)
    if not seeds:
        one, two = (results_of(r)[measure]["mean"] for r in (baseline, run))
        mean = None if one is None or two is None else two - one
        return {"mean": mean, "low": None, "high": None, "seeds": [], "over": "", "note": why}
    both = [(seed_results(baseline, seed)[measure], seed_results(run, seed)[measure]) for seed in seeds]
    known = np.array([b - a for a, b in both if a is not None and b is not None])
    if len(known) == 1:  # seeds can't say how sure that is, but nodes can
        return {
            **paired_interval(_node_gains(baseline, run, seeds[0], part)),
            "seeds": seeds,
            "over": "nodes",
            "note": "",
        }
    found = paired_interval(known) if len(known) else {"mean": None, "low": None, "high": None}
    return {**found, "seeds": seeds, "over": "seeds", "note": ""}


def _node_gains(baseline: Run, run: Run, seed: int, part: str) -> np.ndarray:
    """Of each node that measures a seed: 1 where only the run is right, -1 where only the baseline is, else 0."""
    graph, right = run.graph(seed), []
    assert graph.split is not None
    for one in (baseline, run):
        fitted = one.fitted(seed)
        said = judged(fitted, graph.split, part)
        known = graph.y[said.nodes] >= 0
        right.append(fitted.decide(said.probabilities[known]) == graph.y[said.nodes[known]])
    return right[1].astype(float) - right[0]
