"""One kind of figure for many findings: a row for each graph, a point with its interval for each series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from agssl.bench.style import MARKERS, new_figure, tidy
from agssl.explain.plots import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Point(NamedTuple):
    """A mean and the ends of its interval."""

    mean: float
    low: float
    high: float


Series = Mapping[str, Mapping[str, Point]]  # by the name of the series, then by graph


def draw_points(series: Series, x: str, origin: float | None = 0.0, title: str = "") -> Figure:
    """Graphs from top to bottom, each series a little below the other.

    Args:
        series: the points.
        x: what the axis shows.
        origin: where a line marks no difference; None without one.
        title: above it.
    """
    graphs = list(dict.fromkeys(graph for points in series.values() for graph in points))
    rows = max(len(graphs) * max(0.32, 0.12 * len(series)), 0.2 * len(series))
    figure = new_figure(7.5, 1.2 + rows)
    axes = figure.subplots()
    if origin is not None:
        axes.axvline(origin, color="#888888", linewidth=0.8)
    for number, (name, points) in enumerate(series.items()):
        shift = min(0.18, 0.8 / len(series)) * (number - (len(series) - 1) / 2)
        at = [graphs.index(graph) + shift for graph in points]
        means = [point.mean for point in points.values()]
        ends = ([p.mean - p.low for p in points.values()], [p.high - p.mean for p in points.values()])
        how: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
        axes.errorbar(means, at, xerr=ends, linestyle="", markersize=5, elinewidth=1, capsize=2, label=name, **how)
    axes.set_yticks(range(len(graphs)), graphs)
    axes.set_ylim(len(graphs) - 0.4, -0.6)
    tidy(axes, title, x, "")
    if len(series) > 1:
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
