"""Cutting parts out of a graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from agssl.ops.subgraph import StoredAdjacency, hood, induced, sampled_neighbours
from reference import dense
from reference.graphs import blocks_graph, edge_list, edge_weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("density", [1.0, 0.4])
def test_a_part_has_all_edges_between_its_nodes_and_what_they_carry(density: float, weighted: bool) -> None:
    graph = blocks_graph(density=density, weighted=weighted)
    nodes = np.sort(np.random.default_rng(0).choice(60, 25, replace=False))
    part = induced(graph, nodes)
    place = {int(node): at for at, node in enumerate(nodes)}
    expected = {(place[i], place[j]) for i, j in edge_list(graph) if i in place and j in place}
    assert set(edge_list(part)) == expected
    assert expected
    assert (part.weights is None) == (not weighted)
    inside = {(place[i], place[j]): w for (i, j), w in edge_weights(graph).items() if i in place and j in place}
    assert edge_weights(part) == inside
    np.testing.assert_array_equal(dense.dense_features(part), dense.dense_features(graph)[nodes])
    np.testing.assert_array_equal(part.y, graph.y[nodes])
    for name in ("train", "val", "test"):
        mine, theirs = getattr(part.split, name), getattr(graph.split, name)
        assert {int(nodes[at]) for at in mine} == set(theirs.tolist()) & set(nodes.tolist())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("norm", ["symmetric", "mean"])
@pytest.mark.parametrize("skip_weight", [0.0, 0.3])
def test_rows_of_a_stored_adjacency_are_those_of_the_dense_one(skip_weight: float, norm: str, weighted: bool) -> None:
    graph = blocks_graph(weighted=weighted)
    nodes = np.array([5, 0, 59, 17])
    stored = StoredAdjacency(graph, skip_weight, norm)
    rows = stored.take(nodes)
    matrix = sp.csr_matrix((rows.values.numpy(), rows.indices.numpy(), rows.indptr.numpy()), (4, 60))
    assert matrix.has_sorted_indices
    plain = dense.normalised_of(graph) if norm == "symmetric" else dense.mean_of(graph)
    expected = (1 - skip_weight) * plain + skip_weight * np.eye(60)
    np.testing.assert_allclose(matrix.toarray(), expected[nodes], rtol=1e-6)
    np.testing.assert_allclose(stored.sums, plain.sum(1), rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_sampled_neighbours_are_neighbours_all_of_them_where_they_are_few(weighted: bool) -> None:
    graph, draw = blocks_graph(weighted=weighted), np.random.default_rng(0)
    for node in range(60):
        true = set(graph.neighbours(node).tolist())
        few = sampled_neighbours(graph, np.array([node]), 3, draw)
        assert set(few.tolist()) <= true
        assert 0 < len(few) <= max(3, 0) or not true
        assert set(sampled_neighbours(graph, np.array([node]), 60, draw).tolist()) == true


def test_a_hood_with_a_large_fanout_is_all_nodes_within_reach() -> None:
    graph = blocks_graph()
    a = graph.adjacency().toarray() > 0
    one = a[7] | (np.arange(60) == 7)
    two = a[one].any(0) | one
    np.testing.assert_array_equal(hood(graph, np.array([7]), (99, 99), np.random.default_rng(0)), np.flatnonzero(two))


def test_neighbours_are_drawn_in_proportion_to_their_weights() -> None:
    graph = blocks_graph(weighted=True)
    assert graph.weights is not None
    nodes = np.flatnonzero(graph.degree > 4)[:3]
    found = [sampled_neighbours(graph, nodes, 4, np.random.default_rng(s)).reshape(3, 4) for s in range(4000)]
    for at, node in enumerate(nodes):
        counts = np.bincount(np.stack(found)[:, at].ravel(), minlength=60)[graph.neighbours(node)]
        weights = graph.weights[graph.indptr[node] : graph.indptr[node + 1]]
        share = weights / weights.sum()
        error = np.sqrt(share * (1 - share) / 16_000)
        assert counts.sum() == 16_000
        assert (np.abs(counts / 16_000 - share) < 5 * error).all()


def test_draws_of_an_unweighted_graph_are_one_number_each_scaled_by_the_degree() -> None:
    graph = blocks_graph()
    node = int(graph.degree.argmax())
    numbers = np.random.default_rng(3).random((1, 2))[0]
    expected = graph.neighbours(node)[(numbers * graph.degree[node]).astype(int)]
    found = sampled_neighbours(graph, np.array([node]), 2, np.random.default_rng(3))
    np.testing.assert_array_equal(found, expected)
