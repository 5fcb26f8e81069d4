"""What an encoder is: layers of one kind (`agssl.encoders.layer`), norms, activations and dropout between them.

An encoder is one file with one class of layers. The class head is apart (`agssl.encoders.head`); by default it is one
more layer of the encoder's kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.registry import Registry
from agssl.base.rng import Rng
from agssl.data.graph import Features, Graph
from agssl.encoders.layer import Layer, Tiles, WithSkip
from agssl.ops.csr import Csr
from agssl.ops.dropout import dropout
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan, Hop
from agssl.ops.tiles import tile_width


@dataclass(frozen=True)
class Shape:
    """What a network looks like."""

    features: int
    hidden: int
    classes: int
    layers: int = 1
    head: str = "conv"
    norm: str = "none"
    residual: bool = False
    dropout: float = 0.5
    input_dropout: float = 0.5
    feature_norm: str = "none"  # of the features it was trained on
    skip_weight: float = 0.0  # of the propagation it was trained with, see `Adjacency`
    encoder: str = "gcn"  # a name in `ENCODERS`, settings after colons
    view: str = "given"  # what it reads as edges, see `agssl.ops.graph_views`
    nodes: int = 0  # of the graph it was trained on, for an encoder that knows nodes one by one; 0: any graph

    @property
    def text(self) -> str:
        """The encoder, and what it reads and keeps in another way than usual, as `--student` takes it.

        >>> Shape(3, 64, 2, encoder="sage", feature_norm="l2", view="knn:k=5").text
        'sage:view=knn/k=5:feature_norm=l2'
        """
        view = "" if self.view == "given" else f":view={self.view.replace(':', '/')}"
        norm = "" if self.feature_norm == "none" else f":feature_norm={self.feature_norm}"
        return f"{self.encoder}{view}{norm}" + (f":skip_weight={self.skip_weight:g}" if self.skip_weight else "")


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


class Encoder(nn.Module):
    """Layers with ReLU, norms and skip connections where asked for, and dropout between them: H [n, hidden] from X.

    To write one: subclass, name it, give it a `layer`, and register it. `propagation` says what `hop.matrix` holds:
    `symmetric` is Â = D^-1/2 (A + I) D^-1/2, `mean` is D^-1 A, `walk` is the mean over a node and its neighbours,
    (D + I)^-1 (A + I), `none` is I: each layer reads a node's own row, and no plan has rows of neighbours. Settings of
    its own are keyword arguments of the constructor with defaults. It hands them on,
    `super().__init__(shape, rng, heads=heads)`, so that a sibling gets them too; `layer` is called in there, and finds
    them in `self.settings`.

    One that works on something made of the graph once, before any training, says so (`prepares`) and makes it in `read`
    (`agssl.encoders.prepared`).

    Args:
        shape: what the network looks like.
        rng: of the initial weights.
        settings: those of a subclass, by name.

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
    prepares: ClassVar[bool] = False  # whether the first layer reads something that is made of the graph, see `read`
    spreads: ClassVar[bool] = False  # whether what it makes is `spread` of X, so that views can drop features before
    knows_nodes: ClassVar[bool] = False  # whether it has weights for each node, so that `Shape.nodes` must be given

    def __init__(self, shape: Shape, rng: Rng, **settings: object) -> None:
        super().__init__()
        self.shape, self.settings = shape, settings
        widths = [shape.hidden] * shape.layers
        further = (self.layer(a, b, rng.child("init", i)) for i, (a, b) in enumerate(pairwise(widths), start=1))
        layers = [self.first_layer(rng.child("init", 0)), *further]
        if shape.residual:
            layers = [WithSkip(layer, rng.child("init", i).child("skip")) for i, layer in enumerate(layers)]
        self.layers = nn.ModuleList(layers)
        norm = {"none": None, "batch": nn.BatchNorm1d, "layer": nn.LayerNorm}[shape.norm]
        self.norms = nn.ModuleList(norm(shape.hidden) for _ in range(shape.layers) if norm is not None)

    def layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """One layer of this kind, with fresh weights.

        Args:
            inputs: columns that it reads.
            outputs: columns that it gives.
            rng: of its first weights.
        """
        raise NotImplementedError

    def first_layer(self, rng: Rng) -> Layer:
        """The layer that reads the features, or what is made of them.

        Args:
            rng: of its first weights.
        """
        return self.layer(self.shape.features, self.shape.hidden, rng)

    def read(self, graph: Graph) -> Features:
        """What the first layer reads of a graph, a row for each node: its features.

        Args:
            graph: with features scaled as the network wants them.
        """
        return graph.x

    @property
    def read_hops(self) -> int | None:
        """How many edges away `read` sees from a node; None: any number."""
        return None if self.prepares else 0

    def spread(self, rows: Tensor, adjacency: Csr) -> Tensor:
        """What `read` makes of the features, done to rows of X times some matrix, [N, F]; for one that `spreads`.

        Args:
            rows: of all nodes.
            adjacency: Â.
        """
        raise NotImplementedError

    def made(self, graph: Graph) -> tuple[float, bool]:
        """How many values `read` makes of a graph, about, and whether they are dense.

        Args:
            graph: the graph.
        """
        return 0, True

    def widened(self, features: Tensor, other: float) -> Tensor:
        """Something of each feature [d], for each column that the first layer reads; `other` where it is no feature.

        Args:
            features: a value for each feature, [d].
            other: the value of columns that come from no feature.
        """
        return features

    def head_layer(self, inputs: int, outputs: int, rng: Rng) -> Layer:
        """The layer of a propagating class head; by default, one more of this kind.

        Args:
            inputs: columns that it reads, the hidden ones.
            outputs: classes.
            rng: of its first weights.
        """
        return self.layer(inputs, outputs, rng)

    @property
    def entry_numbers(self) -> float:
        """Numbers that a training step holds for each stored entry of A + I, beside rows; measured."""
        return 0.0

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
        """An encoder of the same shape and settings with other initial weights, on the same device.

        Args:
            rng: of its first weights.
        """
        fresh = type(self)(self.shape, rng, **self.settings)
        return fresh.to(next(self.parameters()).device)

    def forward(self, x: Inputs, plan: ForwardPlan, how: Pass) -> Tiles:
        """H of the plan's nodes, in column tiles; `x` has the features of its first level, dropped or edited.

        Args:
            x: the rows of the plan's first level.
            plan: what to compute.
            how: with dropout or without, and of which view.
        """
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
        """A layer by its number.

        Args:
            number: from 0, that of the features, on.
        """
        layer = self.layers[number]
        assert isinstance(layer, Layer)
        return layer

    def tile(self, hop: Hop) -> int:
        """How many columns of the first layer to work on at a time; a norm wants all at once.

        Args:
            hop: the first propagation.
        """
        if self.norms:
            return self.shape.hidden
        return tile_width(max(hop.matrix.rows, self.shape.features), self.shape.hidden)

    def activate(self, sums: Tiles, number: int, how: Pass) -> Tiles:
        """relu(norm(sums + bias)) of a layer, in place: the sums [n, tile] are no longer what they were.

        Args:
            sums: what the layer gives, in column tiles.
            number: of the layer.
            how: with dropout or without, and of which view.
        """
        biases = self.convolution(number).bias.split([part.shape[1] for part in sums])
        if self.norms:
            norm = self.norms[number].train(how.rng is not None)
            shifted = sums[0] + biases[0]
            if how.real or not isinstance(norm, nn.BatchNorm1d):
                return (torch.relu_(norm(shifted)),)
            return (torch.relu_(F.batch_norm(shifted, None, None, norm.weight, norm.bias, training=True)),)
        # In place: nothing else reads the sums, and fresh pages cost as much as the arithmetic.
        return tuple(torch.relu_(part.add_(bias)) for part, bias in zip(sums, biases, strict=True))


ENCODERS: Registry[type[Encoder]] = Registry("encoder", "agssl.encoders")


def joined(hidden: Tiles) -> Tensor:
    """Column tiles as one [n, F] tensor (no copy where there is one tile)."""
    return hidden[0] if len(hidden) == 1 else torch.cat(hidden, dim=1)
