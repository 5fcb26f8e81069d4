"""CLU: predict the k-means cluster of a node's features (You et al. 2020; paper, App. H)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
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
        from sklearn.cluster import KMeans

        if self.clusters is not None and self.clusters > graph.num_nodes:
            raise SettingsError(
                f"clu: {self.clusters} clusters for {graph.num_nodes} nodes; ask for at most {graph.num_nodes} clusters"
            )
        model = KMeans(self.count(graph), n_init=3, random_state=rng.key() & 0x7FFFFFFF)
        with threadpool_limits(1):  # sums over several threads would depend on how many there are
            if graph.num_nodes <= SAMPLE:
                labels = model.fit_predict(graph.x)
            else:  # centres from a sample are as good, and features on disk need not fit into memory
                model.fit(graph.x[np.sort(rng.numpy().choice(graph.num_nodes, SAMPLE, replace=False))])
                blocks = range(0, graph.num_nodes, SAMPLE)
                labels = np.concatenate([model.predict(graph.x[start : start + SAMPLE]) for start in blocks])
        return {"labels": np.unique(labels, return_inverse=True)[1].astype(np.int64)}


TASKS.add("clu", Clusters)
