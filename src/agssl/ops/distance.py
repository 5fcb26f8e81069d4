"""Exact distances up to three hops, by breadth-first search from sampled nodes."""

from __future__ import annotations

import numpy as np

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops.subgraph import neighbour_entries

PER_ANCHOR = 8  # pairs of each distance kept from one search
WORK = 30_000_000  # edges looked at before the search stops early; hubs make balls as large as the graph


def ball(graph: Graph, anchor: int, depth: int, distance: np.ndarray) -> list[np.ndarray]:
    """The nodes at distance 1..depth of `anchor`, one array each.

    Args:
        graph: where to search.
        anchor: the node to start from.
        depth: hops.
        distance: int8 [N] scratch, all -1; it is -1 again afterwards.
    """
    rings, frontier = [], np.array([anchor])
    distance[anchor] = 0
    for hops in range(1, depth + 1):
        reached = neighbour_entries(graph, frontier)[0]
        reached = reached[distance[reached] < 0]
        distance[reached] = hops
        frontier = np.unique(reached)
        rings.append(frontier)
    for ring in rings:
        distance[ring] = -1
    distance[anchor] = -1
    return rings


def distance_pool(graph: Graph, rng: Rng, per_class: int) -> list[np.ndarray]:
    """Pairs at true distance 1, 2, 3 and >= 4 (or unreachable): four int64 arrays [2, n], n up to about `per_class`.

    Nodes are searched from in random order until the pools are full or `WORK` edges were looked at.
    """
    draw, n = rng.numpy(), graph.num_nodes
    scratch = np.full(n, -1, dtype=np.int8)
    pools: list[list[np.ndarray]] = [[], [], [], []]
    work, anchors = 0, draw.permutation(n)[: -(-per_class // PER_ANCHOR)]
    for anchor in anchors:
        rings = ball(graph, int(anchor), 3, scratch)
        near = np.concatenate([[anchor], *rings])
        far = draw.integers(n, size=PER_ANCHOR)
        rings.append(np.setdiff1d(far, near))
        for pool, ring in zip(pools, rings, strict=True):
            others = ring if len(ring) <= PER_ANCHOR else draw.choice(ring, PER_ANCHOR, replace=False)
            pool.append(np.stack([np.full(len(others), anchor), others]).astype(np.int64))
        work += int(graph.degree[near].sum()) + n // 64
        if work > WORK:
            break
    return [np.concatenate(pool, axis=1) for pool in pools]
