"""The figure of `agssl.theory.study`: bound, teachers and schemes side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from agssl.explain.plots import COLOURS, check_plotting
from agssl.theory.report import TEACHERS, one, right_side, scheme_rows
from agssl.theory.study import StudyRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAMILIES = {
    "teacher": ("one network", COLOURS[0], "o"),
    "paper": ("teachers as they are", "#B26B00", "s"),  # a darker orange: it colours text too
    "ours": ("teachers calibrated", COLOURS[2], "D"),
    "oracle": ("optimum, needs p*", COLOURS[6], "^"),
}


def figure(records: Sequence[StudyRecord]) -> Figure:
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


def _draw_bound(axes: Axes, records: Sequence[StudyRecord]) -> None:
    names = list(reversed(TEACHERS))
    for place, teacher in enumerate(names):
        rows = [one(record, teacher, "trained") for record in records]
        first, whole = (float(np.mean([pick(row) for row in rows])) for pick in (_first_term, right_side))
        error = float(np.mean([row["left"] for row in rows]))
        axes.plot([first, whole], [place - 0.15] * 2, color=COLOURS[0], linewidth=1, alpha=0.5)
        axes.plot(first, place - 0.15, "|", color=COLOURS[0], markersize=13, markeredgewidth=2.5)
        axes.plot(whole, place - 0.15, ">", color=COLOURS[0], markersize=8)
        axes.plot(error, place + 0.1, "o", color=COLOURS[5], markersize=8)
        if place == len(names) - 1:
            for value, words, colour, lift in (
                (first, "V / N alone", COLOURS[0], 0.0),
                (whole, "right side", COLOURS[0], 0.0),
                (error, "left side", COLOURS[5], 0.22),
            ):
                axes.annotate(words, (value, place + lift), color=colour, ha="center", va="bottom", fontsize=9.5)
        if error > whole:
            axes.annotate("  fails", (error, place + 0.1), color=COLOURS[5], va="center", fontsize=9.5, weight="bold")
    axes.set_xscale("log")
    axes.margins(x=0.18)
    axes.set_ylim(-0.6, len(names) - 0.3)
    axes.set_yticks(range(len(names)), ["p* itself" if name == "Bayes" else name for name in names])
    axes.set_ylabel("integrated teacher")
    axes.set_xlabel("squared error of the objective, trained network")
    axes.set_title("(a) Proposition 1: both sides of the bound", fontsize=11)


def _first_term(row: StudyRecord) -> float:
    return float(row["variance_if_independent"])


def _draw_teachers(axes: Axes, records: Sequence[StudyRecord]) -> None:
    for name, line, colour in (("trained", "-", COLOURS[0]), ("ignorant", "--", COLOURS[5])):
        for kind, width in (("simplex", 2.4), ("free", 1.4)):
            curves = np.array([record["theorem"][name]["distance"][kind] for record in records])
            counts = np.arange(1, curves.shape[1] + 1)
            mean = curves.mean(0)
            axes.plot(counts, mean, line, color=colour, linewidth=width, marker="o" if kind == "simplex" else None)
            axes.fill_between(counts, curves.min(0), curves.max(0), color=colour, alpha=0.15, linewidth=0)
            if kind == "simplex":
                words = "trained teachers" if name == "trained" else "teachers that know nothing"
                place = int(0.5 * len(mean))
                above = name == "ignorant"
                at = (place, mean[place - 1] + 0.03 if above else curves[:, place - 1].min() - 0.015)
                side = "bottom" if above else "top"
                axes.annotate(f"{words},\non the simplex", at, color=colour, ha="left", va=side, fontsize=9.5)
    classes = records[0]["model"]["classes"]
    axes.annotate(
        f"any weights: 0 from K = C = {classes} on,\nwhatever the teachers know",
        (classes + 0.15, 0.005),
        (classes + 0.7, 0.06),
        fontsize=9.5,
        arrowprops={"arrowstyle": "->", "color": "#444444"},
        color="#444444",
    )
    axes.set_ylim(-0.02, None)
    axes.set_xticks(counts)
    axes.set_xlabel("teachers K")
    axes.set_ylabel("distance of the optimum to p*")
    axes.set_title("(b) Theorem 1: the optimum as teachers are added", fontsize=11)


def _draw_schemes(axes: Axes, records: Sequence[StudyRecord]) -> None:
    rows = scheme_rows(records)[::-1]
    for place, (key, _, family) in enumerate(rows):
        found = np.array([record["schemes"][key]["distance"] for record in records])
        _, colour, marker = _FAMILIES[family]
        axes.plot(found, np.full(len(found), place), marker, color=colour, markersize=3.5, alpha=0.45, linestyle="")
        axes.plot(found.mean(), place, marker, color=colour, markersize=8)
    axes.set_yticks(range(len(rows)), [words for _, words, _ in rows])
    for tick, (_, _, family) in zip(axes.get_yticklabels(), rows, strict=True):
        tick.set_color(_FAMILIES[family][1])
    for label, colour, marker in _FAMILIES.values():
        axes.plot([], [], marker, color=colour, linestyle="", label=label)
    axes.legend(fontsize=8.5, frameon=False, loc="upper left")
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlim(left=0)
    axes.set_xlabel("distance to p* on test nodes (small: each seed)")
    axes.set_title("(c) How near p* the schemes come", fontsize=11)
