"""MLP: H = relu(X W + b), once per layer: each node by its own row, whatever its neighbours."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from agssl.base.rng import Rng
from agssl.encoders.base import ENCODERS, Encoder
from agssl.encoders.layer import Layer
from agssl.ops.plan import Hop


class Linear(Layer):
    """h W: each node's own row. Where nothing else is read, plans propagate by rows of the identity."""

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """The rows of the nodes above."""
        return hop.own(projected)


class Mlp(Encoder):
    """A perceptron on the features alone: no edge is read, so neighbours may be anything."""

    name: ClassVar[str] = "mlp"
    propagation: ClassVar[str] = "none"

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """One linear map of each row."""
        return Linear(inputs, outputs, rng)


ENCODERS.add("mlp", Mlp)
