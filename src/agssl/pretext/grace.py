"""GRACE: tell a node in one random view of the graph from all others in both (Zhu et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops.adjacency import Adjacency
from agssl.ops.linear_loss import two_view_loss
from agssl.pretext.augment import augmented, sampled
from agssl.pretext.base import NONE, TASKS, Targets, Task, TaskSample, Views
from agssl.pretext.heads import check_count, check_positive, check_share, perceptron


class Grace(Task):
    """InfoNCE between two views, each with features masked and edges dropped at random.

    Args:
        temperature: of the cosine similarity.
        edges1: share of edges dropped in the first view.
        edges2: the same in the second.
        features1: share of features dropped in the first view.
        features2: the same in the second.
        nodes: this many nodes, drawn anew every epoch, are contrasted with each other; all where there are no more.
    """

    name: ClassVar[str] = "grace"
    alphas: ClassVar[tuple[float, ...]] = (1.0, 3.0)
    space: ClassVar[Mapping[str, tuple]] = {
        "temperature": (0.3, 0.5, 0.8),
        "edges1": (0.1, 0.2, 0.4),
        "edges2": (0.1, 0.4, 0.6),
        "features1": (0.0, 0.2, 0.4),
        "features2": (0.1, 0.3, 0.5),
    }

    def __init__(
        self,
        temperature: float = 0.5,
        edges1: float = 0.2,
        edges2: float = 0.4,
        features1: float = 0.3,
        features2: float = 0.4,
        nodes: int = 500,
    ) -> None:
        check_positive(self.name, temperature=temperature)
        check_count(self.name, nodes=nodes)
        check_share(self.name, edges1=edges1, edges2=edges2, features1=features1, features2=features2)
        self.temperature, self.nodes = temperature, nodes
        self.edges1, self.edges2, self.features1, self.features2 = edges1, edges2, features1, features2

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """How readily each feature [d] and each edge (a single 1 for all) is dropped: all alike."""
        return {"edges": np.ones(1, dtype=np.float32), "features": np.ones(graph.num_features, dtype=np.float32)}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """The projection head, a two-layer perceptron."""
        return perceptron(width, width, width, nn.ELU(), rng)

    def probabilities(self, weights: np.ndarray, share: float) -> np.ndarray:
        """The probability of each feature or edge to be dropped."""
        return weights * share

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """Two views; the step's own pass is not read."""
        draw = rng.numpy()
        nodes = sampled(adjacency.num_nodes, self.nodes, draw)
        views = []
        for edges, features in ((self.edges1, self.features1), (self.edges2, self.features2)):
            drop_edges = self.probabilities(targets["edges"], edges)
            drop_features = self.probabilities(targets["features"], features)
            views.append(augmented(adjacency, drop_edges, drop_features, draw, nodes))
        return TaskSample(NONE, views=tuple(views))

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """See `two_view_loss`, on the projections of both views."""
        first, second = (head(views.encode(view)) for view in sample.views)
        return two_view_loss(first, second, self.temperature)


TASKS.add("grace", Grace)
