"""METIS: the same parts wherever it runs."""

from __future__ import annotations

import sys
import types

import numpy as np

import agssl.ops.partition as partition
from agssl.ops.partition import metis_parts
from reference.graphs import random_graph


def test_a_process_of_its_own_gives_the_same_parts(monkeypatch) -> None:
    graph = random_graph(80, 200)
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
