"""A graph made ready for training: tensors on a device, labelled nodes, mini-batches; plans are `Planner`'s."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from agssl.base.errors import GraphError
from agssl.base.rng import Rng
from agssl.base.world import World
from agssl.data.feature_norm import scaled
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.encoders import Network, Shape, blueprint
from agssl.metrics import Decision, Measured, resampled, softmax
from agssl.ops.adjacency import Adjacency
from agssl.ops.csr import Csr
from agssl.ops.features import Inputs
from agssl.ops.subgraph import StoredAdjacency, induced
from agssl.store.checkpoints import fingerprint
from agssl.train.batches import Batches
from agssl.train.infer import infer_logits
from agssl.train.loop import Score, by_metric
from agssl.train.planner import Planner


@dataclass(frozen=True, eq=False)
class Problem:
    """What every stage of a fit shares. Its graph has no test labels (see `Graph.hide_test`)."""

    graph: Graph
    shape: Shape
    balanced: bool = False  # weigh classes in the task loss by how rare they are
    device: str = "cpu"
    batches: Batches | None = None  # how steps are cut out of the graph; None: one step an epoch, over everything
    nodes: np.ndarray | None = None  # of a part: where its nodes are in the whole graph
    within: tuple[np.ndarray, np.ndarray] | None = None  # and what it lacks of it; see `Adjacency`
    class_weights: tuple[float, ...] | None = None  # in the task loss, as given
    metric: str = "accuracy"  # that epochs are chosen by
    decision: Decision | None = None  # of two classes, which is the positive one

    @classmethod
    def of(cls, graph: Graph, shape: Shape, *, balanced: bool = False, device: str = "cpu") -> Problem:
        """The problem of training networks of this shape on this graph with its split."""
        if graph.missing is not None:
            raise GraphError(graph.missing)
        if graph.split is None or not len(graph.split.train) or not len(graph.split.val):
            raise GraphError("the graph has no split with training and validation nodes; give one, e.g. --split auto")
        return cls(scaled(graph.hide_test(), shape.feature_norm), shape, balanced, device)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that a training can see of it."""
        nodes = (self.train_nodes, self.val_nodes)
        batches = () if self.batches is None else (self.batches.cache_key,)
        size = World.current().size
        together = (size,) if size > 1 else ()
        about = (self.graph.fingerprint, self.graph.y, nodes, self.shape, self.balanced, self.device)
        given = () if self.class_weights is None else (self.class_weights,)
        chosen = () if self.metric == "accuracy" else (self.metric, self.decision)
        return fingerprint(*about, *batches, *together, *given, *chosen)

    @cached_property
    def class_weight(self) -> Tensor | None:
        """Weight of each class in the task loss, [C]; None: all alike."""
        if self.class_weights is not None:
            return torch.tensor(self.class_weights, device=self.device)
        if not self.balanced:
            return None
        counts = torch.bincount(self.train_labels, minlength=self.shape.classes)
        return len(self.train_labels) / (counts.count_nonzero() * counts.clamp_min(1)).float()

    @cached_property
    def adjacency(self) -> Adjacency:
        """A + I, to be normalised as the encoder wants it."""
        return Adjacency.of(self.graph, self.within, *self._propagation)

    @cached_property
    def stored(self) -> StoredAdjacency:
        """The same, normalised, row by row, of a graph that may lie on disk."""
        return StoredAdjacency(self.graph, *self._propagation)

    @cached_property
    def normalised(self) -> Csr:
        """What the encoder propagates with, such as Â."""
        return replace(self.adjacency.normalised.to(self.device), lasting=self.nodes is None)

    @cached_property
    def plans(self) -> Planner:
        """The plans of its forward passes."""
        return Planner(self)

    @cached_property
    def inputs(self) -> Inputs:
        """What the first layer reads of every node: X, or what the encoder makes of the graph."""
        return Inputs.over(blueprint(self.shape).read(self.graph), self.device)

    @cached_property
    def features(self) -> Inputs:
        """X itself."""
        return Inputs.of(self.graph, self.device) if blueprint(self.shape).prepares else self.inputs

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
        assert self.graph.split is not None
        return self._with_split(replace(self.graph.split, train=nodes, fold=None))

    def by_folds(self) -> tuple[Problem, ...]:
        """One problem for each fold of its split, with the fold's nodes to choose by; itself where it has no folds."""
        assert self.graph.split is not None
        if self.graph.split.fold is None:
            return (self,)
        return tuple(self._with_split(split) for split in self.graph.split.folds())

    def in_parts(self, part: np.ndarray) -> tuple[Problem, ...]:
        """One problem for each part of the validation nodes, whose parts these are [n]; all have its training nodes."""
        split = self.graph.split
        assert split is not None
        return tuple(self._with_split(replace(split, val=split.val[part == one])) for one in np.unique(part))

    def _with_split(self, split: Split) -> Problem:
        return self._changed(graph=replace(self.graph, split=split))

    def with_shape(self, shape: Shape) -> Problem:
        """The same problem for networks of another shape; what was computed of the graph is kept."""
        other = self._changed(shape=shape)
        same = ("encoder", "layers", "head", "norm", "residual", "skip_weight")
        if all(getattr(shape, name) == getattr(self.shape, name) for name in same):
            other.plans.__dict__["evaluation"] = self.plans.evaluation
        return other

    def _changed(self, **changes: Any) -> Problem:
        other = replace(self, **changes)
        kept = ["labels"]
        if self.batches is None and other._reads == self._reads:
            kept.append("inputs")
        if other._propagation == self._propagation:
            kept += ["stored"] if self.batches is not None else ["adjacency", "normalised"]
        for name in kept:
            other.__dict__[name] = getattr(self, name)
        return other

    @property
    def _propagation(self) -> tuple[float, str]:
        """What decides the values of the propagation, beside the graph."""
        return self.shape.skip_weight, blueprint(self.shape).propagation

    @property
    def _reads(self) -> object:
        """What decides the inputs, beside the graph."""
        return (self.shape.encoder, self.shape.skip_weight) if blueprint(self.shape).prepares else None

    def steps(
        self,
        rng: Rng,
        labels: bool,
        wanted: Callable[[Rng], Sequence[np.ndarray]] = lambda rng: (),
        heldout_nodes: np.ndarray | None = None,
    ) -> Iterator[tuple[Problem, Rng]]:
        """The problems that the steps of an epoch work on, each with its randomness: itself, or its mini-batches.

        Args:
            rng: of the epoch.
            labels: whether the steps read labels, so that each part should have labelled nodes.
            wanted: nodes that the next part should have besides, and whose hidden representations are read.
            heldout_nodes: nodes with held-out labels; each part should have some.
        """
        if self.batches is None:
            yield self, rng
            return
        labelled = [self.train_nodes] * labels + ([] if heldout_nodes is None else [heldout_nodes])
        for number, nodes in World.current().shard(self.batches.epoch(rng.child("batches"))):
            step = rng.child("step", number)
            others = [some for some in wanted(step.child("wanted")) if len(some)]
            yield self.part(self.batches.with_others(nodes, labelled, others, step.child("others"))), step

    def part(self, nodes: np.ndarray) -> Problem:
        """The problem on these sorted nodes and the edges between them."""
        within = (self.graph.weighted_degree[nodes], self.stored.sums[nodes])
        part = replace(self, graph=induced(self.graph, nodes), batches=None, nodes=nodes, within=within)
        part.__dict__["class_weight"] = self.class_weight
        kind = blueprint(self.shape)
        if kind.prepares:  # of the whole graph: a part lacks edges
            part.__dict__["inputs"] = Inputs.over(kind.read(self.graph)[nodes], self.device)
        return part

    @cached_property
    def eval_nodes(self) -> np.ndarray:
        """Training and validation nodes, in this order."""
        return np.concatenate([self.train_nodes, self.val_nodes])

    @cached_property
    def score(self) -> Score:
        """What epochs and networks are compared by: their records at validation."""
        return by_metric(self.metric)

    def task_loss(self, logits: Tensor) -> Tensor:
        """L_task: cross-entropy of the training nodes' logits."""
        return F.cross_entropy(logits, self.train_labels, self.class_weight)

    def logits(self, model: Network) -> Tensor:
        """Logits of all nodes in evaluation mode, [N, C]."""
        return torch.from_numpy(infer_logits(model, self.graph, self.device)).to(self.device)

    @torch.no_grad()
    def known_logits(self, model: Network) -> tuple[Tensor, Tensor]:
        """Logits of the training nodes and of the validation nodes, in evaluation mode."""
        plan = self.plans.evaluation
        logits = self.logits(model)[torch.from_numpy(self.eval_nodes)] if plan is None else model(*plan).logits
        assert logits is not None
        n = len(self.train_nodes)
        return logits[:n], logits[n:]

    def metric_error(self, heldout: Tensor) -> float:
        """The standard error of the metric on the validation nodes, by resampling them, given their logits [n, C]."""
        nodes = self.val_nodes
        said = Measured(nodes, self.graph.y[nodes], softmax(heldout.cpu().numpy()), self.decision)
        return float(resampled(self.metric, [said], resamples=200).std())


def folds(problem: Problem, count: int, rng: Rng) -> list[np.ndarray]:
    """Positions among the training nodes, dealt into folds class by class; the same for every teacher."""
    order = rng.numpy().permutation(len(problem.train_nodes))
    labels = problem.train_labels.cpu().numpy()
    order = order[np.argsort(labels[order], kind="stable")]
    dealt = [np.sort(order[start::count]) for start in range(count)]
    return [fold for fold in dealt if 0 < len(fold) < len(order)]
