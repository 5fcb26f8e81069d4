"""What a model has to beat: the majority class, and logistic regression on the features alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.metrics import Decision, measure

WORK = 3e7  # numbers times classes that all regressions together may train on: seconds, whatever the graph
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

    The majority class has the classes' shares of the training nodes for probabilities. Logistic regression is
    scikit-learn's, on columns scaled alike; where the training nodes are many, it learns from as many as `WORK` allows,
    drawn at random.

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
    """Class probabilities [n, C] of `nodes`, predicted from their features by a regression on those of `train`."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    dense = isinstance(graph.x, np.ndarray)
    width = graph.num_features if isinstance(graph.x, np.ndarray) else graph.x.nnz / max(1, graph.num_nodes)
    most = max(10 * graph.num_classes, int(work / (max(1.0, width) * graph.num_classes)))
    if len(train) > most:
        drawn = np.sort(np.random.default_rng(0).permutation(train)[:most])
        train = drawn if len(np.unique(graph.y[drawn])) > 1 else train
    model = make_pipeline(StandardScaler() if dense else MaxAbsScaler(), LogisticRegression(max_iter=200))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(graph.x[train], graph.y[train])
    blocks = [nodes[start : start + _ROWS] for start in range(0, len(nodes), _ROWS)]
    found = np.zeros((len(nodes), graph.num_classes))
    found[:, model.classes_] = np.concatenate([model.predict_proba(graph.x[block]) for block in blocks])
    return found / found.sum(1, keepdims=True)  # those of 32-bit features are 32-bit floats
