"""What teachers are worth beside each other: pairs, errors in common, and pools that grow by one at a time."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.fitting.fit import Resources, fit
from agssl.metrics import softmax
from agssl.train.pool import log_loss

MOST = 12  # teachers of the largest pool


class StageTimes:
    """Hears of epochs, and knows how many seconds each stage took; what is prepared counts for the stage after it."""

    def __init__(self) -> None:
        self.last = time.perf_counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def __call__(self, stage: str, record: Mapping[str, float]) -> None:
        """Add the time since the last epoch to that of the stage."""
        now = time.perf_counter()
        self.seconds[stage] += now - self.last
        self.last = now


def redundancy_record(graph: Graph, settings: Settings, seed: int, where: Resources) -> dict[str, Any]:
    """Train all teachers, and compare what they say, calibrated by validation labels, on test nodes.

    Args:
        graph: with a split without folds; test labels are read once everything is trained.
        settings: with the teachers that are compared.
        seed: of everything random but the split.
        where: to compute; without checkpoints, so that times are those of training.
    """
    assert graph.split is not None
    watch = StageTimes()
    fitted = fit(graph, settings, seed, where, watch).fitted
    assert fitted.weights is not None
    val, test = (nodes[graph.y[nodes] >= 0] for nodes in (graph.split.val, graph.split.test))
    said = softmax(fitted.calibrated(fitted.teacher_logits))  # [K, N, C]
    truth, right = graph.y[test], said[:, test].argmax(2) == graph.y[test]
    order = greedy_order(said[:, val], graph.y[val])
    seconds = [watch.seconds[f"teacher {name}"] for name in fitted.task_names]
    weights = fitted.weights[test].astype(np.float64)
    listens = np.exp(-(weights * np.log(np.maximum(weights, 1e-12))).sum(1))
    about = [
        {
            "name": name,
            "val_accuracy": float((said[k, val].argmax(1) == graph.y[val]).mean()),
            "test_accuracy": float(right[k].mean()),
            "seconds": round(seconds[k], 3),
        }
        for k, name in enumerate(fitted.task_names)
    ]
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "teachers": about,
        "adds": pair_gains(said[:, test], truth).tolist(),
        "errors": error_correlation(right).tolist(),
        "order": [fitted.task_names[k] for k in order],
        "grown": grown(said[:, test], truth, order, seconds),
        "effective_teachers": float(listens.mean()),
    }


def pair_gains(said: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """What teacher k adds where teacher j is there: accuracy of the mean of both minus that of j, [K, K] by k and j.

    >>> said = np.array([[[0.9, 0.1], [0.6, 0.4]], [[0.4, 0.6], [0.1, 0.9]]])
    >>> pair_gains(said, np.array([0, 1])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]

    Args:
        said: probabilities [K, n, C].
        truth: [n].
    """
    alone = (said.argmax(2) == truth).mean(1)
    both = np.array([[((a + b).argmax(1) == truth).mean() for b in said] for a in said])
    found: np.ndarray = both - alone
    return found


def error_correlation(right: np.ndarray) -> np.ndarray:
    """Pearson's correlation of the mistakes of each two teachers, [K, K]; 0 where one makes none or nothing else.

    >>> error_correlation(np.array([[1, 0, 1, 0], [1, 0, 1, 0], [1, 1, 1, 1]], dtype=bool)).round(2).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

    Args:
        right: [K, n].
    """
    wrong = ~right - (~right).mean(1, keepdims=True)
    spread = np.sqrt((wrong**2).sum(1))
    product = spread[:, None] * spread[None, :]
    found: np.ndarray = np.divide(wrong @ wrong.T, product, out=np.zeros_like(product), where=product > 0)
    np.fill_diagonal(found, 1.0)
    return found


def greedy_order(said: np.ndarray, truth: np.ndarray, most: int = MOST) -> list[int]:
    """Teachers in the order in which each makes the mean of those before it and itself likeliest.

    Args:
        said: probabilities [K, n, C] of held-out nodes.
        truth: [n].
        most: how many.
    """
    order: list[int] = []
    total = np.zeros_like(said[0])
    while len(order) < min(most, len(said)):
        left = [k for k in range(len(said)) if k not in order]
        losses = [log_loss((total + said[k]) / (len(order) + 1), truth) for k in left]
        order.append(left[int(np.argmin(losses))])
        total = total + said[order[-1]]
    return order


def grown(
    said: np.ndarray, truth: np.ndarray, order: Sequence[int], seconds: Sequence[float]
) -> list[dict[str, float]]:
    """Accuracy and log-loss of the mean of the first one, two, … teachers of an order, and the time they took."""
    means = np.cumsum(said[list(order)], axis=0) / np.arange(1, len(order) + 1)[:, None, None]
    spent = np.cumsum([seconds[k] for k in order])
    return [
        {
            "accuracy": float((mean.argmax(1) == truth).mean()),
            "log_loss": log_loss(mean, truth),
            "seconds": round(float(time_), 3),
        }
        for mean, time_ in zip(means, spent, strict=True)
    ]
