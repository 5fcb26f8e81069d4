"""Average ranks that differ by more than chance: Nemenyi's critical difference, and its plot (Demšar 2006)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agssl.bench.style import new_figure
from agssl.explain.plots import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW = 0.22  # inches


def critical_difference(methods: int, graphs: int, level: float = 0.05) -> float:
    """By how much the average ranks of two of `methods` over `graphs` must differ: q √(k (k + 1) / 6 n).

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - level, methods, float("inf"))) / 2**0.5
    return q * (methods * (methods + 1) / (6 * graphs)) ** 0.5


def cliques(ranks: Mapping[str, float], difference: float) -> list[tuple[str, ...]]:
    """The largest sets of two and more, next to each other in rank, that are no further apart than that; best first.

    >>> cliques({"c": 3.5, "a": 1.0, "b": 2.0, "d": 6.0}, 1.6)
    [('a', 'b'), ('b', 'c')]
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    found: list[tuple[str, ...]] = []
    for start, first in enumerate(order):
        near = tuple(name for name in order[start:] if ranks[name] - ranks[first] <= difference)
        if len(near) > 1 and not (found and near[-1] == found[-1][-1]):
            found.append(near)
    return found


def draw_ranks(ranks: Mapping[str, float], graphs: int) -> Figure:
    """Methods on a line by their average rank; a bar joins those that can't be told apart.

    Args:
        ranks: the average rank of each, 1 best.
        graphs: over how many.
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    difference = critical_difference(len(order), graphs)
    bars = cliques(ranks, difference)
    left = (len(order) + 1) // 2
    below = left + 1 + 0.5 * len(bars)
    figure = new_figure(8, 0.9 + _ROW * (below + 1))
    axes = figure.subplots()
    axes.set_xlim(1 - 0.45 * len(order), 1.45 * len(order))
    axes.set_ylim(-below, 2.4)
    axes.set_axis_off()
    _scale(axes, len(order), difference, f"critical difference {difference:.2f} ({graphs} graphs, 5% level)")
    for number, names in enumerate(bars):
        y = -0.5 - 0.5 * number
        axes.plot([ranks[names[0]] - 0.05, ranks[names[-1]] + 0.05], [y, y], color=COLOURS[0], linewidth=3)
    for place, name in enumerate(order):
        first = place < left
        end, row = (0.8, place) if first else (len(order) + 0.2, len(order) - 1 - place)
        y = -1.0 - 0.5 * len(bars) - row
        axes.plot([ranks[name], ranks[name], end], [0, y, y], color="#444444", linewidth=0.8)
        text, side = f"{name}  {ranks[name]:.2f}", "right" if first else "left"
        axes.text(end + (-0.08 if first else 0.08), y, text, ha=side, va="center", fontsize=8)
    return figure


def _scale(axes: Axes, count: int, difference: float, words: str) -> None:
    """Ranks from 1 to `count`, and the critical difference above them."""
    axes.plot([1, count], [0, 0], color="k", linewidth=1)
    for rank in range(1, count + 1):
        axes.plot([rank, rank], [0, 0.25], color="k", linewidth=1)
        axes.text(rank, 0.35, str(rank), ha="center", va="bottom", fontsize=8)
    axes.errorbar([1 + difference / 2], [1.7], xerr=[[difference / 2], [difference / 2]], color="k", capsize=3)
    axes.text(1 + difference + 0.15, 1.7, words, ha="left", va="center", fontsize=8)
