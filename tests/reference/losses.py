"""Every loss as a loop over nodes or pairs, in Python floats."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Rows = Sequence[Sequence[float]] | np.ndarray


def softmax(scores: Sequence[float] | np.ndarray) -> list[float]:
    """exp(s) / sum exp(s)."""
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    return [p / sum(powers) for p in powers]


def linear(vector: Sequence[float] | np.ndarray, weight: Rows, bias: Sequence[float] | np.ndarray) -> list[float]:
    """W v + b."""
    return [sum(w * v for w, v in zip(row, vector, strict=True)) + b for row, b in zip(weight, bias, strict=True)]


def cross_entropy(scores: Rows, labels: Sequence[int] | np.ndarray) -> float:
    """-1/n sum_i log softmax(s_i)[y_i]."""
    return -sum(math.log(softmax(s)[y]) for s, y in zip(scores, labels, strict=True)) / len(labels)


def difference(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> list[float]:
    """|a - b|, element by element."""
    return [abs(x - y) for x, y in zip(a, b, strict=True)]


def sigmoid(x: float) -> float:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + math.exp(-x))


def mean_row(rows: Rows) -> list[float]:
    """The mean over rows, that is over nodes."""
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def bilinear(h: Sequence[float] | np.ndarray, weight: Rows, s: Sequence[float] | np.ndarray) -> float:
    """h^T W s."""
    return sum(h[a] * weight[a][b] * s[b] for a in range(len(h)) for b in range(len(s)))


def scaled(hidden: Rows, corrupted: Rows) -> tuple[Rows, Rows]:
    """Both divided by the mean length of the real representations, where that is above one."""
    length = max(1.0, sum(math.sqrt(sum(float(v) ** 2 for v in row)) for row in hidden) / len(hidden))
    return [[v / length for v in row] for row in hidden], [[v / length for v in row] for row in corrupted]


def dgi_jsd(hidden: Rows, corrupted: Rows, weight: Rows, chosen: Sequence[int]) -> float:
    """Half the binary cross-entropy of real nodes (1) and half that of shuffled ones (0), against sigmoid(mean)."""
    hidden, corrupted = scaled(hidden, corrupted)
    summary = [sigmoid(m) for m in mean_row(hidden)]
    real = [-math.log(sigmoid(bilinear(hidden[i], weight, summary))) for i in chosen]
    fake = [-math.log(1 - sigmoid(bilinear(corrupted[i], weight, summary))) for i in chosen]
    return (sum(real) + sum(fake)) / (2 * len(chosen))


def dgi_infonce(hidden: Rows, corrupted: Rows, weight: Rows, chosen: Sequence[int]) -> float:
    """-1/n sum_i log (exp s_i / sum_j exp s_j), s_j being the score of node j and the shuffled graph's mean."""
    hidden, corrupted = scaled(hidden, corrupted)
    summary = mean_row(corrupted)
    scores = [bilinear(hidden[i], weight, summary) for i in chosen]
    total = sum(math.exp(s) for s in scores)
    return -sum(math.log(math.exp(s) / total) for s in scores) / len(scores)


def binary_cross_entropy(scores: Sequence[float], labels: Sequence[float]) -> float:
    """-1/n sum y log sigmoid(s) + (1 - y) log (1 - sigmoid(s))."""
    terms = [y * math.log(sigmoid(s)) + (1 - y) * math.log(1 - sigmoid(s)) for s, y in zip(scores, labels, strict=True)]
    return -sum(terms) / len(terms)
