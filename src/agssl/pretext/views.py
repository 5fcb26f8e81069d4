"""What a task reads of a step: the hidden representations of its one forward pass, and further views on request."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.encoders.base import Encoder, Pass, joined
from agssl.encoders.layer import Tiles
from agssl.encoders.network import Network, Output
from agssl.ops.adjacency import Adjacency
from agssl.ops.csr import Csr, identity
from agssl.ops.features import Inputs, Products
from agssl.ops.plan import ForwardPlan, full_head, full_plan, pruned_plan

FEW = 0.3  # up to this share of the rows, cutting them out of sparse features costs less than multiplying them all


@dataclass(frozen=True, eq=False)
class View:
    """Another look at the graph, drawn in `Task.sample` and encoded in `Task.loss`; what is None stays as it is."""

    nodes: np.ndarray | None = None  # sorted nodes whose hidden representation is read (fewer cost less); None: all
    adjacency: Csr | None = None  # what to propagate with, whatever the encoder's own normalisation is
    columns: np.ndarray | None = None  # bool [d]: the features that are kept
    masked: np.ndarray | None = None  # bool [N]: the nodes whose features give way to a token
    order: np.ndarray | None = None  # a shuffle of the feature rows
    scale: np.ndarray | None = None  # float32 [N]: what the features of each node are multiplied by
    pool: Csr | None = None  # [M, N]: weighted sums of nodes take their place, on a graph of M; then `adjacency` is its
    noise: Rng | None = None  # dropout, as in training, with masks from here; None: no dropout


class Posed(Protocol):
    """What tasks read of a problem (`agssl.train.problem.Problem`), where the encoder reads something else."""

    @property
    def adjacency(self) -> Adjacency: ...  # noqa: D102
    @property
    def features(self) -> Inputs: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class StepContext:
    """What a step works with, and further views are made of."""

    model: Network
    inputs: Inputs
    adjacency: Csr  # what the encoder propagates with, whole
    labelled: tuple[np.ndarray, Tensor] | None = None  # training nodes and their labels; None while pre-training
    problem: Posed | None = None  # what a task may ask for besides

    def decoding(self) -> Csr:
        """What a decoder of a task's own propagates with: as the encoder does, or with Â where it does not."""
        if self.model.encoder.propagation != "none":
            return self.adjacency
        assert self.problem is not None
        return _moved(self.problem.adjacency.symmetric.normalised, self.adjacency)


@dataclass(frozen=True, eq=False)
class Views:
    """What `Task.loss` reads of a step: the hidden representations H of its own pass, and of further views on request.

    Rows are those of the nodes asked for, in their order. Of the own pass, only nodes that the task's sample named may
    be asked for; `hidden()` and `corrupted()` are of all nodes, for a sample whose `nodes` is None.
    """

    output: Output
    plan: ForwardPlan
    source: StepContext | None = None
    _products: Products = dataclasses.field(default_factory=dict, repr=False)

    def hidden(self, nodes: np.ndarray | None = None) -> Tensor:
        """H of these nodes, or of all, [n, F]; before dropout."""
        return _rows(self.output.hidden, self.plan, nodes)

    def corrupted(self, nodes: np.ndarray | None = None) -> Tensor:
        """The same for the shuffled features."""
        assert self.output.corrupted is not None
        return _rows(self.output.corrupted, self.plan, nodes)

    @property
    def given(self) -> StepContext:
        """The encoder, features and propagation of this step."""
        assert self.source is not None
        return self.source

    def encode(self, view: View, encoder: Encoder | None = None, token: Tensor | None = None) -> Tensor:
        """H of the nodes of a view, [n, F].

        Args:
            view: the input.
            encoder: another one than the network's own, such as a momentum copy.
            token: [d], the features of masked nodes; None: zeros.
        """
        hidden, plan = self._encoded(view, encoder or self.given.model.encoder, token)
        return _rows(hidden, plan, view.nodes)

    def logits(self, view: View) -> Tensor:
        """Z of all nodes of a view, [N, C], by the network's own class head."""
        assert view.nodes is None, "logits are those of all nodes"
        model = self.given.model
        hidden, _ = self._encoded(view, model.encoder)
        adjacency = self._propagation(view, model.encoder)
        last = adjacency if model.head.propagates else identity(adjacency.rows, adjacency.values.device)
        logits: Tensor = model.head(hidden, full_head(adjacency, model.encoder.head_hops, last), view.noise)
        return logits

    def _propagation(self, view: View, encoder: Encoder) -> Csr:
        """What a view propagates with."""
        adjacency = self.given.adjacency
        # An encoder that reads own rows alone has no use for another propagation, but for how many rows a pool has.
        if view.adjacency is not None and (encoder.propagation != "none" or view.pool is not None):
            adjacency = _moved(view.adjacency, adjacency)
        return adjacency

    def _encoded(self, view: View, encoder: Encoder, token: Tensor | None = None) -> tuple[Tiles, ForwardPlan]:
        """H of a view in column tiles, and which rows these are."""
        adjacency = self._propagation(view, encoder)
        # As in Planner.step: batch norm averages over whatever rows there are; and a shuffle needs every row.
        if view.nodes is None or encoder.shape.norm == "batch" or view.order is not None or view.pool is not None:
            plan = full_plan(adjacency, encoder.reach, head=())
        else:
            plan = pruned_plan(adjacency, encoder.reach, None, view.nodes)
        return encoder(self._inputs(view, plan.inputs, encoder, token), plan, Pass(view.noise, real=False)), plan

    def _inputs(self, view: View, nodes: np.ndarray | None, encoder: Encoder, token: Tensor | None) -> Inputs:
        """The features that a view shows of these nodes (None: all)."""
        # Features are dropped before they are spread, where the encoder can spread them anew.
        again = view.scale is not None and encoder.spreads and self.given.problem is not None
        source = self.given.problem.features if again and self.given.problem is not None else self.given.inputs
        x = source.take(nodes)
        if view.noise is not None:
            x = x.dropout(encoder.shape.input_dropout, view.noise.child("input"))
        # Views of a step that differ only in what is done to rows share X W.
        x = x.sharing(self._products if nodes is None and view.noise is None else {})
        if view.columns is not None:
            x = x.keeping(encoder.widened(torch.from_numpy(view.columns), True).numpy())
        if view.masked is not None:
            token = None if token is None else encoder.widened(token, 0)
            x = x.masked(view.masked if nodes is None else view.masked[nodes], token)
        if view.order is not None:
            order = torch.from_numpy(view.order).to(x.device)
            x = x.permuted(order, torch.argsort(order))
        if view.scale is not None:
            x = x.scaled(view.scale if nodes is None else view.scale[nodes])
        if again:
            assert nodes is None, "what is spread is spread over all nodes"
            adjacency = self.given.decoding()
            x = dataclasses.replace(x, edits=(*x.edits, lambda rows, weight: encoder.spread(rows, adjacency)))
        return x if view.pool is None else x.pooled(_moved(view.pool, self.given.adjacency))

    def features(self, weight: Tensor, nodes: np.ndarray) -> Tensor:
        """X W of these nodes, [n, F], for a matrix W [d, F] of the task's own."""
        given = self.given
        inputs = given.inputs if given.problem is None else given.problem.features
        if len(nodes) <= FEW * inputs.rows:
            return inputs.take(nodes).times([weight])[0]
        return inputs.times([weight])[0].index_select(0, torch.from_numpy(nodes).to(weight.device))


def _rows(tiles: Tiles, plan: ForwardPlan, nodes: np.ndarray | None) -> Tensor:
    if nodes is None:
        return joined(tiles)
    at = torch.from_numpy(plan.positions(nodes)).to(tiles[0].device)
    return joined(tuple(tile.index_select(0, at) for tile in tiles))


def _moved(adjacency: Csr, beside: Csr) -> Csr:
    """On the device of the other; the same object where it is there, since it may know its transpose."""
    return adjacency if adjacency.values.device == beside.values.device else adjacency.to(beside.values.device)
