"""What a model has to beat: the majority class, and logistic regression on the features alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.metrics import Decision, measure
from agssl.simple.linear import Reduced, unit_features
from agssl.simple.regression import choose_strength, fit_logistic

WORK = 3e8  # numbers times classes that all regressions together may train on: seconds, whatever the graph
_ROWS = 50_000  # nodes that are predicted at a time


def baselines(
    graph: Graph,
    splits: Sequence[Split],
    part: str,
    threads: int = 1,
    metric: str = "accuracy",
    decision: Decision | None = None,
) -> dict[str, float]:
    """A metric by name, each the mean over the splits; they read the labels of training nodes, and no others.

    The majority class has the classes' shares of the training nodes for probabilities. Logistic regression has rows of
    unit norm and the strength that cross-validation chooses; where the training nodes are many, it learns from as many
    as `WORK` allows, drawn at random.

    Args:
        graph: its features and labels.
        splits: one per seed; equal ones are measured once.
        part: of the split, on which to measure.
        threads: for the linear algebra.
        metric: by which to measure.
        decision: of two classes, which is the positive one.
    """
    from threadpoolctl import threadpool_limits

    different = {_key(split): split for split in splits}
    with threadpool_limits(threads):
        found: dict[bytes, list[float]] = {key: [] for key in different}
        for key, split in different.items():
            truth = graph.y[split.judges(part)]
            for probabilities in _probabilities(graph, split, part, WORK / len(different)):
                found[key].append(measure(metric, truth, probabilities, decision))
    majority, regression = np.mean([found[_key(split)] for split in splits], axis=0).tolist()
    return {"majority": majority, "logistic_regression": regression}


def _key(split: Split) -> bytes:
    return b"/".join(nodes.tobytes() for nodes in split.to_arrays().values())


def _probabilities(graph: Graph, split: Split, part: str, work: float) -> tuple[np.ndarray, np.ndarray]:
    """Of the majority class and of logistic regression, for the nodes of a part, each fold's by a fit of the others."""
    nodes = split.judges(part)
    found = [np.empty((len(nodes), graph.num_classes)) for _ in range(2)]
    for fold in split.folds():
        own = fold.judges(part)
        at = np.searchsorted(nodes, own)
        counts = np.bincount(graph.y[fold.train], minlength=graph.num_classes)
        found[0][at] = found[1][at] = counts / counts.sum()
        if np.count_nonzero(counts) > 1:
            found[1][at] = logistic_regression(graph, fold.train, own, work / len(split.folds()))
    return found[0], found[1]


def logistic_regression(graph: Graph, train: np.ndarray, nodes: np.ndarray, work: float = WORK) -> np.ndarray:
    """Class probabilities [n, C] of `nodes`, predicted from their features by a regression on those of `train`.

    It is what the teacher `labels@linear:k=0` does, for a graph of which only some rows are read.
    """
    most = max(10 * graph.num_classes, int(work / (max(1, graph.num_features) * graph.num_classes)))
    if len(train) > most:
        drawn = np.sort(np.random.default_rng(0).permutation(train)[:most])
        train = drawn if len(np.unique(graph.y[drawn])) > 1 else train
    known = graph.x[train]
    present, numbers = np.unique(graph.y[train], return_inverse=True)
    rows = unit_features(known)
    reduced = Reduced.of([rows if isinstance(rows, np.ndarray) else rows.toarray()])
    model = fit_logistic(reduced.rows, numbers, len(present), choose_strength(reduced.rows, numbers, len(present)))
    (weights,), offset = reduced.unfolded(model.weights)
    found = np.zeros((len(nodes), graph.num_classes))
    for start in range(0, len(nodes), _ROWS):
        block = slice(start, start + _ROWS)
        found[block, present] = softmax(
            unit_features(graph.x[nodes[block]], known) @ weights + offset + model.intercept, axis=1
        )
    return found
