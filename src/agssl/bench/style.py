"""One style for all figures: the same colour and marker for a task or scheme wherever it appears."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agssl.explain.plots import COLOURS, check_plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ORDER = ("PAR", "CLU", "DGI", "PAIRDIS", "PAIRSIM", "AGSSL-LF", "GCN", "AGSSL-TS", "Random", "Average", "Weighted")
_ALSO = {"AGSSL-LF": 0, "AGSSL-TS": 5, "Random": 4, "Average": 2, "Weighted": 1, "GCN": 6}  # schemes, never with tasks
MARKERS = "osD^vP*X"


def new_figure(width: float, height: float) -> Figure:
    """An empty figure; constrained layout keeps labels from overlapping."""
    check_plotting()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def line_style(name: str) -> dict[str, Any]:
    """Colour and marker of a task or scheme."""
    number = _ALSO.get(name, _ORDER.index(name) if name in _ORDER else len(name))
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def tidy(axes: Axes, title: str, x: str, y: str) -> None:
    """Title and labels, without the frame's upper right half."""
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


@dataclass(frozen=True)
class ColourScale:
    """From a number to a colour; without ends, from the smallest number to the largest."""

    colours: str = "viridis"  # a colour map of matplotlib
    centred: bool = False  # zero in its middle
    low: float | None = None
    high: float | None = None

    def ends(self, values: np.ndarray) -> tuple[float, float]:
        """The numbers at both ends."""
        known = np.isfinite(values).any()
        limit = float(np.nanmax(np.abs(values))) if known else 1.0
        if self.centred:
            return -limit, limit
        low = float(np.nanmin(values)) if self.low is None and known else self.low or 0.0
        return low, limit if self.high is None else self.high


def heatmap(
    axes: Axes,
    values: np.ndarray,
    rows: list[str],
    columns: list[str],
    text: str = "{:.2f}",
    scale: ColourScale = ColourScale(),
) -> Any:
    """A heatmap with its numbers in it; places without a number stay grey. Gives the image, for a colour bar.

    Args:
        axes: where to.
        values: [rows, columns].
        rows: their names.
        columns: their names.
        text: how to write a number.
        scale: how to colour it.
    """
    low, high = scale.ends(values)
    axes.set_facecolor("#dddddd")
    image = axes.imshow(values, cmap=scale.colours, aspect="auto", vmin=low, vmax=high)
    axes.set_xticks(range(len(columns)), columns, fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue, _ = image.cmap(image.norm(value))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5  # as bright as it looks
        axes.text(column, row, text.format(value), ha="center", va="center", fontsize=7.5, color="w" if dark else "k")
    return image


def empty(axes: Axes, title: str) -> None:
    """A panel whose cells have not been run."""
    axes.set_axis_off()
    axes.set_title(title, fontsize=10)
    axes.text(0.5, 0.5, "missing", ha="center", va="center", fontsize=10, color="#666666")
