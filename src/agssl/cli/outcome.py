"""What came of a fit, for people: a table, the labels behind it, and warnings."""

from __future__ import annotations

from typing import Any

from agssl.cli.common import console, say, table

_PARTS = {"test": "test", "val": "validation", "heldout": "held-out"}


def show(summary: dict[str, Any]) -> None:
    """Print the results of a run; warnings go to stderr (see `warn`)."""
    method, count = summary["method"], len(summary["seeds"])
    details = ", ".join(str(summary[key]) for key in ("integration", "strategy", "encoder") if summary[key])
    heading = f"{summary['dataset']}: {method}" + (f" ({details})" if details else "")
    out = console()
    out.print(f"{heading}, {count} seed{'s' * (count > 1)}, {summary['seconds']:.1f} seconds", soft_wrap=True)
    teachers = summary["teachers"] if summary["integration"] else []
    weight = ["weight"] if teachers else []
    std = " ± std" if count > 1 else ""
    rows = table("method", f"test %{std}", f"val %{std}", "macro-F1", "log-loss", "ECE", *weight, left=("method",))
    for teacher in teachers:
        accuracies = (_percent(teacher[f"{part}_accuracy"]) for part in ("test", "val"))
        rows.add_row(f"teacher {teacher['task']}", *accuracies, "", "", "", _number(teacher["weight"]))
    accuracies = (_percent(summary[f"{part}_accuracy"]) for part in ("test", "val"))
    rows.add_row(method, *accuracies, *(_number(summary[key]) for key in ("macro_f1", "log_loss", "ece")))
    place = 0 if summary["estimate"]["measured_on"] == "test" else 1
    for name, value in summary["baselines"].items():
        cells = ["", ""]
        cells[place] = f"{100 * value:.2f}"
        rows.add_row("majority class" if name == "majority" else name.replace("_", " "), *cells)
    out.print(rows)
    if summary["task_weights"] and not summary["teachers"]:
        weights = ", ".join(f"{task} {_number(weight)}" for task, weight in summary["task_weights"].items())
        out.print(f"task weights: {weights}", soft_wrap=True)
    for line in _truth(summary):
        out.print(line, soft_wrap=True)
    out.print(f"the run is in {summary['run']}", soft_wrap=True)


def warn(summary: dict[str, Any]) -> None:
    """Say on stderr what makes the result doubtful."""
    for text in summary["warnings"]:
        say(f"WARNING: {text}")


def _truth(summary: dict[str, Any]) -> list[str]:
    labels, estimate = summary["labels"], summary["estimate"]
    seeds = len(summary["seeds"])
    turns = ", held out from the networks that they chose and measured" if estimate["measured_on"] == "heldout" else ""
    over = f", the mean of {seeds} seeds" if seeds > 1 else ""
    return [
        f"labels: {labels['train']:,} trained, {labels['choose']:,} chose, {labels['measure']:,} measured{turns}",
        f"{_PARTS[estimate['measured_on']]} {estimate['metric']}: {estimate['value']:.1%}{over}; "
        f"95% interval {estimate['low']:.1%} to {estimate['high']:.1%}",
    ]


def _percent(spread: dict[str, Any]) -> str:
    if spread["mean"] is None:
        return "-"
    deviation = f" ± {100 * spread['std']:.2f}" if len(spread["values"]) > 1 else ""
    return f"{100 * spread['mean']:.2f}{deviation}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
