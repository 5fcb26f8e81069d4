"""Correct & Smooth against a dense computation, and what it may not read."""

from __future__ import annotations

import numpy as np

from agssl.data.graph import Graph
from agssl.simple.base import FLOOR
from agssl.simple.correct import SHARES, STEPS, Strength, correct_and_smooth, cross_smoothed, left_out
from reference.graphs import random_graph


def labelled(seed: int = 0, nodes: int = 40, classes: int = 3) -> tuple[Graph, np.ndarray]:
    draw = np.random.default_rng(seed)
    plain = random_graph(nodes, 3 * nodes, seed=seed)
    graph = Graph.from_arrays(plain.adjacency(), plain.x, draw.integers(0, classes, nodes), notify=False)
    return graph, draw.dirichlet(np.ones(classes), nodes)


def dense_spread(graph: Graph, told: np.ndarray, a: float) -> np.ndarray:
    matrix = graph.adjacency().toarray().astype(float)
    degree = matrix.sum(1)
    root = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    s, found = root[:, None] * matrix * root, told
    for _ in range(STEPS):
        found = a * s @ found + (1 - a) * told
    return found


def test_it_is_the_dense_computation() -> None:
    graph, p = labelled()
    nodes, strength = np.arange(0, 40, 4), Strength(0.8, 0.5)
    found = correct_and_smooth(graph, p, nodes, graph.y[nodes], strength)
    errors = np.zeros_like(p)
    errors[nodes] = np.eye(3)[graph.y[nodes]] - p[nodes]
    wrong, usual = dense_spread(graph, errors, 0.8), np.abs(errors[nodes]).sum(1).mean()
    expected = p.copy()
    for i in range(40):
        size = np.abs(wrong[i]).sum()
        expected[i] += min(1.5, usual / size if size > FLOOR else 1.0) * wrong[i]
    expected = np.maximum(expected, FLOOR)
    expected[nodes] = np.eye(3)[graph.y[nodes]]
    expected = np.maximum(dense_spread(graph, expected, 0.5), FLOOR)
    np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True), atol=2e-4)


def test_held_out_nodes_do_not_hear_their_own_labels() -> None:
    graph, p = labelled(1)
    told, heldout = np.arange(0, 40, 4), np.arange(1, 40, 4)
    every = np.concatenate([told, heldout])
    _, apart, strength = cross_smoothed(graph, p, every, left_out(graph, p, told, heldout))
    before = apart[heldout]
    assert strength.correct in SHARES and strength.smooth in SHARES
    node = int(np.flatnonzero(graph.degree[heldout] > 0)[0])
    without = [n for n in [*told, *heldout] if n != heldout[node]]
    alone = correct_and_smooth(graph, p, np.array(without), graph.y[without], strength)[heldout[node]]
    whole = correct_and_smooth(graph, p, every, graph.y[every], strength)[heldout[node]]
    assert np.abs(before[node] - alone).max() < np.abs(before[node] - whole).max()


def test_labels_of_neighbours_correct_a_prediction() -> None:
    edges = np.array([[0, 0, 0], [1, 2, 3]])
    graph = Graph.from_arrays(
        edges, np.ones((4, 1), np.float32), np.array([0, 1, 1, 1]), classes=("a", "b"), notify=False
    )
    p = np.tile([[0.7, 0.3]], (4, 1))
    found = correct_and_smooth(graph, p, np.array([1, 2, 3]), np.ones(3, int), Strength(0.5, 0.5))
    assert found[0, 1] > 0.5
