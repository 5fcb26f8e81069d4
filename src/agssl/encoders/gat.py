"""GAT: neighbours are weighed by learned attention, once per layer and head (Velickovic et al. 2018)."""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.encoders.base import ENCODERS, Encoder, Shape
from agssl.encoders.layer import Layer, Tiles, glorot
from agssl.ops.attention import attend
from agssl.ops.features import Inputs
from agssl.ops.plan import Hop


class Attention(Layer):
    """Heads side by side, each of which has outputs / heads columns: sum_j alpha_ij (h W)_j.

    alpha_ij is proportional to p_ij exp(leaky_relu(target . (h W)_i + source . (h W)_j)), where p is the propagation,
    the mean over a node and its neighbours. Without edge weights it cancels out, and alpha is the paper's; with them,
    an edge of weight 2 counts as two edges do.
    """

    weight: Tensor
    reads_every_row: ClassVar[bool] = True

    def __init__(self, inputs: int, outputs: int, rng: Rng, heads: int) -> None:
        super().__init__(inputs, outputs, rng)
        self.heads = heads
        self.source, self.target = (nn.Parameter(torch.empty(heads, outputs // heads)) for _ in range(2))
        glorot(self.source, rng.child("source"))
        glorot(self.target, rng.child("target"))

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """What each node gathers."""
        source, target = self._scores(projected, self.source), self._scores(hop.own(projected), self.target)
        return attend(hop.matrix, projected, source, target)

    def _scores(self, projected: Tensor, vectors: Tensor) -> Tensor:
        """The rows of each head times its vector, [n, heads]."""
        rows = projected.view(len(projected), self.heads, -1)
        vectors = F.pad(vectors, (0, rows.shape[2] - vectors.shape[1]))  # a class head has columns of zeros, too
        return torch.einsum("nhw,hw->nh", rows, vectors)

    def from_features(self, x: Inputs, hop: Hop, tile: int) -> Tiles:
        """In one tile, since attention reads all columns of a head."""
        return super().from_features(x, hop, self.outputs)


class Gat(Encoder):
    """Attention to each neighbour is learned, in several heads: for graphs where only some neighbours matter.

    Args:
        shape: of the network; the heads share its hidden columns.
        rng: of the initial weights.
        heads: of each hidden layer. The class head has one.
    """

    name: ClassVar[str] = "gat"
    propagation: ClassVar[str] = "walk"

    def __init__(self, shape: Shape, rng: Rng, heads: int = 8) -> None:
        if heads < 1:
            raise SettingsError(f"encoder gat: heads = {heads}, but it must be at least 1; 8 is usual")
        if shape.hidden % heads:
            raise SettingsError(
                f"encoder gat: {heads} heads can't share {shape.hidden} hidden columns alike; choose a hidden width "
                f"that is a multiple of {heads}, or other heads (gat:heads=1)"
            )
        super().__init__(shape, rng, heads=heads)

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """One attention layer with all heads."""
        return Attention(inputs, outputs, rng, self.heads)

    @property
    def heads(self) -> int:
        """Of each hidden layer."""
        heads = self.settings["heads"]
        assert isinstance(heads, int)
        return heads

    @property
    def entry_numbers(self) -> float:
        """The attention of each head, of all layers, and what one of them needs on the way back."""
        return self.heads * (6 + 1.5 * self.hops)

    def head_layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """Attention with one head."""
        return Attention(inputs, outputs, rng, 1)


ENCODERS.add("gat", Gat)
