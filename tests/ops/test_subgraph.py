"""Cutting parts out of a graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from agssl.ops.subgraph import StoredAdjacency, hood, induced, sampled_neighbours
from reference import dense
from reference.graphs import blocks_graph, edge_list


@pytest.mark.parametrize("density", [1.0, 0.4])
def test_a_part_has_all_edges_between_its_nodes_and_what_they_carry(density: float) -> None:
    graph = blocks_graph(density=density)
    nodes = np.sort(np.random.default_rng(0).choice(60, 25, replace=False))
    part = induced(graph, nodes)
    place = {int(node): at for at, node in enumerate(nodes)}
    expected = {(place[i], place[j]) for i, j in edge_list(graph) if i in place and j in place}
    assert set(edge_list(part)) == expected
    assert expected
    np.testing.assert_array_equal(dense.dense_features(part), dense.dense_features(graph)[nodes])
    np.testing.assert_array_equal(part.y, graph.y[nodes])
    for name in ("train", "val", "test"):
        mine, theirs = getattr(part.split, name), getattr(graph.split, name)
        assert {int(nodes[at]) for at in mine} == set(theirs.tolist()) & set(nodes.tolist())


@pytest.mark.parametrize("skip_weight", [0.0, 0.3])
def test_rows_of_a_stored_adjacency_are_those_of_the_dense_one(skip_weight: float) -> None:
    graph = blocks_graph()
    nodes = np.array([5, 0, 59, 17])
    rows = StoredAdjacency(graph, skip_weight).take(nodes)
    matrix = sp.csr_matrix((rows.values.numpy(), rows.indices.numpy(), rows.indptr.numpy()), (4, 60))
    assert matrix.has_sorted_indices
    expected = (1 - skip_weight) * dense.normalised_of(graph) + skip_weight * np.eye(60)
    np.testing.assert_allclose(matrix.toarray(), expected[nodes], rtol=1e-6)


def test_sampled_neighbours_are_neighbours_all_of_them_where_they_are_few() -> None:
    graph, draw = blocks_graph(), np.random.default_rng(0)
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
