"""BGRL: predict what a slowly following copy of the encoder sees in another view (Thakoor et al. 2021)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders.base import Encoder
from agssl.ops.adjacency import Adjacency
from agssl.pretext.augment import Augmentation, sampled
from agssl.pretext.base import NO_NODES, TASKS, Targets, Task, TaskSample, Views
from agssl.pretext.heads import check_count, check_share, perceptron
from agssl.pretext.needs import Needs, stored_entries


def bootstrap_loss(predicted: Tensor, target: Tensor) -> Tensor:
    """2/n sum_i (1 - cos(z_i, h_i)): Eq. 3 with a constant that makes 0 the least."""
    return 2 * (1 - F.cosine_similarity(predicted, target, dim=1)).mean()


class Bootstrap(nn.Module):
    """The predictor and, once training has started, the target encoder, which no gradient reaches."""

    target: Encoder | None

    def __init__(self, width: int, rng: Rng) -> None:
        super().__init__()
        self.predictor = perceptron(width, 2 * width, width, nn.PReLU(), rng)
        self.register_module("target", None)

    def forward(self, hidden: Tensor) -> Tensor:
        """The prediction of the other view's representation."""
        return self.predictor(hidden)


class Bgrl(Task):
    """Two views with features masked and edges dropped; no negatives, so no comparison between nodes.

    Args:
        momentum: how much of the target encoder stays at every step.
        edges1: share of edges dropped in the first view.
        edges2: the same in the second.
        features1: share of features dropped in the first view.
        features2: the same in the second.
        nodes: this many nodes, drawn anew every epoch, are predicted; all where there are no more.
    """

    name: ClassVar[str] = "bgrl"
    alphas: ClassVar[tuple[float, ...]] = (1.0, 5.0)
    space: ClassVar[Mapping[str, tuple]] = {"momentum": (0.9, 0.99, 0.999), **Augmentation.space}

    def __init__(
        self,
        momentum: float = 0.99,
        edges1: float = 0.2,
        edges2: float = 0.4,
        features1: float = 0.3,
        features2: float = 0.4,
        nodes: int = 1000,
    ) -> None:
        check_share(self.name, momentum=momentum)
        check_count(self.name, nodes=nodes)
        self.momentum, self.nodes = momentum, nodes
        self.augmentation = Augmentation(edges1, edges2, features1, features2)
        self.augmentation.check(self.name)

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """The number of features."""
        return {"features": np.ones(graph.num_features, dtype=np.float32)}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """The predictor."""
        return Bootstrap(width, rng)

    def start(self, head: nn.Module, encoder: Encoder, rng: Rng) -> None:
        """The target encoder starts as a copy of the encoder."""
        assert isinstance(head, Bootstrap)
        head.target = copy.deepcopy(encoder).requires_grad_(False)

    @torch.no_grad()
    def after_step(self, head: nn.Module, encoder: Encoder) -> None:
        """xi <- m xi + (1 - m) theta."""
        assert isinstance(head, Bootstrap)
        assert head.target is not None
        for slow, fast in zip(head.target.parameters(), encoder.parameters(), strict=True):
            slow.lerp_(fast, 1 - self.momentum)

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """Two views; the step's own pass is not read."""
        draw = rng.numpy()
        nodes = sampled(adjacency.num_nodes, self.nodes, draw)
        alike = np.ones(1, dtype=np.float32)
        views = self.augmentation.views(adjacency, alike, targets["features"], draw, nodes)
        return TaskSample(NO_NODES, views=views)

    def needs(self, graph: Graph, width: int) -> Needs:
        """Two views, each by the encoder and by the target encoder."""
        nodes = min(self.nodes, graph.num_nodes)
        return Needs(
            nodes=0,
            views=2,
            frozen_views=2,
            view_nodes=nodes,
            entries=2 * stored_entries(graph),
            parameters=(width + 1) * 2 * width + 1 + (2 * width + 1) * width,
            encoders=1,
        )

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """The mean of both directions."""
        assert isinstance(head, Bootstrap)
        with torch.no_grad():
            seen = [views.encode(view, head.target) for view in sample.views]
        predicted = [head(views.encode(view)) for view in sample.views]
        return (bootstrap_loss(predicted[0], seen[1]) + bootstrap_loss(predicted[1], seen[0])) / 2


TASKS.add("bgrl", Bgrl)
