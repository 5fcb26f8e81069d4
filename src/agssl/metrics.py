"""How good predictions are, apart from any model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

BINS = 15


def softmax(logits: np.ndarray, axis: int = -1) -> np.ndarray:
    """Probabilities along an axis, in double precision."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis, keepdims=True))
    return shifted / shifted.sum(axis, keepdims=True)


def mean_softmax(many: Iterable[np.ndarray]) -> np.ndarray:
    """The mean over several models of their probabilities, from the logits of each."""
    total, count = np.zeros(()), 0
    for logits in many:
        total, count = total + softmax(logits), count + 1
    return total / count


def accuracy(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """Share of right answers."""
    return float((probabilities.argmax(1) == truth).mean())


def wilson_interval(share: float, trials: int) -> tuple[float, float]:
    """Wilson's 95% interval for the chance of success, from a share of successes in so many trials.

    >>> [round(end, 3) for end in wilson_interval(1.0, 9)]
    [0.701, 1.0]
    """
    z2 = 1.959964**2
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = (z2 * (share * (1 - share) / trials + z2 / (4 * trials**2))) ** 0.5 / (1 + z2 / trials)
    return max(0.0, middle - half), min(1.0, middle + half)


def macro_f1(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """F1 averaged over the classes that occur in truth or prediction."""
    from sklearn.metrics import f1_score

    return float(f1_score(truth, probabilities.argmax(1), average="macro"))


def log_loss(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean of -log p(right class), no p taken for less than 1e-12."""
    from sklearn import metrics

    return float(metrics.log_loss(truth, np.clip(probabilities, 1e-12, 1), labels=range(probabilities.shape[1])))


def calibration_error(truth: np.ndarray, probabilities: np.ndarray, bins: int = BINS) -> float:
    """Expected calibration error: the gap between confidence and accuracy, over equally wide bins of confidence."""
    confidence, right = probabilities.max(1), probabilities.argmax(1) == truth
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    count = np.bincount(which, minlength=bins)
    gap = np.bincount(which, right, bins) - np.bincount(which, confidence, bins)
    return float(np.abs(gap[count > 0]).sum() / len(truth))


def evaluate(truth: np.ndarray, probabilities: np.ndarray) -> dict[str, float]:
    """All metrics, for labelled nodes only (truth >= 0)."""
    known = truth >= 0
    truth, probabilities = truth[known], probabilities[known]
    if not len(truth):
        return dict.fromkeys(("accuracy", "macro_f1", "log_loss", "ece"), float("nan"))
    return {
        "accuracy": accuracy(truth, probabilities),
        "macro_f1": macro_f1(truth, probabilities),
        "log_loss": log_loss(truth, probabilities),
        "ece": calibration_error(truth, probabilities),
    }
