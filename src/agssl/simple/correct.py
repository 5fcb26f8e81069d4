"""Correct & Smooth (Huang et al., ICLR 2021): what labels say against a prediction is spread, then all is smoothed.

    E = 0 but 1[y_j] - p_j at labelled j;  E~ <- a S E~ + (1 - a) E;  p' = p + E~, scaled;  p'_j = 1[y_j];  p' smoothed

S = D^-1/2 A D^-1/2. The corrections of unlabelled nodes are scaled to the mean size of those of labelled ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agssl.data.graph import Graph
from agssl.simple.base import FLOOR, stratified_folds
from agssl.simple.propagation import spread

STEPS = 50
SHARES = (0.5, 0.8)  # a that are tried


class Strength(NamedTuple):
    """What a node takes from its neighbours."""

    correct: float
    smooth: float


def correct_and_smooth(
    graph: Graph, probabilities: np.ndarray, nodes: np.ndarray, labels: np.ndarray, strength: Strength
) -> np.ndarray:
    """Probabilities [N, C] corrected by the labels of some nodes, and smoothed; float64.

    Args:
        graph: its edges and their weights.
        probabilities: [N, C].
        nodes: whose labels are told.
        labels: of these.
        strength: of both steps.
    """
    truth = np.eye(probabilities.shape[1])[labels]
    errors = np.zeros(probabilities.shape, dtype=np.float32)
    errors[nodes] = truth - probabilities[nodes]
    wrong = spread(graph, errors, strength.correct, STEPS).astype(np.float64)
    size, usual = np.abs(wrong).sum(1, keepdims=True), np.abs(errors[nodes]).sum(1).mean() if len(nodes) else 0.0
    scale = np.minimum(1.5, np.divide(usual, size, out=np.ones_like(size), where=size > FLOOR))
    found = np.maximum(probabilities + scale * wrong, FLOOR)
    found[nodes] = truth
    found = np.maximum(spread(graph, found.astype(np.float32), strength.smooth, STEPS).astype(np.float64), FLOOR)
    return found / found.sum(1, keepdims=True)


def cross_smoothed(
    graph: Graph, probabilities: np.ndarray, told: np.ndarray, heldout: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Strength]:
    """With all labels; and what is said of held-out nodes without a fifth of them, their own among these.

    Args:
        graph: with labels of these nodes.
        probabilities: [N, C], of held-out nodes by networks that have not seen their labels.
        told: nodes whose labels are always told.
        heldout: nodes by whose labels, left out in turn, the strength is chosen: the one that makes them likeliest.

    Returns:
        Probabilities [N, C], those of held-out nodes [n, C], and the strength.
    """
    y, folds = graph.y, stratified_folds(graph.y[heldout])
    best: tuple[float, np.ndarray, Strength] | None = None
    for strength in (Strength(a, b) for a in SHARES for b in SHARES):
        found = probabilities[heldout].astype(np.float64)
        for fold in np.unique(folds[folds >= 0]):
            nodes = np.concatenate([told, heldout[folds != fold]])
            found[folds == fold] = correct_and_smooth(graph, probabilities, nodes, y[nodes], strength)[
                heldout[folds == fold]
            ]
        likelihood = float(np.log(np.maximum(found[np.arange(len(heldout)), y[heldout]], FLOOR)).sum())
        if best is None or likelihood > best[0]:
            best = likelihood, found, strength
    assert best is not None
    nodes = np.concatenate([told, heldout])
    return correct_and_smooth(graph, probabilities, nodes, y[nodes], best[2]), best[1], best[2]
