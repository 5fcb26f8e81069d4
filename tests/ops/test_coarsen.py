"""The coarse graph against dense matrices and loops."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from agssl.data.graph import Graph
from agssl.ops.coarsen import coarse_groups, coarse_propagation, matched, same_neighbours
from reference.dense import normalised_of
from reference.graphs import build, graphs, random_graph


@given(graph=graphs(min_nodes=1))
@settings(max_examples=40, deadline=None)
def test_nodes_share_a_first_group_when_they_have_the_same_neighbours(graph: Graph) -> None:
    groups = same_neighbours(graph.adjacency().astype(float), np.random.default_rng(0))
    a = graph.adjacency().toarray()
    near = [tuple(row) if row.any() else () for row in a]  # with the weights of these edges
    for i in range(graph.num_nodes):
        for j in range(i):
            assert (groups[i] == groups[j]) == (bool(near[i]) and near[i] == near[j])


def test_a_matching_joins_neighbours_in_pairs_and_leaves_no_free_pair() -> None:
    graph = random_graph(60, 120)
    a = graph.adjacency().astype(float)
    groups = matched(a, np.ones(60), np.random.default_rng(0))
    members = [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]
    assert sorted(np.concatenate(members).tolist()) == list(range(60))
    for group in members:
        assert len(group) in (1, 2)
        if len(group) == 2:
            assert a[group[0], group[1]] > 0
    alone = [int(g[0]) for g in members if len(g) == 1]
    assert not a[alone][:, alone].nnz


def test_the_strongest_link_is_taken_first() -> None:
    weights = sp.csr_matrix(np.array([[0, 1, 5, 0], [1, 0, 0, 1], [5, 0, 0, 1], [0, 1, 1, 0.0]]))
    groups = matched(weights, np.ones(4), np.random.default_rng(0))
    assert groups[0] == groups[2] != groups[1]
    assert groups[1] == groups[3]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_ways_down_and_up_follow_their_formulas(weighted: bool) -> None:
    graph = random_graph(30, 60, weighted=weighted)
    a = graph.adjacency().toarray()
    groups = coarse_groups(graph, 2, np.random.default_rng(0))
    m = groups.max() + 1
    assert m < 15
    pool, between, up = coarse_propagation(graph, groups)
    coarse = np.zeros((m, m))
    for i in range(30):
        for j in graph.neighbours(i):
            if groups[i] != groups[j]:
                coarse[groups[i], groups[j]] += a[i, j]
    coarse += np.eye(m)
    degree = coarse.sum(1)
    coarse /= np.sqrt(degree[:, None] * degree[None, :])
    mean = np.array([(groups == g) / (groups == g).sum() for g in range(m)])
    np.testing.assert_allclose(pool.toarray(), mean, atol=1e-6)
    np.testing.assert_allclose(between.toarray(), coarse, atol=1e-6)
    np.testing.assert_allclose(up.toarray(), normalised_of(graph) @ np.eye(m)[groups], atol=1e-6)


def test_a_graph_without_edges_stays_as_it_is() -> None:
    groups = coarse_groups(build(4, []), 2, np.random.default_rng(0))
    assert sorted(groups) == [0, 1, 2, 3]
