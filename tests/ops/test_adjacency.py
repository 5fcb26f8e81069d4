"""Â and what is cut out of it, against dense matrices built entry by entry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.data.graph import Graph
from agssl.ops.adjacency import Adjacency, relabel_columns, take_rows
from reference.dense import dense_of, mean_of, normalised, normalised_of
from reference.graphs import build, edge_list, edge_weights, graphs, random_graph


@given(graph=graphs())
@settings(max_examples=60, deadline=None)
def test_the_normalised_adjacency_follows_the_formula(graph: Graph) -> None:
    a = Adjacency.of(graph).normalised
    np.testing.assert_allclose(dense_of(a), normalised_of(graph), atol=1e-6)
    assert a.nnz == 2 * graph.num_edges + graph.num_nodes


@given(graph=graphs())
@settings(max_examples=30, deadline=None)
def test_rows_stay_sorted_with_the_loop_in_its_place(graph: Graph) -> None:
    adjacency = Adjacency.of(graph)
    for node in range(graph.num_nodes):
        row = adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]]
        assert row.tolist() == sorted([node, *graph.neighbours(node).tolist()])


def test_a_graph_without_edges_propagates_nothing() -> None:
    np.testing.assert_array_equal(dense_of(Adjacency.of(build(4, [])).normalised), np.eye(4))


@given(graph=graphs(min_nodes=2), data=st.data())
@settings(max_examples=60, deadline=None)
def test_removing_edges_equals_building_the_graph_without_them(graph: Graph, data: st.DataObject) -> None:
    edges = edge_list(graph)
    gone = data.draw(st.lists(st.sampled_from(edges), unique=True)) if edges else []
    flip = data.draw(st.lists(st.booleans(), min_size=len(gone), max_size=len(gone)))
    ends = np.array([(j, i) if f else (i, j) for (i, j), f in zip(gone, flip, strict=True)], dtype=np.int64)
    ends = ends.reshape(-1, 2).T
    if data.draw(st.booleans()):  # two tasks of one step may well choose the same edge
        ends = np.concatenate([ends, ends[::-1, ::2]], axis=1)
    a = Adjacency.of(graph).without(ends[0], ends[1])
    rest = [e for e in edges if e not in gone]
    np.testing.assert_allclose(dense_of(a), normalised(graph.num_nodes, rest, edge_weights(graph)), atol=1e-6)
    assert a.symmetric
    np.testing.assert_array_equal(dense_of(a), dense_of(a).T)


@given(graph=graphs(min_nodes=2), data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_mean_over_neighbours_is_by_weight_and_without_masked_edges(graph: Graph, data: st.DataObject) -> None:
    adjacency, edges = Adjacency.of(graph, norm="mean"), edge_list(graph)
    np.testing.assert_allclose(dense_of(adjacency.normalised), mean_of(graph), atol=1e-6)
    gone = data.draw(st.lists(st.sampled_from(edges), unique=True)) if edges else []
    source, target = np.array(gone, dtype=np.int64).reshape(-1, 2).T
    np.testing.assert_allclose(dense_of(adjacency.without(source, target)), mean_of(graph, tuple(gone)), atol=1e-6)
    keep = np.array([edge not in gone for edge in edges], dtype=bool)
    np.testing.assert_allclose(dense_of(adjacency.thinned(keep)), mean_of(graph, tuple(gone)), atol=1e-6)


def test_a_light_edge_is_not_lost_beside_a_heavy_one_that_is_masked() -> None:
    graph = replace(build(3, [(0, 1), (0, 2)]), weights=np.array([1e15, 1e-15, 1e15, 1e-15], dtype=np.float32))
    masked = dense_of(Adjacency.of(graph, norm="mean").without(np.array([0]), np.array([1])))
    np.testing.assert_array_equal(masked, [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("skip_weight", [0.3, 0.9])
def test_a_node_keeps_so_much_of_itself_whatever_is_done_to_its_edges(skip_weight: float, weighted: bool) -> None:
    graph = random_graph(weighted=weighted)
    edges, eye = edge_list(graph), np.eye(graph.num_nodes)
    adjacency = Adjacency.of(graph, skip_weight=skip_weight)
    source, target = np.array(edges[:5]).T
    for a, rest in [
        (adjacency.normalised, edges),
        (adjacency.without(source, target), edges[5:]),
        (adjacency.thinned(np.arange(len(edges)) >= 5), edges[5:]),
    ]:
        expected = (1 - skip_weight) * normalised(graph.num_nodes, rest, edge_weights(graph)) + skip_weight * eye
        np.testing.assert_allclose(dense_of(a), expected, atol=1e-6)


def test_removing_edges_leaves_the_original_as_it_was() -> None:
    graph = random_graph()
    adjacency = Adjacency.of(graph)
    before = adjacency.normalised.values.clone()
    source, target = np.array(edge_list(graph)[:5]).T
    adjacency.without(source, target)
    assert torch.equal(adjacency.normalised.values, before)


@given(graph=graphs(), seed=st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_thinning_equals_building_the_graph_with_the_edges_that_stay(graph: Graph, seed: int) -> None:
    adjacency, edges = Adjacency.of(graph), edge_list(graph)
    upper, lower = adjacency.edges
    assert list(zip(adjacency.rows[upper], adjacency.indices[upper], strict=True)) == edges
    assert list(zip(adjacency.indices[lower], adjacency.rows[lower], strict=True)) == edges
    keep = np.random.default_rng(seed).random(len(edges)) < 0.6
    a = adjacency.thinned(keep)
    rest = [edge for edge, stays in zip(edges, keep, strict=True) if stays]
    np.testing.assert_allclose(dense_of(a), normalised(graph.num_nodes, rest, edge_weights(graph)), atol=1e-6)
    assert a.symmetric and a.nnz == 2 * len(rest) + graph.num_nodes
    np.testing.assert_array_equal(dense_of(a), dense_of(a).T)


@given(graph=graphs())
@settings(max_examples=40, deadline=None)
def test_has_edge_knows_edges_and_loops(graph: Graph) -> None:
    n = graph.num_nodes
    source, target = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    edges = set(edge_list(graph))
    expected = [i == j or (min(i, j), max(i, j)) in edges for i, j in zip(source, target, strict=True)]
    assert Adjacency.of(graph).has_edge(source, target).tolist() == expected


@given(graph=graphs(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_taken_rows_are_those_rows_in_that_order(graph: Graph, data: st.DataObject) -> None:
    a = Adjacency.of(graph).normalised
    rows = np.array(data.draw(st.lists(st.integers(0, graph.num_nodes - 1))), dtype=np.int64)
    taken = take_rows(a, rows)
    np.testing.assert_array_equal(dense_of(taken), dense_of(a)[rows])
    assert not taken.symmetric


@given(graph=graphs(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_relabelled_columns_are_those_columns(graph: Graph, data: st.DataObject) -> None:
    rows = np.array(data.draw(st.lists(st.integers(0, graph.num_nodes - 1), unique=True)), dtype=np.int64)
    block = take_rows(Adjacency.of(graph).normalised, rows)
    columns = np.unique(block.indices.numpy())
    np.testing.assert_array_equal(dense_of(relabel_columns(block, columns)), dense_of(block)[:, columns])
