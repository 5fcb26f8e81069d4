"""Distances by bounded search against NetworkX's shortest paths."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops import distance
from agssl.ops.distance import PER_ANCHOR, ball, distance_pool
from reference.graphs import build, edge_list, graphs, random_graph


def networkx_distances(graph: Graph) -> dict[int, dict[int, int]]:
    other = nx.Graph(edge_list(graph))
    other.add_nodes_from(range(graph.num_nodes))
    return {node: dict(lengths) for node, lengths in nx.all_pairs_shortest_path_length(other)}


@given(graph=graphs(max_nodes=14), depth=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_rings_hold_the_nodes_at_that_distance(graph: Graph, depth: int) -> None:
    truth = networkx_distances(graph)
    scratch = np.full(graph.num_nodes, -1, dtype=np.int8)
    for anchor in range(graph.num_nodes):
        rings = ball(graph, anchor, depth, scratch)
        assert (scratch == -1).all()
        for hops, ring in enumerate(rings, 1):
            assert ring.tolist() == sorted(n for n, d in truth[anchor].items() if d == hops)


@given(graph=graphs(max_nodes=14), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_every_pair_of_the_pool_has_its_true_distance(graph: Graph, seed: int) -> None:
    truth = networkx_distances(graph)
    pools = distance_pool(graph, Rng(seed), per_class=200)
    assert len(pools) == 4
    for number, pool in enumerate(pools):
        assert pool.dtype == np.int64
        for i, j in pool.T:
            found = truth[i].get(j)
            if number < 3:
                assert found == number + 1
            else:
                assert found is None or found >= 4


def test_large_graphs_have_true_distances_too() -> None:
    graph = random_graph(400, 500, seed=3)
    truth = networkx_distances(graph)
    pools = distance_pool(graph, Rng(0), per_class=1000)
    assert all(pool.shape[1] > 100 for pool in pools)
    for number, pool in enumerate(pools):
        lengths = [truth[i].get(j, 99) for i, j in pool.T]
        assert {min(length, 4) for length in lengths} == {number + 1}
    assert any(j not in truth[i] for i, j in pools[3].T), "unreachable pairs belong to the last class"


def test_nearby_pairs_are_all_found_on_a_small_graph() -> None:
    graph = build(8, [(i, i + 1) for i in range(7)])
    pools = distance_pool(graph, Rng(0), per_class=1000)
    for number in range(3):
        expected = {(i, j) for i in range(8) for j in range(8) if abs(i - j) == number + 1}
        assert set(map(tuple, pools[number].T.tolist())) == expected


def test_a_class_that_does_not_occur_is_empty() -> None:
    complete = build(6, [(i, j) for i in range(6) for j in range(i)])
    sizes = [pool.shape[1] for pool in distance_pool(complete, Rng(0), per_class=100)]
    assert sizes[0] > 0
    assert sizes[1:] == [0, 0, 0]


def test_hubs_stop_the_search_early_but_not_before_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "WORK", 1)
    star = build(50, [(0, i) for i in range(1, 50)])
    pools = distance_pool(star, Rng(0), per_class=1000)
    assert sum(pool.shape[1] for pool in pools) > 0
    assert len(np.unique(np.concatenate(pools, axis=1)[0])) == 1


def test_no_anchor_fills_a_pool_alone() -> None:
    star = build(50, [(0, i) for i in range(1, 50)])
    pools = distance_pool(star, Rng(0), per_class=10_000)
    for pool in pools:
        assert np.bincount(pool[0], minlength=50).max() <= PER_ANCHOR
