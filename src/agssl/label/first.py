"""Which nodes to label first, before there is a model: spread out, each like many others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.label.batch import alike, choose_batch, coverage, drawn, unit
from agssl.label.suggest import CANDIDATES, CENTRAL, SHARPNESS, TARGETS
from agssl.ops.centrality import pagerank

WIDTH = 256  # features, from which on they are projected to as many


def first_nodes(graph: Graph, known: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    """Nodes without a label, the best first, int64 [n]: the batch of `choose_batch` where all nodes count the same.

    Nodes are alike as their features are, averaged twice over each node and its neighbours.

    Args:
        graph: its labels are not read.
        known: numbers of the nodes that need no label: they have one, or have been passed over.
        count: how many, at most as many as there are.
        seed: of the draws, on a graph that is too large to compare all nodes.
    """
    free = np.setdiff1d(np.arange(graph.num_nodes), known)
    if not len(free):
        return free
    rank = pagerank(graph)
    rank /= rank.mean()
    draw = Rng(seed).child("first nodes")
    candidates = drawn(free, rank, CANDIDATES, draw.child("candidates"))
    targets = drawn(free, np.ones(graph.num_nodes), TARGETS, draw.child("targets"))
    rows = unit(smoothed_features(graph, draw.child("projection")))
    batch = choose_batch(
        alike(rows[targets], rows[candidates], SHARPNESS),
        np.ones(len(targets), dtype=np.float32),
        coverage(rows[targets], rows[known], SHARPNESS),
        rank[candidates] ** CENTRAL,
        np.zeros(len(candidates), dtype=np.int64),
        count,
    )
    chosen: np.ndarray = candidates[batch.chosen]
    return chosen


def smoothed_features(graph: Graph, rng: Rng) -> np.ndarray:
    """Features averaged twice over each node and its neighbours, [N, d]; many features by a random projection."""
    x: Any = graph.x
    if x.shape[1] > WIDTH:
        # signs, so that cosines stay about what they are (Achlioptas 2003)
        x = x @ rng.numpy().choice(np.array([-1, 1], dtype=np.float32), size=(x.shape[1], WIDTH))
    x = x.toarray() if sp.issparse(x) else np.asarray(x)
    with_self = graph.adjacency() + sp.identity(graph.num_nodes, dtype=np.float32, format="csr")
    mean = sp.diags(1 / np.asarray(with_self.sum(1)).ravel()) @ with_self
    smooth: np.ndarray = mean @ (mean @ x)
    return smooth
