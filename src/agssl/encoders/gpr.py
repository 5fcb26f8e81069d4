"""GPR: an MLP whose logits are spread by a learned polynomial of Â (GPR-GNN; Chien et al. 2021)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.encoders.appnp import Appnp, Polynomial, page_rank
from agssl.encoders.base import ENCODERS
from agssl.encoders.layer import Layer


class LearnedPolynomial(Polynomial):
    """The same with coefficients that learn.

    What learns is how far they are from the start, so weight decay pulls them back there, and not to zero.
    """

    def __init__(self, inputs: int, outputs: int, rng: Rng, start: tuple[float, ...]) -> None:
        super().__init__(inputs, outputs, rng, start)
        self.shift = nn.Parameter(torch.zeros(len(start)))

    def gamma(self, power: int) -> Tensor:
        """What a power of Â counts."""
        return self.start[power] + self.shift[power]


class Gpr(Appnp):
    """A perceptron whose logits are spread as far as labels say, with either sign: neighbours may be alike or not.

    Args:
        shape: of the network; its layers are those of the perceptron.
        rng: of the initial weights.
        teleport: of the personalised PageRank that the coefficients start from.
        steps: of propagation.
    """

    name: ClassVar[str] = "gpr"

    def head_layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """Logits by a linear map, spread by coefficients that learn."""
        return LearnedPolynomial(inputs, outputs, rng, page_rank(self.teleport, self.steps))


ENCODERS.add("gpr", Gpr)
