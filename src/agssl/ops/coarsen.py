"""Groups of nodes that a coarser graph takes as one (H-GCN; Hu et al. 2019)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from agssl.data.graph import Graph

ROUNDS = 20  # of handshakes; each matches a good share of those that can be


def coarse_groups(graph: Graph, levels: int, draw: np.random.Generator) -> np.ndarray:
    """The group of each node, int64 [N], numbered from 0 without gaps.

    First all nodes with the same neighbours (and weights of these edges) become one; then, `levels` times, each group
    joins the one that is most strongly linked to it, in proportion to the weights of both (structural similarity).
    """
    a = graph.adjacency().astype(np.float64)
    groups = same_neighbours(a, draw)
    for _ in range(levels):
        coarse = merged(a, groups)
        groups = matched(coarse, np.bincount(groups), draw)[groups]
    return groups


def same_neighbours(a: sp.csr_matrix, draw: np.random.Generator) -> np.ndarray:
    """Nodes with equal rows of `a` share a group; isolated nodes are on their own."""
    n = a.shape[0]
    keys = draw.random(n)
    sums = a @ keys  # equal rows have equal sums; others by an accident of 2^-50
    sums[np.diff(a.indptr) == 0] = 1e9 + np.flatnonzero(np.diff(a.indptr) == 0)
    return np.unique(sums, return_inverse=True)[1]


def merged(a: sp.csr_matrix, groups: np.ndarray) -> sp.csr_matrix:
    """Weights between groups: S^T A S, without those inside a group."""
    n = len(groups)
    s = sp.csr_matrix((np.ones(n), groups, np.arange(n + 1)))
    coarse = (s.T @ a @ s).tocsr()
    coarse.setdiag(0)
    coarse.eliminate_zeros()
    return coarse


def matched(a: sp.csr_matrix, sizes: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Pairs by handshake: whoever points at each other is matched; the rest stay alone. Group numbers, [n].

    Each points at the free neighbour with the greatest a_ij / sqrt(s_i s_j), ties broken at random.
    """
    n = a.shape[0]
    rows = np.repeat(np.arange(n), np.diff(a.indptr))
    columns = a.indices.astype(np.int64)
    noise = draw.random(n)
    # The same for (i, j) and (j, i), so that the best free pair always finds itself
    strength = a.data / np.sqrt(sizes[rows] * sizes[columns]) * (1 + 1e-6 * (noise[rows] + noise[columns]))
    order = np.lexsort((-strength, rows))
    rows, columns = rows[order], columns[order]
    partner = np.full(n, -1)
    for _ in range(ROUNDS):
        free = (partner[rows] < 0) & (partner[columns] < 0)
        rows, columns = rows[free], columns[free]
        if not len(rows):
            break
        first = np.flatnonzero(np.diff(rows, prepend=-1))
        choice = np.full(n, -1)
        choice[rows[first]] = columns[first]
        chose = rows[first]
        mutual = chose[choice[choice[chose]] == chose]
        partner[mutual] = choice[mutual]
    leader = np.where(partner >= 0, np.minimum(partner, np.arange(n)), np.arange(n))
    return np.unique(leader, return_inverse=True)[1]


def coarse_propagation(graph: Graph, groups: np.ndarray) -> tuple[sp.csr_matrix, sp.csr_matrix, sp.csr_matrix]:
    """The way down, through the coarse graph and up again, float32 [M, N], [M, M] and [N, M].

    Down: the mean over each group; then the normalised adjacency of the coarse graph. Up: each node gets its group's
    representation, then the normalised adjacency of the graph.
    """
    n, a = graph.num_nodes, graph.adjacency().astype(np.float64)
    s = sp.csr_matrix((np.ones(n), groups, np.arange(n + 1)))
    mean = sp.diags(1 / np.bincount(groups)) @ s.T
    pool, coarse, up = (m.tocsr().astype(np.float32) for m in (mean, normalised(merged(a, groups)), normalised(a) @ s))
    return pool, coarse, up


def normalised(a: sp.csr_matrix) -> sp.csr_matrix:
    """D^-1/2 (A + I) D^-1/2."""
    looped = (a + sp.eye(a.shape[0])).tocsr()
    scale = sp.diags(np.asarray(looped.sum(1)).ravel() ** -0.5)
    return (scale @ looped @ scale).tocsr()
