"""APPNP: an MLP whose logits are spread by personalised PageRank (Gasteiger et al. 2019)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.encoders.base import ENCODERS, Encoder, Shape
from agssl.encoders.layer import Layer
from agssl.encoders.mlp import Linear
from agssl.ops.csr import multiply
from agssl.ops.plan import Hop


class Polynomial(Layer):
    """A class head: sum_k gamma_k Â^k Z_0 of the logits Z_0 = h W that rows have by themselves.

    It is worked out from the highest power down, Â (... Â (gamma_K Z_0) + gamma_{K-1} Z_0 ...) + gamma_0 Z_0, so that a
    step of it reads the one before and Z_0 alone.

    Args:
        inputs: columns of h.
        outputs: columns of Z.
        rng: of the initial weights.
        start: gamma_0 to gamma_K.
    """

    weight: Tensor

    def __init__(self, inputs: int, outputs: int, rng: Rng, start: tuple[float, ...]) -> None:
        super().__init__(inputs, outputs, rng)
        self.start, self.hops = start, len(start) - 1

    def gamma(self, power: int) -> float | Tensor:
        """What a power of Â counts."""
        return self.start[power]

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """gamma_K Â Z_0 + gamma_{K-1} Z_0."""
        return self.further(0, hop, self.gamma(self.hops) * projected, projected)

    def further(self, number: int, hop: Hop, sums: Tensor, projected: Tensor) -> Tensor:
        """Â times the sums so far, plus what the next lower power counts of Z_0."""
        return multiply(hop.matrix, sums) + self.gamma(self.hops - 1 - number) * hop.own(projected)


class Appnp(Encoder):
    """A perceptron whose logits are spread far, by personalised PageRank: few labels go a long way.

    Args:
        shape: of the network; its layers are those of the perceptron.
        rng: of the initial weights.
        teleport: what a node keeps of its own logits at each step, above 0 and up to 1.
        steps: of propagation.
    """

    name: ClassVar[str] = "appnp"
    reads_neighbours: ClassVar[bool] = False

    def __init__(self, shape: Shape, rng: Rng, teleport: float = 0.1, steps: int = 10) -> None:
        if not 0 < teleport <= 1:
            raise SettingsError(f"encoder {self.name}: teleport = {teleport}, but it must be above 0 and at most 1")
        if steps < 1:
            raise SettingsError(f"encoder {self.name}: steps = {steps}, but it must be at least 1; mlp has none")
        super().__init__(shape, rng, teleport=teleport, steps=steps)
        self.teleport, self.steps = teleport, steps

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """One linear map of each row."""
        return Linear(inputs, outputs, rng)

    def head_layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """Logits by a linear map, spread along the edges."""
        return Polynomial(inputs, outputs, rng, page_rank(self.teleport, self.steps))

    @property
    def head_hops(self) -> int:
        """As many as there are steps."""
        return 1 if self.shape.head == "linear" else self.steps


def page_rank(teleport: float, steps: int) -> tuple[float, ...]:
    """gamma_0 to gamma_K of Z_{k+1} = (1 - a) Â Z_k + a Z_0, where K steps are made.

    >>> page_rank(0.5, 2)
    (0.5, 0.25, 0.25)
    """
    stays = 1 - teleport
    return (*(teleport * stays**power for power in range(steps)), stays**steps)


ENCODERS.add("appnp", Appnp)
