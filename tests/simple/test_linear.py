"""Regression on hops against scikit-learn's on the whole matrix, made densely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize, scale

from agssl.data.graph import Graph
from agssl.simple import linear, make_simple
from agssl.simple.linear import Reduced, hop_rows, propagated, unit_features
from agssl.simple.regression import STRENGTHS, USUAL, choose_strength, fit_logistic, principal
from reference.graphs import blocks_graph, random_graph


def dense_hops(graph: Graph, k: int) -> list[np.ndarray]:
    """X, PX, ... by dense products; unit rows, dense columns standardised before."""
    x = normalize(graph.x.toarray() if sp.issparse(graph.x) else scale(graph.x.astype(np.float64)))
    a = graph.adjacency().toarray().astype(np.float64)
    p = a / np.maximum(a.sum(1, keepdims=True), 1e-9)
    hops = [x]
    for _ in range(k):
        hops.append(p @ hops[-1])
    return hops


def standard(hops: list[np.ndarray], nodes: np.ndarray) -> np.ndarray:
    """All rows in the scale of the training rows: hops alike, centred, of mean square norm 1."""
    z = np.hstack([hop / np.sqrt((hop[nodes] ** 2).sum(1).mean()) for hop in hops])
    z = z - z[nodes].mean(0)
    return z / np.sqrt((z[nodes] ** 2).sum(1).mean())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("density", [1.0, 0.4])
@pytest.mark.parametrize("walks", [1, 1 << 22])
def test_rows_of_training_nodes_are_those_of_the_whole_product(
    density: float, weighted: bool, walks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear, "WALKS", walks)
    graph = random_graph(density=density, weighted=weighted)
    nodes = np.array([7, 0, 3, 29])
    rows = hop_rows(graph, unit_features(graph.x), nodes, 3)
    for found, hop in zip(rows, dense_hops(graph, 3), strict=True):
        assert found == pytest.approx(hop[nodes], abs=1e-5)


def test_predictions_hop_by_hop_are_those_of_the_whole_product() -> None:
    graph = random_graph(weighted=True, density=0.4)
    weights = [np.random.default_rng(hop).normal(size=(6, 3)) for hop in range(3)]
    whole = sum(hop @ w for hop, w in zip(dense_hops(graph, 2), weights, strict=True))
    assert propagated(graph, unit_features(graph.x), weights) == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize("train", [12, 50])  # fewer and more rows than the 24 columns
@pytest.mark.parametrize("density", [1.0, 0.4])
def test_the_whole_is_scikit_learns_regression_on_all_columns(train: int, density: float) -> None:
    graph, nodes = blocks_graph(density=density), np.arange(train)
    z = standard(dense_hops(graph, 2), nodes)
    model = LogisticRegression(C=10, max_iter=5000, tol=1e-8).fit(z[nodes], graph.y[nodes])
    found = make_simple("linear:c=10").fit_predict(graph, nodes, graph.y[nodes], 3)
    assert np.exp(found) == pytest.approx(model.predict_proba(z), abs=0.01)


@pytest.mark.parametrize("c", [0.1, 100.0])
def test_the_regression_is_scikit_learns(c: float) -> None:
    draw = np.random.default_rng(0)
    rows, labels = draw.normal(size=(40, 6)), draw.integers(0, 3, 40)
    ours = fit_logistic(rows, labels, 3, c).log_probabilities(rows)
    theirs = LogisticRegression(C=c, max_iter=5000, tol=1e-8).fit(rows, labels).predict_log_proba(rows)
    assert ours == pytest.approx(theirs, abs=0.01)


def test_turned_rows_keep_their_products_and_weights_unfold() -> None:
    blocks = [np.random.default_rng(hop).normal(size=(8, 20)).astype(np.float32) for hop in range(2)]
    reduced = Reduced.of(blocks)
    assert reduced.rows.shape[1] <= 8 and (reduced.rows**2).sum(1).mean() == pytest.approx(1)
    assert sum(b @ b.T for b in reduced.blocks) == pytest.approx(reduced.rows @ reduced.rows.T, abs=1e-4)
    weights = np.random.default_rng(5).normal(size=(reduced.rows.shape[1], 3))
    parts, offset = reduced.unfolded(weights)
    assert sum(b @ p for b, p in zip(blocks, parts, strict=True)) + offset == pytest.approx(
        reduced.rows @ weights, abs=1e-4
    )
    wide = np.random.default_rng(6).normal(size=(5, 9))
    rows, turn = principal(wide @ wide.T)
    assert wide @ (wide.T @ turn) == pytest.approx(rows, abs=1e-8)


def test_noise_is_penalised_and_clear_classes_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    labels = np.arange(60) % 3
    noise, clear = draw.normal(size=(60, 5)) / np.sqrt(5), np.eye(3)[labels] + 0.01 * draw.normal(size=(60, 3))
    assert choose_strength(noise, labels, 3) == STRENGTHS[0] < choose_strength(clear, labels, 3)
    assert choose_strength(noise[:3], labels[:3], 3) == USUAL
    monkeypatch.setattr("agssl.simple.regression.ENOUGH", 40)
    assert choose_strength(noise, labels, 3) == STRENGTHS[0]


def test_of_too_many_labels_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = blocks_graph(90)
    asked: list[int] = []
    monkeypatch.setattr(linear, "ENTRIES", 20 * 3 * 8)
    monkeypatch.setattr(linear, "hop_rows", lambda g, x, nodes, k: asked.append(len(nodes)) or hop_rows(g, x, nodes, k))
    found = make_simple("linear").fit_predict(graph, np.arange(60), graph.y[:60], 3)
    assert asked == [20] and (found[60:].argmax(1) == graph.y[60:]).mean() > 0.6


def test_only_features_are_read_at_no_hops() -> None:
    graph = blocks_graph()
    alone = replace(graph, indptr=np.zeros(61, dtype=np.int64), indices=np.zeros(0, dtype=np.int32))
    nodes = np.arange(30)
    with_edges, without = (make_simple("linear:k=0").fit_predict(g, nodes, g.y[nodes], 3) for g in (graph, alone))
    assert (with_edges == without).all()
