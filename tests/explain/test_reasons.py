"""Gradient times input, against differences of what the network says when one value of X moves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape
from agssl.explain.reasons import Reasoner
from agssl.train.infer import infer

NODES, FEATURES, CLASSES = 14, 5, 3


def graph_of(sparse: bool = False) -> Graph:
    draw = np.random.default_rng(3)
    x = draw.normal(size=(NODES, FEATURES)).astype(np.float32) * (draw.random((NODES, FEATURES)) < 0.6)
    edges = draw.integers(0, NODES - 1, size=(2, 20))
    features = sp.csr_matrix(x) if sparse else x
    return Graph.from_arrays(edges, features, np.arange(NODES) % CLASSES, name="tiny", notify=False)


def network(encoder: str, **more: object) -> Network:
    shape = Shape(FEATURES, 8, CLASSES, encoder=encoder, nodes=NODES if encoder == "linkx" else 0, **more)
    return Network(shape, Rng(1))


def slope(model: Network, graph: Graph, node: int, first: int, second: int) -> np.ndarray:
    """The gradient of a margin by central differences, every value of X on its own."""
    x = np.asarray(graph.x.todense() if sp.issparse(graph.x) else graph.x, dtype=np.float32)
    found, step = np.zeros(x.shape), 5e-4
    for at in np.ndindex(x.shape):
        margins = []
        for sign in (1, -1):
            moved = x.copy()
            moved[at] += sign * step
            other = Graph.from_arrays(edges_of(graph), moved, graph.y, name="tiny", notify=False)
            logits = infer(model, other).logits[node].astype(float)
            margins.append(logits[first] - logits[second])
        found[at] = (margins[0] - margins[1]) / (2 * step)
    return found


def edges_of(graph: Graph) -> np.ndarray:
    source = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    return np.stack([source, graph.indices])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("encoder", "more"),
    [("gcn", {}), ("gcn", {"layers": 2, "residual": True}), ("sage", {}), ("mlp", {}), ("appnp", {})],
)
def test_reasons_are_gradient_times_input(encoder: str, more: dict[str, object], sparse: bool) -> None:
    graph, model = graph_of(sparse), network(encoder, **more)
    reasons = Reasoner(model, graph).explain(2)
    logits = infer(model, graph).logits[2]
    assert reasons.first == logits.argmax() and logits[reasons.second] == np.sort(logits)[-2]
    x = np.asarray(graph.x.todense() if sp.issparse(graph.x) else graph.x)
    expected = x * slope(model, graph, 2, reasons.first, reasons.second)
    assert np.allclose(reasons.features, expected.sum(0), atol=2e-3)
    nodes = np.zeros(NODES)
    nodes[reasons.nodes] = reasons.by_node
    assert np.allclose(nodes, expected.sum(1), atol=2e-3)


@pytest.mark.parametrize("encoder", ["hops", "ppr", "linkx"])
def test_what_an_encoder_made_of_a_feature_counts_for_the_feature(encoder: str) -> None:
    graph, model = graph_of(), network(encoder)
    reasons = Reasoner(model, graph).explain(2)
    assert reasons.features.shape == (FEATURES,) and np.abs(reasons.features).sum() > 0
    assert reasons.nodes.tolist() == [2]


def test_another_class_can_be_asked_for() -> None:
    graph, model = graph_of(), network("gcn")
    likeliest = Reasoner(model, graph).explain(4)
    other = Reasoner(model, graph).explain(4, likeliest.second)
    assert other.first == likeliest.second and other.second == likeliest.first
    assert np.allclose(other.features, -likeliest.features)


def test_weights_of_the_network_stay_as_they_are() -> None:
    graph, model = graph_of(), network("gcn")
    before = [p.clone() for p in model.parameters()]
    Reasoner(model, graph).explain(0)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    assert all(p.grad is None for p in model.parameters())
