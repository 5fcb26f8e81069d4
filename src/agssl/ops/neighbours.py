"""The k nodes most like each node by the cosine of their features: exactly, or nearly so on large graphs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from threadpoolctl import threadpool_limits

from agssl.base.rng import Rng
from agssl.data.feature_norm import unit_rows
from agssl.data.graph import Features
from agssl.ops.csr import from_scipy, product

BLOCK = 256  # rows at most that are compared with all others at a time, so never N x N
ENTRIES = 1 << 24  # of such rows with their zeros
DENSE_FROM = 0.3  # share of features that are not zero from which a dense product is the quicker one
TREES, LEAF, WIDTH = 8, 1024, 32  # of the approximation: trees, nodes in a leaf, columns of the projection
ROUNDS = 2  # of looking among neighbours of neighbours
PAIRS = 1 << 18  # whose similarities are computed at a time


class Nearest(NamedTuple):
    """Up to k others of each node, the most similar first; places without a node have -1 and similarity 0."""

    nodes: np.ndarray  # int64 [N, k]
    similarity: np.ndarray  # float32 [N, k], positive where there is a node

    def edges(self) -> np.ndarray:
        """From each node to those found, int64 [2, E]."""
        source, place = np.nonzero(self.nodes >= 0)
        return np.vstack([source, self.nodes[source, place]])


def nearest(x: Features, k: int) -> Nearest:
    """The k most similar others of every node, exactly; only positive similarities count.

    The result does not depend on the number of threads.

    Args:
        x: features [N, d]; a node without any is like no other.
        k: how many; fewer are found where fewer are there.
    """
    unit, nodes = _unit_rows(x), x.shape[0]
    k = min(k, nodes - 1)
    found = _nothing(nodes, k)
    whole = None if isinstance(unit, np.ndarray) else from_scipy(unit)
    step = max(1, min(BLOCK, ENTRIES // max(1, unit.shape[1])))
    for start in range(0, nodes if k > 0 else 0, step):
        rows = np.arange(start, min(start + step, nodes))
        if whole is None or isinstance(unit, np.ndarray):
            with threadpool_limits(1):  # the last bits of a product may depend on it, and ties on these
                similarity = torch.from_numpy(unit[rows] @ unit.T)
        else:
            block = np.ascontiguousarray(unit[rows].toarray().T)  # [d, step]
            similarity = product(whole, torch.from_numpy(block)).t().contiguous()
        similarity[torch.arange(len(rows)), torch.from_numpy(rows)] = -torch.inf
        values, at = torch.topk(similarity, k, dim=1)
        found.similarity[rows], found.nodes[rows] = values.numpy(), at.numpy()
    return _only_positive(found)


def nearly_nearest(x: Features, k: int, rng: Rng) -> Nearest:
    """Most of the k most similar others of every node, in time that grows with N log N.

    Random trees over a projection of the features put similar nodes into one leaf, and nodes of a leaf are compared;
    then neighbours of neighbours are (Dong et al. 2011, "Efficient k-nearest neighbor graph construction").
    Similarities are exact.

    Args:
        x: as for `nearest`.
        k: as for `nearest`.
        rng: draws the trees.
    """
    unit, nodes = _unit_rows(x), x.shape[0]
    k = min(k, nodes - 1)
    draw = rng.numpy()
    with threadpool_limits(1):
        flat = np.asarray(unit @ draw.standard_normal((unit.shape[1], WIDTH), dtype=np.float32))
        found = _nothing(nodes, k)
        for _ in range(TREES):
            found = _merged(found, _within_leaves(unit, flat, k, draw))
        for _ in range(ROUNDS):
            found = _explored(unit, found)
    return _only_positive(found)


def _unit_rows(x: Features) -> Features:
    """Rows of unit norm, dense where that is quicker."""
    unit = unit_rows(x)
    filled = np.count_nonzero(unit) if isinstance(unit, np.ndarray) else unit.nnz
    dense = filled >= DENSE_FROM * unit.shape[0] * unit.shape[1]
    if isinstance(unit, np.ndarray):
        return unit if dense else sp.csr_matrix(unit)
    return unit.toarray() if dense else unit


def _nothing(nodes: int, k: int) -> Nearest:
    return Nearest(np.full((nodes, k), -1, dtype=np.int64), np.full((nodes, k), -np.inf, dtype=np.float32))


def _only_positive(found: Nearest) -> Nearest:
    there = found.similarity > 0
    return Nearest(np.where(there, found.nodes, -1), np.where(there, found.similarity, np.float32(0)))


def _merged(one: Nearest, other: Nearest) -> Nearest:
    """The best k of both, each node once."""
    k = one.nodes.shape[1]
    nodes = np.concatenate([one.nodes, other.nodes], axis=1)
    similarity = np.concatenate([one.similarity, other.similarity], axis=1)
    order = np.argsort(nodes, axis=1, kind="stable")
    nodes, similarity = np.take_along_axis(nodes, order, 1), np.take_along_axis(similarity, order, 1)
    similarity[:, 1:][nodes[:, 1:] == nodes[:, :-1]] = -np.inf
    best = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    return Nearest(np.take_along_axis(nodes, best, 1), np.take_along_axis(similarity, best, 1))


def _leaves(flat: np.ndarray, draw: np.random.Generator) -> list[np.ndarray]:
    """All nodes in groups of at most `LEAF`: halved along the line through two of their own, again and again."""
    open_groups, leaves = [np.arange(len(flat))], []
    while open_groups:
        group = open_groups.pop()
        if len(group) <= LEAF:
            leaves.append(group)
            continue
        a, b = draw.choice(group, 2, replace=False)
        order = np.argpartition(flat[group] @ (flat[a] - flat[b]), len(group) // 2)
        open_groups += np.split(group[order], [len(group) // 2])
    return leaves


def _within_leaves(unit: Features, flat: np.ndarray, k: int, draw: np.random.Generator) -> Nearest:
    found = _nothing(len(flat), k)
    for leaf in _leaves(flat, draw):
        rows = unit[leaf]
        block = rows @ rows.T
        similarity = block.toarray() if sp.issparse(block) else block
        np.fill_diagonal(similarity, -np.inf)
        kept = min(k, len(leaf) - 1)
        best = np.argpartition(-similarity, kept - 1, axis=1)[:, :kept] if kept else np.empty((len(leaf), 0), np.int64)
        found.nodes[leaf, :kept] = leaf[best]
        found.similarity[leaf, :kept] = np.take_along_axis(similarity, best, 1)
    return found


def _explored(unit: Features, found: Nearest) -> Nearest:
    """What was found, and the best among the neighbours of neighbours, either way along an edge."""
    nodes, k = found.nodes.shape
    near = np.hstack([found.nodes, _followers(found.nodes)])  # [N, 2k]
    better = _nothing(nodes, k)
    step = max(1, PAIRS // max(1, 2 * k * k))
    for start in range(0, nodes, step):
        rows = np.arange(start, min(start + step, nodes))
        ours = near[rows]
        others = np.where(ours[:, :, None] >= 0, found.nodes[ours], -1).reshape(len(rows), -1)
        others.sort(axis=1)
        others[:, 1:][others[:, 1:] == others[:, :-1]] = -1
        others[others == rows[:, None]] = -1
        row, place = np.nonzero(others >= 0)
        similarity = np.full(others.shape, -np.inf, dtype=np.float32)
        similarity[row, place] = _pairs(unit, rows[row], others[row, place])
        best = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
        better.nodes[rows] = np.take_along_axis(others, best, 1)
        better.similarity[rows] = np.take_along_axis(similarity, best, 1)
    return _merged(found, better)


def _followers(nodes: np.ndarray) -> np.ndarray:
    """Up to k nodes that have each node among their nearest, -1 where there are fewer, int64 [N, k]."""
    count, k = nodes.shape
    source, place = np.nonzero(nodes >= 0)
    order = np.argsort(nodes[source, place], kind="stable")
    target = nodes[source, place][order]
    rank = np.arange(len(target)) - np.searchsorted(target, target)
    kept = rank < k
    found = np.full((count, k), -1, dtype=np.int64)
    found[target[kept], rank[kept]] = source[order][kept]
    return found


def _pairs(unit: Features, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The similarity of each pair, float32."""
    if isinstance(unit, np.ndarray):
        return np.einsum("ij,ij->i", unit[left], unit[right])
    return np.asarray(unit[left].multiply(unit[right]).sum(axis=1)).ravel().astype(np.float32)
