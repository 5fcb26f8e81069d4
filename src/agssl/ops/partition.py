"""Graph partitioning by METIS."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np

from agssl.data.graph import Graph

LARGE = 1_000_000  # edges above which METIS gets a process of its own, and with it gives its memory back


def metis_parts(graph: Graph, parts: int, seed: int = 0) -> np.ndarray:
    """The part of every node, int64 [N], by METIS k-way partitioning; parts may come out empty.

    METIS draws from the one random generator of the C library. Ray has threads that draw from it too, so beside them
    METIS would not give the same parts twice, and runs in a process of its own.
    """
    if "ray" not in sys.modules and graph.num_edges < LARGE:
        return _cut(graph.indptr, graph.indices, parts, seed)
    words = [sys.executable, "-c", f"import {__name__} as p; p._main()", str(parts), str(seed)]
    done = subprocess.run(words, input=_packed(graph.indptr, graph.indices), stdout=subprocess.PIPE, check=True)
    return np.load(io.BytesIO(done.stdout))


def _cut(indptr: np.ndarray, indices: np.ndarray, parts: int, seed: int) -> np.ndarray:
    import pymetis

    adjacency = pymetis.CSRAdjacency(adj_starts=indptr.astype(np.int32), adjacent=indices)
    _, labels = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=seed))
    return np.asarray(labels, dtype=np.int64)


def _packed(*arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    for array in arrays:
        np.save(buffer, array)
    return buffer.getvalue()


def _main() -> None:
    """What the process of its own does: arrays from stdin, parts to stdout."""
    given = io.BytesIO(sys.stdin.buffer.read())
    indptr, indices = np.load(given), np.load(given)
    sys.stdout.buffer.write(_packed(_cut(indptr, indices, int(sys.argv[1]), int(sys.argv[2]))))
