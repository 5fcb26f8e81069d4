"""Is trust right? Per-node teacher weights against which teachers were right, on nodes with known labels."""

from __future__ import annotations

from typing import Any

import numpy as np

BINS = 10


def measure_trust(weights: np.ndarray, logits: np.ndarray, truth: np.ndarray, best: int) -> dict[str, Any]:
    """How well lambda tells right teachers from wrong ones. Shares are None where no node can tell.

    Args:
        weights: lambda [n, K].
        logits: of the teachers, which have not seen these labels, [K, n, C].
        truth: the labels, [n].
        best: the teacher that one would have taken alone.

    Returns:
        `disagreement`, the share of nodes where not all teachers give one answer; there, the accuracies of the
        `most_trusted` teacher, the `best_single` one and of the `majority`; `pairs_right`, the share of pairs of a
        right and a wrong teacher of one node in which the right one weighs more (a tie is half), the mean over nodes
        that have such pairs, with its standard error `pairs_right_se` and their number `nodes`; `effective_teachers`,
        the mean of exp(entropy of lambda); and `reliability`: of the weights in each tenth, at nodes of disagreement,
        their mean, the share that belongs to right teachers, and how many there are.
    """
    answers = logits.argmax(-1)  # [K, n]
    right, apart = answers == truth, (answers != answers[0]).any(0)
    pairs = pairs_right(weights, right)
    entropy = -(weights * np.log(np.maximum(weights, 1e-12))).sum(1)
    top = weights == weights.max(1, keepdims=True)
    trusted = (top * right.T).sum(1) / top.sum(1)  # of equal ones, the mean
    deviation = pairs.std(ddof=1) / np.sqrt(len(pairs)) if len(pairs) > 1 else None
    return {
        "disagreement": float(apart.mean()) if len(apart) else None,
        "most_trusted": _mean(trusted[apart]),
        "best_single": _mean(right[best, apart]),
        "majority": _mean(_majority(answers[:, apart], logits.shape[2]) == truth[apart]),
        "pairs_right": _mean(pairs),
        "pairs_right_se": None if deviation is None else float(deviation),
        "nodes": len(pairs),
        "effective_teachers": _mean(np.exp(entropy)),
        "reliability": _reliability(weights[apart], right[:, apart].T),
    }


def pairs_right(weights: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The share of right pairs of each node that has any, from lambda [n, K] and which teachers are right [K, n].

    >>> pairs_right(np.array([[0.6, 0.3, 0.1], [0.5, 0.5, 0.0]]), np.array([[True, True], [False] * 2, [True, True]]))
    array([0.5 , 0.25])
    """
    both = right.T[:, :, None] & ~right.T[:, None, :]  # [n, K, K]: the first is right, the second is not
    more = (weights[:, :, None] > weights[:, None, :]) + 0.5 * (weights[:, :, None] == weights[:, None, :])
    count = both.sum((1, 2))
    found: np.ndarray = (both * more).sum((1, 2))[count > 0] / count[count > 0]
    return found


def _majority(answers: np.ndarray, classes: int) -> np.ndarray:
    """The answer of most teachers, the first of equals, [n]."""
    votes = np.stack([(answers == c).sum(0) for c in range(classes)])
    found: np.ndarray = votes.argmax(0)
    return found


def _reliability(weights: np.ndarray, right: np.ndarray) -> list[dict[str, float]]:
    which = np.minimum((weights * BINS).astype(int), BINS - 1)
    return [
        {"weight": float(weights[at].mean()), "right": float(right[at].mean()), "count": int(at.sum())}
        for at in (which == number for number in range(BINS))
        if at.any()
    ]


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None
