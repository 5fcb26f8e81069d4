"""What came of a fit, for people: a table, the labels behind it, and warnings."""

from __future__ import annotations

from typing import Any

from agssl.cli.common import console, say, table

_MOST_CLASSES = 10  # that fit on a screen; --json has them all


def show(summary: dict[str, Any]) -> None:
    """Print the results of a run; warnings go to stderr (see `warn`)."""
    method, count = summary["method"], len(summary["seeds"])
    automatic = summary.get("effort")  # of an automatic pool
    names = ("integration", "strategy", "encoder") if automatic is None else ("integration",)
    details = ", ".join(str(summary[key]) for key in names if summary[key])
    details += "" if automatic is None else f", automatic pool, effort {automatic}"
    heading = f"{summary['dataset']}: {method}" + (f" ({details})" if details else "")
    out = console()
    out.print(f"{heading}, {count} seed{'s' * (count > 1)}, {summary['seconds']:.1f} seconds", soft_wrap=True)
    teachers = [one for one in summary["teachers"] if one.get("kept", 1)] if summary["integration"] else []
    weight = ["weight"] if teachers else []
    std = " ± std" if count > 1 else ""
    metric, where = summary["estimate"]["metric"], summary["estimate"]["measured_on"]
    parts = {"val": "held-out"} if where == "heldout" else {"test": "test", "val": "val"}
    own = [] if metric == "accuracy" else [f"{part}_{metric}" for part in parts]
    heads = [f"{name} {metric}{std}" for name in parts.values()] if own else []
    figures = ("macro-F1", "log-loss", "ECE")
    percent = [f"{name} %{std}" for name in parts.values()]
    rows = table("method", *heads, *percent, *figures, *weight, left=("method",))
    for teacher in teachers:
        cells = [_spread(teacher[key]) for key in own]
        cells += [_percent(teacher[f"{part}_accuracy"]) for part in parts]
        rows.add_row(f"teacher {teacher.get('name', teacher['task'])}", *cells, "", "", "", _number(teacher["weight"]))
    cells = [_spread(summary[key]) for key in own]
    cells += [_percent(summary[f"{part}_accuracy"]) for part in parts]
    rows.add_row(method, *cells, *(_number(summary[key]) for key in ("macro_f1", "log_loss", "ece")))
    place = 1 if where == "val" else 0
    for name, value in summary["baselines"].items():
        cells = ["", ""]
        cells[place] = _number(value) if own else f"{100 * value:.2f}"
        rows.add_row("majority class" if name == "majority" else name.replace("_", " "), *cells)
    out.print(rows)
    if 0 < len(summary.get("per_class", ())) <= _MOST_CLASSES:
        out.print(_classes(summary["per_class"]))
    if summary["task_weights"] and not summary["teachers"]:
        weights = ", ".join(f"{task} {_number(weight)}" for task, weight in summary["task_weights"].items())
        out.print(f"task weights: {weights}", soft_wrap=True)
    if automatic is not None:
        out.print(_tried(summary["teachers"], count))
        out.print(f"the student's network: {summary['network']}", soft_wrap=True)
    for line in _truth(summary):
        out.print(line, soft_wrap=True)
    out.print(f"the run is in {summary['run']}", soft_wrap=True)


def warn(summary: dict[str, Any]) -> None:
    """Say on stderr what makes the result doubtful."""
    for text in summary["warnings"]:
        say(f"WARNING: {text}")


def _tried(found: list[dict[str, Any]], seeds: int) -> Any:
    """What the automatic pool tried, likeliest first, what it cost, and its share in the selections."""
    rows = table("tried", "held-out %", "log-loss", "seconds", "share", "kept", left=("tried",))
    for one in sorted(found, key=lambda one: one["log_loss"]):
        kept = "" if not one["kept"] else "yes" if seeds == 1 else f"{one['kept']} of {seeds}"
        figures = (f"{100 * one['val_accuracy']['mean']:.1f}", _number(one["log_loss"]), f"{one['seconds']:.1f}")
        rows.add_row(one["name"], *figures, f"{one['share']:.0%}", kept)
    return rows


def _truth(summary: dict[str, Any]) -> list[str]:
    from agssl.fitting.verdict import verdict_lines

    seeds = len(summary["seeds"])
    over = f", the mean of {seeds} seeds" if seeds > 1 else ""
    lines = [*_trust(summary.get("trust")), *_sets(summary.get("coverage")), *verdict_lines(summary, seeds)]
    if "decision" in summary:
        found = summary["decision"]
        right = f"precision {found['precision']:.1%}, recall {found['recall']:.1%} on held-out labels"
        lines.append(
            f"threshold: {found['positive']} is predicted from a probability of {found['threshold']:.3f}{over} "
            f"(--threshold {found['rule']}); {right}"
        )
    return lines


def _trust(found: dict[str, Any] | None) -> list[str]:
    """Whether the weights of the teachers were right, where they disagreed."""
    if found is None or found["pairs_right"] is None:
        return []
    error = "" if found["pairs_right_se"] is None else f" ± {found['pairs_right_se']:.2f}"
    return [
        f"trust: teachers disagree on {found['disagreement']:.1%} of the nodes; right there are",
        f"  the most trusted {found['most_trusted']:.1%}, the best single {found['best_single']:.1%}, "
        f"a majority {found['majority']:.1%};",
        f"  a right one outweighs a wrong one in {found['pairs_right']:.2f}{error} of the pairs",
    ]


def _sets(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return []
    return [
        f"prediction sets for {found['asked']:.0%}: the true class is in {found['coverage']:.1%} of them;",
        f"  {found['mean_size']:.2f} classes in the mean, several on {found['unsure']:.1%} of the nodes",
    ]


def _classes(found: list[dict[str, Any]]) -> Any:
    """Precision, recall, F1 and the number of nodes of each class."""
    rows = table("class", "precision", "recall", "F1", "nodes", left=("class",))
    for one in found:
        rows.add_row(one["class"], *(_number(one[key]) for key in ("precision", "recall", "f1")), f"{one['support']:g}")
    return rows


def _spread(spread: dict[str, Any]) -> str:
    deviation = f" ± {spread['std']:.3f}" if len(spread["values"]) > 1 else ""
    return _number(spread["mean"]) + deviation


def _percent(spread: dict[str, Any]) -> str:
    if spread["mean"] is None:
        return "-"
    deviation = f" ± {100 * spread['std']:.2f}" if len(spread["values"]) > 1 else ""
    return f"{100 * spread['mean']:.2f}{deviation}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
