"""Figures of a fit (extra `plot`): whom nodes trusted, and how training went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agssl.errors import MissingExtraError
from agssl.explain.groups import Group
from agssl.train.loop import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")  # Okabe & Ito


def weights_by_group(groups: Sequence[Group], what: str) -> Figure:
    """A heatmap of mean lambda by group of nodes and teacher; `what` says what the groups are ("degree")."""
    tasks = list(groups[0].weights)
    figure = _figure(2.2 + 1.0 * len(tasks), 1.4 + 0.35 * len(groups))
    axes = figure.subplots()
    table = np.array([list(group.weights.values()) for group in groups])
    image = axes.imshow(table, cmap="viridis", aspect="auto", vmin=0)
    axes.set_xticks(range(len(tasks)), tasks)
    axes.set_yticks(range(len(groups)), [f"{group.name}  ({group.nodes:,})" for group in groups])
    axes.set_xlabel("teacher")
    axes.set_ylabel(f"{what} (nodes)")
    for (row, column), value in np.ndenumerate(table):
        colour = "w" if value < 0.6 * table.max() else "k"
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour)
    figure.colorbar(image, label="mean weight")
    axes.set_title("Whom nodes trusted")
    return figure


def training_curves(history: Mapping[str, Sequence[Record]]) -> Figure:
    """Validation accuracy of every stage, and the squared error of the integrated teacher."""
    figure = _figure(10, 3.6)
    left, right = figure.subplots(1, 2)
    stages = {name: [r for r in records if "val_accuracy" in r] for name, records in history.items()}
    for colour, (name, records) in zip(_cycle(len(stages)), stages.items(), strict=True):
        style = {"linewidth": 2.2} if name.startswith("student") else {"linewidth": 1.0, "alpha": 0.8}
        left.plot(
            [r["epoch"] for r in records], [r["val_accuracy"] for r in records], color=colour, label=name, **style
        )
    left.set_xlabel("epoch")
    left.set_ylabel("validation accuracy")
    left.legend(fontsize=7, frameon=False)
    students = [records for name, records in stages.items() if name.startswith("student")]
    if students:
        for part, colour in (("train", COLOURS[0]), ("val", COLOURS[5])):
            right.plot([r[f"{part}_mse"] for r in students[-1]], color=colour, label=f"{part} nodes")
        right.set_xlabel("epoch")
        right.set_ylabel("squared error of the integrated teacher")
        right.legend(fontsize=7, frameon=False)
    else:
        right.set_axis_off()
    return figure


def _figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("figures need matplotlib; install it with: pip install 'agssl[plot]'") from error
    return Figure(figsize=(width, height), layout="constrained", dpi=130)


def _cycle(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]
