"""Figures of a fit (extra `plot`): teacher weights, training curves, the embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agssl.base.atomic import atomic_write
from agssl.base.errors import SettingsError, unknown_name
from agssl.base.install import missing_extra
from agssl.explain.groups import Group, by_class, by_degree
from agssl.explain.layout import flat_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from agssl.data.graph import Graph
    from agssl.store.fitted import FittedModel
    from agssl.store.run import Run

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#F0E442")  # Okabe & Ito


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
    axes.set_title("Mean teacher weights")
    return figure


def training_curves(history: Mapping[str, Mapping[str, Sequence[float | None]]]) -> Figure:
    """Validation accuracy of every stage, and the squared error of the integrated teacher.

    Args:
        history: by stage and figure, one value per epoch (`agssl.store.run.Run.history`).
    """
    figure = _figure(10, 3.8)
    left, right = figure.subplots(1, 2)
    checkpoints = {name: columns for name, columns in history.items() if "val_accuracy" in columns}
    for number, (name, columns) in enumerate(checkpoints.items()):
        style = {"linewidth": 2.2} if name.startswith("student") else {"linewidth": 1.0, "alpha": 0.8}
        left.plot(columns["val_accuracy"], color=COLOURS[number % len(COLOURS)], label=name, **style)
    left.set_xlabel("epoch")
    left.set_ylabel("validation accuracy")
    left.legend(fontsize=7, frameon=False)
    students = [columns for name, columns in checkpoints.items() if name.startswith("student")]
    if not students:
        right.set_axis_off()
        return figure
    for part, colour in (("train", COLOURS[0]), ("val", COLOURS[5])):
        right.plot(students[-1][f"{part}_mse"], color=colour, label=f"{part} nodes")
    right.set_xlabel("epoch of the last student")
    right.set_ylabel("squared error of the integrated teacher")
    right.legend(fontsize=7, frameon=False)
    return figure


def embedding_map(
    fitted: FittedModel, graph: Graph, hidden: np.ndarray, colour: str = "class", layout: str = "tsne"
) -> Figure:
    """A flat map of the nodes by their embedding [N, F], coloured by what is known of them."""
    which, names = _colouring(fitted, graph, colour)
    figure = _figure(7.5, 6)
    axes = figure.subplots()
    x, y = flat_map(hidden, layout).T
    size = float(np.clip(4e4 / len(x), 1.5, 30))
    if names is None:
        points = axes.scatter(x, y, s=size, c=which, cmap="cividis", linewidths=0)
        figure.colorbar(points, label="probability of the predicted class")
    for number, name in enumerate(names or ()):
        at = which == number
        if at.any():
            label = f"{name}  ({int(at.sum()):,})"
            axes.scatter(x[at], y[at], s=size, color=COLOURS[number % len(COLOURS)], linewidths=0, label=label)
    if names is not None:
        title = {"class": "predicted class", "task": "most trusted task"}.get(colour)
        figure.legend(loc="outside right upper", fontsize=8, frameon=False, markerscale=1.5, title=title)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.set_title(f"{graph.name}: nodes by embedding")
    return figure


def _colouring(fitted: FittedModel, graph: Graph, colour: str) -> tuple[np.ndarray, Sequence[str] | None]:
    """For each node a group, with the names of the groups, or a number in 0..1."""
    predicted = fitted.decide(fitted.confidence(fitted.logits))
    if colour == "class":
        return predicted, fitted.classes
    if colour == "confidence":
        return fitted.confidence(fitted.logits).max(1), None
    if colour == "right":
        return np.where(graph.y < 0, 2, predicted != graph.y), ("right", "wrong", "no label")
    if colour == "task" and fitted.weights is not None:
        return fitted.weights.argmax(1), fitted.task_names
    if colour == "task":
        raise SettingsError(f"method {fitted.settings.method} has no task weights to colour by; fit with method agssl")
    raise unknown_name("colour", colour, ("class", "task", "confidence", "right"))


def write_pictures(run: Run, seed: int | None = None) -> list[Path]:
    """Draw a run into its folder `pictures`; returns the files."""
    fitted, graph = run.fitted(seed), run.graph(seed)
    figures = {"training": training_curves(run.history(seed))}
    if fitted.weights is not None:
        figures["weights-by-degree"] = weights_by_group(by_degree(fitted, graph.degree), "degree")
        figures["weights-by-class"] = weights_by_group(by_class(fitted), "class")
    paths = []
    for name, figure in figures.items():
        path = run.path / "pictures" / f"{name}.png"
        with atomic_write(path) as file:
            figure.savefig(file, format="png")
        paths.append(path)
    return paths


def check_plotting() -> None:
    """Find out before training whether figures can be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise missing_extra("figures need matplotlib", "plot") from error


def _figure(width: float, height: float) -> Figure:
    check_plotting()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", dpi=130)
