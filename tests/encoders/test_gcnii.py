"""GCNII against PyG's layer, against a dense loop of the paper's equation, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape, joined
from agssl.fitting.fit import fit
from agssl.ops.adjacency import Adjacency
from agssl.ops.features import Inputs
from agssl.ops.plan import Hop, full_plan
from reference.dense import dense_features, normalised_of
from reference.graphs import blocks_graph, random_graph
from reference.settings import quick

LAYERS, ALPHA, THETA = 5, 0.2, 0.7


def network(graph: Graph, **changes: object) -> Network:
    text = f"gcnii:alpha={ALPHA}:theta={THETA}"
    how = {"layers": LAYERS, "head": "linear", "encoder": text} | changes
    return Network(Shape(graph.num_features, 8, graph.num_classes, **how), Rng(0))  # type: ignore[arg-type]


def dense(graph: Graph, model: Network) -> torch.Tensor:
    """H of all nodes, by the paper's equation on dense matrices."""
    spread = torch.from_numpy(normalised_of(graph)).float()
    x = torch.from_numpy(dense_features(graph)).float()
    start = model.encoder.layers[0]
    first = hidden = torch.relu(x @ start.features + start.shift)
    for number, layer in enumerate(model.encoder.layers, start=1):
        beta = math.log(THETA / number + 1)
        mixed = (1 - ALPHA) * spread @ hidden + ALPHA * first
        hidden = torch.relu((1 - beta) * mixed + beta * mixed @ layer.weight)
    return hidden


@pytest.mark.parametrize("layers", [1, LAYERS])
def test_it_is_the_papers_equation(layers: int) -> None:
    graph = random_graph(30, 60, density=0.5)
    model = network(graph, layers=layers)
    matrix = Adjacency.of(graph).normalised
    found = model(Inputs.of(graph), full_plan(matrix, layers, (Hop(matrix),))).hidden
    torch.testing.assert_close(joined(found), dense(graph, model), atol=1e-5, rtol=1e-5)


def test_each_layer_is_that_of_pyg() -> None:
    pyg = pytest.importorskip("torch_geometric.nn")
    graph = random_graph(30, 60)
    model, hop = network(graph), Hop(Adjacency.of(graph).normalised)
    edges = torch.from_numpy(np.stack([np.repeat(np.arange(30), graph.degree), graph.indices.astype(np.int64)]))
    hidden, first = (torch.rand(30, 8, generator=torch.Generator().manual_seed(seed)) for seed in (0, 1))
    for number, layer in enumerate(model.encoder.layers, start=1):
        theirs = pyg.GCN2Conv(8, ALPHA, THETA, number)
        theirs.weight1.data = layer.weight.data
        ours = layer.step(hop, hidden, first, layer.mapped())
        torch.testing.assert_close(ours, theirs(hidden, first, edges), atol=1e-5, rtol=1e-5)


def test_many_layers_still_learn_and_tell_nodes_apart() -> None:
    graph = blocks_graph()
    settings = quick(method="gcn", encoder="gcnii", layers=32, head="linear", epochs=30, dropout=0.1)
    fitted = fit(graph, settings).fitted
    assert graph.split is not None
    nodes = graph.split.train
    assert (fitted.logits[nodes].argmax(1) == graph.y[nodes]).mean() > 0.8


@pytest.mark.parametrize(("text", "why"), [("alpha=1.0", "alpha = 1.0"), ("alpha=-0.1", "alpha"), ("theta=0", "theta")])
def test_what_can_not_be_is_refused(text: str, why: str) -> None:
    with pytest.raises(SettingsError, match=f"encoder gcnii: {why}"):
        Network(Shape(4, 8, 2, encoder=f"gcnii:{text}"), Rng(0))
