"""LOCAL: a teacher counts at a node as far as it was right on labelled nodes near by of which it said the same."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.integrate.base import INTEGRATORS, Integrator, Knowledge
from agssl.integrate.evidence import Witnesses, chances, seen_far, seen_near

POWER = 3.0  # of the chance that a teacher is right, which makes it its weight


class Local(Integrator):
    """How often a teacher was right on labelled nodes near by of which it said the same.

    The chance that teacher k is right at node i is (a + b + o c_ik) / (a' + b' + o). Here a is how much it was right
    near i (`agssl.integrate.evidence.competence`), b the same over all labelled nodes, which count little, a' and b'
    how much there was; c_ik is what it gives its own answer, and what all teachers do in the mean, halved. lambda
    follows the cube of the chance. A labelled node is left out of what is known of itself. Nodes of another graph have
    b and c alone.
    """

    name: ClassVar[str] = "local"
    learns: ClassVar[bool] = False
    settled: ClassVar[bool] = True
    reads_edges: ClassVar[bool] = True
    near: Tensor  # [2, N, K]: a and a'
    far: Tensor  # [2, K, C]: by class, what b and b' are made of

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        known = witnesses(knowledge)
        here = torch.softmax(knowledge.logits.double(), -1).cpu().numpy()
        everyone = np.arange(here.shape[1])
        near = sp.csr_matrix((len(everyone), len(known.nodes))) if knowledge.near is None else knowledge.near
        found = {"near": seen_near(near, everyone, here, known), "far": seen_far(known)}
        for name, array in found.items():
            self.register_buffer(name, torch.from_numpy(array).float().to(knowledge.logits.device))

    def forward(self, student: Tensor, teachers: Tensor, nodes: Tensor | None = None) -> Tensor:
        """lambda [n, K]."""
        near = None if nodes is None else self.near[:, nodes]
        weights = chances(near, self.far, torch.softmax(teachers, dim=-1)) ** POWER
        return weights / weights.sum(1, keepdim=True)


def witnesses(knowledge: Knowledge) -> Witnesses:
    """The labelled nodes by which lambda is fitted."""
    probabilities = torch.softmax(knowledge.heldout.double(), -1).cpu().numpy()
    return Witnesses(knowledge.nodes.cpu().numpy(), probabilities, knowledge.labels.cpu().numpy())


INTEGRATORS.add("local", Local)
