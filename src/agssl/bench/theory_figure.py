"""The figure of `agssl.bench.theory`: bound, teachers and schemes side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from agssl.bench.theory import Record
from agssl.bench.theory_report import SCHEMES, TEACHERS, one, right_side
from agssl.explain.plots import COLOURS, check_plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAMILIES = {
    "teacher": ("one network", COLOURS[0], "o"),
    "paper": ("teachers as they are", COLOURS[1], "s"),
    "ours": ("teachers calibrated", COLOURS[2], "D"),
    "oracle": ("optimum, needs p*", COLOURS[6], "^"),
}


def figure(records: Sequence[Record]) -> Figure:
    """The three measurements side by side."""
    check_plotting()
    from matplotlib.figure import Figure

    result = Figure(figsize=(15, 5), layout="constrained", dpi=150)
    left, middle, right = result.subplots(1, 3, width_ratios=[1.05, 1.1, 1.15])
    _draw_bound(left, records)
    _draw_teachers(middle, records)
    _draw_schemes(right, records)
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=9)
    return result


def _draw_bound(axes: Axes, records: Sequence[Record]) -> None:
    marks = (
        ("left", "left side", COLOURS[5], "o"),
        ("variance_if_independent", "right side, V / N", COLOURS[4], "|"),
        ("bound", "right side, whole", COLOURS[0], ">"),
    )
    for place, teacher in enumerate(reversed(TEACHERS)):
        rows = [one(record, teacher, "trained") for record in records]
        found = {"bound": np.mean([right_side(row) for row in rows])}
        for key, label, colour, marker in marks:
            value = found[key] if key in found else np.mean([row[key] for row in rows])
            lift = 0.0 if key == "left" else -0.14
            size = 13 if marker == "|" else 8
            edge = 2.5 if marker == "|" else 0
            axes.plot(value, place + lift, marker, color=colour, markersize=size, markeredgewidth=edge)
            if teacher == TEACHERS[0]:
                above = {"left": 0.14, "variance_if_independent": 0.05, "bound": 0.0}[key]
                axes.annotate(label, (value, place + above), color=colour, ha="center", va="bottom", fontsize=9)
    axes.set_xscale("log")
    axes.set_ylim(-0.6, len(TEACHERS) - 0.3)
    names = ["p* itself" if name == "Bayes" else name for name in reversed(TEACHERS)]
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("squared error of the objective")
    axes.set_title(
        "(a) Proposition 1: loose for real teachers,\nbroken at p* (left side beyond the right)", fontsize=11
    )


def _draw_teachers(axes: Axes, records: Sequence[Record]) -> None:
    for name, line, colour in (("trained", "-", COLOURS[0]), ("ignorant", "--", COLOURS[5])):
        for kind, width in (("simplex", 2.4), ("free", 1.4)):
            curves = np.array([record["theorem"][name]["distance"][kind] for record in records])
            counts = np.arange(1, curves.shape[1] + 1)
            mean = curves.mean(0)
            axes.plot(counts, mean, line, color=colour, linewidth=width, marker="o" if kind == "simplex" else None)
            axes.fill_between(counts, curves.min(0), curves.max(0), color=colour, alpha=0.15, linewidth=0)
            if kind == "simplex":
                words = "trained teachers" if name == "trained" else "teachers that know nothing"
                at = (0.7 * len(mean), mean[int(0.7 * len(mean)) - 1] + 0.03)
                axes.annotate(f"{words}\non the simplex", at, color=colour, ha="center", fontsize=9.5)
    classes = records[0]["model"]["classes"]
    axes.annotate(
        f"any weights: 0 from K = C = {classes} on,\nwhatever the teachers know",
        (classes + 0.15, 0.005),
        (classes + 1.0, 0.075),
        fontsize=9.5,
        arrowprops={"arrowstyle": "->", "color": "#444444"},
        color="#444444",
    )
    axes.set_ylim(-0.02, None)
    axes.set_xticks(counts)
    axes.set_xlabel("teachers K")
    axes.set_ylabel("distance of the optimum to p*")
    axes.set_title("(b) Theorem 1: on the simplex\nthe distance does not go to 0", fontsize=11)


def _draw_schemes(axes: Axes, records: Sequence[Record]) -> None:
    for place, (key, _, family) in enumerate(reversed(SCHEMES)):
        found = np.array([record["schemes"][key]["distance"] for record in records])
        _, colour, marker = _FAMILIES[family]
        axes.plot(found, np.full(len(found), place), marker, color=colour, markersize=3.5, alpha=0.45, linestyle="")
        axes.plot(found.mean(), place, marker, color=colour, markersize=8)
    axes.set_yticks(range(len(SCHEMES)), [words for _, words, _ in reversed(SCHEMES)])
    for tick, (_, _, family) in zip(axes.get_yticklabels(), reversed(SCHEMES), strict=True):
        tick.set_color(_FAMILIES[family][1] if family != "oracle" else "#000000")
    for label, colour, marker in _FAMILIES.values():
        axes.plot([], [], marker, color=colour, linestyle="", label=label)
    axes.legend(fontsize=8.5, frameon=False, loc="lower right")
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("mean distance to p* on test nodes (small: single seeds)")
    axes.set_title("(c) How near p* the schemes come", fontsize=11)
