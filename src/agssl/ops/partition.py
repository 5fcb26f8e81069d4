"""Graph partitioning, and who does it.

| | where |
|---|---|
| `metis` | pymetis is installed |
| `multilevel` | it is not (`multilevel.py`) |
| `propagation` | the graph is large, whatever is installed (`large_partition.py`) |
"""

from __future__ import annotations

import io
import subprocess
import sys
from importlib.util import find_spec

import numpy as np

from agssl.data.graph import Graph
from agssl.ops.large_partition import propagated_parts
from agssl.ops.multilevel import multilevel_parts

MEAN_WEIGHT = 1000  # of an edge, in the whole numbers that METIS counts in
LARGEST_SUM = 1 << 30  # of all of them
METIS, OWN, FAST = "metis", "multilevel", "propagation"  # how records call the ways
FAST_FROM = 3_000_000  # edges: METIS would take half a minute, and more memory than anything else in a fit
LARGE = 1_000_000  # edges above which METIS gets a process of its own, and with it gives its memory back


def has_metis() -> bool:
    """Whether pymetis is installed (extra `metis`)."""
    return find_spec("pymetis") is not None


def cut_by(edges: int = 0) -> str:
    """How a graph of so many edges is cut here."""
    if edges >= FAST_FROM:
        return FAST
    return METIS if has_metis() else OWN


def cut_graph(graph: Graph, parts: int, seed: int = 0) -> np.ndarray:
    """The part of every node, int64 [N]: parts of about equal size with few edges between them."""
    way = cut_by(graph.num_edges)
    if way == FAST:
        return propagated_parts(graph, parts, seed)
    if way == METIS:
        return metis_parts(graph, parts, seed)
    return multilevel_parts(graph.adjacency(), parts, seed)


def metis_parts(graph: Graph, parts: int, seed: int = 0) -> np.ndarray:
    """The part of every node, int64 [N], by METIS k-way partitioning; parts may come out empty.

    METIS keeps the weight of the edges that are cut low, so edges with large weights stay inside parts.

    METIS draws from the one random generator of the C library. Ray has threads that draw from it too, so beside them
    METIS would not give the same parts twice, and runs in a process of its own.
    """
    arrays = (graph.indptr, graph.indices) + (() if graph.weights is None else (whole_weights(graph.weights),))
    if "ray" not in sys.modules and graph.num_edges < LARGE:
        return _cut(parts, seed, *arrays)
    words = [sys.executable, "-c", f"import {__name__} as p; p._main()", str(parts), str(seed)]
    done = subprocess.run(words, input=_packed(*arrays), stdout=subprocess.PIPE, check=True)
    return np.load(io.BytesIO(done.stdout))


def whole_weights(weights: np.ndarray) -> np.ndarray:
    """Weights as METIS wants them: whole numbers of 1 or more, whose sum a 32-bit one can hold. Int32 [2E]."""
    if not len(weights):
        return np.empty(0, dtype=np.int32)
    mean = min(MEAN_WEIGHT, LARGEST_SUM / len(weights))
    scaled = np.rint(weights * (mean / weights.mean(dtype=np.float64)))
    return np.maximum(scaled, 1).astype(np.int32)


def _cut(
    parts: int, seed: int, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None = None
) -> np.ndarray:
    import pymetis

    adjacency = pymetis.CSRAdjacency(adj_starts=indptr.astype(np.int32), adjacent=indices)
    _, labels = pymetis.part_graph(parts, adjacency, eweights=weights, options=pymetis.Options(seed=seed))
    return np.asarray(labels, dtype=np.int64)


def _packed(*arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    for array in arrays:
        np.save(buffer, array)
    return buffer.getvalue()


def _main() -> None:
    """What the process of its own does: arrays from stdin, parts to stdout."""
    given = io.BytesIO(sys.stdin.buffer.read())
    size = len(given.getvalue())
    arrays = []
    while given.tell() < size:
        arrays.append(np.load(given))
    sys.stdout.buffer.write(_packed(_cut(int(sys.argv[1]), int(sys.argv[2]), *arrays)))
