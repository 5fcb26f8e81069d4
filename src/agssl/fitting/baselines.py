"""What a model has to beat: the majority class, and logistic regression on the features alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from agssl.data.graph import Graph
from agssl.data.splits import Split

WORK = 3e7  # numbers times classes that all regressions together may train on: seconds, whatever the graph
_ROWS = 50_000  # nodes that are predicted at a time


def baselines(graph: Graph, splits: Sequence[Split], part: str, threads: int = 1) -> dict[str, float]:
    """Accuracies by name, each the mean over the splits; they read the labels of training nodes, and no others.

    Logistic regression is scikit-learn's, on columns scaled alike; where the training nodes are many, it learns from
    as many as `WORK` allows, drawn at random.

    Args:
        graph: its features and labels.
        splits: one per seed; equal ones are measured once.
        part: of the split, on which to measure.
        threads: for the linear algebra.
    """
    from threadpoolctl import threadpool_limits

    different = {_key(split): split for split in splits}
    with threadpool_limits(threads):
        found = {key: _measure(graph, split, part, WORK / len(different)) for key, split in different.items()}
    majority, regression = np.mean([found[_key(split)] for split in splits], axis=0).tolist()
    return {"majority": majority, "logistic_regression": regression}


def _key(split: Split) -> bytes:
    return b"/".join(nodes.tobytes() for nodes in split.to_arrays().values())


def _measure(graph: Graph, split: Split, part: str, work: float) -> tuple[float, float]:
    """The shares of right predictions; on nodes that are held out fold by fold, of all folds together."""
    found = [_right(graph, fold, part, work / len(split.folds())) for fold in split.folds()]
    common, predicted = (np.concatenate(side) for side in zip(*found, strict=True))
    return float(common.mean()), float(predicted.mean())


def _right(graph: Graph, split: Split, part: str, work: float) -> tuple[np.ndarray, np.ndarray]:
    """Which nodes the majority class and the regression have right."""
    nodes = split.parts()[part]
    known = graph.y[split.train]
    common = int(np.bincount(known).argmax())
    predicted = np.full(len(nodes), common)
    if len(np.unique(known)) > 1:
        predicted = logistic_regression(graph, split.train, nodes, work)
    truth = graph.y[nodes]
    return truth == common, truth == predicted


def logistic_regression(graph: Graph, train: np.ndarray, nodes: np.ndarray, work: float = WORK) -> np.ndarray:
    """Class numbers of `nodes`, predicted from their features by a regression on those of `train`."""
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
    return np.concatenate([model.predict(graph.x[block]) for block in blocks])
