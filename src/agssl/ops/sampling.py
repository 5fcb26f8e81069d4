"""Random pairs of nodes."""

from __future__ import annotations

import numpy as np

from agssl.ops.adjacency import Adjacency


def non_edges(adjacency: Adjacency, count: int, draw: np.random.Generator) -> np.ndarray:
    """`count` pairs of distinct nodes that are not linked, int64 [2, count]; fewer in a nearly complete graph."""
    n = adjacency.num_nodes
    found = np.zeros((2, 0), dtype=np.int64)
    for _ in range(20):
        pairs = draw.integers(n, size=(2, 2 * count))
        pairs = pairs[:, ~adjacency.has_edge(pairs[0], pairs[1])]  # a node with itself counts as an edge here
        found = np.concatenate([found, pairs], axis=1)
        if found.shape[1] >= count:
            break
    return found[:, :count]
