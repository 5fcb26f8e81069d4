"""What a pretext task is.

A task is one file with a class of three methods: `prepare` computes its targets once (they are cached on disk and
shared by all seeds and runs), `head` makes its prediction head, `loss` scores one step. That is all of a task which
predicts something of every node:

    class Degree(Task):
        name = "degree"

        def prepare(self, graph, rng):
            return {"labels": (graph.degree > np.median(graph.degree)).astype(np.int64)}

        def head(self, width, targets, rng):
            return linear(width, 2, rng)

        def loss(self, head, views, sample, targets):
            return F.cross_entropy(head(views.hidden()), torch.from_numpy(targets["labels"]))

    TASKS.add("degree", Degree)

The further methods each answer one question, and have an answer already:

- Does it draw something anew every step? `sample` returns a `TaskSample`: the nodes it reads (few cost less), edges to
  mask, a shuffle of the features, views of its own, and whatever else `loss` wants to find there.
- Does it look at other views of the graph? `sample` draws each as a `View`, and `loss` asks for its representations
  (`Views.encode`) or for its classes (`Views.logits`; the task then says `needs_classes`).
- Does it follow the encoder with a copy of it? The copy lives in its head; `start` and `after_step` keep it.
- What does it see in mini-batches, which are parts of the graph? By default, what `prepare` makes of the part. A task
  whose targets hold in the whole graph says `needs_whole` and cuts them out in `restrict`; `extra_nodes` names nodes
  that the next part should have for it.
- How much memory does a step take? `needs` says so; by default, that of a wide head on every node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor, nn

from agssl.base.registry import Registry
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders.base import Encoder
from agssl.encoders.layer import glorot
from agssl.ops.adjacency import Adjacency
from agssl.ops.linear_loss import BLOCK
from agssl.pretext.needs import Needs
from agssl.pretext.views import View, Views

__all__ = [
    "ALPHA_GRID",
    "NO_NODES",
    "TASKS",
    "Needs",
    "Part",
    "Targets",
    "Task",
    "TaskSample",
    "View",
    "Views",
    "linear",
]

Targets = Mapping[str, np.ndarray]  # what `prepare` gives: arrays by name

NO_NODES = np.empty(0, dtype=np.int64)  # of a task that reads nothing of the step's own pass
WIDE = 1000  # outputs of a head that says nothing of itself
ALPHA_GRID = (0.1, 0.5, 1.0, 5.0, 10.0, 20.0, 30.0)  # paper, App. G


@dataclass(frozen=True, eq=False)
class TaskSample:
    """What a task drew for one step: what the step's one forward pass must compute for it, and what its loss reads.

    The pass serves the labels and all tasks. It computes no more rows than they ask for together, so a task that reads
    few nodes should name them. `loss` gets the sample back as it was.
    """

    nodes: np.ndarray | None = None  # sorted nodes whose hidden representation it reads; None: all, NO_NODES: none
    masked: tuple[np.ndarray, np.ndarray] | None = None  # edges (source, target) to leave out of the propagation
    permutation: np.ndarray | None = None  # a shuffle of the feature rows: asks for `Views.corrupted`
    data: Mapping[str, Tensor] = field(default_factory=dict)  # whatever else its loss reads, by name
    views: tuple[View, ...] = ()  # further views of the graph that its loss asks for


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
    task draws something anew every epoch (see the module).

    Settings are constructor arguments with defaults, stored under their own names (or several of them as a dataclass).
    Text sets them by these names: `--tasks degree:power=2` reaches `__init__(self, power: float = 1)`. Annotate them,
    as a `float` is read other than an `int`. The constructor checks them and does nothing else.

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
        values: dict[str, object] = {}
        for name, value in vars(self).items():
            several = is_dataclass(value) and not isinstance(value, type)
            values |= asdict(value) if several else {name: value}
        return values

    def settings_on(self, graph: Graph) -> dict[str, object]:
        """The same with what `prepare` does otherwise on such a graph; by default nothing.

        Args:
            graph: that is prepared.
        """
        return self.settings()

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """Everything that can be computed once; arrays only, since they are stored on disk.

        They must not depend on labels: where features and edges are the same, so are the cached targets.

        Args:
            graph: edges and features.
            rng: of whatever it draws.
        """
        raise NotImplementedError

    @property
    def needs_whole(self) -> bool:
        """Whether mini-batches, too, need what was prepared on the whole graph."""
        return False

    def extra_nodes(self, targets: Targets, rng: Rng) -> np.ndarray:
        """Nodes of the whole graph that the next mini-batch should have beside its own; by default none.

        Args:
            targets: those of the whole graph.
            rng: its randomness.
        """
        return NO_NODES

    def restrict(self, targets: Targets, part: Part, rng: Rng) -> Targets:
        """The targets on a part of the graph; by default, what preparing that part alone gives.

        Args:
            targets: those of the whole graph.
            part: some nodes, with the edges between them.
            rng: of whatever it draws.
        """
        return self.prepare(part.graph, rng)

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """The pretext head g_eta on hidden representations of this width; its weights are drawn from `rng`.

        Args:
            width: of the hidden representations.
            targets: what `prepare` gave.
            rng: of the first weights.
        """
        raise NotImplementedError

    def needs(self, graph: Graph, width: int) -> Needs:
        """The most that a step on this graph takes, for hidden representations of this width.

        By default every node and a head of 1000 outputs: more than most tasks need, so that memory suffices.

        Args:
            graph: the graph.
            width: of the hidden representations.
        """
        return Needs(scores=min(graph.num_nodes, BLOCK) * WIDE, parameters=(width + 1) * WIDE)

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """What this step needs; by default the hidden representation of every node.

        Args:
            targets: what `prepare` gave, of the graph or of the part that the step sees.
            adjacency: its edges.
            rng: that of the step.
        """
        return TaskSample()

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """The self-supervised loss of this step, a scalar.

        Args:
            head: what `head` made, trained so far.
            views: the hidden representations of the step; `views.hidden()` is H, [N, F].
            sample: what `sample` drew for this step.
            targets: what `prepare` gave, of the graph or of the part that the step sees.
        """
        raise NotImplementedError

    def start(self, head: nn.Module, encoder: Encoder, rng: Rng) -> None:
        """Before the first step: the head may copy the encoder, or make a sibling of it (`Encoder.sibling`).

        What it keeps of it must be in its state_dict. `rng` is the one that `head` had.

        Args:
            head: what `head` made.
            encoder: before its first step.
            rng: the stream.
        """

    def after_step(self, head: nn.Module, encoder: Encoder) -> None:
        """After every step of the optimizer: what the head keeps of the encoder may follow it.

        Args:
            head: what `head` made.
            encoder: after the step.
        """


TASKS: Registry[type[Task]] = Registry("task", "agssl.tasks")


def linear(width: int, outputs: int, rng: Rng) -> nn.Linear:
    """A Glorot-initialised linear head."""
    layer = nn.Linear(width, outputs)
    glorot(layer.weight.data, rng)
    nn.init.zeros_(layer.bias)
    return layer
