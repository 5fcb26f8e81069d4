"""Random views of the graph: features dropped by column, edges dropped and the rest normalised anew."""

from __future__ import annotations

import numpy as np

from agssl.ops.adjacency import Adjacency
from agssl.pretext.views import View


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
