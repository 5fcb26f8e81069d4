"""Graph partitioning by METIS."""

from __future__ import annotations

import numpy as np

from agssl.data.graph import Graph


def metis_parts(graph: Graph, parts: int, seed: int = 0) -> np.ndarray:
    """The part of every node, int64 [N], by METIS k-way partitioning; parts may come out empty."""
    import pymetis

    options = pymetis.Options(seed=seed)
    _, labels = pymetis.part_graph(
        parts, xadj=graph.indptr.astype(np.int32), adjncy=graph.indices.astype(np.int32), options=options
    )
    return np.asarray(labels, dtype=np.int64)
