"""A large graph, in memory or on disk, cut into parts of about equal size in near-linear time and little memory.

Nodes become clusters by a few passes of label propagation (`label_propagation.py`), a few to a part at most. The graph
of the clusters is small, whatever the graph is, and is cut by `multilevel.py`; a few more passes then move single nodes
to the part that they have the most links with. Edges are read in blocks, in order, and never held as a whole.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from agssl.data.graph import Graph
from agssl.data.packed import row_blocks
from agssl.ops.label_propagation import clusters, propagate, sums_by_key
from agssl.ops.multilevel import LEAST, SLACK, multilevel_parts

PIECES = 4  # clusters in a part, at least
CLUSTERS = 1 << 16  # that are cut into parts: so many where a part would have but few of them
CLUSTERING, REFINING = 4, 3  # passes
KEPT = 32  # links of a cluster to others that count, on average: the strongest
BLOCK = 1 << 20  # edges' ends read at a time
BUFFER = 1 << 22  # links between clusters collected before they are added up

Sums = tuple[np.ndarray, np.ndarray]  # sorted keys, and a sum for each


def propagated_parts(graph: Graph, parts: int, seed: int = 0) -> np.ndarray:
    """The part of every node, int64 [N]; the same for the same seed.

    Args:
        graph: with edges in memory or on disk, with weights or without.
        parts: how many, from 1 to N.
        seed: of the draws.
    """
    draw, n = np.random.default_rng(seed), graph.num_nodes
    piece = max(1, n // (PIECES * parts))
    cluster = clusters(graph, piece, max(CLUSTERS, 2 * PIECES * parts), CLUSTERING, draw)
    sizes = np.bincount(cluster)
    links = cluster_links(graph, cluster, len(sizes), KEPT * len(sizes))
    labels = multilevel_parts(links, parts, seed, sizes)[cluster].astype(np.int32)
    weight = np.bincount(labels, minlength=parts)
    bounds = max(1, int(LEAST * n / parts)), max(int(SLACK * n / parts), -(-n // parts))
    for _ in range(REFINING):
        if propagate(graph, labels, weight, bounds, draw) < n // 1000:
            break
    return labels.astype(np.int64)


def cluster_links(graph: Graph, cluster: np.ndarray, count: int, most: int) -> sp.csr_matrix:
    """The weights of the edges between clusters, symmetric; about the `most` greatest, where there are more.

    Links are added up while the edges are read. Where too many come together, the weakest so far are left out, so that
    a link that grows slowly may come out too weak (lossy counting; Manku & Motwani 2002).
    """
    keys, sums, fresh = np.empty(0, dtype=np.int64), np.empty(0), []
    waiting = 0
    for first, last in row_blocks(graph.indptr, BLOCK):
        start, stop = graph.indptr[first], graph.indptr[last]
        source = np.repeat(cluster[first:last], np.diff(graph.indptr[first : last + 1]))
        target = cluster[graph.indices[start:stop]]
        once = np.flatnonzero(source < target)  # each edge is there in both directions
        weights = None if graph.weights is None else graph.weights[start:stop][once]
        fresh.append(sums_by_key(source[once].astype(np.int64) * count + target[once], weights))
        waiting += len(fresh[-1][0])
        if waiting > BUFFER:
            keys, sums = _strongest(_added([(keys, sums), *fresh]), max(BUFFER, most))
            fresh, waiting = [], 0
    keys, sums = _strongest(_added([(keys, sums), *fresh]), most)
    half = sp.csr_matrix((sums, np.divmod(keys, count)), shape=(count, count))
    return (half + half.T).tocsr()


def _added(pieces: list[Sums]) -> Sums:
    keys, sums = zip(*pieces, strict=True)
    return sums_by_key(np.concatenate(keys), np.concatenate(sums))


def _strongest(found: Sums, most: int) -> Sums:
    """The `most` keys of the greatest sums, still sorted."""
    keys, sums = found
    if len(keys) <= most:
        return found
    kept = np.sort(np.argpartition(sums, len(sums) - most)[-most:])
    return keys[kept], sums[kept]
