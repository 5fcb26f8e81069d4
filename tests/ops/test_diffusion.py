"""Sparse personalised PageRank against a dense solve, and centralities against NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from agssl.data.graph import Graph
from agssl.ops import diffusion as module
from agssl.ops.adjacency import Adjacency
from agssl.ops.centrality import degree, eigenvector, pagerank
from agssl.ops.diffusion import diffusion, largest
from reference.dense import normalised_of
from reference.graphs import build, edge_weights, graphs, random_graph


def exact(graph: Graph, alpha: float) -> np.ndarray:
    return alpha * np.linalg.inv(np.eye(graph.num_nodes) - (1 - alpha) * normalised_of(graph))


@given(graph=graphs())
@settings(max_examples=25, deadline=None)
def test_without_truncation_it_is_the_dense_solution(graph: Graph) -> None:
    s = diffusion(Adjacency.of(graph), 0.2, graph.num_nodes, 1e-9)
    np.testing.assert_allclose(s.toarray(), exact(graph, 0.2), atol=1e-5)


def network_of(graph: Graph) -> nx.Graph:
    g = nx.Graph()
    g.add_nodes_from(range(graph.num_nodes))
    g.add_weighted_edges_from((i, j, weight) for (i, j), weight in edge_weights(graph).items())
    return g


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [4_000_000, 50])
def test_no_entry_is_further_off_than_the_tolerance_allows(
    monkeypatch: pytest.MonkeyPatch, block: int, weighted: bool
) -> None:
    monkeypatch.setattr(module, "BLOCK_ENTRIES", block)
    graph = random_graph(60, 150, weighted=weighted)
    degree = graph.weighted_degree + 1.0
    s, truth = diffusion(Adjacency.of(graph), 0.15, 60, 0.02).toarray(), exact(graph, 0.15)
    # of the walk's PageRank; S differs from it by sqrt(d_i / d_j), and is averaged with its transpose
    limit = 0.02 * np.sqrt(degree[:, None] * degree[None, :]) / degree.mean()
    assert (s <= truth + 1e-6).all()
    assert (truth - s <= limit + 1e-6).all()
    assert (truth - s).max() > 1e-3, "a coarse tolerance must save something"


def test_the_largest_entries_of_each_row_stay_and_the_matrix_is_symmetric() -> None:
    graph = random_graph(60, 150)
    s = diffusion(Adjacency.of(graph), 0.2, 5, 1e-6)
    np.testing.assert_array_equal(s.toarray(), s.toarray().T)
    assert s.nnz <= 2 * 5 * 60
    truth = exact(graph, 0.2)
    for i in range(60):
        for j in np.argsort(-truth[i])[:4]:
            assert s[i, j] > 0
    assert s.has_sorted_indices
    assert s.dtype == np.float32


def test_largest_takes_the_first_of_equals() -> None:
    rows = sp.csr_matrix(np.array([[1.0, 3, 2, 3], [5, 5, 5, 0], [0, 0, 0, 0]]))
    np.testing.assert_array_equal(largest(rows, 2).toarray(), [[0, 3, 0, 3], [5, 5, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize("weighted", [False, True])
def test_pagerank_is_that_of_networkx_with_isolated_nodes(weighted: bool) -> None:
    graph = random_graph(40, 40, weighted=weighted)
    assert (graph.degree == 0).any()
    expected = nx.pagerank(network_of(graph), tol=1e-12, max_iter=1000)
    np.testing.assert_allclose(pagerank(graph), [expected[i] for i in range(40)], atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_eigenvector_centrality_is_that_of_networkx_even_on_a_bipartite_graph(weighted: bool) -> None:
    bipartite = build(6, [(0, 3), (0, 4), (1, 4), (1, 5), (2, 5)], weighted=weighted)
    for graph in (random_graph(30, 90, weighted=weighted), bipartite):
        expected = nx.eigenvector_centrality_numpy(network_of(graph), weight="weight")
        np.testing.assert_allclose(eigenvector(graph), [expected[i] for i in range(graph.num_nodes)], atol=1e-6)


def test_degree_centrality_is_the_sum_of_weights() -> None:
    graph = random_graph(30, 90, weighted=True)
    expected = dict(network_of(graph).degree(weight="weight"))
    np.testing.assert_allclose(degree(graph), [expected[i] for i in range(30)], rtol=1e-6)
