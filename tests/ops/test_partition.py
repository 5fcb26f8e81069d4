"""METIS: the same parts wherever it runs."""

from __future__ import annotations

import sys
import types
from dataclasses import replace

import numpy as np
import pytest

import agssl.ops.partition as partition
from agssl.ops.partition import metis_parts, whole_weights
from reference.graphs import build, random_graph


@pytest.mark.parametrize("weighted", [False, True])
def test_a_process_of_its_own_gives_the_same_parts(monkeypatch, weighted: bool) -> None:
    graph = random_graph(80, 200, weighted=weighted)
    here = metis_parts(graph, 8, seed=3)
    assert len(np.unique(here)) > 4
    monkeypatch.setattr(partition, "LARGE", 1)
    np.testing.assert_array_equal(metis_parts(graph, 8, seed=3), here)


def test_beside_ray_metis_has_a_process_of_its_own(monkeypatch) -> None:
    graph = random_graph(80, 200)
    here = metis_parts(graph, 8, seed=3)
    monkeypatch.setitem(sys.modules, "ray", types.ModuleType("ray"))
    monkeypatch.setattr(partition, "_cut", lambda *_: 1 / 0)  # of this process
    np.testing.assert_array_equal(metis_parts(graph, 8, seed=3), here)


def test_heavy_edges_stay_inside_parts() -> None:
    ring = build(40, [(i, (i + 1) % 40) for i in range(40)])
    rows = np.repeat(np.arange(40), 2)
    heavy = np.minimum(rows, ring.indices) % 10 != 4  # four light edges, 4-5, 14-15, 24-25 and 34-35
    heavy |= np.abs(rows - ring.indices) == 39
    weighted = replace(ring, weights=np.where(heavy, 50, 0.1).astype(np.float32))
    parts = metis_parts(weighted, 4)
    assert (parts[rows] == parts[ring.indices])[heavy].all()
    assert len(np.unique(parts)) == 4


@pytest.mark.parametrize("weights", [[1e-15, 1e15], [1e15, 1e15], [0.1, 0.1, 0.3]])
def test_metis_gets_whole_numbers_that_a_32_bit_sum_can_hold(weights: list[float]) -> None:
    whole = whole_weights(np.array(weights, dtype=np.float32))
    assert whole.dtype == np.int32 and whole.min() >= 1 and whole.sum(dtype=np.int64) < 2**31
    assert whole_weights(np.array([1, 3], dtype=np.float32)).tolist() == [500, 1500]
