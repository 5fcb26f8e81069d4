"""GRAND: predictions must agree however the features of nodes are dropped at random (Feng et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops.adjacency import Adjacency
from agssl.pretext.base import NO_NODES, TASKS, Targets, Task, TaskSample, Views
from agssl.pretext.heads import check_count, check_positive, check_share
from agssl.pretext.needs import Needs
from agssl.pretext.views import View


def sharpened(probabilities: Tensor, temperature: float) -> Tensor:
    """p_c^(1/T) / sum_c' p_c'^(1/T) of every row (Eq. 4)."""
    powers = probabilities ** (1 / temperature)
    return powers / powers.sum(1, keepdim=True)


def disagreement(logits: Sequence[Tensor], temperature: float) -> Tensor:
    """1/S 1/N sum_s sum_i |p_i^s - q_i|^2, where q sharpens the mean of the S predictions and is a constant (Eq. 5)."""
    said = [torch.softmax(z, dim=1) for z in logits]
    goal = sharpened(torch.stack(said).mean(0), temperature).detach()
    return torch.stack([(p - goal).square().sum(1).mean() for p in said]).mean()


class Grand(Task):
    """Several random views, with the features of some nodes dropped (DropNode), and dropout as in training.

    A node whose own features are missing is told by its neighbours; what views say of a node is pulled together.
    Labels enter as in the method: every view must classify the training nodes, too. So there is no pre-training.

    Args:
        share: of the nodes whose features are dropped; the others are scaled up for it.
        temperature: how much the views' mean is sharpened (1: not at all).
        views: how many.
        consistency: what their disagreement counts beside the labels (the paper's lambda).
    """

    name: ClassVar[str] = "grand"
    alphas: ClassVar[tuple[float, ...]] = (0.5, 1.0)
    space: ClassVar[Mapping[str, tuple]] = {"share": (0.3, 0.5, 0.7), "temperature": (0.3, 0.5, 1.0), "views": (2, 4)}
    needs_classes: ClassVar[bool] = True

    def __init__(self, share: float = 0.5, temperature: float = 0.5, views: int = 2, consistency: float = 1.0) -> None:
        check_share(self.name, share=share)
        check_positive(self.name, temperature=temperature, consistency=consistency)
        check_count(self.name, views=views)
        self.share, self.temperature, self.views, self.consistency = share, temperature, views, consistency

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """Nothing."""
        return {}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """None of its own: it reads the class head."""
        return nn.Identity()

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """Whose features are dropped, and the dropout, of each view; the step's own pass is not read."""
        views = []
        for number in range(self.views):
            own = rng.child("view", number)
            kept = own.child("nodes").numpy().random(adjacency.num_nodes, dtype=np.float32) >= self.share
            views.append(View(scale=kept.astype(np.float32) / (1 - self.share), noise=own.child("dropout")))
        return TaskSample(NO_NODES, views=tuple(views))

    def needs(self, graph: Graph, width: int) -> Needs:
        """Every node of each view."""
        return Needs(nodes=0, views=self.views, scores=graph.num_nodes * graph.num_classes)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """The mean cross-entropy of the views on the training nodes (Eq. 3), plus their disagreement (Eq. 5)."""
        logits = [views.logits(view) for view in sample.views]
        assert views.given.labelled is not None, "without labels, views agree best by saying the same of all nodes"
        nodes, labels = views.given.labelled
        at = torch.from_numpy(nodes).to(labels.device)
        wrong = torch.stack([F.cross_entropy(z.index_select(0, at), labels) for z in logits]).mean()
        return wrong + self.consistency * disagreement(logits, self.temperature)


TASKS.add("grand", Grand)
