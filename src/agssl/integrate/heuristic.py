"""Integration without learning: Average, Random, Weighted (Sec. 4.5)."""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from agssl.base.rng import Rng
from agssl.integrate.base import INTEGRATORS, Integrator, Knowledge


class Average(Integrator):
    """The same weight for every teacher, 1/K, at every node."""

    name: ClassVar[str] = "average"
    learns: ClassVar[bool] = False

    def scores(self, student: Tensor, teachers: Tensor) -> Tensor:
        """All the same."""
        return student.new_zeros(student.shape[0], teachers.shape[0])


class Fixed(Integrator):
    """Weights that were settled before the student trains; they belong to the nodes of the graph, in order."""

    learns: ClassVar[bool] = False
    transfers: ClassVar[bool] = False
    fixed: Tensor  # [N, K] scores

    def scores(self, student: Tensor, teachers: Tensor) -> Tensor:
        """The settled scores; their mean for nodes of another graph."""
        if len(student) == len(self.fixed):
            return self.fixed
        return self.fixed.mean(0).expand(len(student), -1)

    def forward(self, student: Tensor, teachers: Tensor, nodes: Tensor | None = None) -> Tensor:
        """lambda of all nodes or of some."""
        scores = self.scores(student, teachers) if nodes is None else self.fixed.index_select(0, nodes)
        return torch.softmax(scores, dim=1)


class Random(Fixed):
    """Weights at random, drawn once per node: the softmax of uniform draws."""

    name: ClassVar[str] = "random"

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        teachers, nodes, _ = knowledge.logits.shape
        self.register_buffer("fixed", torch.rand(nodes, teachers, generator=rng.torch()).to(knowledge.logits.device))


class Weighted(Fixed):
    """Weights by each teacher's cross-entropy at labelled nodes, and their mean at all others."""

    name: ClassVar[str] = "weighted"

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        teachers, nodes, classes = knowledge.logits.shape
        flat = knowledge.heldout.reshape(-1, classes)
        losses = F.cross_entropy(flat, knowledge.labels.repeat(teachers), reduction="none").reshape(teachers, -1)
        weights = torch.softmax(-losses, dim=0).t()  # [n, K]
        everywhere = weights.mean(0).expand(nodes, -1).clone()
        everywhere[knowledge.nodes] = weights
        self.register_buffer("fixed", everywhere.clamp_min(1e-12).log())


INTEGRATORS.add("average", Average)
INTEGRATORS.add("random", Random)
INTEGRATORS.add("weighted", Weighted)
