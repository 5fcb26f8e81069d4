"""What came out over all seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from agssl.config import Settings
from agssl.fitting.job import Metrics

MEASURES = ("accuracy", "macro_f1", "log_loss", "ece")


def summarise(name: str, settings: Settings, results: Sequence[Metrics]) -> Metrics:
    """The results over all seeds, with the keys of `agssl fit --json`.

    Figures without test nodes are None, but where nodes are held out in turn: then they are of these.
    """
    tested = [metrics["test"] for metrics in results if metrics["test"] is not None]
    summary: Metrics = {
        "dataset": name,
        "method": settings.method,
        "integration": settings.integration if settings.method == "agssl" else None,
        "tasks": []
        if not settings.trains_tasks
        else list(settings.pool if settings.method == "agssl" else settings.tasks),
        "strategy": settings.strategy if settings.has_strategy else None,
        "encoder": settings.encoder,
        "network": ", ".join(dict.fromkeys(metrics["network"] for metrics in results)),
        "effort": settings.effort if settings.automatic else None,
        "seeds": [metrics["seed"] for metrics in results],
        "test_accuracy": spread([test["accuracy"] for test in tested]),
        "val_accuracy": spread([metrics["val"]["accuracy"] for metrics in results]),
    }
    metric = settings.metric
    if metric != "accuracy":
        summary["metric"] = metric
        summary[f"test_{metric}"] = spread([test[metric] for test in tested])
        summary[f"val_{metric}"] = spread([metrics["val"][metric] for metrics in results])
    heldout = [metrics["val"] for metrics in results if "folds" in metrics["split"]]
    for measure_ in MEASURES[1:]:
        summary[measure_] = _mean([one[measure_] for one in tested or heldout])
    weights = [metrics["task_weights"] for metrics in results]
    names = [] if None in weights else list(dict.fromkeys(task for found in weights for task in found))
    shares = {task: statistics.fmean(found.get(task, 0.0) for found in weights) for task in names}
    summary["task_weights"] = None if None in weights else shares
    summary["teachers"] = _teachers(metric, results)
    summary["per_class"] = [
        {"class": group[0]["class"]}
        | {name: _mean([one[name] for one in group]) for name in ("precision", "recall", "f1", "support")}
        for group in zip(*(metrics["per_class"] for metrics in results), strict=True)
    ]
    summary["trust"] = _means([metrics.get("trust") for metrics in results], drop=("reliability",))
    summary["coverage"] = _means([metrics.get("sets") for metrics in results])
    if settings.threshold != "none":
        decisions = [metrics["decision"] for metrics in results]
        figures = {name: _mean([one[name] for one in decisions]) for name in ("threshold", "precision", "recall")}
        summary["decision"] = {"positive": decisions[0]["positive"], "rule": settings.threshold} | figures
    return summary


def _teachers(metric: str, results: Sequence[Metrics]) -> list[Metrics]:
    """Each teacher over the seeds that kept it, then those that the automatic pool tried and left out everywhere."""
    measured = ["accuracy"] + ([] if metric == "accuracy" else [metric])
    rows = []
    for name in dict.fromkeys(teacher["name"] for metrics in results for teacher in metrics["teachers"]):
        group = [one for metrics in results for one in metrics["teachers"] if one["name"] == name]
        weights = [one["weight"] for one in group if one["weight"] is not None]
        row = {key: group[0][key] for key in ("name", "task", "encoder", "view")}
        row |= {"alpha": [one["alpha"] for one in group]}
        row |= {f"{p}_{m}": spread([one[f"{p}_{m}"] for one in group]) for m in measured for p in ("val", "test")}
        row |= {"weight": sum(weights) / len(results) if weights else None, "kept": len(group)}
        rows.append(row | {"seconds": _mean([one.get("seconds") for one in group])})
    kept = {row["name"] for row in rows}
    tried = [one for metrics in results for one in metrics.get("tried", ())]
    for row in rows:
        row |= _as_tried([one for one in tried if one["name"] == row["name"]])
    for name in dict.fromkeys(one["name"] for one in tried if one["name"] not in kept):
        group = [one for one in tried if one["name"] == name]
        row = {key: group[0][key] for key in ("name", "task", "encoder", "view")}
        row |= {"alpha": [], "val_accuracy": spread([one["accuracy"] for one in group]), "test_accuracy": spread([])}
        rows.append(row | {"weight": None, "kept": 0} | _as_tried(group))
    return rows


def _as_tried(group: Sequence[Metrics]) -> Metrics:
    """What the automatic pool noted of a teacher."""
    return {name: _mean([one[name] for one in group]) for name in ("log_loss", "share", "seconds")} if group else {}


def spread(values: Sequence[float | None]) -> dict[str, Any]:
    """Mean, sample standard deviation (0 for one value) and the values; mean and deviation None where there are none.

    >>> spread([0.5, 0.7])["mean"]
    0.6
    """
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "std": None, "values": []}
    deviation = statistics.stdev(known) if len(known) > 1 else 0.0
    return {"mean": statistics.fmean(known), "std": deviation, "values": known}


def _means(found: Sequence[Metrics | None], drop: Sequence[str] = ()) -> Metrics | None:
    """The mean of each figure over the seeds that have it; None where none has any."""
    known = [one for one in found if one is not None]
    names = [name for name in (known[0] if known else ()) if name not in drop]
    return {name: _mean([one[name] for one in known]) for name in names} if known else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None
