"""Hops: what is made of a graph, against PyG's SIGN and the dense formula; the network on it, against plain torch."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape, blueprint, prepared
from agssl.ops import propagated, subgraph
from agssl.ops.adjacency import Adjacency
from agssl.ops.features import Inputs
from agssl.ops.plan import full_plan
from agssl.ops.subgraph import StoredAdjacency
from reference import dense
from reference.graphs import random_graph


def made(graph: Graph, text: str = "hops", **more: float) -> np.ndarray:
    x = blueprint(Shape(graph.num_features, 8, 3, encoder=text, **more)).read(graph)  # type: ignore[arg-type]
    return x.toarray() if sp.issparse(x) else x


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("density", [1.0, 0.4, 0.05])
def test_hops_are_those_of_pyg_up_to_the_normalisation(density: float) -> None:
    data = pytest.importorskip("torch_geometric.data").Data
    sign = pytest.importorskip("torch_geometric.transforms").SIGN
    graph = random_graph(40, 60, density=density)
    # PyG's S = D^-1/2 A D^-1/2 and P = D^-1 A are similar: P^i = D^-1/2 S^i D^1/2.
    root = torch.from_numpy(graph.degree).float().sqrt()[:, None]
    rows = np.repeat(np.arange(40), graph.degree)
    x = torch.from_numpy(dense.dense_features(graph))
    theirs = sign(3)(
        data(x=root * x, edge_index=torch.from_numpy(np.stack([rows, graph.indices])).long(), num_nodes=40)
    )
    expected = [x, *(torch.where(root > 0, theirs[f"x{i}"] / root.clamp_min(1e-9), 0) for i in (1, 2, 3))]
    torch.testing.assert_close(torch.from_numpy(made(graph, "hops:k=3")), torch.cat(expected, 1), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("density", [1.0, 0.4, 0.05])
@pytest.mark.parametrize("skip_weight", [0.0, 0.3])
@pytest.mark.parametrize("entries", [1 << 20, 20])
def test_hops_are_those_of_the_dense_formula_whatever_the_blocks(
    weighted: bool, density: float, skip_weight: float, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subgraph, "BLOCK_ENTRIES", entries)
    graph = random_graph(40, 60, density=density, weighted=weighted)
    p = (1 - skip_weight) * dense.mean_of(graph) + skip_weight * np.eye(40)
    x = dense.dense_features(graph)
    expected = np.concatenate([x, p @ x, p @ p @ x], axis=1)
    np.testing.assert_allclose(made(graph, skip_weight=skip_weight), expected, atol=1e-5)


def test_what_is_made_of_sparse_features_is_sparse_until_a_quarter_of_it_is_stored() -> None:
    for density, sparse in ((0.005, True), (0.4, False)):
        graph = random_graph(200, 250, density=density)
        x = blueprint(Shape(graph.num_features, 8, 3, encoder="hops")).read(graph)
        assert sp.issparse(x) == sparse
        values, is_dense = blueprint(Shape(graph.num_features, 8, 3, encoder="hops")).made(graph)
        assert is_dense != sparse and values == (x.nnz if sparse else x.size)


def test_the_size_is_guessed_by_some_of_the_rows() -> None:
    graph = random_graph(3000, 6000, density=0.1)
    x = graph.x
    adjacency = StoredAdjacency(graph, norm="mean")
    guessed = propagated.stored_after(adjacency, x, 2)
    for found in guessed:
        x = propagated.propagated(adjacency, x, lambda size: None)
        assert found == pytest.approx(x.nnz if sp.issparse(x) else np.count_nonzero(x), rel=0.2)


@pytest.mark.parametrize("layers", [1, 2])
def test_logits_and_gradients_are_those_of_plain_torch(layers: int) -> None:
    graph = random_graph(40, 70, density=0.4, weighted=True)
    model = Network(Shape(6, 8, 3, layers, encoder="hops:k=1"), Rng(0))
    x = torch.from_numpy(dense.dense_features(graph))
    h = torch.cat([x, torch.from_numpy(dense.mean_of(graph)).float() @ x], dim=1)
    for layer in model.encoder.layers:
        h = torch.relu(h @ layer.weight + layer.bias)
    expected = h @ model.head.layer.weight + model.head.layer.bias
    plan = full_plan(Adjacency.of(graph, norm="none").normalised, layers)
    found = model(Inputs.over(model.encoder.read(graph)), plan).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    ours, theirs = (torch.autograd.grad(z.cos().sum(), list(model.parameters())) for z in (found, expected))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("density", [1.0, 0.4, 0.05])
def test_more_than_the_stated_bytes_are_refused_with_their_size(
    density: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(40, 60, density=density)
    monkeypatch.setattr(prepared, "MOST_BYTES", 64)
    with pytest.raises(SettingsError, match=r"'hops' would make features of .* MB .*; use sage, or hops:k=1$"):
        made(graph)
    with pytest.raises(SettingsError, match=r"; use sage$"):
        made(graph, "hops:k=1")


def test_no_propagation_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"k = 0, but it is at least 1 \(mlp"):
        Network(Shape(6, 8, 3, encoder="hops:k=0"), Rng(0))
