"""Partitions without METIS: whole, balanced, few edges cut, the same for a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.rng import Rng
from agssl.bench.cells import Cell
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.ops.multilevel import COARSEST, cut_weight, multilevel_parts
from agssl.ops.partition import cut_graph, has_metis, metis_parts
from agssl.pretext.par import Partition
from agssl.pretext.prepare import partition_plan, prepared
from reference.graphs import build, random_graph


@pytest.fixture
def without_metis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agssl.ops.partition.has_metis", lambda: False)


def grid(side: int) -> Graph:
    at = lambda i, j: i * side + j  # noqa: E731
    across = [(at(i, j), at(i, j + 1)) for i in range(side) for j in range(side - 1)]
    down = [(at(i, j), at(i + 1, j)) for i in range(side - 1) for j in range(side)]
    return build(side * side, across + down)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 60),
    share=st.floats(0.01, 1),
    edges=st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=200),
    seed=st.integers(0, 9),
)
def test_every_node_has_a_part_none_is_empty_and_none_too_large(
    n: int, share: float, edges: list[tuple[int, int]], seed: int
) -> None:
    ends = np.array([(i, j) for i, j in edges if i < n and j < n and i != j], dtype=np.int64).reshape(-1, 2)
    ends = np.vstack([ends, ends[:, ::-1]])
    a = sp.csr_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    parts = max(1, round(share * n))
    labels = multilevel_parts(a, parts, seed)
    sizes = np.bincount(labels, minlength=parts)
    assert labels.shape == (n,) and len(sizes) == parts and sizes.min() >= 1
    assert sizes.max() <= max(1.05 * n / parts, -(-n // parts))
    np.testing.assert_array_equal(labels, multilevel_parts(a, parts, seed))


def test_the_cut_is_the_weight_of_edges_between_parts() -> None:
    graph = random_graph(30, 80, weighted=True)
    labels = np.arange(30) % 4
    dense = graph.adjacency().toarray()
    expected = sum(dense[i, j] for i, j in product(range(30), repeat=2) if i < j and labels[i] != labels[j])
    assert cut_weight(graph.adjacency(), labels) == pytest.approx(expected, rel=1e-6)


def test_what_hardly_hangs_together_is_separated() -> None:
    cliques = [(b + i, b + j) for b in (0, 8, 16) for i in range(8) for j in range(i)]
    labels = multilevel_parts(build(24, [*cliques, (0, 8), (8, 16)]).adjacency(), 3)
    assert [len(set(labels[at : at + 8].tolist())) for at in (0, 8, 16)] == [1, 1, 1]


def test_heavy_edges_stay_inside_parts() -> None:
    whole = build(24, [(i, j) for i in range(24) for j in range(i)])
    rows = np.repeat(np.arange(24), 23)
    inside = rows % 3 == whole.indices % 3
    weighted = replace(whole, weights=np.where(inside, 5, 1).astype(np.float32))
    labels = multilevel_parts(weighted.adjacency(), 3)
    assert [len(set(labels[at::3].tolist())) for at in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("make", [lambda: grid(40), lambda: random_graph(600, 2000)], ids=["grid", "random"])
@pytest.mark.skipif(not has_metis(), reason="needs pymetis: pip install pymetis")
def test_the_cut_is_near_that_of_metis_and_far_below_chance(make: Callable[[], Graph]) -> None:
    graph, parts = make(), 12
    a = graph.adjacency()
    assert graph.num_nodes > 2 * COARSEST * parts  # so that it is coarsened
    own, metis = (cut_weight(a, cut) for cut in (multilevel_parts(a, parts), metis_parts(graph, parts)))
    chance = cut_weight(a, np.random.default_rng(0).integers(parts, size=graph.num_nodes))
    assert own < 1.25 * metis < chance


@pytest.mark.parametrize("n", [1, 7, 5000])
def test_stars_and_graphs_without_edges_are_cut_evenly_in_no_time(n: int) -> None:
    for edges in ([], [(0, i) for i in range(1, n)]):
        sizes = np.bincount(multilevel_parts(build(n, edges).adjacency(), max(1, n // 10)))
        assert sizes.min() >= 1 and sizes.max() <= 11


def test_with_pymetis_metis_cuts_and_without_it_our_own(without_metis: None) -> None:
    graph = grid(12)
    np.testing.assert_array_equal(cut_graph(graph, 5, 3), multilevel_parts(graph.adjacency(), 5, 3))


@pytest.mark.skipif(not has_metis(), reason="needs pymetis: pip install pymetis")
def test_with_pymetis_the_parts_are_those_of_metis() -> None:
    np.testing.assert_array_equal(cut_graph(grid(12), 5, 3), metis_parts(grid(12), 5, 3))


@pytest.mark.skipif(not has_metis(), reason="needs pymetis: pip install pymetis")
def test_caches_and_records_tell_both_apart(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    graph, how = grid(12), Settings(tasks=("par",))

    def facts() -> tuple[Any, ...]:
        prepared(Partition(), graph, tmp_path)
        keys = Cell("cora", "agssl", how, 0).key, Cell("cora", "gcn", Settings(method="gcn"), 0).key
        return partition_plan(how), Partition(5).settings(), *keys

    with_it = facts()
    assert with_it[:2] == ({}, {"parts": 5})
    request.getfixturevalue("without_metis")
    without = facts()
    assert without[:2] == ({"partition": "multilevel"}, {"parts": 5, "by": "multilevel"})
    assert without[2] != with_it[2] and without[3] == with_it[3]
    assert len(list(tmp_path.iterdir())) == 2
    labels = prepared(Partition(), graph, tmp_path)["labels"]
    fresh = Partition().prepare(graph, Rng(0).child("prepare", "par"))["labels"]
    np.testing.assert_array_equal(labels, fresh)
