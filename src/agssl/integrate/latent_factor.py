"""AGSSL-LF: a latent factor for each teacher, matched with the student's logits (Eq. 7)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.integrate.base import INTEGRATORS, Integrator, Knowledge


def latent_factor_scores(student: Tensor, mu: Tensor, nu: Tensor) -> Tensor:
    """zeta(k, i) = sum_c nu_c mu_kc z_ic, [n, K]."""
    return (student * nu) @ mu.t()


class LatentFactor(Integrator):
    """A latent factor per teacher, matched with the student's logits (AGSSL-LF, Eq. 7).

    nu starts at one and mu at zero, so that learning starts from equal weights.
    """

    name: ClassVar[str] = "lf"

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        teachers, _, classes = knowledge.logits.shape
        self.mu = nn.Parameter(torch.zeros(teachers, classes))
        self.nu = nn.Parameter(torch.ones(classes))

    def scores(self, student: Tensor, teachers: Tensor) -> Tensor:
        """See `latent_factor_scores`."""
        return latent_factor_scores(student, self.mu, self.nu)


INTEGRATORS.add("lf", LatentFactor)
