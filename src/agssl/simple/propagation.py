"""LP: labels spread along edges, F <- a S F + (1 - a) Y with S = D^-1/2 A D^-1/2 (Zhou et al. 2004)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize_scalar

from agssl.base.errors import SettingsError
from agssl.data.graph import Graph
from agssl.simple.base import FLOOR, FOLDS, SIMPLE, class_shares, log_probabilities, stratified_folds

CLOSE = 1e-6  # a change of the largest entry that counts as none
SHARPEST, FLATTEST = 0.2, 20.0  # temperatures that are looked at


class LabelPropagation:
    """Labels spread along the edges, features unread; how sure it is comes from labels that it was not told.

    Nodes that no label reaches get the frequencies of the classes. The probabilities are those of the spread labels,
    softened or sharpened by a temperature under which labels that are left out in turn are likeliest.

    Args:
        a: what a node takes from its neighbours; the rest it keeps of its own label.
        iterations: at most; it ends earlier when nothing changes any more.
    """

    name: ClassVar[str] = "lp"

    def __init__(self, a: float = 0.9, iterations: int = 50) -> None:
        if not 0 < a < 1:
            raise SettingsError(f"simple classifier 'lp': a = {a}, but it must lie between 0 and 1; 0.9 is usual")
        if iterations < 1:
            raise SettingsError(f"simple classifier 'lp': iterations = {iterations}, but it takes one at least")
        self.a, self.iterations = a, iterations

    def settings(self) -> dict[str, Any]:
        """The share from neighbours and the number of iterations."""
        return {"a": self.a, "iterations": self.iterations}

    def fit_predict(self, graph: Graph, nodes: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
        """Log-probabilities [N, C]; see `SimpleClassifier`."""
        found = _as_shares(self._spread(graph, nodes, labels, classes), class_shares(labels, classes))
        heat = _temperature(*self._left_out(graph, nodes, labels, classes))
        soft = found ** (1 / heat)
        return log_probabilities(soft / soft.sum(axis=1, keepdims=True))

    def _left_out(
        self, graph: Graph, nodes: np.ndarray, labels: np.ndarray, classes: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """What it says of labelled nodes when it is not told their labels, and these labels."""
        folds = stratified_folds(labels)
        mass = np.zeros((len(nodes), classes), dtype=np.float32)
        for fold in range(FOLDS):
            out = folds == fold
            if out.any():
                mass[out] = self._spread(graph, nodes[~out], labels[~out], classes)[nodes[out]]
        tried = folds >= 0
        return _as_shares(mass[tried], class_shares(labels, classes)), labels[tried]

    def _spread(self, graph: Graph, nodes: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
        told = np.zeros((graph.num_nodes, classes), dtype=np.float32)
        told[nodes, labels] = 1
        return spread(graph, told, self.a, self.iterations)


def spread(graph: Graph, told: np.ndarray, a: float, iterations: int) -> np.ndarray:
    """F after so many steps F <- a S F + (1 - a) Y from F = Y, or fewer where it has settled; float32 [N, width].

    Args:
        graph: its edges and their weights.
        told: Y, float32 [N, width].
        a: the share from neighbours.
        iterations: at most.
    """
    degree = graph.weighted_degree
    root = np.where(degree > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0).astype(np.float32)[:, None]
    adjacency, found = graph.adjacency(), told
    for _ in range(iterations):
        before, found = found, a * root * (adjacency @ (root * found)) + (1 - a) * told
        found = found.astype(np.float32, copy=False)
        if np.abs(found - before).max(initial=0) < CLOSE:
            break
    return found


def _as_shares(mass: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Rows that sum to 1, at least `FLOOR` everywhere; those without any mass are the prior. float64."""
    total = mass.sum(axis=1, keepdims=True, dtype=np.float64)
    return np.maximum(np.where(total > 0, mass / np.where(total > 0, total, 1), prior), FLOOR)


def _temperature(shares: np.ndarray, labels: np.ndarray) -> float:
    """The temperature under which these labels are likeliest; 1 where there are none."""
    if not len(labels):
        return 1.0
    logs = np.log(shares)

    def loss(log_heat: float) -> float:
        scaled = logs / np.exp(log_heat)
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        return float((np.log(np.exp(scaled).sum(axis=1)) - scaled[np.arange(len(labels)), labels]).mean())

    best = minimize_scalar(loss, bounds=(np.log(SHARPEST), np.log(FLATTEST)), method="bounded")
    return float(np.exp(best.x))


SIMPLE.add("lp", LabelPropagation)
