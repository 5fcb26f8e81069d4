"""What an encoder is: layers of one kind, each of which projects rows and then combines them along the edges.

An encoder is one file with one class of layers. A layer has two parts, so that one definition serves whole graphs,
plans with few rows, several views of a step, and inference block by block on graphs that don't fit into memory:

- `weights` are what rows are multiplied by, h -> h W, wherever the rows are (sparse features or hidden);
- `combine` makes the sums of the next level of what was projected: Â (h W) in a GCN, its own row and the mean of its
  neighbours' in GraphSAGE. Every row of a level may be pruned away but those that a node and its neighbours need.

The class head is apart (`agssl.encoders.head`); by default it is one more layer of the encoder's kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.registry import Registry
from agssl.base.rng import Rng
from agssl.ops.dropout import dropout
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan, Hop
from agssl.ops.tiles import tile_width

Tiles = tuple[Tensor, ...]  # column tiles of one matrix


@dataclass(frozen=True)
class Shape:
    """What a network looks like."""

    features: int
    hidden: int
    classes: int
    layers: int = 1
    head: str = "conv"
    norm: str = "none"
    dropout: float = 0.5
    input_dropout: float = 0.5
    feature_norm: str = "none"  # of the features it was trained on
    skip_weight: float = 0.0  # of the propagation it was trained with, see `Adjacency`
    encoder: str = "gcn"  # a name in `ENCODERS`, settings after colons


@dataclass(frozen=True)
class Pass:
    """What kind of forward pass this is.

    Args:
        rng: source of dropout masks; None switches dropout off, and batch norm to its running averages.
        real: False for a further view of the graph, which batch norm normalises by its own averages; they must not
            enter the running ones.
        stream: the name of its dropout masks below `rng`.
    """

    rng: Rng | None = None
    real: bool = True
    stream: str = "hidden"


class Layer(nn.Module):
    """One convolution: weights from `inputs` to `outputs` columns, and a bias that is added to its sums.

    Rows are multiplied by all of its weights, [inputs, outputs] each; a subclass names them and combines the products.
    """

    weights: ClassVar[tuple[str, ...]] = ("weight",)
    reads_every_row: ClassVar[bool] = False  # whether `combine` touches all rows it is given, those without edges too
    hops: int = 1  # propagations, one after another; several only in a class head

    def __init__(self, inputs: int, outputs: int, rng: Rng) -> None:
        super().__init__()
        self.outputs = outputs
        for name in self.weights:
            weight = nn.Parameter(torch.empty(inputs, outputs))
            glorot(weight, rng if len(self.weights) == 1 else rng.child(name))
            self.register_parameter(name, weight)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def combine(self, hop: Hop, projected: Tensor) -> Tensor:
        """The sums [rows above, columns] of some of the output columns.

        Args:
            hop: the edges. An entry of `hop.matrix` with value 0 is none; `hop.own` has the nodes' own rows.
            projected: rows below times these columns of each weight, side by side: `chunk` takes them apart. Other
                views may read it too, so it must stay as it is.
        """
        raise NotImplementedError

    def further(self, number: int, hop: Hop, sums: Tensor, projected: Tensor) -> Tensor:
        """The sums of a further hop, where a layer has several.

        Args:
            number: of the hop; that of `combine` is 0.
            hop: the edges.
            sums: of the hop before.
            projected: as `combine` had it, of the rows below this hop.
        """
        raise NotImplementedError

    def along(self, hops: Sequence[Hop], projected: Tensor) -> Tensor:
        """The sums after all hops."""
        sums = self.sums(hops[0], projected)
        for number, hop in enumerate(hops[1:], start=1):
            projected = hops[number - 1].own(projected)
            sums = self.further(number, hop, sums, projected)
        return sums

    def sums(self, hop: Hop, projected: Tensor) -> Tensor:
        """What `combine` gives, as a tensor that may be changed in place."""
        found = self.combine(hop, projected)
        return found.clone() if found.data_ptr() == projected.data_ptr() else found

    def matrices(self, tile: int, multiple: int = 1) -> list[Tensor]:
        """The weights side by side, for each tile of so many output columns.

        With a `multiple`, columns of zeros fill each weight up to a multiple of so many columns.
        """
        parts = tuple(getattr(self, name) for name in self.weights)
        if self.outputs % multiple:
            parts = tuple(F.pad(part, (0, -self.outputs % multiple)) for part in parts)
        tiles = zip(
            *(part.split(part.shape[1] if tile >= self.outputs else tile, dim=1) for part in parts), strict=True
        )
        return [group[0].contiguous() if len(group) == 1 else torch.cat(group, dim=1) for group in tiles]

    def project(self, rows: Tensor) -> Tensor:
        """Rows times the whole matrix."""
        (matrix,) = self.matrices(self.outputs)
        return rows @ matrix

    def from_features(self, x: Inputs, hop: Hop, tile: int) -> Tiles:
        """The sums of a first layer, from the features of the rows below, in column tiles."""
        return tuple(self.sums(hop, part) for part in x.times(self.matrices(tile), key=self))


class Encoder(nn.Module):
    """Layers with ReLU, batch norm where asked for, and dropout between them: H [n, hidden] from X.

    To write one: subclass, name it, give it a `layer`, and register it. `propagation` says what `hop.matrix` holds:
    `symmetric` is Â = D^-1/2 (A + I) D^-1/2, `mean` is D^-1 A, `walk` is the mean over a node and its neighbours,
    (D + I)^-1 (A + I), `none` is I: each layer reads a node's own row, and no plan has rows of neighbours. Settings of
    its own are keyword arguments of the constructor with defaults. It hands them on,
    `super().__init__(shape, rng, heads=heads)`, so that a sibling gets them too; `layer` is called in there, and finds
    them in `self.settings`.

    Args:
        shape: what the network looks like.
        rng: of the initial weights.

    Example:
        >>> from agssl.ops.csr import multiply
        >>> class Sum(Layer):
        ...     def combine(self, hop, projected):
        ...         return hop.own(projected) + multiply(hop.matrix, projected)
        >>> class Residual(Encoder):
        ...     '''Graph convolutions that add what a node had before.'''
        ...     name = "residual"
        ...     def layer(self, inputs, outputs, rng):
        ...         return Sum(inputs, outputs, rng)
        >>> ENCODERS.add("residual", Residual)  # doctest: +SKIP

        A file that ends so is used by `agssl fit digits --plugin residual.py --encoder residual`.
    """

    name: ClassVar[str]
    propagation: ClassVar[str] = "symmetric"
    row_copies: ClassVar[float] = 8.0  # of the rows of a layer [n, F], that a training step holds; measured
    # Whether hidden rows read others than the node's own; where they don't, only the class head propagates.
    reads_neighbours: ClassVar[bool] = True
    # Whether the first layer is linear in the propagated features, f(hop.matrix @ X): then these can be computed once.
    propagates_features: ClassVar[bool] = False

    def __init__(self, shape: Shape, rng: Rng, **settings: object) -> None:
        super().__init__()
        self.shape, self.settings = shape, settings
        widths = [shape.features] + [shape.hidden] * shape.layers
        self.layers = nn.ModuleList(self.layer(a, b, rng.child("init", i)) for i, (a, b) in enumerate(pairwise(widths)))
        count = shape.layers if shape.norm == "batch" else 0
        self.norms = nn.ModuleList(nn.BatchNorm1d(shape.hidden) for _ in range(count))

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """One layer of this kind, with fresh weights."""
        raise NotImplementedError

    def head_layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """The layer of a propagating class head; by default, one more of this kind."""
        return self.layer(inputs, outputs, rng)

    @property
    def head_hops(self) -> int:
        """Propagations of the class head, as a plan has them."""
        return 1

    @property
    def hops(self) -> int:
        """Layers from the features to the hidden representation."""
        return len(self.layers)

    @property
    def reach(self) -> int:
        """How many edges away a hidden row sees: propagations up to there, as a plan has them."""
        return self.hops if self.reads_neighbours and self.propagation != "none" else 0

    def sibling(self, rng: Rng) -> Encoder:
        """An encoder of the same shape and settings with other initial weights, on the same device."""
        fresh = type(self)(self.shape, rng, **self.settings)
        return fresh.to(next(self.parameters()).device)

    def forward(self, x: Inputs, plan: ForwardPlan, how: Pass) -> Tiles:
        """H of the plan's nodes, in column tiles; `x` has the features of its first level, dropped or edited."""
        still = None if self.reach else plan.still(x.rows, x.device)
        hop = still or plan.hop(0)
        hidden = self.activate(self.convolution(0).from_features(x, hop, self.tile(hop)), 0, how)
        for number in range(1, self.hops):
            h = joined(hidden)
            if how.rng is not None:
                h = dropout(h, self.shape.dropout, how.rng.child(how.stream, number))
            layer = self.convolution(number)
            hidden = self.activate((layer.sums(still or plan.hop(number), layer.project(h)),), number, how)
        return hidden

    def convolution(self, number: int) -> Layer:
        """A layer by its number."""
        layer = self.layers[number]
        assert isinstance(layer, Layer)
        return layer

    def tile(self, hop: Hop) -> int:
        """How many columns of the first layer to work on at a time; batch norm wants all at once."""
        if self.norms:
            return self.shape.hidden
        return tile_width(max(hop.matrix.rows, self.shape.features), self.shape.hidden)

    def activate(self, sums: Tiles, number: int, how: Pass) -> Tiles:
        """relu(norm(sums + bias)) of a layer, in place: the sums [n, tile] are no longer what they were."""
        biases = self.convolution(number).bias.split([part.shape[1] for part in sums])
        if self.norms:
            norm = self.norms[number].train(how.rng is not None)
            assert isinstance(norm, nn.BatchNorm1d)
            shifted = sums[0] + biases[0]
            if how.real:
                return (torch.relu_(norm(shifted)),)
            return (torch.relu_(F.batch_norm(shifted, None, None, norm.weight, norm.bias, training=True)),)
        # In place: nothing else reads the sums, and fresh pages cost as much as the arithmetic.
        return tuple(torch.relu_(part.add_(bias)) for part, bias in zip(sums, biases, strict=True))


ENCODERS: Registry[type[Encoder]] = Registry("encoder", "agssl.encoders")


def joined(hidden: Tiles) -> Tensor:
    """Column tiles as one [n, F] tensor (no copy where there is one tile)."""
    return hidden[0] if len(hidden) == 1 else torch.cat(hidden, dim=1)


def glorot(weight: Tensor, rng: Rng) -> None:
    """Fill a matrix uniformly in +- sqrt(6 / (rows + columns)); one that is only a shape (device `meta`) stays so."""
    if weight.is_meta:
        return
    bound = (6 / sum(weight.shape)) ** 0.5
    with torch.no_grad():
        weight.uniform_(-bound, bound, generator=rng.torch())
