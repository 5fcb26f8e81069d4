"""What a run found, in a sentence: whom its nodes trusted, and where that differs."""

from __future__ import annotations

from typing import Any

import numpy as np

from agssl.store.fitted import FittedModel

ALIKE = 0.02  # mean weights that differ by less are alike
CLEAR = 0.2  # a rank correlation from which one may speak of it
ENOUGH = 10  # nodes of a class


def trust_sentence(fitted: FittedModel, degree: np.ndarray, classes: list[str], predicted: np.ndarray) -> str:
    """Who was trusted most, whether that goes with the number of neighbours, and which class leans on another teacher.

    Args:
        fitted: a model with teachers.
        degree: of each node, [N].
        classes: their names.
        predicted: the class of each node, by number, [N].
    """
    weights, names = fitted.weights, fitted.task_names
    assert weights is not None
    if len(names) == 1:
        return f"There was one teacher, {names[0]}."
    means = weights.mean(0, dtype=np.float64)
    top = int(means.argmax())
    if means.max() - means.min() < ALIKE:
        return "All teachers were trusted about alike."
    words = f"{names[top]} was trusted most ({means[top]:.0%} of the trust)"
    along = _rank_correlation(degree, weights[:, top])
    if abs(along) >= CLEAR and weights[:, top].std() > ALIKE:
        words += f", the {'more' if along > 0 else 'less'} so the more neighbours a node has"
    other = _leaning(weights, predicted, len(classes), top)
    if other is not None:
        words += f"; class {classes[other[0]]} leans on {names[other[1]]}"
    return words + "."


def _rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import spearmanr

    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    return float(spearmanr(a, b).statistic)


def _leaning(weights: np.ndarray, predicted: np.ndarray, classes: int, top: int) -> tuple[int, int] | None:
    """The class, and its teacher, that trusts another one than most do by the widest margin."""
    best, found = ALIKE, None
    for c in range(classes):
        members = weights[predicted == c]
        if len(members) < ENOUGH:
            continue
        means = members.mean(0, dtype=np.float64)
        lead = float(means.max() - means[top])
        if lead > best:
            best, found = lead, (c, int(means.argmax()))
    return found


def gaps(estimate: dict[str, Any] | None, baselines: dict[str, Any] | None) -> list[dict[str, Any]]:
    """By how much the result is above the simplest ways to predict, as the run has them."""
    if not estimate or not baselines:
        return []
    names = {"majority": "always the majority class", "logistic_regression": "logistic regression on the features"}
    return [
        {"name": names.get(key, key.replace("_", " ")), "value": value, "gap": estimate["value"] - value}
        for key, value in baselines.items()
        if isinstance(value, int | float)
    ]
