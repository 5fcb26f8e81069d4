"""AGSSL-TS: how well each teacher matches the student at a node (Eq. 8)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.integrate.base import INTEGRATORS, Integrator, Knowledge


def matching_scores(student: Tensor, teachers: Tensor, weight: Tensor) -> Tensor:
    """zeta(k, i) = (W z_i) . (W h_i^(k)), [n, K]."""
    # z^T (W^T W) h: one small product per node in place of one per node and teacher
    return (teachers * (student @ (weight.t() @ weight))).sum(-1).t()


class TeacherStudent(Integrator):
    """How well each teacher's logits match the student's at a node (AGSSL-TS, Eq. 8).

    W starts small, near equal weights; at zero itself its gradient would vanish.
    """

    name: ClassVar[str] = "ts"

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        classes = knowledge.logits.shape[2]
        self.weight = nn.Parameter(0.1 * torch.eye(classes))

    def scores(self, student: Tensor, teachers: Tensor) -> Tensor:
        """See `matching_scores`."""
        return matching_scores(student, teachers, self.weight)


INTEGRATORS.add("ts", TeacherStudent)
