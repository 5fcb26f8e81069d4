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
from agssl.pretext.augment import Augmentation, sampled
from agssl.pretext.base import NO_NODES, TASKS, Targets, Task, TaskSample, Views
from agssl.pretext.heads import check_count, check_positive, perceptron
from agssl.pretext.needs import Needs, stored_entries


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
    space: ClassVar[Mapping[str, tuple]] = {"temperature": (0.3, 0.5, 0.8), **Augmentation.space}
    cut: float = 1.0  # no edge and no feature is dropped with a higher probability

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
        self.temperature, self.nodes = temperature, nodes
        self.augmentation = Augmentation(edges1, edges2, features1, features2)
        self.augmentation.check(self.name)

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """How readily each feature [d] and each edge (a single 1 for all) is dropped: all alike."""
        return {"edges": np.ones(1, dtype=np.float32), "features": np.ones(graph.num_features, dtype=np.float32)}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """The projection head, a two-layer perceptron."""
        return perceptron(width, width, width, nn.ELU(), rng)

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """Two views; the step's own pass is not read."""
        draw = rng.numpy()
        nodes = sampled(adjacency.num_nodes, self.nodes, draw)
        views = self.augmentation.views(adjacency, targets["edges"], targets["features"], draw, nodes, self.cut)
        return TaskSample(NO_NODES, views=views)

    def needs(self, graph: Graph, width: int) -> Needs:
        """Two views of the nodes that are contrasted, all of them with each other."""
        nodes = min(self.nodes, graph.num_nodes)
        return Needs(
            nodes=0,
            views=2,
            view_nodes=nodes,
            entries=2 * stored_entries(graph),
            scores=(2 * nodes) ** 2,
            parameters=2 * (width + 1) * width,
        )

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """See `two_view_loss`, on the projections of both views."""
        first, second = (head(views.encode(view)) for view in sample.views)
        return two_view_loss(first, second, self.temperature)


TASKS.add("grace", Grace)
