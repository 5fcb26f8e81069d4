"""LINKX against PyG's, and on which graphs it can predict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from agssl.base.errors import GraphError, SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.packed import open_packed, write_packed
from agssl.encoders import Network, Shape
from agssl.fitting.fit import fit
from agssl.ops.adjacency import Adjacency
from agssl.ops.features import Inputs
from agssl.ops.plan import full_plan
from agssl.train.infer import infer
from reference import dense
from reference.graphs import blocks_graph, build, edge_list, random_graph
from reference.settings import quick


def logits_of(model: Network, graph: Graph) -> torch.Tensor:
    plan = full_plan(Adjacency.of(graph, norm="none").normalised, model.encoder.hops)
    found = model(Inputs.over(model.encoder.read(graph)), plan).logits
    assert found is not None
    return found


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("density", [1.0, 0.3])
def test_logits_and_gradients_are_those_of_pyg(density: float, weighted: bool) -> None:
    linkx = pytest.importorskip("torch_geometric.nn").LINKX
    graph = random_graph(40, 70, density=density, weighted=weighted)
    model = Network(Shape(6, 8, 3, encoder="linkx", nodes=40), Rng(0))
    ours, head = model.encoder.layers[0], model.head.layer
    theirs = linkx(40, 6, 8, 3, num_layers=1)
    pairs = {
        "edge_lin": ours.links,
        "cat_lin1": ours.links_skip,
        "node_mlp.lins.0": ours.features,
        "cat_lin2": ours.features_skip,
        "final_mlp.lins.0": head.weight,
    }
    with torch.no_grad():
        for name, weight in pairs.items():
            layer = theirs.get_submodule(name)
            layer.weight.copy_(weight if name == "edge_lin" else weight.t())
            layer.bias.zero_()
        torch.nn.init.normal_(ours.bias, generator=torch.Generator().manual_seed(1))
        theirs.cat_lin2.bias.copy_(ours.bias)  # the one bias of its sums, wherever it is added
    rows = np.repeat(np.arange(40), graph.degree)
    weights = None if graph.weights is None else torch.from_numpy(graph.weights)
    edges = torch.from_numpy(np.stack([graph.indices, rows])).long()
    expected = theirs(torch.from_numpy(dense.dense_features(graph)), edges, weights)
    found = logits_of(model, graph)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    for logits in (found, expected):
        logits.cos().sum().backward()
    for name, weight in pairs.items():
        grad = theirs.get_submodule(name).weight.grad
        torch.testing.assert_close(weight.grad, grad if name == "edge_lin" else grad.t(), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(ours.bias.grad, theirs.cat_lin2.bias.grad, atol=1e-5, rtol=1e-5)


def test_what_it_reads_is_sparse_whatever_the_features_are() -> None:
    for density in (1.0, 0.3):
        graph = random_graph(40, 70, density=density)
        model = Network(Shape(6, 8, 3, encoder="linkx", nodes=40), Rng(0))
        x = model.encoder.read(graph)
        assert sp.issparse(x) and x.nnz == model.encoder.made(graph)[0] and x.shape == (40, 46)


def test_new_nodes_after_the_known_ones_are_told_by_their_edges_to_these() -> None:
    graph = random_graph(30, 50)
    model = Network(Shape(6, 8, 3, encoder="linkx", nodes=30), Rng(0))
    more = build(32, [*edge_list(graph), (4, 30), (30, 31)])
    x = np.concatenate([dense.dense_features(graph), dense.dense_features(graph)[:2]])
    more = replace(more, x=x, y=np.zeros(32, dtype=np.int64), classes=graph.classes)
    found = infer(model, more).logits
    np.testing.assert_allclose(found[:30], infer(model, graph).logits, atol=1e-6)
    weight, bias = model.encoder.layers[0].weight, model.encoder.layers[0].bias
    hidden = torch.relu(weight[4] + torch.from_numpy(x[30]) @ weight[30:] + bias)
    expected = hidden @ model.head.layer.weight + model.head.layer.bias
    np.testing.assert_allclose(found[30], expected.detach().numpy(), atol=1e-5)


def test_a_graph_without_the_known_nodes_is_refused() -> None:
    model = Network(Shape(6, 8, 3, encoder="linkx", nodes=30), Rng(0))
    with pytest.raises(GraphError, match=r"has 20 nodes, but encoder linkx knows each of the 30 .* \(sage, hops\)$"):
        infer(model, random_graph(20, 30))


def test_a_graph_on_disk_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    write_packed(blocks_graph(), tmp_path / "packed")
    with pytest.raises(SettingsError, match=r"'linkx' reads the whole graph at once, .* is read from disk; use sage$"):
        fit(open_packed(tmp_path / "packed"), quick(method="gcn", encoder="linkx", batch="partition"))
