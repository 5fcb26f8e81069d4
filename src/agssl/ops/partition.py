"""Graph partitioning by METIS."""

from __future__ import annotations

import numpy as np

from agssl.data.graph import Graph


def metis_parts(graph: Graph, parts: int, seed: int = 0) -> np.ndarray:
    """The part of every node, int64 [N], by METIS k-way partitioning; parts may come out empty."""
    import pymetis

    adjacency = pymetis.CSRAdjacency(adj_starts=graph.indptr.astype(np.int32), adjacent=graph.indices)
    _, labels = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=seed))
    return np.asarray(labels, dtype=np.int64)
