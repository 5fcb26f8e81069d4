"""Non-edges, partitions, similar pairs, and the allocator."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops import similarity
from agssl.ops.adjacency import Adjacency
from agssl.ops.memory import keep_freed_memory
from agssl.ops.partition import metis_parts
from agssl.ops.sampling import non_edges
from agssl.ops.similarity import KEPT, similarity_pool
from reference.graphs import build, edge_list, graphs, random_graph


@given(graph=graphs(min_nodes=2), count=st.integers(1, 30), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_non_edges_are_none(graph: Graph, count: int, seed: int) -> None:
    pairs = non_edges(Adjacency.of(graph), count, Rng(seed).numpy())
    assert pairs.shape[1] <= count
    edges = set(edge_list(graph))
    for i, j in pairs.T.tolist():
        assert i != j
        assert (min(i, j), max(i, j)) not in edges


def test_a_sparse_graph_gives_as_many_non_edges_as_asked() -> None:
    assert non_edges(Adjacency.of(random_graph(200, 300)), 500, Rng(0).numpy()).shape == (2, 500)


def test_a_complete_graph_has_no_non_edges() -> None:
    complete = build(5, [(i, j) for i in range(5) for j in range(i)])
    assert non_edges(Adjacency.of(complete), 10, Rng(0).numpy()).shape == (2, 0)


@pytest.mark.parametrize("parts", [2, 5, 24])
@pytest.mark.parametrize("edges", [[], [(i, i + 1) for i in range(23)], [(0, i) for i in range(1, 20)]])
def test_metis_gives_every_node_a_part(parts: int, edges: list[tuple[int, int]]) -> None:
    labels = metis_parts(build(24, edges), parts)
    assert labels.shape == (24,)
    assert labels.dtype == np.int64
    assert labels.min() >= 0
    assert labels.max() < parts


def test_metis_separates_what_hardly_hangs_together() -> None:
    cliques = [(8 * c + i, 8 * c + j) for c in range(3) for i in range(8) for j in range(i)]
    labels = metis_parts(build(24, [*cliques, (0, 8), (8, 16)]), 3)
    assert [len(set(labels[8 * c : 8 * c + 8])) for c in range(3)] == [1, 1, 1]
    assert len(set(labels)) == 3


def test_metis_is_deterministic_under_a_seed() -> None:
    graph = random_graph(100, 200)
    assert metis_parts(graph, 7, seed=1).tolist() == metis_parts(graph, 7, seed=1).tolist()


@pytest.mark.parametrize("density", [1.0, 0.5])
def test_similar_pairs_are_the_nearest_and_the_farthest(density: float) -> None:
    x = random_graph(300, 10, features=9, density=density).x  # enough that a partial sort differs from a full one
    dense = (x.toarray() if sp.issparse(x) else x).astype(np.float64)
    norms = np.sqrt((dense**2).sum(1)).clip(1e-30)
    cosine = dense @ dense.T / norms[:, None] / norms[None, :]
    pairs, values = similarity_pool(x, Rng(0))
    np.testing.assert_allclose(values, cosine[pairs[0], pairs[1]], atol=1e-5)
    for node in range(300):
        found = sorted(cosine[node, pairs[1][pairs[0] == node]])
        others = sorted(np.delete(cosine[node], node))
        np.testing.assert_allclose(found, others[:KEPT] + others[-KEPT:], atol=1e-6)
    assert (pairs[0] != pairs[1]).all()


def test_similarities_of_large_graphs_are_looked_for_among_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ANCHORS", 10), ("CANDIDATES", 12), ("CHUNK", 4)):
        monkeypatch.setattr(similarity, name, value)
    pairs, values = similarity_pool(random_graph(40, 10).x, Rng(0))
    assert pairs.shape == (2, 10 * 2 * KEPT)
    assert len(values) == pairs.shape[1]
    assert len(np.unique(pairs[0])) == 10
    assert len(np.unique(pairs[1])) <= 12
    assert (pairs[0] != pairs[1]).all()


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_few_nodes_give_few_pairs(nodes: int) -> None:
    pairs, values = similarity_pool(np.random.default_rng(0).random((nodes, 4)), Rng(0))
    assert pairs.shape == (2, 2 * nodes * (nodes - 1))
    assert len(values) == pairs.shape[1]


def test_the_allocator_can_be_tuned_again_and_again() -> None:
    assert keep_freed_memory() in (True, False)
    assert keep_freed_memory() == keep_freed_memory()
