"""The graph convolutional network that every teacher, student and rival shares.

Encoder f: H = relu(Â X W1 + b1), L times. Head g: Z = Â dropout(H) W2 + b2 (or without Â, `head="linear"`). A pretext
head reads H before dropout.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.ops.csr import Csr, multiply
from agssl.ops.dropout import dropout
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan
from agssl.ops.tiles import permute_rows, tile_width

HEADS = ("gcn", "linear")
NORMS = ("none", "batch")


@dataclass(frozen=True)
class Shape:
    """What a network looks like."""

    features: int
    hidden: int
    classes: int
    layers: int = 1
    head: str = "gcn"
    norm: str = "none"
    dropout: float = 0.5
    input_dropout: float = 0.5
    feature_norm: str = "none"  # of the features it was trained on
    skip_weight: float = 0.0  # of the propagation it was trained with, see `Adjacency`


@dataclass(frozen=True, eq=False)
class Output:
    """What a forward pass gives; hidden representations come in column tiles."""

    hidden: tuple[Tensor, ...]  # each [n_hidden, tile]
    corrupted: tuple[Tensor, ...] | None  # the same for the row-shuffled features
    logits: Tensor | None  # [n_outputs, C]


class Gcn(nn.Module):
    """Encoder and head, initialised from `rng`: Glorot weights, zero biases."""

    def __init__(self, shape: Shape, rng: Rng) -> None:
        super().__init__()
        self.shape = shape
        widths = [shape.features] + [shape.hidden] * shape.layers
        self.weights = nn.ParameterList(nn.Parameter(torch.empty(a, b)) for a, b in pairwise(widths))
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(shape.hidden)) for _ in range(shape.layers))
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(shape.hidden) for _ in range(shape.layers if shape.norm == "batch" else 0)
        )
        self.class_weight = nn.Parameter(torch.empty(shape.hidden, shape.classes))
        self.class_bias = nn.Parameter(torch.zeros(shape.classes))
        for i, weight in enumerate([*self.weights, self.class_weight]):
            glorot(weight, rng.child("init", i))

    def forward(
        self,
        inputs: Inputs,
        field: ForwardPlan,
        rng: Rng | None = None,
        permutation: tuple[Tensor, Tensor] | None = None,
    ) -> Output:
        """One pass over a field.

        Args:
            inputs: features of all nodes; the field picks its rows.
            field: what to compute.
            rng: source of dropout masks; None switches dropout off (and batch norm to its running averages).
            permutation: a shuffle of the rows and its inverse; asks for the corrupted view as well.
        """
        training = rng is not None
        x = inputs.take(field.inputs)
        if rng is not None:
            x = x.dropout(self.shape.input_dropout, rng.child("input"))
        hidden, corrupted = self._first(x, field, permutation, training)
        for layer in range(1, self.shape.layers):
            hidden = self._next(hidden, layer, field, rng.child("hidden", layer) if rng else None)
            if corrupted is not None:
                stream = rng.child("corrupted", layer) if rng else None
                corrupted = self._next(corrupted, layer, field, stream, real=False)
        return Output(hidden, corrupted, self.classify(hidden, field, rng))

    def project(self, inputs: Inputs, block: Csr, columns: Tensor | None = None) -> tuple[Tensor, ...]:
        """X W1 in column tiles that suit `block`, the propagation to come; where `columns` [d] is 0, X is 0."""
        weight = self.weights[0] if columns is None else self.weights[0] * columns[:, None]
        tile = weight.shape[1] if self.norms else tile_width(max(block.rows, len(weight)), weight.shape[1])
        return inputs.times([part.contiguous() for part in weight.split(tile, dim=1)])

    def encode(self, projected: tuple[Tensor, ...], field: ForwardPlan, rng: Rng | None = None) -> tuple[Tensor, ...]:
        """H from X W1, for a further view: batch norm by the view's own averages, no dropout without an `rng`."""
        hidden = self.activate(tuple(multiply(field.blocks[0], part) for part in projected), 0, False, real=False)
        for layer in range(1, self.shape.layers):
            hidden = self._next(hidden, layer, field, rng.child("hidden", layer) if rng else None, real=False)
        return hidden

    def _first(
        self, x: Inputs, field: ForwardPlan, permutation: tuple[Tensor, Tensor] | None, training: bool
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...] | None]:
        block, weight = field.blocks[0], self.weights[0]
        if permutation is None and x.aggregates_first(weight.shape[1]):
            return self.activate((x.aggregated(block) @ weight,), 0, training), None
        projected = self.project(x, block)
        hidden = self.activate(tuple(multiply(block, part) for part in projected), 0, training)
        if permutation is None:
            return hidden, None
        shuffled = (permute_rows(part, *permutation) for part in projected)
        return hidden, self.activate(tuple(multiply(block, part) for part in shuffled), 0, training, real=False)

    def _next(
        self, hidden: tuple[Tensor, ...], layer: int, field: ForwardPlan, rng: Rng | None, real: bool = True
    ) -> tuple[Tensor, ...]:
        h = joined(hidden)
        if rng is not None:
            h = dropout(h, self.shape.dropout, rng)
        sums = multiply(field.blocks[layer], h @ self.weights[layer])
        return self.activate((sums,), layer, rng is not None, real)

    def activate(self, hidden: tuple[Tensor, ...], layer: int, training: bool, real: bool = True) -> tuple[Tensor, ...]:
        """relu(norm(sums + bias)) of a layer, in place: the sums [n, tile] are no longer what they were."""
        biases = self.biases[layer].split([h.shape[1] for h in hidden])
        if self.norms:
            norm = self.norms[layer].train(training)
            assert isinstance(norm, nn.BatchNorm1d)
            sums = hidden[0] + biases[0]
            # A shuffled view is normalised by its own averages, which must not enter the running ones.
            normed = norm(sums) if real else F.batch_norm(sums, None, None, norm.weight, norm.bias, training=True)
            return (torch.relu_(normed),)
        # In place: nothing else reads the sums, and fresh pages cost as much as the arithmetic.
        return tuple(torch.relu_(h.add_(b)) for h, b in zip(hidden, biases, strict=True))

    def classify(self, hidden: tuple[Tensor, ...], field: ForwardPlan, rng: Rng | None) -> Tensor | None:
        """Z of the nodes that the field's head names, [n, C], with dropout of H where there is an `rng`; or None."""
        if field.head is None:
            return None
        projected: Tensor | None = None
        # Matrix products with a multiple of 16 columns run more than twice as fast as with, say, 15.
        padded = F.pad(self.class_weight, (0, -self.shape.classes % 16))
        parts = padded.split([h.shape[1] for h in hidden])
        for i, (h, weight) in enumerate(zip(hidden, parts, strict=True)):
            if rng is not None:
                h = dropout(h, self.shape.dropout, rng.child("class", i))
            projected = h @ weight if projected is None else torch.addmm(projected, h, weight)
        assert projected is not None
        return multiply(field.head, projected)[:, : self.shape.classes] + self.class_bias


def joined(hidden: tuple[Tensor, ...]) -> Tensor:
    """Column tiles as one [n, F] tensor (no copy where there is one tile)."""
    return hidden[0] if len(hidden) == 1 else torch.cat(hidden, dim=1)


def glorot(weight: Tensor, rng: Rng) -> None:
    """Fill a matrix uniformly in +- sqrt(6 / (rows + columns))."""
    bound = (6 / sum(weight.shape)) ** 0.5
    with torch.no_grad():
        weight.uniform_(-bound, bound, generator=rng.torch())
