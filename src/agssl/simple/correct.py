"""Correct & Smooth (Huang et al., ICLR 2021): what labels say against a prediction is spread, then all is smoothed.

    E = 0 but 1[y_j] - p_j at labelled j;  E~ <- a S E~ + (1 - a) E;  p' = p + E~, scaled;  p'_j = 1[y_j];  p' smoothed

S = D^-1/2 A D^-1/2. The corrections of unlabelled nodes are scaled to the mean size of those of labelled ones.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class LeftOut(NamedTuple):
    """Some labelled nodes, and what there is to answer for them by without their labels."""

    nodes: np.ndarray
    told: np.ndarray  # labelled nodes, none of these
    probabilities: np.ndarray  # [N, C], of a model that knows nothing of their labels


class Smoothed(NamedTuple):
    """Probabilities after Correct & Smooth."""

    found: np.ndarray  # [N, C], with all labels
    apart: np.ndarray  # [N, C], of nodes that were left out what was said then; of others as before
    strength: Strength


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


def left_out(graph: Graph, probabilities: np.ndarray, told: np.ndarray, heldout: np.ndarray) -> list[LeftOut]:
    """Each fifth of the held-out nodes, class by class; one that is alone in its class is always told.

    Args:
        graph: with labels of the held-out nodes.
        probabilities: [N, C], of a model that knows nothing of these labels.
        told: nodes whose labels are always told.
        heldout: nodes to leave out in turn.
    """
    folds = stratified_folds(graph.y[heldout])
    return [
        LeftOut(heldout[folds == fold], np.concatenate([told, heldout[folds != fold]]), probabilities)
        for fold in np.unique(folds[folds >= 0])
    ]


def cross_smoothed(graph: Graph, probabilities: np.ndarray, told: np.ndarray, parts: Sequence[LeftOut]) -> Smoothed:
    """With all labels; and what is said of nodes without their own. The strength is what makes their labels likeliest.

    Args:
        graph: with labels of these nodes.
        probabilities: [N, C].
        told: all nodes whose labels are told.
        parts: nodes that are left out in turn.
    """
    best: tuple[float, np.ndarray, Strength] | None = None
    for strength in (Strength(a, b) for a in SHARES for b in SHARES):
        apart, likelihood = probabilities.astype(np.float64), 0.0
        for nodes, others, known in parts:
            labels = graph.y[nodes]
            apart[nodes] = correct_and_smooth(graph, known, others, graph.y[others], strength)[nodes]
            likelihood += float(np.log(np.maximum(apart[nodes, labels], FLOOR)).sum())
        if best is None or likelihood > best[0]:
            best = likelihood, apart, strength
    assert best is not None
    return Smoothed(correct_and_smooth(graph, probabilities, told, graph.y[told], best[2]), *best[1:])
