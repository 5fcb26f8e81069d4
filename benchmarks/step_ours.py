"""Our side of `step.py`: the two-layer GCN of this revision under its own training loop.

`step.py --against REV` takes this file from the other revision, so it imports nothing that is beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape
from agssl.store.checkpoints import Best
from agssl.train.loop import Objective, Schedule, train
from agssl.train.problem import Problem


class Ours:
    """A GCN that computes the logits of all nodes, as PyG does, or only those that the loss reads (`pruned`)."""

    def __init__(self, graph: Graph, hidden: int, dropout: float, input_dropout: float, pruned: bool) -> None:
        shape = Shape(graph.num_features, hidden, graph.num_classes, dropout=dropout, input_dropout=input_dropout)
        self.problem, self.pruned = Problem.of(graph, shape), pruned
        self.model = Network(shape, Rng(0).child("model"))
        self.labelled = torch.from_numpy(self.problem.train_nodes)

    @property
    def train_nodes(self) -> np.ndarray:
        """The nodes of the loss, in the order of `logits` where they are pruned."""
        return self.problem.train_nodes

    def parameters(self) -> list[nn.Parameter]:
        """W1, b1, W2, b2."""
        layers = (self.model.encoder.layers[0], self.model.head.layer)
        return [parameter for layer in layers for parameter in (layer.weight, layer.bias)]

    def logits(self, rng: Rng | None = None) -> Tensor:
        """Of all nodes or of the training nodes; without an `rng`, nothing is dropped."""
        plan = self.problem.plans.training if self.pruned else (self.problem.inputs, self.problem.plans.whole)
        logits = self.model(*plan, rng).logits
        assert logits is not None
        return logits

    def loss(self, logits: Tensor) -> Tensor:
        """Cross-entropy of the training nodes."""
        return self.problem.task_loss(logits if self.pruned else logits.index_select(0, self.labelled))

    def steps(self) -> Iterator[Any]:
        """A training step each time one is asked for."""

        def losses(epoch: int, rng: Rng) -> Iterator[dict[str, Tensor]]:
            yield {"loss": self.loss(self.logits(rng.child("dropout")))}

        parameters, schedule = list(self.model.parameters()), Schedule(epochs=1 << 40)
        objective = Objective(losses, score=lambda record: (0.0, 0.0))
        return train(self.model, parameters, objective, schedule, Rng(1), Best())
