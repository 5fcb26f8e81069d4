"""What a pretext task is.

A task is one file with three methods: `prepare` computes its targets once (they are cached on disk and shared by all
seeds and runs), `head` makes its prediction head, `loss` scores one step. A task that draws something anew every epoch
also has `sample`, which says what the step must compute: for which nodes, with which edges masked, with which shuffle.
A task that compares several views of the graph draws them there, and asks the step to encode them (`Views.encode`) in
its loss, or to classify all nodes by them (`Views.logits`; it then says `needs_classes`); one that follows the encoder
with a copy of it keeps the copy in its head, by `start` and `after_step`.

In mini-batches a task sees parts of the graph. Its targets there are `part`'s: prepared anew on the part, unless a task
whose targets are of the whole graph (`needs_whole`) cuts them out; `wanted` names nodes that a part should have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from torch import Tensor, nn

from agssl.base.registry import Registry
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders.gcn import Gcn, glorot
from agssl.ops.adjacency import Adjacency
from agssl.pretext.views import View, Views

__all__ = ["ALPHA_GRID", "NONE", "TASKS", "Part", "Targets", "Task", "TaskSample", "View", "Views", "linear"]

Targets = Mapping[str, np.ndarray]

NONE = np.empty(0, dtype=np.int64)  # the nodes of a task that reads nothing of the step's own pass
ALPHA_GRID = (0.1, 0.5, 1.0, 5.0, 10.0, 20.0, 30.0)  # paper, App. G


@dataclass(frozen=True, eq=False)
class TaskSample:
    """What a task drew for one step."""

    nodes: np.ndarray | None = None  # sorted nodes whose hidden representation it reads; None: all
    masked: tuple[np.ndarray, np.ndarray] | None = None  # edges to leave out of the propagation
    permutation: np.ndarray | None = None  # asks for the view with shuffled feature rows
    data: Mapping[str, Tensor] = field(default_factory=dict)
    views: tuple[View, ...] = ()  # further views of the graph that the loss will ask for


@dataclass(frozen=True, eq=False)
class Part:
    """Some nodes of a graph with all edges between them: what a mini-batch sees."""

    graph: Graph
    nodes: np.ndarray  # where its nodes are in the whole graph, sorted

    def pairs(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of node pairs [2, n] of the whole graph, those that lie in this part, as pairs of it, and which they are."""
        at = np.minimum(np.searchsorted(self.nodes, pairs), len(self.nodes) - 1)
        inside = (self.nodes[at] == pairs).all(0)
        return at[:, inside], inside


class Task:
    """A pretext task: what one teacher learns beside the labels. Subclass it to add your own.

    Three methods make a task: `prepare` computes targets once per graph, `head` makes the module that predicts them
    from hidden representations, `loss` scores one training step. The others have defaults; override `sample` if the
    task draws something anew every epoch. Settings are constructor arguments with defaults, stored under their own
    names, so that `--tasks degree:power=2` reaches `__init__(self, power: float = 1)`.

    Attributes:
        name: the name it is registered under.
        alphas: weights of its loss to choose from by validation, where the user gives none.
        space: search ranges of its settings, for `agssl tune`.
        needs_classes: whether its loss reads the class head; there is none while pre-training.

    Example:
        >>> import torch
        >>> class DegreeRank(Task):
        ...     '''Predict the logarithm of a node's degree.'''
        ...     name = "degree"
        ...     def prepare(self, graph, rng):
        ...         return {"degree": np.log1p(graph.degree).astype(np.float32)}
        ...     def head(self, width, targets, rng):
        ...         return linear(width, 1, rng)
        ...     def loss(self, head, views, sample, targets):
        ...         error = head(views.hidden()).squeeze(1) - torch.from_numpy(targets["degree"])
        ...         return error.square().mean()
        >>> TASKS.add("degree", DegreeRank)  # doctest: +SKIP

        A file that ends so is used by `agssl fit digits --plugin degree.py --tasks par,degree`; in Python, import the
        module and fit with `AGSSL(tasks=("par", "degree"))`.
    """

    name: ClassVar[str]
    alphas: ClassVar[tuple[float, ...]] = (0.5, 5.0)  # loss weights to choose from by validation where none is given
    space: ClassVar[Mapping[str, tuple]] = {}  # search ranges of the task's own settings
    needs_classes: ClassVar[bool] = False  # whether it reads the class head: there is none while pre-training

    def settings(self) -> dict[str, object]:
        """The task's settings: with the graph they identify its prepared targets."""
        return dict(vars(self))

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """Everything that can be computed once; arrays only, since they are stored on disk."""
        raise NotImplementedError

    @property
    def needs_whole(self) -> bool:
        """Whether mini-batches, too, need what was prepared on the whole graph."""
        return False

    def wanted(self, targets: Targets, rng: Rng) -> np.ndarray:
        """Nodes that a mini-batch should have beside its own; by default none."""
        return NONE

    def part(self, targets: Targets, part: Part, rng: Rng) -> Targets:
        """The targets of a part of the graph; by default, what preparing that part alone gives."""
        return self.prepare(part.graph, rng)

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """The pretext head g_eta on hidden representations of this width."""
        raise NotImplementedError

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """What this step needs; by default the hidden representation of every node."""
        return TaskSample()

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """The self-supervised loss of this step, a scalar."""
        raise NotImplementedError

    def start(self, head: nn.Module, model: Gcn) -> None:
        """Before the first step: the head may copy the encoder. What it keeps of it must be in its state_dict."""

    def after_step(self, head: nn.Module, model: Gcn) -> None:
        """After every step of the optimizer: what the head keeps of the encoder may follow it."""


TASKS: Registry[type[Task]] = Registry("task", "agssl.tasks")


def linear(width: int, outputs: int, rng: Rng) -> nn.Linear:
    """A Glorot-initialised linear head."""
    layer = nn.Linear(width, outputs)
    glorot(layer.weight.data, rng)
    nn.init.zeros_(layer.bias)
    return layer
