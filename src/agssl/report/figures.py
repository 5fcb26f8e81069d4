"""What the page shows of predictions, as counts: confusion, calibration, agreement, and what integration changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from agssl.metrics import BINS


def confusion(truth: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """How many nodes of each class (row) were predicted as each class (column), int64 [C, C]."""
    return np.bincount(truth * classes + predicted, minlength=classes**2).reshape(classes, classes)


def reliability(truth: np.ndarray, probabilities: np.ndarray, bins: int = BINS) -> list[dict[str, Any]]:
    """By bin of confidence: nodes, mean confidence and accuracy; the bins of `agssl.metrics.calibration_error`."""
    confidence, right = probabilities.max(1), probabilities.argmax(1) == truth
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    found = []
    for number in np.unique(which):
        members = which == number
        found.append(
            {
                "low": number / bins,
                "high": (number + 1) / bins,
                "nodes": int(members.sum()),
                "confidence": float(confidence[members].mean()),
                "accuracy": float(right[members].mean()),
            }
        )
    return found


def agreement(predictions: np.ndarray) -> np.ndarray:
    """The share of nodes on which each two of M models agree, [M, M], from predictions [M, N]."""
    return np.array([(predictions == row).mean(1) for row in predictions])


def changes(right: np.ndarray, before: np.ndarray) -> dict[str, int]:
    """What a model made of another's answers, from who is right where: nodes rescued, spoiled, and left as they were.

    >>> changes(np.array([True, True, False]), np.array([True, False, True]))
    {'both_right': 1, 'rescued': 1, 'spoiled': 1, 'both_wrong': 0}
    """
    return {
        "both_right": int((right & before).sum()),
        "rescued": int((right & ~before).sum()),
        "spoiled": int((~right & before).sum()),
        "both_wrong": int((~right & ~before).sum()),
    }


def by_teachers_right(right: np.ndarray, teachers_right: np.ndarray) -> list[dict[str, int]]:
    """By number of teachers that are right: nodes, and those that the student gets right; `teachers_right` [K, N]."""
    count = teachers_right.sum(0)
    return [
        {"teachers": k, "nodes": int((count == k).sum()), "right": int(right[count == k].sum())}
        for k in range(len(teachers_right) + 1)
    ]


def trusted_right(weights: np.ndarray, teachers_right: np.ndarray, bins: int = 8) -> list[dict[str, Any]]:
    """By how much a node trusts a teacher, how often that teacher is right: groups of equally many pairs.

    Args:
        weights: [n, K].
        teachers_right: [K, n].
        bins: groups of pairs of a node and a teacher; fewer where many weights are the same.
    """
    trust, right = weights.T.ravel(), teachers_right.ravel()
    if not len(trust):
        return []
    edges = np.unique(np.quantile(trust, np.linspace(0, 1, bins + 1)))
    which = np.clip(np.searchsorted(edges, trust, side="right") - 1, 0, max(0, len(edges) - 2))
    found = []
    for number in np.unique(which):
        members = which == number
        row = {"trust": float(trust[members].mean()), "right": float(right[members].mean())}
        found.append(row | {"pairs": int(members.sum())})
    return found
