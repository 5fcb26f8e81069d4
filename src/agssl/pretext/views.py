"""What a task reads of a step: the hidden representations of its one forward pass, and further views on request."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.encoders.gcn import Gcn, Output, joined
from agssl.ops.csr import Csr, identity
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan, full_plan, pruned_plan
from agssl.ops.tiles import permute_rows

FEW = 0.3  # up to this share of the rows, cutting them out of sparse features costs less than multiplying them all
Tiles = tuple[Tensor, ...]  # column tiles of one matrix


@dataclass(frozen=True, eq=False)
class View:
    """Another look at the graph, drawn in `Task.sample` and encoded in `Task.loss`; what is None stays as it is."""

    nodes: np.ndarray | None = None  # sorted nodes whose hidden representation is read (fewer cost less); None: all
    adjacency: Csr | None = None  # propagation; of the first layer it may be rectangular (to other, fewer nodes)
    columns: np.ndarray | None = None  # bool [d]: the features that are kept
    masked: np.ndarray | None = None  # bool [N]: the nodes whose features give way to a token
    order: np.ndarray | None = None  # a shuffle of the feature rows
    scale: np.ndarray | None = None  # float32 [N]: what the features of each node are multiplied by
    noise: Rng | None = None  # dropout, as in training, with masks from here; None: no dropout


@dataclass(frozen=True, eq=False)
class StepContext:
    """What a step works with, and further views are made of."""

    model: Gcn
    inputs: Inputs
    adjacency: Csr  # Â, whole
    labelled: tuple[np.ndarray, Tensor] | None = None  # training nodes and their labels; None while pre-training


@dataclass(frozen=True, eq=False)
class Views:
    """What `Task.loss` reads of a step: the hidden representations H of its own pass, and of further views on request.

    Rows are those of the nodes asked for, in their order. Of the own pass, only nodes that the task's sample named may
    be asked for; `hidden()` and `corrupted()` are of all nodes, for a sample whose `nodes` is None.
    """

    output: Output
    field: ForwardPlan
    source: StepContext | None = None
    _shared: dict[tuple[int, int], tuple[object, Tiles]] = dataclasses.field(default_factory=dict, repr=False)

    def hidden(self, nodes: np.ndarray | None = None) -> Tensor:
        """H of these nodes, or of all, [n, F]; before dropout."""
        return _rows(self.output.hidden, self.field, nodes)

    def corrupted(self, nodes: np.ndarray | None = None) -> Tensor:
        """The same for the shuffled features."""
        assert self.output.corrupted is not None
        return _rows(self.output.corrupted, self.field, nodes)

    @property
    def given(self) -> StepContext:
        """The encoder, features and propagation of this step."""
        assert self.source is not None
        return self.source

    def encode(self, view: View, encoder: Gcn | None = None, token: Tensor | None = None) -> Tensor:
        """H of the nodes of a view, [n, F].

        Args:
            view: the input.
            encoder: another one than the network's own, such as a momentum copy.
            token: [d], the features of masked nodes; None: zeros.
        """
        hidden, plan = self._encoded(view, encoder or self.given.model, token)
        return _rows(hidden, plan, view.nodes)

    def logits(self, view: View) -> Tensor:
        """Z of all nodes of a view, [N, C], by the network's own class head."""
        assert view.nodes is None, "logits are those of all nodes"
        model = self.given.model
        hidden, plan = self._encoded(view, model)
        last = plan.blocks[-1]
        head = last if model.shape.head == "gcn" else identity(last.rows, last.values.device)
        logits = model.classify(hidden, replace(plan, head=head), view.noise)
        assert logits is not None
        return logits

    def _encoded(self, view: View, model: Gcn, token: Tensor | None = None) -> tuple[Tiles, ForwardPlan]:
        """H of a view in column tiles, and which rows these are."""
        adjacency = self.given.adjacency if view.adjacency is None else _moved(view.adjacency, self.given.adjacency)
        # As in Problem.field: batch norm averages over whatever rows there are; and a shuffle needs every row.
        if view.nodes is None or model.shape.norm == "batch" or view.order is not None:
            plan = full_plan(adjacency, model.shape.layers)
        else:
            plan = pruned_plan(adjacency, model.shape.layers, None, view.nodes)
        projected = self._product(model, view, plan)
        if view.masked is not None:
            masked = view.masked if plan.inputs is None else view.masked[plan.inputs]
            projected = _substituted(projected, masked, None if token is None else token @ model.weights[0])
        if view.order is not None:
            order = torch.from_numpy(view.order).to(projected[0].device)
            projected = tuple(permute_rows(part, order, torch.argsort(order)) for part in projected)
        if view.scale is not None:
            scale = torch.from_numpy(view.scale if plan.inputs is None else view.scale[plan.inputs])
            projected = tuple(part * scale.to(part.device)[:, None] for part in projected)
        return model.encode(projected, plan, view.noise), plan

    def features(self, weight: Tensor, nodes: np.ndarray) -> Tensor:
        """X W of these nodes, [n, F], for a matrix W [d, F] of the task's own."""
        inputs = self.given.inputs
        if len(nodes) <= FEW * inputs.rows:
            return inputs.take(nodes).times([weight])[0]
        return inputs.times([weight])[0].index_select(0, torch.from_numpy(nodes).to(weight.device))

    def _product(self, model: Gcn, view: View, plan: ForwardPlan) -> Tiles:
        """X W1; views of a step that differ only in what comes after share it."""
        columns = view.columns
        key = (id(model), id(columns))
        shares = plan.inputs is None and view.noise is None
        if shares and key in self._shared:
            return self._shared[key][1]
        kept = None if columns is None else torch.from_numpy(columns).to(model.weights[0].device)
        inputs = self.given.inputs.take(plan.inputs)
        if view.noise is not None:
            inputs = inputs.dropout(model.shape.input_dropout, view.noise.child("input"))
        projected = model.project(inputs, plan.blocks[0], kept)
        if shares:
            self._shared[key] = (columns, projected)  # holding the columns, so that their id stays theirs
        return projected


def _rows(tiles: Tiles, plan: ForwardPlan, nodes: np.ndarray | None) -> Tensor:
    if nodes is None:
        return joined(tiles)
    at = torch.from_numpy(plan.positions(nodes)).to(tiles[0].device)
    return joined(tuple(tile.index_select(0, at) for tile in tiles))


def _moved(adjacency: Csr, beside: Csr) -> Csr:
    """On the device of the other; the same object where it is there, since it may know its transpose."""
    return adjacency if adjacency.values.device == beside.values.device else adjacency.to(beside.values.device)


def _substituted(projected: Tiles, masked: np.ndarray, token: Tensor | None) -> Tiles:
    """X W with the rows of masked nodes replaced by t W (or zero), where t [d] stands for their features."""
    at = torch.from_numpy(masked).to(projected[0].device)[:, None]
    if token is None:
        return tuple(part.masked_fill(at, 0) for part in projected)
    tokens = token.split([part.shape[1] for part in projected])
    return tuple(torch.where(at, t, part) for t, part in zip(tokens, projected, strict=True))
