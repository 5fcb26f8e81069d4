"""The class head: logits from hidden rows, by one more layer of the encoder's kind or by a linear map."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.encoders.base import Encoder, Shape
from agssl.encoders.layer import Layer, Tiles
from agssl.encoders.mlp import Linear
from agssl.ops.dropout import dropout
from agssl.ops.plan import Hop

MULTIPLE = 16  # matrix products with a multiple of so many columns run more than twice as fast as with, say, 15


class ClassHead(nn.Module):
    """Z = conv(dropout(H)): `conv` propagates as the encoder does, `linear` reads each node's own row alone.

    Args:
        shape: of the network.
        encoder: whose kind of layer a propagating head is.
        rng: of the initial weights.
    """

    def __init__(self, shape: Shape, encoder: Encoder, rng: Rng) -> None:
        super().__init__()
        self.shape = shape
        stream = rng.child("init", shape.layers)
        kind = Linear if shape.head == "linear" else encoder.head_layer
        self._propagates = shape.head != "linear" and encoder.propagation != "none"
        self.layer: Layer = kind(shape.hidden, shape.classes, stream)

    @property
    def propagates(self) -> bool:
        """Whether logits of a node read the hidden rows of others."""
        return self._propagates

    def matrix(self) -> Tensor:
        """What hidden rows are multiplied by, filled up with columns of zeros."""
        (matrix,) = self.layer.matrices(self.shape.classes, MULTIPLE)
        return matrix

    def finish(self, sums: Tensor) -> Tensor:
        """Logits from the sums of the layer."""
        return sums[:, : self.shape.classes] + self.layer.bias

    def forward(self, hidden: Tiles, hops: Sequence[Hop], rng: Rng | None) -> Tensor:
        """Z of the nodes above the hops, [n, C], from column tiles of H, with dropout of H where there is an `rng`."""
        projected: Tensor | None = None
        parts = self.matrix().split([tile.shape[1] for tile in hidden])
        for number, (tile, weight) in enumerate(zip(hidden, parts, strict=True)):
            if rng is not None:
                tile = dropout(tile, self.shape.dropout, rng.child("class", number))
            projected = tile @ weight if projected is None else torch.addmm(projected, tile, weight)
        assert projected is not None
        return self.finish(self.layer.along(hops, projected))
