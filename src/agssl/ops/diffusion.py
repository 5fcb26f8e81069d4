"""Personalised PageRank between all nodes, or from some of them, sparse: small entries are never made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from agssl.data.graph import Graph
from agssl.ops.adjacency import Adjacency

TELEPORT, KEPT, TOLERANCE = 0.15, 32, 1e-3  # of `near_labelled`
BLOCK_ENTRIES = 4_000_000  # residuals held at a time, roughly


def diffusion(adjacency: Adjacency, alpha: float, kept: int, tolerance: float) -> sp.csr_matrix:
    """S = alpha (I - (1 - alpha) Â)^-1, truncated and symmetric (MVGRL, Eq. 6); float32.

    Rows are approximated from below by pushing (Andersen et al. 2006), which leaves every entry of the random walk's
    PageRank right to `tolerance` times the degree of its column over the mean degree (self-loops included; weighted
    where edges are). Then the `kept` largest entries of each row stay, and S is averaged with its transpose, as
    truncation is not symmetric.
    """
    blocks = [
        largest(block, kept).astype(np.float32)
        for block in _ranks(adjacency, np.arange(adjacency.num_nodes), alpha, tolerance)
    ]
    s = sp.vstack(blocks, format="csr")
    s = ((s + s.T) * np.float32(0.5)).tocsr()
    s.sort_indices()
    return s


def nearness(adjacency: Adjacency, nodes: np.ndarray, alpha: float, kept: int, tolerance: float) -> sp.csr_matrix:
    """How near each node is to each of these: the columns S[:, nodes], [N, n] float32, `kept` largest of each row.

    A node is not near to itself: entries of `nodes` with themselves are left out, before the largest are chosen.
    """
    blocks = list(_ranks(adjacency, nodes, alpha, tolerance))
    s = (sp.vstack(blocks, format="csr") if blocks else sp.csr_matrix((0, adjacency.num_nodes))).T.tocsr()
    s.sort_indices()
    own = np.full(adjacency.num_nodes, -1)
    own[nodes] = np.arange(len(nodes))
    others = s.indices != own[np.repeat(np.arange(len(own)), np.diff(s.indptr))]
    return largest(_where(s, others), kept).astype(np.float32)


def near_labelled(graph: Graph, nodes: np.ndarray, kept: int = KEPT) -> sp.csr_matrix:
    """How near each node is to each of these, [N, n] float32: rows sum to 1 in the mean over all nodes.

    With more than a thousand of them, entries that are dropped may be larger, so that time stays in proportion to them.
    """
    near = nearness(Adjacency.of(graph), nodes, TELEPORT, kept, TOLERANCE * max(1.0, len(nodes) / 1000))
    near.data /= max(near.data.sum(dtype=np.float64) / graph.num_nodes, 1e-12)
    return near


def _ranks(adjacency: Adjacency, nodes: np.ndarray, alpha: float, tolerance: float) -> Iterator[sp.csr_matrix]:
    """The rows of S of these nodes, some at a time."""
    n = adjacency.num_nodes
    degree = adjacency.degree + 1
    limit = tolerance * degree / degree.mean()
    chance = 1 / degree[adjacency.rows]
    if adjacency.weights is not None:
        chance *= adjacency.weights
    walk = sp.csr_matrix((chance, adjacency.indices, adjacency.indptr), (n, n))
    # An entry that is pushed is spread over its neighbours, one that is not stays: one product does both.
    spread = sp.vstack([(1 - alpha) * walk, sp.eye(n)], format="csr")
    entries = len(adjacency.indices) / n
    step = max(1, int(BLOCK_ENTRIES / min(n, entries / (alpha * tolerance))))  # a row has about as many, at most
    root = np.sqrt(degree)
    for start in range(0, len(nodes), step):
        rows = nodes[start : start + step]
        ranks = _push(spread, rows, limit, alpha)
        # alpha (I - (1 - alpha) Â)^-1 = D^1/2 (PageRank of the walk D^-1 (A + I)) D^-1/2
        ranks.data *= np.repeat(root[rows], np.diff(ranks.indptr)) / root[ranks.indices]
        yield ranks


def _push(spread: sp.csr_matrix, rows: np.ndarray, limit: np.ndarray, alpha: float) -> sp.csr_matrix:
    """PageRank of the walk from each of these rows, [n, N]: round by round, residuals above the limit are pushed."""
    count, n = len(rows), spread.shape[1]
    residual = sp.csr_matrix((np.ones(count), rows, np.arange(count + 1)), (count, n))
    ranks = sp.csr_matrix((count, n))
    while True:
        high = residual.data > limit[residual.indices]
        if not high.any():
            return ranks
        ranks = ranks + alpha * _where(residual, high)
        both = np.where(high, residual.indices, residual.indices + n)
        residual = sp.csr_matrix((residual.data, both, residual.indptr), (count, 2 * n)) @ spread


def _where(matrix: sp.csr_matrix, chosen: np.ndarray) -> sp.csr_matrix:
    """The stored entries that are chosen."""
    before = np.concatenate([[0], np.cumsum(chosen)])
    return sp.csr_matrix((matrix.data[chosen], matrix.indices[chosen], before[matrix.indptr]), matrix.shape)


def largest(matrix: sp.csr_matrix, kept: int) -> sp.csr_matrix:
    """The `kept` largest entries of each row; of equal ones, those that come first."""
    counts = np.diff(matrix.indptr)
    if counts.max(initial=0) <= kept:
        return matrix
    rows = np.repeat(np.arange(matrix.shape[0]), counts)
    order = np.lexsort((matrix.indices, -matrix.data, rows))
    rank = np.arange(len(order)) - np.repeat(matrix.indptr[:-1], counts)  # lexsort leaves rows in place
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[rank < kept]] = True
    return _where(matrix, chosen)
