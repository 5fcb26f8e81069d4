"""SAGE: H = relu(X W_own + D^-1 A X W_near + b), once per layer (GraphSAGE's mean aggregator; Hamilton et al. 2017)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from agssl.base.rng import Rng
from agssl.encoders.base import ENCODERS, Encoder
from agssl.encoders.layer import Layer
from agssl.ops.csr import multiply
from agssl.ops.plan import Hop


class MeanConvolution(Layer):
    """A node's own row and the mean of its neighbours', each with its own weights."""

    weights: ClassVar[tuple[str, ...]] = ("near", "own")
    reads_every_row: ClassVar[bool] = True  # it takes the products apart, which copies them

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """The mean of the neighbours' first half plus the node's own second half."""
        near, own = projected.chunk(2, dim=1)
        return multiply(hop.matrix, near.contiguous()) + hop.own(own)


class Sage(Encoder):
    """A node's own features apart from its neighbours': for graphs whose neighbours may differ."""

    name: ClassVar[str] = "sage"
    propagation: ClassVar[str] = "mean"
    row_copies: ClassVar[float] = 14.0

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """One mean convolution."""
        return MeanConvolution(inputs, outputs, rng)


ENCODERS.add("sage", Sage)
