"""JOAO on nodes: two views of kinds that are drawn from a distribution that turns to the hardest (You et al. 2021).

JOAO trains an encoder and a distribution p over pairs of augmentations against each other:

    min over theta of E_p [L(theta; a, b)],   p = argmax over the simplex of  sum p_ab L_ab - gamma/2 |p - 1/n|^2

by steps of projected gradient ascent, p <- P(p + rate (L - gamma (p - 1/n))), where P projects onto the simplex. There
it contrasts graphs; here L is GRACE's loss on nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders.base import Encoder
from agssl.ops.adjacency import Adjacency
from agssl.ops.linear_loss import two_view_loss
from agssl.pretext.augment import sampled
from agssl.pretext.base import NO_NODES, TASKS, Targets, Task, TaskSample, Views
from agssl.pretext.heads import check_count, check_positive, check_share, perceptron
from agssl.pretext.needs import Needs, stored_entries
from agssl.pretext.views import View

KINDS = ("same", "edges", "features", "nodes")  # what a view lacks: nothing, edges, features of all, nodes' features
PAIRS = len(KINDS) ** 2


def onto_simplex(values: Tensor) -> Tensor:
    """The nearest point with entries >= 0 that sum to 1 (Euclidean projection), [n].

    >>> onto_simplex(torch.tensor([0.5, 1.5, -3.0])).tolist()
    [0.0, 1.0, 0.0]
    """
    ordered = values.sort(descending=True).values
    excess = (ordered.cumsum(0) - 1) / torch.arange(1, len(values) + 1, device=values.device)
    last = int((ordered > excess).nonzero().max())
    return (values - excess[last]).clamp_min(0)


def toward_the_hardest(probabilities: Tensor, losses: Tensor, rate: float, gamma: float) -> Tensor:
    """One step of projected gradient ascent on sum p L - gamma/2 |p - 1/n|^2 over the simplex."""
    return onto_simplex(probabilities + rate * (losses - gamma * (probabilities - 1 / len(probabilities))))


class Chooser(nn.Module):
    """The projection head, and the distribution over pairs of augmentations."""

    probabilities: Tensor  # [PAIRS]
    losses: Tensor  # of each pair, when they were last measured
    steps: Tensor

    def __init__(self, project: nn.Module) -> None:
        super().__init__()
        self.project = project
        self.register_buffer("probabilities", torch.full((PAIRS,), 1 / PAIRS))
        self.register_buffer("losses", torch.zeros(PAIRS))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))


class Joao(Task):
    """InfoNCE between two views of kinds that are drawn, the harder ones the more often.

    A view is the graph as it is, without some edges, without some features, or without the features of some nodes.

    Args:
        temperature: of the cosine similarity.
        share: of edges, features or nodes that a view lacks.
        gamma: what holds the distribution near the uniform one.
        rate: how far the distribution moves at a time.
        every: steps after which it moves again.
        nodes: this many nodes, drawn anew every epoch, are contrasted with each other; all where there are no more.
    """

    name: ClassVar[str] = "joao"
    alphas: ClassVar[tuple[float, ...]] = (1.0, 3.0)
    space: ClassVar[Mapping[str, tuple]] = {
        "temperature": (0.3, 0.5, 0.8),
        "share": (0.2, 0.3, 0.5),
        "gamma": (0.01, 0.1, 1.0),
    }

    def __init__(
        self,
        temperature: float = 0.5,
        share: float = 0.3,
        gamma: float = 0.1,
        rate: float = 1.0,
        every: int = 20,
        nodes: int = 500,
    ) -> None:
        check_positive(self.name, temperature=temperature, gamma=gamma, rate=rate)
        check_share(self.name, share=share)
        check_count(self.name, every=every, nodes=nodes)
        self.temperature, self.share, self.gamma = temperature, share, gamma
        self.rate, self.every, self.nodes = rate, every, nodes

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """How many features there are."""
        return {"features": np.ones(graph.num_features, dtype=np.float32)}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """The projection head, a two-layer perceptron, and the distribution."""
        return Chooser(perceptron(width, width, width, nn.ELU(), rng))

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """Both views of every kind, and the number that decides on the pair; the step's own pass is not read."""
        draw = rng.numpy()
        nodes = sampled(adjacency.num_nodes, self.nodes, draw)
        views = [view for _ in range(2) for view in self._views(adjacency, len(targets["features"]), draw, nodes)]
        chance = torch.tensor(draw.random())
        return TaskSample(NO_NODES, views=tuple(views), data={"chance": chance})

    def _views(
        self, adjacency: Adjacency, features: int, draw: np.random.Generator, nodes: np.ndarray | None
    ) -> list[View]:
        """One view of each kind, in the order of `KINDS`."""
        edges, columns, rows = (
            draw.random(count, dtype=np.float32) >= self.share
            for count in (len(adjacency.edges[0]), features, adjacency.num_nodes)
        )
        return [
            View(nodes),
            View(nodes, adjacency=adjacency.thinned(edges)),
            View(nodes, columns=columns),
            View(nodes, masked=~rows),
        ]

    def needs(self, graph: Graph, width: int) -> Needs:
        """Two views of the nodes that are contrasted, and now and then all eight, of which nothing is kept."""
        nodes = min(self.nodes, graph.num_nodes)
        return Needs(
            nodes=0,
            views=2,
            frozen_views=2 * len(KINDS),
            view_nodes=nodes,
            entries=2 * stored_entries(graph),
            scores=(2 * nodes) ** 2,
            parameters=2 * (width + 1) * width,
        )

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """GRACE's loss of the pair that was drawn; where the distribution is to move, those of all pairs are noted."""
        assert isinstance(head, Chooser)
        drawn = torch.searchsorted(head.probabilities.cumsum(0), sample.data["chance"].to(head.probabilities))
        first, second = divmod(min(int(drawn), PAIRS - 1), len(KINDS))
        if int(head.steps) % self.every == 0:
            with torch.no_grad():
                head.losses.copy_(self._all_losses(head, views, sample))
        pair = (sample.views[first], sample.views[len(KINDS) + second])
        one, other = (head.project(views.encode(view)) for view in pair)
        return two_view_loss(one, other, self.temperature)

    def _all_losses(self, head: Chooser, views: Views, sample: TaskSample) -> Tensor:
        """The loss of every pair, [PAIRS]."""
        encoded = [head.project(views.encode(view)) for view in sample.views]
        firsts, seconds = encoded[: len(KINDS)], encoded[len(KINDS) :]
        return torch.stack([two_view_loss(a, b, self.temperature) for a in firsts for b in seconds])

    def after_step(self, head: nn.Module, encoder: Encoder) -> None:
        """The distribution moves toward pairs whose loss is high."""
        assert isinstance(head, Chooser)
        if int(head.steps) % self.every == 0:
            head.probabilities.copy_(toward_the_hardest(head.probabilities, head.losses, self.rate, self.gamma))
        head.steps.add_(1)


TASKS.add("joao", Joao)
