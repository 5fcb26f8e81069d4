"""A graph made ready for training: tensors on a device, and plans for the forward passes that recur."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from agssl.data.graph import Graph
from agssl.errors import GraphError
from agssl.models.gcn import Gcn, Shape
from agssl.ops.adjacency import Adjacency, take_rows
from agssl.ops.csr import Csr, identity
from agssl.ops.features import Inputs
from agssl.ops.field import Field, receptive_field, whole_field
from agssl.rng import Rng
from agssl.store.stages import fingerprint


@dataclass(frozen=True, eq=False)
class Problem:
    """What every stage of a fit shares. Its graph has no test labels (see `Graph.hide_test`)."""

    graph: Graph
    shape: Shape
    balanced: bool = False  # weigh classes in the task loss by how rare they are
    device: str = "cpu"

    @classmethod
    def of(cls, graph: Graph, shape: Shape, *, balanced: bool = False, device: str = "cpu") -> Problem:
        """The problem of training networks of this shape on this graph with its split."""
        if graph.missing is not None:
            raise GraphError(graph.missing)
        if graph.split is None or not len(graph.split.train) or not len(graph.split.val):
            raise GraphError("the graph has no split with training and validation nodes; give one, e.g. --split auto")
        return cls(graph.hide_test(), shape, balanced, device)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that a training can see of it."""
        nodes = (self.train_nodes, self.val_nodes)
        return fingerprint(self.graph.fingerprint, self.graph.y, nodes, self.shape, self.balanced, self.device)

    @cached_property
    def class_weight(self) -> Tensor | None:
        """Weight of each class in the task loss, [C]; None: all alike."""
        if not self.balanced:
            return None
        counts = torch.bincount(self.train_labels, minlength=self.shape.classes)
        return len(self.train_labels) / (counts.count_nonzero() * counts.clamp_min(1)).float()

    @cached_property
    def adjacency(self) -> Adjacency:
        """A + I."""
        return Adjacency.of(self.graph)

    @cached_property
    def normalised(self) -> Csr:
        """Â."""
        return self.adjacency.normalised.to(self.device)

    @cached_property
    def inputs(self) -> Inputs:
        """X."""
        return Inputs.of(self.graph, self.device)

    @cached_property
    def labels(self) -> Tensor:
        """y, -1 where unknown (test nodes always)."""
        return torch.from_numpy(self.graph.y).to(self.device)

    @cached_property
    def train_nodes(self) -> np.ndarray:
        """Labelled nodes to learn from, sorted."""
        assert self.graph.split is not None
        return np.sort(self.graph.split.train)

    @cached_property
    def val_nodes(self) -> np.ndarray:
        """Labelled nodes to choose by, sorted."""
        assert self.graph.split is not None
        return np.sort(self.graph.split.val)

    @cached_property
    def train_labels(self) -> Tensor:
        """Labels of the training nodes."""
        return self.labels[torch.from_numpy(self.train_nodes)]

    def with_training(self, nodes: np.ndarray) -> Problem:
        """The same problem with other training nodes (a fold); what was computed of the graph is kept."""
        split = self.graph.split
        assert split is not None
        return self._changed(graph=replace(self.graph, split=replace(split, train=nodes)))

    def with_shape(self, shape: Shape) -> Problem:
        """The same problem for networks of another shape; what was computed of the graph is kept."""
        return self._changed(shape=shape)

    def _changed(self, **changes: Any) -> Problem:
        other = replace(self, **changes)
        for name in ("adjacency", "normalised", "inputs", "labels"):
            other.__dict__[name] = getattr(self, name)
        return other

    def head_rows(self, adjacency: Csr, nodes: np.ndarray | None) -> Csr:
        """The propagation of the class head for these nodes (None: all)."""
        matrix = identity(adjacency.rows, self.device) if self.shape.head == "linear" else adjacency
        return matrix if nodes is None else take_rows(matrix, nodes)

    @cached_property
    def train_head(self) -> Csr:
        """The propagation of the class head for the training nodes."""
        return self.head_rows(self.normalised, self.train_nodes)

    def field(self, adjacency: Csr, outputs: np.ndarray | None, hidden: np.ndarray | None) -> Field:
        """The plan of one step: logits of `outputs` (None: none), hidden rows of `hidden` (None: all nodes)."""
        layers = self.shape.layers
        known = adjacency is self.normalised and outputs is self.train_nodes
        head = None if outputs is None else self.train_head if known else self.head_rows(adjacency, outputs)
        # Batch norm averages over whatever rows there are, so cutting rows away would change the result.
        if hidden is None or self.shape.norm == "batch":
            return replace(whole_field(adjacency, layers), head=head)
        return receptive_field(adjacency, layers, head, hidden)

    def fixed_field(self, outputs: np.ndarray) -> tuple[Inputs, Field]:
        """The plan for the logits of `outputs`, to be used many times, with the features it reads."""
        head = self.head_rows(self.normalised, outputs)
        if self.shape.norm == "batch":
            return self.inputs, replace(whole_field(self.normalised, self.shape.layers), head=head)
        plan = receptive_field(self.normalised, self.shape.layers, head, np.empty(0, dtype=np.int64), limit=0.95)
        return self.inputs.take(plan.inputs), replace(plan, inputs=None)

    @cached_property
    def whole(self) -> Field:
        """The plan for everything."""
        return replace(whole_field(self.normalised, self.shape.layers), head=self.head_rows(self.normalised, None))

    @cached_property
    def train_field(self) -> tuple[Inputs, Field]:
        """The plan for the logits of the training nodes alone."""
        return self.fixed_field(self.train_nodes)

    @cached_property
    def eval_field(self) -> tuple[Inputs, Field]:
        """The plan for the logits of training and validation nodes, in this order."""
        return self.fixed_field(np.concatenate([self.train_nodes, self.val_nodes]))

    def task_loss(self, logits: Tensor) -> Tensor:
        """L_task: cross-entropy of the training nodes' logits."""
        return F.cross_entropy(logits, self.train_labels, self.class_weight)

    @torch.no_grad()
    def logits(self, model: Gcn) -> Tensor:
        """Logits of all nodes in evaluation mode, [N, C]."""
        logits = model(self.inputs, self.whole).logits
        assert logits is not None
        return logits

    @torch.no_grad()
    def evaluate(self, model: Gcn) -> dict[str, float]:
        """Accuracy on training and validation nodes and the validation loss."""
        logits = model(*self.eval_field).logits
        assert logits is not None
        n = len(self.train_nodes)
        truth = self.labels[torch.from_numpy(np.concatenate([self.train_nodes, self.val_nodes]))]
        right = (logits.argmax(1) == truth).float()
        return {
            "train_accuracy": right[:n].mean().item(),
            "val_accuracy": right[n:].mean().item(),
            "val_loss": F.cross_entropy(logits[n:], truth[n:]).item(),
        }


def folds(problem: Problem, count: int, rng: Rng) -> list[np.ndarray]:
    """Positions among the training nodes, dealt into folds class by class; the same for every teacher."""
    order = rng.numpy().permutation(len(problem.train_nodes))
    labels = problem.train_labels.cpu().numpy()
    order = order[np.argsort(labels[order], kind="stable")]
    dealt = [np.sort(order[start::count]) for start in range(count)]
    return [fold for fold in dealt if 0 < len(fold) < len(order)]
