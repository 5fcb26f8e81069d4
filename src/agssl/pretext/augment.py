"""Random views of the graph: features dropped by column, edges dropped and the rest normalised anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from agssl.ops.adjacency import Adjacency
from agssl.pretext.heads import check_share
from agssl.pretext.views import View


@dataclass(frozen=True)
class Augmentation:
    """Two random views of the graph: the shares of edges and of features that each lacks."""

    edges1: float = 0.2
    edges2: float = 0.4
    features1: float = 0.3
    features2: float = 0.4

    space: ClassVar[Mapping[str, tuple]] = {
        "edges1": (0.1, 0.2, 0.4),
        "edges2": (0.1, 0.4, 0.6),
        "features1": (0.0, 0.2, 0.4),
        "features2": (0.1, 0.3, 0.5),
    }

    def check(self, task: str) -> None:
        """Refuse what is not a share, in the name of the task."""
        check_share(task, **asdict(self))

    def views(
        self,
        adjacency: Adjacency,
        edges: np.ndarray,
        features: np.ndarray,
        draw: np.random.Generator,
        nodes: np.ndarray | None = None,
        cut: float = 1.0,
    ) -> tuple[View, View]:
        """The first view and the second.

        Args:
            adjacency: of the whole graph.
            edges: how readily each edge is dropped, 1 on average, [E]; or one number for all, [1].
            features: the same of each feature, [d].
            draw: where the draws come from.
            nodes: the nodes to look at; None: all.
            cut: nothing is dropped with a higher probability.
        """
        first, second = (
            augmented(adjacency, dropping(edges, share, cut), dropping(features, other, cut), draw, nodes)
            for share, other in ((self.edges1, self.features1), (self.edges2, self.features2))
        )
        return first, second


def dropping(weights: np.ndarray, share: float, cut: float) -> np.ndarray:
    """The probability of each feature or edge to be dropped: min(weight * share, cut)."""
    return np.minimum(weights * share, cut)


def augmented(
    adjacency: Adjacency,
    edges: float | np.ndarray,
    features: np.ndarray,
    draw: np.random.Generator,
    nodes: np.ndarray | None = None,
) -> View:
    """A view without some edges and some features.

    Args:
        adjacency: of the whole graph; self-loops always stay.
        edges: the probability that an undirected edge is dropped, for all or for each, [E].
        features: the probability that a feature is dropped for all nodes, [d].
        draw: where the draws come from.
        nodes: the nodes to look at; None: all.
    """
    keep = draw.random(len(adjacency.edges[0]), dtype=np.float32) >= edges
    columns = draw.random(len(features), dtype=np.float32) >= features
    return View(nodes, adjacency.thinned(keep), columns)


def sampled(nodes: int, count: int, draw: np.random.Generator) -> np.ndarray | None:
    """`count` of so many nodes, sorted; None for all of them."""
    return None if count >= nodes else np.sort(draw.choice(nodes, count, replace=False))
