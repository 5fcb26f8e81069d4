"""Partitions of large graphs by label propagation: whole, within bounds, few edges cut, in blocks, reproducible."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.packed import open_packed
from agssl.data.synthetic import Synthetic, generate_packed
from agssl.ops import label_propagation, large_partition, partition
from agssl.ops.label_propagation import clusters, propagate, sums_by_key
from agssl.ops.large_partition import cluster_links, propagated_parts
from agssl.ops.multilevel import cut_weight
from agssl.ops.partition import cut_graph, has_metis, metis_parts
from agssl.pretext.par import Partition
from agssl.pretext.prepare import partition_plan, prepared
from agssl.train.batches import Batches
from reference.graphs import build, random_graph


def communities(count: int, size: int, outside: int, seed: int = 0) -> Graph:
    """`count` groups of `size` nodes with ten edges a node inside, and `outside` edges between any; ids shuffled."""
    draw = np.random.default_rng(seed)
    inside = draw.integers(size, size=(5 * count * size, 2)) + size * draw.integers(count, size=(5 * count * size, 1))
    ends = np.vstack([inside, draw.integers(count * size, size=(outside, 2))])
    ends = draw.permutation(count * size)[ends]
    ends = ends[ends[:, 0] != ends[:, 1]]
    return build(count * size, sorted({(int(min(pair)), int(max(pair))) for pair in ends}))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_propagation, "BLOCK", 64)
    monkeypatch.setattr(large_partition, "BLOCK", 64)
    monkeypatch.setattr(large_partition, "BUFFER", 50)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 60),
    share=st.floats(0.01, 1),
    edges=st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=200),
    weighted=st.booleans(),
    seed=st.integers(0, 9),
)
def test_every_node_has_a_part_none_is_empty_and_none_too_large(
    n: int, share: float, edges: list[tuple[int, int]], weighted: bool, seed: int
) -> None:
    graph = build(n, [(i, j) for i, j in edges if i < n and j < n and i != j])
    if weighted:
        rows = np.repeat(np.arange(n), np.diff(graph.indptr))
        graph = replace(graph, weights=(1 + (rows + graph.indices) % 5).astype(np.float32))
    parts = max(1, round(share * n))
    labels = propagated_parts(graph, parts, seed)
    sizes = np.bincount(labels, minlength=parts)
    assert labels.shape == (n,) and labels.dtype == np.int64 and len(sizes) == parts and sizes.min() >= 1
    assert sizes.max() <= max(1.05 * n / parts, -(-n // parts))
    np.testing.assert_array_equal(labels, propagated_parts(graph, parts, seed))


@pytest.mark.usefixtures("small_blocks")
def test_communities_are_found_whatever_the_order_of_their_nodes() -> None:
    graph = communities(12, 50, 300)
    a = graph.adjacency()
    between = 300 / graph.num_edges * 11 / 12  # of the edges, about: what no partition can keep
    assert cut_weight(a, propagated_parts(graph, 12)) / graph.num_edges < 1.3 * between


@pytest.mark.skipif(not has_metis(), reason="needs pymetis: pip install pymetis")
@pytest.mark.parametrize("parts", [10, 60])
def test_the_cut_is_near_that_of_metis_and_far_below_chance(parts: int) -> None:
    graph = communities(60, 40, 3000)
    a = graph.adjacency()
    ours, metis = (cut_weight(a, cut) for cut in (propagated_parts(graph, parts), metis_parts(graph, parts)))
    assert ours < 1.35 * metis and 2 * metis < cut_weight(a, np.arange(graph.num_nodes) % parts)


def test_a_pass_moves_each_node_to_where_most_of_its_links_lead() -> None:
    graph = random_graph(40, 120, weighted=True)
    dense = graph.adjacency().toarray()
    for node in range(0, 40, 7):
        labels = np.arange(40, dtype=np.int32) % 4
        sizes = np.bincount(labels)
        links = [dense[node, labels == part].sum() for part in range(4)]
        propagate(_only(graph, node), labels, sizes, (1, 40), np.random.default_rng(0))
        assert labels[node] == np.argmax(links) or links[labels[node]] == max(links)
        np.testing.assert_array_equal(np.delete(labels, node), np.delete(np.arange(40) % 4, node))
        np.testing.assert_array_equal(sizes, np.bincount(labels))


def _only(graph: Graph, node: int) -> Graph:
    """The graph with the row of one node and no other: others have nowhere to go."""
    start, stop = graph.indptr[node], graph.indptr[node + 1]
    indptr = np.where(np.arange(41) > node, stop - start, 0)
    assert graph.weights is not None
    return replace(graph, indptr=indptr, indices=graph.indices[start:stop], weights=graph.weights[start:stop])


@pytest.mark.usefixtures("small_blocks")
def test_no_pass_makes_the_cut_worse_by_much_or_breaks_the_bounds() -> None:
    graph = communities(8, 40, 400)
    a, draw = graph.adjacency(), np.random.default_rng(1)
    labels = draw.permutation(np.arange(320, dtype=np.int32) % 8)
    sizes, cuts = np.bincount(labels), [cut_weight(a, labels)]
    for _ in range(6):
        propagate(graph, labels, sizes, (30, 44), draw)
        np.testing.assert_array_equal(sizes, np.bincount(labels, minlength=8))
        assert sizes.min() >= 30 and sizes.max() <= 44
        cuts.append(cut_weight(a, labels))
    assert cuts[-1] < 0.9 * cuts[0] and max(cuts[1:]) < cuts[0]


@pytest.mark.parametrize("count", [30, 1000])
def test_clusters_keep_their_size_and_are_few_also_around_a_hub(count: int) -> None:
    star = build(3000, [(0, i) for i in range(1, 2000)])  # and a thousand nodes without an edge
    found = clusters(star, 150, count, 4, np.random.default_rng(0))
    sizes = np.bincount(found)
    assert sizes.min() >= 1 and sizes.max() <= 150
    assert len(sizes) <= 2 * count + 2  # each but the last of those put together has half of its room


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.usefixtures("small_blocks")
def test_links_between_clusters_are_those_of_a_plain_loop(weighted: bool) -> None:
    graph = random_graph(30, 100, weighted=weighted)
    cluster = (np.arange(30) * 7 % 5).astype(np.int32)
    dense, expected = graph.adjacency().toarray(), np.zeros((5, 5))
    for i in range(30):
        for j in range(30):
            if cluster[i] != cluster[j]:
                expected[cluster[i], cluster[j]] += dense[i, j]
    np.testing.assert_allclose(cluster_links(graph, cluster, 5, 100).toarray(), expected, rtol=1e-5)
    kept = cluster_links(graph, cluster, 5, 3)
    assert kept.nnz == 6 and kept.max() == pytest.approx(expected.max(), rel=1e-5)


def test_sums_by_key_are_those_of_a_counter() -> None:
    draw = np.random.default_rng(0)
    keys, values = draw.integers(9, size=50), draw.random(50)
    total: Counter[int] = Counter()
    for key, value in zip(keys, values, strict=True):
        total[int(key)] += value
    found = dict(zip(*sums_by_key(keys, values), strict=True))
    assert {int(k): pytest.approx(v) for k, v in found.items()} == dict(total)
    assert dict(zip(*sums_by_key(keys, None), strict=True)) == Counter(keys.tolist())
    assert [len(part) for part in sums_by_key(keys[:0], values[:0])] == [0, 0]


def test_a_graph_on_disk_is_cut_as_in_memory_and_its_edges_are_never_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (label_propagation, large_partition):
        monkeypatch.setattr(module, "BLOCK", 1 << 12)
    monkeypatch.setattr(large_partition, "BUFFER", 1 << 12)
    monkeypatch.setattr(large_partition, "KEPT", 2)
    peaks = []
    for edges in (20_000, 100_000):
        generate_packed(Synthetic(nodes=2000, edges=edges, features=2), tmp_path / str(edges))
        stored = open_packed(tmp_path / str(edges))
        tracemalloc.start()
        on_disk = propagated_parts(stored, 16)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    held = replace(stored, indptr=np.array(stored.indptr), indices=np.array(stored.indices))
    np.testing.assert_array_equal(on_disk, propagated_parts(held, 16))
    assert peaks[1] < 1.3 * peaks[0] and stored.indices.nbytes > 4 * 150_000


def test_large_graphs_are_cut_so_and_caches_and_plans_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, how = communities(4, 30, 50), Settings(tasks=("par",))
    before = prepared(Partition(4), graph, tmp_path)["labels"], Batches(graph, "partition", 32, 1).cache_key
    monkeypatch.setattr(partition, "FAST_FROM", graph.num_edges)
    np.testing.assert_array_equal(cut_graph(graph, 4, 3), propagated_parts(graph, 4, 3))
    assert Partition(4).settings_on(graph) == {"parts": 4, "by": "propagation"}
    assert partition_plan(how, graph.num_edges) == {"partition": "propagation"}
    assert partition_plan(Settings(tasks=("clu",)), graph.num_edges) == {}
    after = prepared(Partition(4), graph, tmp_path)["labels"], Batches(graph, "partition", 32, 1).cache_key
    assert len(list(tmp_path.iterdir())) == 2 and before[1] != after[1]
    assert Batches(graph, "neighbour", 32, 1).cache_key == ("neighbour", 32, 1)
    monkeypatch.setattr(partition, "FAST_FROM", graph.num_edges + 1)
    np.testing.assert_array_equal(prepared(Partition(4), graph, tmp_path)["labels"], before[0])
