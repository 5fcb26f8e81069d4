"""Nearest neighbours by cosine: exactly those of a loop, and most of them where that would take too long."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from agssl.base.rng import Rng
from agssl.ops import neighbours
from agssl.ops.neighbours import Nearest, nearest, nearly_nearest


def naive(x: np.ndarray, k: int) -> list[list[int]]:
    """By a loop over pairs; only positive similarities count."""
    found = []
    for i, row in enumerate(x):
        cosines = {}
        for j, other in enumerate(x):
            lengths = np.linalg.norm(row) * np.linalg.norm(other)
            if i != j and lengths > 0 and row @ other > 0:
                cosines[j] = row @ other / lengths
        found.append(sorted(cosines, key=lambda j: -cosines[j])[:k])
    return found


def lists(found: Nearest) -> list[list[int]]:
    return [[j for j in row if j >= 0] for row in found.nodes.tolist()]


def words(nodes: int, width: int, seed: int = 0, topics: int = 20) -> sp.csr_matrix:
    """Texts of some topics: sparse counts, most words of a text from its topic."""
    draw = np.random.default_rng(seed)
    x = np.zeros((nodes, width), dtype=np.float32)
    for node, topic in enumerate(draw.integers(topics, size=nodes)):
        own = topic * (width // topics) + draw.integers(width // topics, size=15)
        np.add.at(x[node], np.concatenate([own, draw.integers(width, size=5)]), 1)
    return sp.csr_matrix(x)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("density", [1.0, 0.2])
@pytest.mark.parametrize("block", [7, 256])
def test_the_nearest_are_those_of_a_loop(
    make: type, density: float, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "BLOCK", block)
    draw = np.random.default_rng(0)
    x = draw.normal(size=(50, 30)) * (draw.random((50, 30)) < density)
    x[[3, 4]] = 0
    found = nearest(make(x.astype(np.float32)), 4)
    assert lists(found) == naive(x, 4)
    assert lists(found)[3] == [] and not any({3, 4} & set(row) for row in lists(found))
    assert (np.diff(found.similarity, axis=1) <= 0).all()


def test_there_are_no_more_neighbours_than_others_and_a_duplicate_is_one() -> None:
    assert lists(nearest(np.ones((3, 2), dtype=np.float32), 10)) in ([[1, 2], [0, 2], [0, 1]], [[2, 1], [2, 0], [1, 0]])
    assert nearest(np.ones((1, 2), dtype=np.float32), 10).edges().shape == (2, 0)
    assert nearly_nearest(np.ones((1, 2), dtype=np.float32), 10, Rng(0)).edges().shape == (2, 0)


def test_ties_are_broken_alike_whatever_the_number_of_threads() -> None:
    x = np.random.default_rng(0).integers(0, 3, size=(800, 6)).astype(np.float32)  # many equal similarities
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found += [nearest(x, 5).nodes, nearest(sp.csr_matrix(np.where(x == 2, x, 0)), 5).nodes]
    finally:
        torch.set_num_threads(before)
    assert (found[0] == found[2]).all() and (found[1] == found[3]).all()


@pytest.mark.parametrize("dense", [False, True])
def test_most_of_the_nearest_are_found_without_comparing_all(dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "LEAF", 128)  # of 3,000 nodes, each is compared with a few hundred
    x = words(3000, 600)
    if dense:
        x = np.asarray(x @ np.random.default_rng(1).normal(size=(600, 40)).astype(np.float32))
    exact, near = nearest(x, 10), nearly_nearest(x, 10, Rng(0))
    right = [len({*a} & {*b}) / 10 for a, b in zip(lists(exact), lists(near), strict=True)]
    assert np.mean(right) > 0.8
    assert (near.similarity <= exact.similarity + 1e-5).all()
    assert (nearly_nearest(x, 10, Rng(0)).nodes == near.nodes).all()
    for i in (0, 17, 2999):
        others = near.nodes[i]
        assert i not in others and len({*others.tolist()}) == 10
        rows = np.asarray(x[[i, *others]].todense() if sp.issparse(x) else x[[i, *others]], dtype=np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        assert near.similarity[i] == pytest.approx(rows[1:] @ rows[0], abs=1e-5)
