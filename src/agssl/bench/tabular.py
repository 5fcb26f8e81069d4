"""Tables as graphs: a few labels of each class are told, rows are linked to those like them, hidden rows are asked."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Features, Graph
from agssl.data.knn import knn_edges
from agssl.fitting.baselines import logistic_regression
from agssl.fitting.fit import Resources, fit, split_for
from agssl.simple.linear import unit_features

NEIGHBOURS = 10  # as in the README's `--knn 10`
MOST = 50  # labels of a class that are told at the most: rows beyond these are asked, however many are told
NEAR, SHARES = (5, 10, 20), (0.2, 0.5, 0.8, 0.95)  # label spreading's neighbours and their share, to choose from
FOLDS = 5


def beyond_record(
    graph: Graph, settings: Settings, seed: int, where: Resources, labels: str, by: str = "fit"
) -> dict[str, Any]:
    """The accuracy on hidden rows of one way to use so many labels.

    Args:
        graph: whose features are the table, and whose edges are dropped.
        settings: of a fit, with the split that a user gets.
        seed: of what is told and of the fit.
        where: to compute.
        labels: how many of each class are told.
        by: fit, logistic or spreading.
    """
    told, asked = draw_labels(graph.y, int(labels), Rng(seed).child("beyond"))
    table = as_graph(graph, told)
    if by == "logistic":
        said = logistic_regression(table, told, asked).argmax(1)
    elif by == "spreading":
        said = spread(unit_features(graph.x), graph.y, told)[asked]
    else:
        fitted = fit(split_for(table, "auto", seed), settings, seed, where).fitted
        said = fitted.decide(fitted.confidence(fitted.logits))[asked]
    return {"labels": int(labels), "accuracy": float((said == graph.y[asked]).mean()), "asked": len(asked)}


def draw_labels(y: np.ndarray, count: int, rng: Rng, most: int = MOST) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose labels are told, `count` of each class, and rows that are asked: the same for every count.

    >>> told, asked = draw_labels(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 1, Rng(0), most=2)
    >>> len(told), len(asked), len(np.intersect1d(told, asked))
    (2, 4, 0)
    """
    order = rng.numpy().permutation(len(y))
    told, asked = [], []
    for number in range(y.max() + 1):
        own = order[y[order] == number]
        told.append(own[: min(count, most)])
        asked.append(own[most:])
    return np.sort(np.concatenate(told)), np.sort(np.concatenate(asked))


def as_graph(graph: Graph, told: np.ndarray) -> Graph:
    """The graph that `--knn` makes of the features, with these labels and no others."""
    y = np.full_like(graph.y, -1)
    y[told] = graph.y[told]
    edges = knn_edges(graph.x, NEIGHBOURS)
    return Graph.from_arrays(edges, graph.x, y, classes=graph.classes, name=f"{graph.name}-table", notify=False)


def spread(rows: Features, y: np.ndarray, told: np.ndarray) -> np.ndarray:
    """Classes [N] by scikit-learn's label spreading, its number of nearest rows and share of them by cross-validation.

    Args:
        rows: [N, d], of unit length, so that the nearest are those of the highest cosine.
        y: [N], read at `told` alone.
        told: the labelled rows.
    """
    from sklearn.model_selection import StratifiedKFold

    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(told, y[told]))

    def right(near: int, share: float) -> float:
        return float(
            np.mean([(_spread(rows, y, told[a], near, share)[told[b]] == y[told[b]]).mean() for a, b in folds])
        )

    return _spread(rows, y, told, *max(product(NEAR, SHARES), key=lambda choice: right(*choice)))


def _spread(rows: Features, y: np.ndarray, told: np.ndarray, near: int, share: float) -> np.ndarray:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.semi_supervised import LabelSpreading

    known = np.full_like(y, -1)
    known[told] = y[told]
    model = LabelSpreading(kernel="knn", n_neighbors=near, alpha=share, max_iter=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", RuntimeWarning)  # rows that no label reaches
        found: np.ndarray = model.fit(rows, known).transduction_
    return found
