"""Features as the networks read them: as given, or each node's scaled to unit L2 norm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agssl.base.errors import GraphError
from agssl.data.graph import Features, Graph
from agssl.data.packed import stored_in


def scaled(graph: Graph, how: str) -> Graph:
    """The same graph with other features; done again, it changes nothing more.

    Each node is scaled by itself, so that a trained network reads a new graph the same way.

    Args:
        graph: with its features in memory, unless `how` is "none".
        how: "none"; "l2", each node's features divided by their L2 norm; or "binary", the same after
            every feature that is not zero became 1 (words that occur, however often).
    """
    if how == "none":
        return graph
    if stored_in(graph) is not None:
        raise GraphError(
            f"feature_norm = {how!r}, but the features of {graph.name} are read from disk as they are; "
            "scale them before `agssl data pack`, or leave the setting out"
        )
    x = (graph.x != 0).astype(np.float32) if how == "binary" else graph.x
    return replace(graph, x=unit_rows(x))


def unit_rows(x: Features) -> Features:
    """Rows divided by their L2 norm; those of zeros stay as they are.

    It is `sklearn.preprocessing.normalize`, bit for bit, without a second of imports in every process.
    """
    if isinstance(x, np.ndarray):
        norms = np.sqrt(np.einsum("ij,ij->i", x, x))
        norms[norms < 10 * np.finfo(norms.dtype).eps] = 1
        return x / norms[:, None]
    counts = np.diff(x.indptr)
    sums = np.bincount(np.repeat(np.arange(len(counts)), counts), x.data * x.data, len(counts))
    sums[sums == 0] = 1
    found = x.copy()
    found.data /= np.repeat(np.sqrt(sums), counts)
    return found
