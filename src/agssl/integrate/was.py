"""WAS: weights as in LF, and a separate choice of the teachers that a node listens to (Fan et al., ICLR 2024)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.integrate.base import INTEGRATORS, Knowledge
from agssl.integrate.latent_factor import LatentFactor, latent_factor_scores

MOMENTUM = 0.9  # share of the old copy that stays at each step
FAR = 20.0  # scores this far above the best selected one add nothing to a gradient but overflow


def selection_probabilities(scores: Tensor) -> Tensor:
    """kappa(k, i) = softmax_k / max_j softmax_j of the selection scores [n, K]; the best teacher of a node gets 1."""
    return torch.exp(scores - scores.amax(1, keepdim=True))


def straight_through(mask: Tensor, probabilities: Tensor) -> Tensor:
    """The value of the mask with the gradient of the probabilities it was drawn from."""
    return mask + (probabilities - probabilities.detach())


def selected_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """m_k exp(zeta_k) / sum_j m_j exp(zeta_j), [n, K]; no row of the mask may be all zero."""
    top = scores.detach().masked_fill(mask.detach() == 0, -torch.inf).amax(1, keepdim=True)
    raised = mask * torch.exp((scores - top).clamp_max(FAR))
    return raised / raised.sum(1, keepdim=True)


class WeighAndSelect(LatentFactor):
    """LF over the teachers that a node has selected (WAS, Fan et al. 2024).

    Selection scores are those of a momentum copy of (mu, nu), projected by a K x K matrix. Training draws the
    selection from Bernoulli(kappa) anew in each step, with straight-through gradients to the projection; afterwards a
    teacher counts where kappa >= 1/2. The best one has kappa = 1, so no node is left with none.
    """

    name: ClassVar[str] = "was"
    slow_mu: Tensor
    slow_nu: Tensor

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        self.register_buffer("slow_mu", self.mu.detach().clone())
        self.register_buffer("slow_nu", self.nu.detach().clone())
        # The identity: at first whoever weighs more is selected more often.
        self.projection = nn.Parameter(torch.eye(len(self.mu)))
        self._rng = rng

    @torch.no_grad()
    def step(self, rng: Rng) -> None:
        """The copy follows (mu, nu)."""
        self._rng = rng
        self.slow_mu.lerp_(self.mu, 1 - MOMENTUM)
        self.slow_nu.lerp_(self.nu, 1 - MOMENTUM)

    def selection(self, student: Tensor) -> Tensor:
        """kappa [n, K]."""
        return selection_probabilities(latent_factor_scores(student, self.slow_mu, self.slow_nu) @ self.projection.t())

    def forward(self, student: Tensor, teachers: Tensor, nodes: Tensor | None = None) -> Tensor:
        """lambda [n, K]: zero for teachers that are not selected."""
        kappa = self.selection(student)
        if self.training:
            draws = torch.rand(kappa.shape, generator=self._rng.child(len(kappa)).torch()).to(kappa.device)
            mask = straight_through((draws < kappa).to(kappa.dtype), kappa)
        else:
            mask = (kappa >= 0.5).to(kappa.dtype)
        return selected_softmax(self.scores(student, teachers), mask)


INTEGRATORS.add("was", WeighAndSelect)
