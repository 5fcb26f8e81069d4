"""From a run directory to the data of its page; every figure is the run's own, or counted from its predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from agssl.base.errors import DataError, SettingsError
from agssl.data.graph import Graph
from agssl.data.splits import check_split
from agssl.explain.groups import by_class, by_degree
from agssl.explain.layout import flat_map
from agssl.fitting.summary import MEASURES, spread
from agssl.metrics import evaluate, softmax
from agssl.report import arrays, figures
from agssl.report.compare import paired_interval, pairs, results_of, seed_results
from agssl.store.fitted import FittedModel, judged
from agssl.store.run import Run
from agssl.train.infer import infer

PARTS = ("", "train", "val", "test")
_TOP = 6  # classes a model that the page keeps of each node


def build(
    run: Run, seed: int | None = None, baseline: Run | None = None, layout: str = "tsne"
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The page of a run: what is said once, and the arrays with what is said of every node.

    Args:
        run: the run.
        seed: which of its seeds to show in detail, by default the first; the results are over all of them.
        baseline: a run of method gcn on the same graph, to stand beside it.
        layout: of the map, see `agssl.explain.layout`.
    """
    seed = run.seeds[0] if seed is None else seed
    fitted, graph = run.fitted(seed), run.graph(seed)
    if len(fitted.logits) != graph.num_nodes:
        raise DataError(f"{run.path} is damaged: a model of {len(fitted.logits)} nodes, {graph.num_nodes} in the graph")
    assert graph.split is not None
    part = "test" if len(graph.split.test) else "val"  # where to measure
    about = run.about
    page = {
        "kind": "report",
        "run": str(run.path),
        "name": graph.name,
        "command": about.get("command"),
        "created": about.get("created"),
        "versions": about.get("versions", {}),
        "method": run.settings.method,
        "integration": run.settings.integration if run.settings.method == "agssl" else None,
        "settings": run.settings.to_dict(),
        "seeds": list(run.seeds),
        "seed": seed,
        "part": part,
        "data": graph.info(),
        "split": graph.split.origin,
        "classes": list(fitted.classes),
        "tasks": list(fitted.task_names),
        "weighted": fitted.weights is not None,
        "map": layout,
        "share": arrays.SHARE,
        "place": arrays.PLACE,
        "results": _results(run, graph, part, baseline),
        "gain": None if baseline is None else _gain(baseline, run, f"{part}_accuracy"),
        "best": run.seed_metrics(seed).get("best"),
        "history": _history(run, seed),
    }
    return page | _pictures(fitted, graph, part, run.seed_metrics(seed)), _nodes(fitted, graph, layout)


def _results(run: Run, graph: Graph, part: str, baseline: Run | None) -> list[dict[str, Any]]:
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
    own = "student" if names else run.settings.method
    return [*rows, _row(own, "model", [_measured(run, seed, part) for seed in run.seeds])]


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


def _gain(baseline: Run, run: Run, measure: str) -> dict[str, Any]:
    """By how much the run beats the baseline, pair by pair where that can be."""
    seeds, why = pairs(baseline, run)
    if not seeds:
        one, two = (results_of(r)[measure]["mean"] for r in (baseline, run))
        mean = None if one is None or two is None else two - one
        return {"mean": mean, "low": None, "high": None, "seeds": [], "note": why}
    both = [(seed_results(baseline, seed)[measure], seed_results(run, seed)[measure]) for seed in seeds]
    known = np.array([b - a for a, b in both if a is not None and b is not None])
    found = paired_interval(known) if len(known) else {"mean": None, "low": None, "high": None}
    return {**found, "seeds": seeds, "note": ""}


def _history(run: Run, seed: int) -> dict[str, dict[str, list[float | None]]]:
    """The curves, without those by degree (the page shows these at the end of training)."""
    return {
        stage: {name: values for name, values in figures_.items() if "_degree" not in name}
        for stage, figures_ in run.history(seed).items()
    }


def _pictures(fitted: FittedModel, graph: Graph, part: str, noted: dict[str, Any]) -> dict[str, Any]:
    """Everything that is counted over the test nodes (the validation nodes where there are none), and the groups."""
    assert graph.split is not None
    measured = judged(fitted, graph.split, part)
    known = graph.y[measured.nodes] >= 0
    truth, probabilities = graph.y[measured.nodes[known]], measured.probabilities[known]
    predicted = fitted.decide(probabilities)
    found: dict[str, Any] = {
        "confusion": figures.confusion(truth, predicted, len(fitted.classes)).tolist(),
        "reliability": figures.reliability(truth, probabilities),
        "degree": None,
        "by_class": None,
        "agreement": None,
        "changes": None,
    }
    if fitted.weights is not None:
        found["degree"] = [group.to_dict() for group in by_degree(fitted, graph.degree)]
        found["by_class"] = [group.to_dict() for group in by_class(fitted)]
        said = measured.teachers[:, known].argmax(2)
        found["agreement"] = figures.agreement(np.vstack([said, predicted])).tolist()
        # the best by validation: the one a user without test labels would have taken
        best = int(np.argmax([teacher["val_accuracy"] for teacher in noted["teachers"]]))
        found["changes"] = {
            "best": fitted.task_names[best],
            **figures.changes(predicted == truth, said[best] == truth),
            "by_right": figures.by_teachers_right(predicted == truth, said == truth),
        }
    return found


def _nodes(fitted: FittedModel, graph: Graph, layout: str) -> dict[str, np.ndarray]:
    """What is said of every node."""
    assert graph.split is not None
    classes, keep = len(fitted.classes), min(_TOP, len(fitted.classes))
    part = np.zeros(graph.num_nodes, np.uint8)
    for name, members in graph.split.parts().items():
        part[members] = PARTS.index(name)
    degree, steps = arrays.half_edges(graph.indptr, graph.indices)
    models = [fitted.logits.copy(), *(fitted.teacher_logits.copy() if fitted.weights is not None else ())]
    if graph.split.fold is not None:  # of held-out nodes, what is said without knowing their labels
        said = judged(fitted, graph.split, "val")
        for logits, own in zip(models, (said.logits, *said.teachers), strict=False):
            logits[said.nodes] = own
    found = {
        "place": arrays.places(flat_map(infer(fitted.model, graph).hidden, layout)),
        "label": arrays.small(graph.y, classes),
        "part": part,
        "edges": degree,
        "steps": steps,
    }
    says = [fitted.confidence(models[0]), *map(softmax, models[1:])]
    tops = [arrays.top(probabilities, keep) for probabilities in says]
    found["top"] = arrays.small(np.stack([order for order, _ in tops]), classes)  # [1 + K, N, keep]
    found["probability"] = arrays.shares(np.stack([p for _, p in tops]))
    if fitted.weights is not None:
        found["weights"] = arrays.shares(fitted.weights)
    if graph.node_names is not None:
        text = "\0".join(str(name).replace("\0", " ") for name in graph.node_names)
        found["names"] = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    return found
