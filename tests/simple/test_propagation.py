"""Label propagation against closed forms and scikit-learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.semi_supervised import LabelSpreading

from agssl.data.graph import Graph
from agssl.simple import make_simple
from agssl.simple.propagation import spread
from reference.graphs import build, random_graph


def one_hot(graph: Graph, nodes: np.ndarray) -> np.ndarray:
    told = np.zeros((graph.num_nodes, graph.num_classes), dtype=np.float32)
    told[nodes, graph.y[nodes]] = 1
    return told


@pytest.mark.parametrize("weighted", [False, True])
def test_it_settles_at_the_closed_form(weighted: bool) -> None:
    graph = random_graph(weighted=weighted)
    told = one_hot(graph, np.arange(9))
    dense = graph.adjacency().toarray().astype(np.float64)
    root = np.array([1 / np.sqrt(total) if total else 0 for total in dense.sum(1)])
    closed = 0.2 * np.linalg.solve(np.eye(30) - 0.8 * root[:, None] * dense * root, told)
    assert spread(graph, told, 0.8, 500) == pytest.approx(closed, abs=1e-5)


def test_a_few_steps_are_those_of_a_loop_over_edges() -> None:
    graph = random_graph(weighted=True)
    told = one_hot(graph, np.arange(9))
    found = told.astype(np.float64)
    degree = graph.weighted_degree
    for _ in range(3):
        after = 0.1 * told.astype(np.float64)
        for i in range(graph.num_nodes):
            for at in range(graph.indptr[i], graph.indptr[i + 1]):
                j = graph.indices[at]
                after[i] += 0.9 * graph.weights[at] / np.sqrt(degree[i] * degree[j]) * found[j]
        found = after
    assert spread(graph, told, 0.9, 3) == pytest.approx(found, abs=1e-5)


def test_it_is_scikit_learns_label_spreading() -> None:
    graph = random_graph(count=90)
    nodes = np.arange(9)
    dense = graph.adjacency().toarray()
    y = np.full(30, -1)
    y[nodes] = graph.y[nodes]
    model = LabelSpreading(kernel=lambda a, b: dense, alpha=0.7, max_iter=1000, tol=1e-9).fit(np.zeros((30, 1)), y)
    mass = spread(graph, one_hot(graph, nodes), 0.7, 1000)
    assert mass / mass.sum(1, keepdims=True) == pytest.approx(model.label_distributions_, abs=1e-4)


def test_nodes_that_no_label_reaches_have_the_frequencies_of_the_classes() -> None:
    graph = replace(build(9, [(0, 1), (1, 2), (5, 6)]), y=np.array([0, 0, 1, 1, 0, 0, 0, 0, 0]))
    nodes = np.array([0, 1, 2])
    found = make_simple("lp").fit_predict(graph, nodes, graph.y[nodes], 2)
    order = found[5:].argsort(1)
    assert (order == [1, 0]).all() and (found[5:] == found[5]).all()  # two labels of class 0, one of class 1


def test_it_is_less_sure_where_neighbours_mislead() -> None:
    pairs = [(i, j) for i in range(40) for j in range(i + 1, 40)]
    draw = np.random.default_rng(0)
    alike, unlike = [], []
    for i, j in pairs:
        (alike if i % 2 == j % 2 else unlike).append((i, j))
    good, bad = (build(40, [p[k] for k in draw.permutation(len(p))[:80]], classes=2) for p in (alike, pairs))
    nodes = np.arange(20)
    sure, unsure = (make_simple("lp").fit_predict(g, nodes, g.y[nodes], 2)[20:].max(1).mean() for g in (good, bad))
    assert sure > np.log(0.8) > unsure
