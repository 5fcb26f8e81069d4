"""How far the result of a fit can be trusted: its interval, what it had to beat, and what to be warned of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agssl.config import Settings
from agssl.config.class_kinds import PRECISION
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.fitting.baselines import baselines
from agssl.fitting.job import Metrics, measure
from agssl.metrics import Measured, gain, metric_text, resampled, wilson_interval
from agssl.store.fitted import FittedModel, judged, load_fitted
from agssl.train.setup import decision_of

FEW = 30  # nodes below which an accuracy says little
RARE = "; for a rare class there are --class-weight balanced, --metric roc_auc and --threshold f1"


def verdict(
    graph: Graph,
    splits: Sequence[Split],
    results: Sequence[Metrics],
    threads: int = 1,
    settings: Settings | None = None,
    models: Sequence[Measured] = (),
) -> dict[str, Any]:
    """What `agssl fit --json` says beside the results: `estimate`, `labels`, `baselines` and `warnings`.

    The estimate is the mean metric of the seeds, on test nodes, or on validation nodes where there are none; where
    nodes are held out in turn, by networks that have not seen their labels. Its interval is over the nodes that were
    measured, each counted once: ten seeds that measure the same node know no more of nodes in general than one seed
    does. How much seeds differ is another question, which the deviation over seeds answers. For accuracy it is
    Wilson's; for other metrics it has 95% of the values when nodes are resampled.

    Args:
        graph: with all its labels.
        splits: one per seed.
        results: the metrics of each seed, see `agssl.fitting.job.fit_seed`.
        threads: for the baselines.
        settings: the metric, and which of two classes is positive; accuracy if not given.
        models: what each seed said, see `stored_answers`; needed for other metrics than accuracy.
    """
    settings = settings or Settings()
    part, metric = _part(splits), settings.metric
    value = float(np.mean([metrics[part][metric] for metrics in results]))
    nodes = len(np.unique(np.concatenate([split.judges(part) for split in splits])))
    if metric == "accuracy":
        low, high = wilson_interval(value, nodes)
    else:
        low, high = np.percentile(resampled(metric, models), [2.5, 97.5]).tolist()
    decision = decision_of(graph.with_split(splits[0]), settings)
    sizes = splits[0].sizes()
    where = "heldout" if part == "val" and splits[0].fold is not None else part
    found: dict[str, Any] = {
        "estimate": {"metric": metric, "value": value, "low": low, "high": high, "measured_on": where},
        "labels": {"train": sizes["train"], "choose": sizes["val"], "measure": len(splits[0].judges(part))},
        "baselines": baselines(graph, splits, part, threads, metric, decision),
    }
    predicted = [metrics.get("predicted_classes") for metrics in results]
    warnings = _warnings(found, nodes, predicted, two=decision is not None)
    return found | {"warnings": warnings + _imprecise(settings, results)}


def verdict_of(fitted: FittedModel, graph: Graph, threads: int = 1) -> dict[str, Any]:
    """The verdict on one model, on the graph that it was fitted to, with its split."""
    assert graph.split is not None
    said = judged(fitted, graph.split, _part([graph.split]))
    models = [Measured(said.nodes, graph.y[said.nodes], said.probabilities, fitted.decision)]
    return verdict(graph, [graph.split], [measure(fitted, graph)], threads, fitted.settings, models)


def names_one_class(fitted: FittedModel, graph: Graph) -> bool:
    """Whether it predicts the same class for all nodes that measure it."""
    assert graph.split is not None
    said = judged(fitted, graph.split, _part([graph.split]))
    return len(np.unique(fitted.decide(said.probabilities))) == 1 < len(said.nodes)


ONE_CLASS = "it predicts one class only{}: an accuracy then says how common that class is"
_PARTS = {"test": "test", "val": "validation", "heldout": "held-out"}


def verdict_lines(found: dict[str, Any], seeds: int = 1) -> list[str]:
    """How many labels did what, and the result with its interval, in words.

    Args:
        found: what `verdict` gave.
        seeds: that it is of.
    """
    labels, estimate = found["labels"], found["estimate"]
    turns = ", each while it was held out" if estimate["measured_on"] == "heldout" else ""
    over = f", the mean of {seeds} seeds" if seeds > 1 else ""
    value, low, high = (metric_text(estimate["metric"], estimate[key]) for key in ("value", "low", "high"))
    return [
        f"labels: {labels['train']:,} trained, {labels['choose']:,} chose, {labels['measure']:,} measured{turns}",
        f"{_PARTS[estimate['measured_on']]} {estimate['metric']}: {value}{over}; 95% interval {low} to {high}",
    ]


def stored_answers(graph: Graph, splits: Sequence[Split], folders: Sequence[Path]) -> list[Measured]:
    """What the model in each seed's folder says of the nodes that it is measured by."""
    part, found = _part(splits), []
    for split, folder in zip(splits, folders, strict=True):
        fitted = load_fitted(folder / "model.safetensors")
        said = judged(fitted, split, part)
        found.append(Measured(said.nodes, graph.y[said.nodes], said.probabilities, fitted.decision))
    return found


def _part(splits: Sequence[Split]) -> str:
    return "test" if all(len(split.test) for split in splits) else "val"


def _imprecise(settings: Settings, results: Sequence[Metrics]) -> list[str]:
    """Where no threshold has the precision that was asked for."""
    if not isinstance(settings.threshold, str) or not settings.threshold.startswith(PRECISION):
        return []
    wanted = float(settings.threshold.removeprefix(PRECISION))
    lowest = min(metrics["decision"]["precision"] for metrics in results)
    if lowest >= wanted:
        return []
    return [f"no threshold has a precision of {wanted:g} on the validation labels; the highest, {lowest:.3f}, is used"]


def _warnings(found: dict[str, Any], nodes: int, predicted: Sequence[int | None], two: bool) -> list[str]:
    value, metric, simple = found["estimate"]["value"], found["estimate"]["metric"], found["baselines"]
    name = "" if metric == "accuracy" else f"{metric} of "
    than = "above" if gain(metric, 1) < 0 else "below"
    shown = f"the model's {name}{metric_text(metric, value)} is {than} the {{}} of {{}}"
    warnings = []
    if gain(metric, value) < gain(metric, simple["majority"]):
        cure = "always naming the majority class: do not use it"
        warnings.append(shown.format(metric_text(metric, simple["majority"]), cure))
    if gain(metric, value) < gain(metric, simple["logistic_regression"]):
        cure = "logistic regression on the features: its edges or settings do not help here"
        warnings.append(shown.format(metric_text(metric, simple["logistic_regression"]), cure))
    alone = predicted.count(1)
    if alone:
        which = "" if len(predicted) == 1 else f" with {alone} of {len(predicted)} seeds"
        warnings.append(ONE_CLASS.format(which) + RARE * two)
    if nodes < FEW:
        some = f"{nodes} nodes" if nodes > 1 else "1 node"
        warnings.append(f"only {some} measured it, so its {metric} is hardly known; label more nodes")
    if found["estimate"]["measured_on"] == "val":
        warnings.append("there are no test nodes: it was measured where its epochs were chosen, which flatters it")
    return warnings
