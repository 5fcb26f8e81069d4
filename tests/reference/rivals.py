"""The losses of GMI, MVGRL, GRACE, CG3, BGRL, GraphMAE and GRAND as loops over nodes, in Python floats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from reference.losses import Rows, binary_cross_entropy, mean_row, sigmoid

Vector = Sequence[float] | np.ndarray


def dot(a: Vector, b: Vector) -> float:
    """a . b."""
    return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def cosine(a: Vector, b: Vector) -> float:
    """a . b / (|a| |b|), 0 where one is zero."""
    lengths = math.sqrt(dot(a, a)) * math.sqrt(dot(b, b))
    return dot(a, b) / lengths if lengths else 0.0


def softplus(x: float) -> float:
    """log(1 + e^x)."""
    return math.log(1 + math.exp(x))


def shortened(rows: Rows) -> Rows:
    """Divided by their mean length, where that is above one."""
    length = max(1.0, sum(math.sqrt(dot(r, r)) for r in rows) / len(rows))
    return [[float(v) / length for v in row] for row in rows]


def grace(first: Rows, second: Rows, tau: float) -> float:
    """1/2N sum_i l(u_i, v_i) + l(v_i, u_i), each against all others of both views."""
    n = len(first)

    def term(u: Rows, v: Rows, i: int) -> float:
        between = [math.exp(cosine(u[i], v[k]) / tau) for k in range(n)]
        within = [math.exp(cosine(u[i], u[k]) / tau) for k in range(n) if k != i]
        return -math.log(between[i] / (sum(between) + sum(within)))

    return sum(term(first, second, i) + term(second, first, i) for i in range(n)) / (2 * n)


def bgrl(predicted: Sequence[Rows], seen: Sequence[Rows]) -> float:
    """Mean over nodes and both directions of 2 - 2 cos(prediction, what the target sees in the other view)."""
    n = len(seen[0])
    pairs = [(predicted[a][i], seen[1 - a][i]) for a in (0, 1) for i in range(n)]
    return sum(2 - 2 * cosine(p, h) for p, h in pairs) / (2 * n)


def graphmae(x: Rows, rebuilt: Rows, masked: Sequence[int], gamma: float) -> float:
    """1/|M| sum_{i in M} (1 - cos(x_i, z_i))^gamma."""
    return sum((1 - cosine(x[i], rebuilt[i])) ** gamma for i in masked) / len(masked)


def grand(said: Sequence[Rows], labels: Mapping[int, int], temperature: float) -> float:
    """Cross-entropy of the labelled nodes and squared distance of all to the sharpened mean, over views and nodes."""
    views, n, classes = len(said), len(said[0]), len(said[0][0])
    wrong = sum(-math.log(p[i][c]) for p in said for i, c in labels.items()) / (views * len(labels))
    apart = 0.0
    for i in range(n):
        powers = [(sum(p[i][c] for p in said) / views) ** (1 / temperature) for c in range(classes)]
        goal = [power / sum(powers) for power in powers]
        apart += sum((p[i][c] - goal[c]) ** 2 for p in said for c in range(classes))
    return wrong + apart / (views * n)


def mvgrl(real: Sequence[Rows], fake: Sequence[Rows], weight: Rows) -> float:
    """Half the cross-entropy of real nodes and half that of shuffled ones, view by view, by the other's summary."""
    lengths = [
        max(1.0, sum(math.sqrt(dot(r, r)) for r in rows) / len(rows)) for rows in real
    ]  # both of a view are scaled alike
    total = 0.0
    for a in (0, 1):
        summary = [sigmoid(m / lengths[1 - a]) for m in mean_row(real[1 - a])]
        turned = [dot(row, summary) for row in weight]
        n = len(real[a])
        total += sum(softplus(-dot(h, turned) / lengths[a]) for h in real[a]) / (2 * n)
        total += sum(softplus(dot(h, turned) / lengths[a]) for h in fake[a]) / (2 * n)
    return total


def gmi(
    hidden: Rows,
    x: Rows,
    theta: Rows,
    triples: Sequence[tuple[int, int, int]],
    shares: Sequence[float],
    apart: Sequence[tuple[int, int]],
    adaptive: bool,
    topology: float,
) -> float:
    """sum_ij w_ij (sp(-D(h_i, x_j)) + sp(D(h_i, x'_j))) + topology/2 (links' and non-links' cross-entropy)."""

    def score(i: int, j: int) -> float:
        features, width = len(theta), len(theta[0])
        return sum(hidden[i][b] * x[j][a] * theta[a][b] for a in range(features) for b in range(width))

    total = 0.0
    for (i, j, false), share in zip(triples, shares, strict=True):
        w = sigmoid(dot(hidden[i], hidden[j])) if adaptive else 1.0
        total += share * w * (softplus(-score(i, j)) + softplus(score(i, false)))
        total += topology / 2 * share * softplus(-dot(hidden[i], hidden[j]))
    return total + topology / 2 * sum(softplus(dot(hidden[i], hidden[j])) for i, j in apart) / len(apart)


def cg3_contrast(first: Rows, second: Rows, labels: Sequence[int], tau: float) -> float:
    """Mean over nodes and directions of -log(sum over the same label / sum over all); labels 0..n-1: by node."""
    n, total = len(first), 0.0
    for u, v in ((first, second), (second, first)):
        for i in range(n):
            powers = [math.exp(cosine(u[i], v[k]) / tau) for k in range(n)]
            total -= math.log(sum(p for p, y in zip(powers, labels, strict=True) if y == labels[i]) / sum(powers))
    return total / (2 * n)


def cg3_edges(first: Rows, second: Rows, pairs: Rows, linked: Vector, weight: Vector, bias: float) -> float:
    """Cross-entropy of sigmoid([h_i, h_j] w + b) and a_ij."""
    scores = [dot([*first[int(i)], *second[int(j)]], weight) + bias for i, j in pairs]
    return binary_cross_entropy(scores, linked)
