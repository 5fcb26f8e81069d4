"""CLU: predict the k-means cluster of a node's features (You et al. 2020; paper, App. H)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops.kmeans import kmeans, nearest_centre
from agssl.pretext.base import TASKS, Targets
from agssl.pretext.pseudo_labels import PseudoLabels

SAMPLE = 50_000  # nodes that centres are found from, where there are more


class Clusters(PseudoLabels):
    """Cross-entropy on k-means labels of X, which carry feature-level knowledge.

    Args:
        clusters: number of clusters; None takes the paper's 10, or fewer where there are fewer nodes.
    """

    name: ClassVar[str] = "clu"
    space: ClassVar[Mapping[str, tuple]] = {"clusters": (5, 10, 20, 50)}

    def __init__(self, clusters: int | None = None) -> None:
        if clusters is not None and clusters < 2:
            raise SettingsError(f"clu: clusters = {clusters}, but k-means needs at least 2; raise it or leave it out")
        self.clusters = clusters

    def count(self, graph: Graph) -> int:
        """How many clusters this graph gets."""
        return min(self.clusters or 10, graph.num_nodes)

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """k-means labels, renumbered so that no class is empty."""
        if self.clusters is not None and self.clusters > graph.num_nodes:
            raise SettingsError(
                f"clu: {self.clusters} clusters for {graph.num_nodes} nodes; ask for at most {graph.num_nodes} clusters"
            )
        nodes = np.arange(graph.num_nodes)
        if graph.num_nodes > SAMPLE:  # centres from a sample are as good, and features on disk need not fit into memory
            nodes = np.sort(rng.numpy().choice(graph.num_nodes, SAMPLE, replace=False))
        centres = kmeans(graph.x[nodes], self.count(graph), rng.child("k-means"))
        blocks = range(0, graph.num_nodes, SAMPLE)
        labels = np.concatenate([nearest_centre(graph.x[start : start + SAMPLE], centres) for start in blocks])
        return {"labels": np.unique(labels, return_inverse=True)[1].astype(np.int64)}


TASKS.add("clu", Clusters)
