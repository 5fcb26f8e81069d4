"""GCA: as GRACE, but what matters little to the graph is dropped more readily (Zhu et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from agssl.base.rng import Rng
from agssl.data.graph import Features, Graph
from agssl.ops.adjacency import Adjacency
from agssl.ops.centrality import CENTRALITIES
from agssl.pretext.base import TASKS, Targets
from agssl.pretext.grace import Grace
from agssl.pretext.heads import check_choice, check_share

LEAST = 1e-8  # centralities and weights below are taken as this, since their logarithm is needed


def drop_weights(importance: np.ndarray) -> np.ndarray:
    """(s_max - s) / (s_max - mean s) of s = log importance (Eqs. 3 and 5): 0 for the most important, 1 on average."""
    s = np.log(np.maximum(importance, LEAST))
    if not len(s) or np.ptp(s) < LEAST:
        return np.ones(len(s), dtype=np.float32)
    return ((s.max() - s) / (s.max() - s.mean())).astype(np.float32)


def edge_importance(adjacency: Adjacency, centrality: np.ndarray) -> np.ndarray:
    """The mean centrality of the ends of every undirected edge, [E] (Sec. 3.2.1)."""
    upper = adjacency.edges[0]
    return (centrality[adjacency.rows[upper]] + centrality[adjacency.indices[upper]]) / 2


def feature_importance(x: Features, centrality: np.ndarray) -> np.ndarray:
    """sum_u |x_ui| phi(u) of every feature, [d] (Eq. 4)."""
    return np.asarray(abs(x).T @ centrality).ravel()


class Gca(Grace):
    """InfoNCE between two views that keep central edges and the features of central nodes.

    Args:
        temperature: of the cosine similarity.
        edges1: share of edges dropped in the first view, on average.
        edges2: the same in the second.
        features1: share of features dropped in the first view, on average.
        features2: the same in the second.
        nodes: this many nodes, drawn anew every epoch, are contrasted with each other; all where there are no more.
        centrality: `degree`, `pagerank` or `eigenvector`.
        cut: no edge and no feature is dropped with a higher probability.
    """

    name: ClassVar[str] = "gca"
    space: ClassVar[Mapping[str, tuple]] = {**Grace.space, "centrality": tuple(CENTRALITIES)}

    def __init__(
        self,
        temperature: float = 0.5,
        edges1: float = 0.2,
        edges2: float = 0.4,
        features1: float = 0.3,
        features2: float = 0.4,
        nodes: int = 500,
        centrality: str = "degree",
        cut: float = 0.7,
    ) -> None:
        super().__init__(temperature, edges1, edges2, features1, features2, nodes)
        check_choice(self.name, tuple(CENTRALITIES), centrality=centrality)
        check_share(self.name, cut=cut)
        self.centrality, self.cut = centrality, cut

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """How readily each edge [E], in the order of `Adjacency.edges`, and each feature [d] is dropped."""
        phi = CENTRALITIES[self.centrality](graph)
        return {
            "edges": drop_weights(edge_importance(Adjacency.of(graph), phi)),
            "features": drop_weights(feature_importance(graph.x, phi)),
        }


TASKS.add("gca", Gca)
