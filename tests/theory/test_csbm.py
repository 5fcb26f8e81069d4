"""The Bayes probability, against the sum over all labellings."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.metrics import softmax
from agssl.theory.csbm import Csbm, gibbs, propagate_beliefs


def enumerated(model: Csbm, graph: Graph) -> np.ndarray:
    """P(y_i | X, A) from the definition of the model: every labelling, every pair, every density."""
    linked = graph.adjacency().toarray()
    total = np.zeros((model.nodes, model.classes))
    for labels in itertools.product(range(model.classes), repeat=model.nodes):
        log = 0.0
        for i, c in enumerate(labels):
            log -= ((graph.x[i].astype(float) - model.means[c]) ** 2).sum() / 2
            for j in range(i):
                chance = model.inside if c == labels[j] else model.outside
                log += math.log(chance if linked[i, j] else 1 - chance)
        for i, c in enumerate(labels):
            total[i, c] += math.exp(log + 60)
    return total / total.sum(1, keepdims=True)


@pytest.mark.parametrize("seed", range(3))
def test_gibbs_agrees_with_enumeration(seed: int) -> None:
    model = Csbm(nodes=7, classes=3, degree=1.8, homophily=0.7, features=4, signal=1.0)
    graph = model.draw(Rng(seed))
    exact = enumerated(model, graph)
    posterior = gibbs(model, graph, Rng(seed).child("chains"), chains=400, sweeps=150)
    assert np.abs(posterior.mean - exact).max() < 0.01
    assert np.linalg.norm(posterior.mean - exact, axis=1).mean() < 5 * posterior.error + 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_belief_propagation_agrees_with_enumeration_on_a_tree(seed: int) -> None:
    model = Csbm(nodes=7, classes=3, degree=0.01, homophily=0.7, features=4, signal=1.0)  # pairs without edge: weak
    tree = np.array([[0, 0, 1, 1, 2, 5], [1, 2, 3, 4, 5, 6]])
    drawn = model.draw(Rng(seed))
    graph = Graph.from_arrays(tree, drawn.x, drawn.y, classes=["0", "1", "2"], notify=False)
    exact = enumerated(model, graph)
    assert np.abs(propagate_beliefs(model, graph) - exact).max() < 0.003
    assert np.abs(softmax(model.evidence(graph)) - exact).max() > 0.1  # the edges do matter


def test_two_linked_nodes_by_hand() -> None:
    model = Csbm(nodes=2, classes=2, degree=0.5, homophily=0.8, features=2, signal=1.0)
    assert model.inside == pytest.approx(0.4) and model.outside == pytest.approx(0.1)
    graph = Graph.from_arrays(np.array([[0], [1]]), np.array([[1.0, 0.5], [0.5, 0.5]]), [0, 1], notify=False)
    # u_0 = (0.5, 0) and u_1 = (0, 0): features favour class 0 at node 0 by e^0.5; the edge favours equality 4 to 1
    weights = {(a, b): math.exp(0.5 if a == 0 else 0.0) * (4 if a == b else 1) for a in (0, 1) for b in (0, 1)}
    total = sum(weights.values())
    expected = [(weights[0, 0] + weights[0, 1]) / total, (weights[0, 0] + weights[1, 0]) / total]
    assert np.allclose(enumerated(model, graph)[:, 0], expected)
    assert np.allclose(gibbs(model, graph, Rng(0), chains=2000, sweeps=200).mean[:, 0], expected, atol=0.01)


def test_belief_propagation_agrees_with_sampling_on_a_larger_graph() -> None:
    model = Csbm(nodes=150)
    graph = model.draw(Rng(5))
    posterior = gibbs(model, graph, Rng(6), chains=100, sweeps=40)
    assert np.linalg.norm(posterior.mean - propagate_beliefs(model, graph), axis=1).mean() < 0.02
    assert posterior.error < 0.01


def test_the_posterior_is_calibrated_and_knows_more_than_the_features() -> None:
    model = Csbm(nodes=1500)
    graph = model.draw(Rng(1))
    p = propagate_beliefs(model, graph)
    right = p.argmax(1) == graph.y
    assert abs(right.mean() - p.max(1).mean()) < 0.03  # it expects what it gets: three deviations
    assert right.mean() > (softmax(model.evidence(graph)).argmax(1) == graph.y).mean() + 0.1


def test_draws_have_the_density_and_homophily_of_the_model() -> None:
    model = Csbm(nodes=2000, degree=6.0, homophily=0.7)
    graph = model.draw(Rng(0))
    assert abs(graph.num_edges / 6000 - 1) < 0.05 and abs(graph.homophily() - 0.7) < 0.03
