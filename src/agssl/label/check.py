"""Which labels to doubt: those that networks which had not seen them do not believe.

Confident learning (Northcutt et al. 2021). The threshold of class d is the mean probability that held-out answers give
d at nodes labelled d. A node is confidently d if the probability of d reaches that threshold (of several, the likeliest
one); if that is another class than its label, the label is doubted. Labels are ranked by their own probability, the
least believed first: a node between two classes has a small margin, but its label may well be right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agssl.base.errors import GraphError
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.store.fitted import FittedModel, judged
from agssl.store.run_writer import node_names


@dataclass(frozen=True)
class CheckedLabel:
    """A label, and what networks that had not seen it say of its node."""

    node: str
    index: int
    label: str
    looks_like: str  # the class it is confidently of, if that is another; else the likeliest other class
    suspect: bool
    probability: float  # of the label
    other: float  # of `looks_like`
    neighbours: dict[str, int]  # labels of the nodes next to it, the most common first
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def check_labels(models: Iterable[tuple[FittedModel, Split]], graph: Graph) -> list[CheckedLabel]:
    """All labels that can be checked, the least believed first.

    Args:
        models: a fitted model with its split, or those of several seeds, whose answers are averaged.
        graph: the fitted one; its labels are those that are checked.
    """
    classes: tuple[str, ...] = ()
    total, times = np.zeros((0, 0)), np.zeros(graph.num_nodes, dtype=np.int64)
    for fitted, split in models:
        if not classes:
            classes, total = fitted.classes, np.zeros((graph.num_nodes, len(fitted.classes)))
        for part in ("val", "test"):
            said = judged(fitted, split, part)
            total[said.nodes] += said.probabilities
            times[said.nodes] += 1
    labels = _numbers(graph, classes)
    nodes = np.flatnonzero((times > 0) & (labels >= 0))
    if not len(nodes):
        raise GraphError(
            f"no label of {graph.name} was held out, so none can be checked; fit with --split cv:5, which holds out all"
        )
    probabilities, y = total[nodes] / times[nodes, None], labels[nodes]
    sure, own = confident_class(probabilities, thresholds(probabilities, y)), probabilities[np.arange(len(y)), y]
    suspect = (sure >= 0) & (sure != y)
    looks = np.where(suspect, sure, likeliest_other(probabilities, y))
    names = node_names(graph)
    found: list[CheckedLabel] = []
    for at in np.argsort(own, kind="stable").tolist():
        node, label, other = int(nodes[at]), classes[y[at]], classes[looks[at]]
        chance, near = float(probabilities[at, looks[at]]), neighbour_labels(graph, node)
        reason = f"held out, it is {other} {chance:.0%}, {label} {own[at]:.0%}; {_around(near)}"
        about = (names[node], node, label, other, bool(suspect[at]), float(own[at]), chance)
        found.append(CheckedLabel(*about, near, reason))
    return found


def thresholds(probabilities: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of each class, the mean probability [C] that nodes labelled with it are given of it; infinite without such nodes.

    >>> thresholds(np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]), np.array([0, 0, 1])).tolist()
    [0.7, 0.8]
    """
    counts = np.bincount(y, minlength=probabilities.shape[1])
    sums = np.bincount(y, weights=probabilities[np.arange(len(y)), y], minlength=probabilities.shape[1])
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)


def confident_class(probabilities: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """The likeliest class at or above its threshold, by number [n]; -1 where there is none."""
    above = np.where(probabilities >= limits, probabilities, -1.0)
    return np.where(above.max(1) >= 0, above.argmax(1), -1)


def likeliest_other(probabilities: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The likeliest class but for the label, by number [n]."""
    others = probabilities.copy()
    others[np.arange(len(y)), y] = -1
    found: np.ndarray = others.argmax(1)
    return found


def _numbers(graph: Graph, classes: tuple[str, ...]) -> np.ndarray:
    """The labels by the model's numbers [N], -1 where there is none or its class is new: a file may have changed."""
    place = {name: number for number, name in enumerate(classes)}
    known = np.array([*(place.get(name, -1) for name in graph.classes), -1])
    return known[graph.y]  # -1 is the last


def neighbour_labels(graph: Graph, node: int) -> dict[str, int]:
    """How many neighbours have each label, the most common first; those without one do not count."""
    near = Counter(graph.classes[y] for y in graph.y[graph.neighbours(node)].tolist() if y >= 0)
    return dict(sorted(near.items(), key=lambda item: (-item[1], item[0])))


def _around(near: dict[str, int]) -> str:
    shown = ", ".join(f"{count} {name}" for name, count in near.items())
    return f"labelled neighbours: {shown}" if near else "no labelled neighbours"
