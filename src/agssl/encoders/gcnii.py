"""GCNII: deep graph convolutions that keep their first rows and stay close to the identity (Chen et al. 2020).

    H_0 = relu(X W_0 + b_0)
    H_l = relu(((1 - alpha) Â H_{l-1} + alpha H_0) ((1 - beta_l) I + beta_l W_l)),   beta_l = log(theta / l + 1)

for l = 1, ..., layers (Eq. 5). Rows that travel block by block (`agssl.train.infer`) are [H_l | H_0], side by side:
H_0 is not negative, so ReLU leaves it as it is.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.encoders.base import ENCODERS, Encoder, Pass, Shape
from agssl.encoders.gcn import GraphConvolution
from agssl.encoders.layer import Layer, Tiles, glorot
from agssl.ops.csr import multiply
from agssl.ops.dropout import dropout
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan, Hop


class Deep(Layer):
    """One convolution with the initial residual and the identity mapping, and no bias.

    Args:
        width: hidden columns.
        number: l, from 1 on.
        alpha: the share of H_0.
        theta: beta_l = log(theta / l + 1).
        last: whether it is the last one: its rows don't carry H_0 on.
        skip: columns of a skip connection's input, see `Shape.residual`; 0: none.
        rng: of the initial weights.
    """

    weight: Tensor
    bias: Tensor
    skip: Tensor
    reads_every_row: ClassVar[bool] = True

    def __init__(self, width: int, number: int, alpha: float, theta: float, last: bool, skip: int, rng: Rng) -> None:
        nn.Module.__init__(self)
        self.width, self.alpha, self.beta, self.last = width, alpha, math.log(theta / number + 1), last
        self.outputs = width if last else 2 * width
        self.weight = nn.Parameter(torch.empty(width, width))
        glorot(self.weight, rng)
        self.register_buffer("bias", torch.zeros(width), persistent=False)
        self.skips = skip > 0
        if self.skips:
            self.skip = nn.Parameter(torch.empty(skip, width))
            glorot(self.skip, rng.child("skip"))

    def mapped(self) -> Tensor:
        """(1 - beta) I + beta W."""
        own = torch.eye(self.width, dtype=self.weight.dtype, device=self.weight.device)
        return (1 - self.beta) * own + self.beta * self.weight

    def step(self, hop: Hop, hidden: Tensor, first: Tensor, mapped: Tensor) -> Tensor:
        """((1 - alpha) Â H + alpha H_0) M of the rows above, given H and H_0 of those below."""
        return torch.add((1 - self.alpha) * multiply(hop.matrix, hidden), hop.own(first), alpha=self.alpha) @ mapped

    def matrices(self, tile: int, multiple: int = 1) -> list[Tensor]:
        """What [H | H_0] is multiplied by: H and H_0 stay as they are, since M comes last; and the skip connection."""
        eye = torch.eye(2 * self.width, dtype=self.weight.dtype, device=self.weight.device)
        if not self.skips:
            return [eye]
        return [torch.cat([eye, torch.cat([self.skip, torch.zeros_like(self.skip)])], dim=1)]

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """The sums of the rows above, beside their H_0."""
        hidden, first = projected[:, : self.width].contiguous(), projected[:, self.width : 2 * self.width]
        sums = self.step(hop, hidden, first, self.mapped())
        if self.skips:
            sums = sums + hop.own(projected[:, 2 * self.width :])
        return sums if self.last else torch.cat([sums, hop.own(first)], dim=1)


class First(Deep):
    """The map of the features to H_0, and the first convolution.

    Args:
        features: columns that it reads.
        width: hidden columns.
        alpha: the share of H_0.
        theta: as in `Deep`.
        last: whether it is the only one.
        residual: whether it has a skip connection.
        rng: of the initial weights.
    """

    features: Tensor

    def __init__(
        self, features: int, width: int, alpha: float, theta: float, last: bool, residual: bool, rng: Rng
    ) -> None:
        super().__init__(width, 1, alpha, theta, last, features * residual, rng)
        self.features = nn.Parameter(torch.empty(features, width))
        glorot(self.features, rng.child("features"))
        self.shift = nn.Parameter(torch.zeros(width))

    def matrices(self, tile: int, multiple: int = 1) -> list[Tensor]:
        """W_0, and the skip connection, in one tile."""
        return [torch.cat([self.features, self.skip], dim=1) if self.skips else self.features]

    def started(self, projected: Tensor) -> Tensor:
        """H_0 from X W_0."""
        return torch.relu(projected[:, : self.width] + self.shift)

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """H_0 of the rows below, and the first convolution of it."""
        first = self.started(projected)
        return super().combine(hop, torch.cat([first, first, projected[:, self.width :]], dim=1))

    def from_features(self, x: Inputs, hop: Hop, tile: int) -> Tiles:
        """In one tile, since the convolution reads all columns of H_0."""
        return super().from_features(x, hop, self.outputs)


class Gcnii(Encoder):
    """Many graph convolutions, each with some of the first rows and close to the identity: few labels go far.

    Args:
        shape: of the network; its layers are the convolutions.
        rng: of the initial weights.
        alpha: what each layer keeps of the first rows, from 0 to below 1.
        theta: how far a layer is from the identity, above 0; it shrinks with depth.
    """

    name: ClassVar[str] = "gcnii"

    def __init__(self, shape: Shape, rng: Rng, alpha: float = 0.1, theta: float = 0.5) -> None:
        if not 0 <= alpha < 1:
            raise SettingsError(f"encoder gcnii: alpha = {alpha}, but it must be from 0 to below 1; 0.1 is usual")
        if not theta > 0:
            raise SettingsError(f"encoder gcnii: theta = {theta}, but it must be above 0; 0.5 is usual")
        self.alpha, self.theta = alpha, theta
        super().__init__(replace(shape, layers=1, residual=False), rng, alpha=alpha, theta=theta)
        self.shape, width, skip = shape, shape.hidden, shape.hidden * shape.residual
        further = (
            Deep(width, number, alpha, theta, number == shape.layers, skip, rng.child("init", number - 1))
            for number in range(2, shape.layers + 1)
        )
        start = First(
            shape.features, width, alpha, theta, shape.layers == 1, shape.residual, rng.child("init", 0).child("first")
        )
        self.layers = nn.ModuleList([start, *further])
        self.norms = nn.ModuleList(type(norm)(width) for norm in self.norms for _ in range(shape.layers))

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """The propagating class head: a graph convolution. (Its hidden layers are made above.)"""
        return GraphConvolution(inputs, outputs, rng)

    def forward(self, x: Inputs, plan: ForwardPlan, how: Pass) -> Tiles:
        """H of the plan's nodes, with H_0 apart.

        Args:
            x: the rows of the plan's first level.
            plan: what to compute.
            how: with dropout or without, and of which view.
        """
        start = self.convolution(0)
        assert isinstance(start, First)
        (projected,) = x.times(start.matrices(start.outputs), key=start)
        hidden = first = start.started(projected)
        skipped = projected[:, self.shape.hidden :]
        for number in range(self.hops):
            layer, hop = self.convolution(number), plan.hop(number)
            assert isinstance(layer, Deep)
            if how.rng is not None:
                hidden = dropout(hidden, self.shape.dropout, how.rng.child(how.stream, number))
            sums = layer.step(hop, hidden, first, layer.mapped())
            if layer.skips:
                sums = sums + hop.own(skipped if number == 0 else hidden @ layer.skip)
            (hidden,) = super().activate((sums,), number, how)
            first = hop.own(first)
        return (hidden,)

    def activate(self, sums: Tiles, number: int, how: Pass) -> Tiles:
        """relu(norm(sums)) of a layer, beside H_0 where it is carried on.

        Args:
            sums: what the layer gives, in one tile.
            number: of the layer.
            how: with dropout or without, and of which view.
        """
        width, (rows,) = self.shape.hidden, sums
        (hidden,) = super().activate((rows[:, :width].clone(),), number, how)
        return (hidden,) if rows.shape[1] == width else (torch.cat([hidden, rows[:, width:]], dim=1),)


ENCODERS.add("gcnii", Gcnii)
