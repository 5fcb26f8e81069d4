"""Encoders of one's own, as a plug-in would bring them."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from agssl.base.rng import Rng
from agssl.encoders import Encoder, Layer, Shape
from agssl.ops.csr import multiply
from agssl.ops.plan import Hop


class Mixture(Layer):
    """Some of the node's own row and some of its neighbours' mean."""

    def __init__(self, inputs: int, outputs: int, rng: Rng, amount: float) -> None:
        super().__init__(inputs, outputs, rng)
        self.amount = amount

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        return (1 - self.amount) * hop.own(projected) + self.amount * multiply(hop.matrix, projected)


class Blend(Encoder):
    """One with a setting."""

    name: ClassVar[str] = "blend"
    propagation: ClassVar[str] = "mean"

    def __init__(self, shape: Shape, rng: Rng, amount: float = 0.5) -> None:
        super().__init__(shape, rng, amount=amount)

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        return Mixture(inputs, outputs, rng, float(self.settings["amount"]))  # type: ignore[arg-type]


class Alone(Layer):
    """The node's own row, which on a whole graph is what was projected itself."""

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        return hop.own(projected)


class Own(Encoder):
    """A perceptron: no neighbour counts."""

    name: ClassVar[str] = "own"

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        return Alone(inputs, outputs, rng)
