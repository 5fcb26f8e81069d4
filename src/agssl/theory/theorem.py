"""Theorem 1: how near weighted teachers can come to p*, as teachers are added."""

from __future__ import annotations

from typing import Any

import numpy as np

from agssl.base.rng import Rng
from agssl.metrics import softmax
from agssl.theory.distance import KINDS, linear_weights

ORDERS = 6  # in which teachers are added


def theorem(teachers: np.ndarray, bayes: np.ndarray, rng: Rng) -> dict[str, Any]:
    """Mean Delta(K) over nodes for K = 1, 2, ..., by kind of weights, averaged over orders of the teachers."""
    noise = softmax(rng.child("noise").numpy().standard_normal(teachers.shape), axis=2)
    result: dict[str, Any] = {}
    for name, source in (("trained", teachers), ("ignorant", noise)):
        curves = {kind: np.zeros((ORDERS, len(source), len(bayes))) for kind in KINDS}
        for order in range(ORDERS):
            ordered = source[rng.child(name, order).numpy().permutation(len(source))]
            for count in range(1, len(source) + 1):
                for kind, distance in KINDS.items():
                    curves[kind][order, count - 1] = distance(ordered[:count], bayes)
        result[name] = {
            "distance": {kind: values.mean((0, 2)).tolist() for kind, values in curves.items()},
            "rises": {kind: int((np.diff(values, axis=1) > 1e-6).sum()) for kind, values in curves.items()},
            "outside_hull": float((curves["simplex"][0, -1] > 0.01).mean()),
        }
    nodes, likely = np.arange(len(bayes)), bayes.argmax(1)
    # no average of teachers that all give a class too little can give it enough
    result["all_less_sure"] = float((teachers[:, nodes, likely].max(0) < bayes[nodes, likely]).mean())
    classes = bayes.shape[1]
    result["weight_size"] = float(np.median(np.abs(linear_weights(teachers[:classes], bayes)).sum(1)))
    return result
