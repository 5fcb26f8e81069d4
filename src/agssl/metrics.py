"""How good predictions are, apart from any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agssl.base.errors import SettingsError

BINS = 15
RANKED = ("roc_auc", "average_precision")  # they compare nodes of a class with others, so there must be both
RESAMPLES = 1000
_LEAST_RESAMPLES = 200
_WORK = 2e8  # numbers that all resamples together may read: about a minute, whatever the graph
_PERCENT = ("accuracy", "balanced_accuracy")


@dataclass(frozen=True)
class Decision:
    """How the probabilities of two classes become one of them.

    Args:
        positive: the number of the class that is looked for.
        threshold: it is predicted from this probability on; None: where it is the likelier one.
        precision: of the threshold, on the labels that it was found by.
        recall: likewise.
    """

    positive: int
    threshold: float | None = None
    precision: float | None = None
    recall: float | None = None


def decided(probabilities: np.ndarray, decision: Decision | None = None) -> np.ndarray:
    """The class of each node, by number: the likeliest, or as a threshold has it.

    >>> decided(np.array([[0.7, 0.3], [0.9, 0.1]]), Decision(positive=1, threshold=0.25)).tolist()
    [1, 0]
    """
    if decision is None or decision.threshold is None:
        found: np.ndarray = probabilities.argmax(1)
        return found
    positive = probabilities[:, decision.positive] >= decision.threshold
    return np.where(positive, decision.positive, 1 - decision.positive)


def softmax(logits: np.ndarray, axis: int = -1) -> np.ndarray:
    """Probabilities along an axis, in double precision."""
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis, keepdims=True))
    return shifted / shifted.sum(axis, keepdims=True)


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


def per_class(truth: np.ndarray, predicted: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Precision, recall, F1 and support (nodes in truth) of each class; 0 where there is nothing to divide by."""
    both = np.bincount(truth[truth == predicted], minlength=classes)
    support, named = np.bincount(truth, minlength=classes), np.bincount(predicted, minlength=classes)
    return {
        "precision": both / np.maximum(named, 1),
        "recall": both / np.maximum(support, 1),
        "f1": 2 * both / np.maximum(support + named, 1),
        "support": support,
    }


def macro_f1(truth: np.ndarray, probabilities: np.ndarray, decision: Decision | None = None) -> float:
    """F1 averaged over the classes that occur in truth or prediction."""
    predicted = decided(probabilities, decision)
    f1 = per_class(truth, predicted, probabilities.shape[1])["f1"]
    return float(f1[np.union1d(truth, predicted)].mean())


def balanced_accuracy(truth: np.ndarray, probabilities: np.ndarray, decision: Decision | None = None) -> float:
    """Recall averaged over the classes that occur in truth."""
    recall = per_class(truth, decided(probabilities, decision), probabilities.shape[1])["recall"]
    return float(recall[np.unique(truth)].mean())


def roc_auc(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """The chance that a node of a class has a higher probability of it than one of another class, ties counting half.

    With more than two classes it is the mean over those in truth, each against all others; NaN where there is but one.
    """
    present = np.unique(truth)
    if len(present) < 2:
        return float("nan")
    asked = (1,) if probabilities.shape[1] == 2 else present  # of two, both have the same
    return float(np.mean([_roc_auc(truth == k, probabilities[:, k]) for k in asked]))


def _roc_auc(positive: np.ndarray, scores: np.ndarray) -> float:
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]  # of equal scores, the mean of their places
    positives = int(positive.sum())
    pairs = positives * (len(positive) - positives)
    return float((rank[positive].sum() - positives * (positives + 1) / 2) / pairs)


def average_precision(truth: np.ndarray, probabilities: np.ndarray, decision: Decision | None = None) -> float:
    """The area under the curve of precision by recall, as steps: of the positive class where there are two classes.

    With more it is the mean over those in truth, each against all others; NaN where there is but one.
    """
    present = np.unique(truth)
    if len(present) < 2:
        return float("nan")
    if probabilities.shape[1] == 2:
        present = np.array([1 if decision is None else decision.positive])
    return float(np.mean([_average_precision(truth == k, probabilities[:, k]) for k in present]))


def _average_precision(positive: np.ndarray, scores: np.ndarray) -> float:
    _, right, named = _by_threshold(positive, scores)
    return float((np.diff(right, prepend=0) / right[-1] * (right / named)).sum())


def _by_threshold(positive: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct scores, highest first; and from each on, how many nodes are rightly named, and how many in all."""
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    return scores[last], np.cumsum(positive)[last], last + 1


def find_threshold(positive: np.ndarray, scores: np.ndarray, rule: str | float) -> Decision:
    """The threshold that a rule asks for, given which nodes are positive and their scores; `positive` is left at 1.

    Args:
        positive: bool, with at least one node.
        scores: the probability of the positive class.
        rule: "f1" for the highest F1; "precision:0.9" for the highest recall with such a precision, or, where none has
            it, the highest precision; a number for itself.
    """
    values, right, named = _by_threshold(positive, scores)
    positives = max(1, int(positive.sum()))
    precision, recall = right / named, right / positives
    if isinstance(rule, str):
        if rule == "f1":
            at = int(np.argmax(2 * right / (named + positives)))
        else:
            wanted = float(rule.removeprefix("precision:"))
            enough = np.flatnonzero(precision >= wanted)
            at = int(enough[-1] if len(enough) else np.argmax(precision))
        # between two scores, so that it does not hang on the last digit of one
        below = values[at + 1] if at + 1 < len(values) else 0.0
        return Decision(1, float((values[at] + below) / 2), float(precision[at]), float(recall[at]))
    named_at = scores >= rule
    right_at = int((positive & named_at).sum())
    return Decision(1, rule, right_at / max(1, int(named_at.sum())), right_at / positives)


def log_loss(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """Mean of -log p(right class), no p taken for less than 1e-12."""
    of_truth = probabilities[np.arange(len(truth)), truth].astype(np.float64)
    return float(-np.log(of_truth.clip(1e-12, 1)).mean())


def calibration_error(truth: np.ndarray, probabilities: np.ndarray, bins: int = BINS) -> float:
    """Expected calibration error: the gap between confidence and accuracy, over equally wide bins of confidence."""
    confidence, right = probabilities.max(1), probabilities.argmax(1) == truth
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    count = np.bincount(which, minlength=bins)
    gap = np.bincount(which, right, bins) - np.bincount(which, confidence, bins)
    return float(np.abs(gap[count > 0]).sum() / len(truth))


def measure(metric: str, truth: np.ndarray, probabilities: np.ndarray, decision: Decision | None = None) -> float:
    """A metric by its name (`agssl.config.fields.METRICS`), of nodes with known labels.

    >>> measure("roc_auc", np.array([0, 1, 1]), np.array([[0.6, 0.4], [0.7, 0.3], [0.1, 0.9]]))
    0.5
    """
    if metric == "accuracy":
        return float((decided(probabilities, decision) == truth).mean())
    if metric == "balanced_accuracy":
        return balanced_accuracy(truth, probabilities, decision)
    if metric == "macro_f1":
        return macro_f1(truth, probabilities, decision)
    if metric == "roc_auc":
        return roc_auc(truth, probabilities)
    if metric == "average_precision":
        return average_precision(truth, probabilities, decision)
    if metric == "log_loss":
        return log_loss(truth, probabilities)
    raise SettingsError(f"there is no metric {metric!r}")


def gain(metric: str, value: float) -> float:
    """The value such that greater is better.

    >>> gain("log_loss", 0.5), gain("roc_auc", 0.5)
    (-0.5, 0.5)
    """
    return -value if metric == "log_loss" else value


def metric_text(metric: str, value: float) -> str:
    """A value for people.

    >>> metric_text("accuracy", 0.5), metric_text("roc_auc", 0.5)
    ('50.0%', '0.500')
    """
    return f"{value:.1%}" if metric in _PERCENT else f"{value:.3f}"


@dataclass(frozen=True, eq=False)
class Measured:
    """What one model said of nodes whose labels are known."""

    nodes: np.ndarray  # [n], by number
    truth: np.ndarray  # [n]
    probabilities: np.ndarray  # [n, C]
    decision: Decision | None = None


def resampled(metric: str, models: Sequence[Measured], resamples: int | None = None) -> np.ndarray:
    """The mean of a metric over models, once for each resample of the nodes with replacement (the bootstrap).

    A node is drawn as often for one model as for another: those that measure the same nodes know no more of nodes in
    general than one of them does. Resamples in which the metric is not defined are left out. The draws are the same
    every time.
    """
    nodes, which = np.unique(np.concatenate([one.nodes for one in models]), return_inverse=True)
    places = np.split(which, np.cumsum([len(one.nodes) for one in models])[:-1])
    size = sum(one.probabilities.size for one in models)
    count = resamples or int(min(RESAMPLES, max(_LEAST_RESAMPLES, _WORK / max(1, size))))
    draw, values = np.random.default_rng(0), []
    for _ in range(count):
        times = np.bincount(draw.integers(len(nodes), size=len(nodes)), minlength=len(nodes))
        means = []
        for one, place in zip(models, places, strict=True):
            at = np.repeat(np.arange(len(place)), times[place])
            if len(at):
                means.append(measure(metric, one.truth[at], one.probabilities[at], one.decision))
        values.append(np.mean(means))
    found = np.array(values)
    return found[np.isfinite(found)]


def evaluate(truth: np.ndarray, probabilities: np.ndarray, decision: Decision | None = None) -> dict[str, float]:
    """All metrics, for labelled nodes only (truth >= 0)."""
    known = truth >= 0
    truth, probabilities = truth[known], probabilities[known]
    names = ("accuracy", "macro_f1", "log_loss", "balanced_accuracy", "roc_auc", "average_precision")
    if not len(truth):
        return dict.fromkeys((*names, "ece"), float("nan"))
    found = {name: measure(name, truth, probabilities, decision) for name in names}
    return found | {"ece": calibration_error(truth, probabilities)}
