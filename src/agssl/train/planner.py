"""The plans of a problem's forward passes: those of every step, and those that recur and are made once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from agssl.data.graph import Graph
from agssl.encoders import Shape, blueprint
from agssl.ops.adjacency import take_rows
from agssl.ops.csr import Csr, identity
from agssl.ops.features import Inputs
from agssl.ops.plan import WORTHWHILE, ForwardPlan, full_head, full_plan, pruned_plan
from agssl.ops.subgraph import StoredAdjacency, neighbour_entries
from agssl.pretext.base import NO_NODES
from agssl.train.batches import Batches

EVALUATED = 1 << 23  # edges, or features, that a plan to evaluate some nodes of a graph on disk may hold


class Planned(Protocol):
    """What a planner reads of a problem (`agssl.train.problem.Problem`)."""

    @property
    def graph(self) -> Graph: ...  # noqa: D102
    @property
    def shape(self) -> Shape: ...  # noqa: D102
    @property
    def device(self) -> str: ...  # noqa: D102
    @property
    def batches(self) -> Batches | None: ...  # noqa: D102
    @property
    def inputs(self) -> Inputs: ...  # noqa: D102
    @property
    def normalised(self) -> Csr: ...  # noqa: D102
    @property
    def stored(self) -> StoredAdjacency: ...  # noqa: D102
    @property
    def train_nodes(self) -> np.ndarray: ...  # noqa: D102
    @property
    def eval_nodes(self) -> np.ndarray: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Planner:
    """What to compute, and no more than that.

    Batch norm averages over whatever rows there are, so cutting rows away would change the result: with it, all plans
    are over the whole graph.
    """

    problem: Planned

    @property
    def _reach(self) -> int:
        return blueprint(self.problem.shape).reach

    @property
    def _head_hops(self) -> int:
        return blueprint(self.problem.shape).head_hops

    @property
    def _whole(self) -> bool:
        return self.problem.shape.norm == "batch"

    def head_rows(self, adjacency: Csr, nodes: np.ndarray | None) -> Csr:
        """The last propagation of the class head, to these nodes (None: all)."""
        linear = self.problem.shape.head == "linear"
        matrix = identity(adjacency.rows, self.problem.device) if linear else adjacency
        return matrix if nodes is None else take_rows(matrix, nodes)

    @cached_property
    def _train_head(self) -> Csr:
        """The last propagation of the class head, to the training nodes."""
        return self.head_rows(self.problem.normalised, self.problem.train_nodes)

    def step(self, adjacency: Csr, outputs: np.ndarray | None, hidden: np.ndarray | None) -> ForwardPlan:
        """The plan of one step: logits of `outputs` (None: none), hidden rows of `hidden` (None: all nodes)."""
        known = adjacency is self.problem.normalised and outputs is self.problem.train_nodes
        head = None if outputs is None else self._train_head if known else self.head_rows(adjacency, outputs)
        if hidden is None or self._whole:
            hops = () if head is None else full_head(adjacency, self._head_hops, head, outputs)
            return full_plan(adjacency, self._reach, hops)
        last = None if head is None or outputs is None else (head, outputs)
        return pruned_plan(adjacency, self._reach, last, hidden, head_hops=self._head_hops)

    def fixed(self, outputs: np.ndarray) -> tuple[Inputs, ForwardPlan]:
        """The plan for the logits of `outputs`, to be used many times, with the features it reads."""
        problem = self.problem
        head = self.head_rows(problem.normalised, outputs)
        if self._whole:
            hops = full_head(problem.normalised, self._head_hops, head, outputs)
            return problem.inputs, full_plan(problem.normalised, self._reach, hops)
        # Made once, so cutting is free; but many hops with what is cut cost more than with the whole, symmetric matrix.
        limit = 0.95 if self._head_hops == 1 else WORTHWHILE
        plan = pruned_plan(problem.normalised, self._reach, (head, outputs), NO_NODES, limit, self._head_hops)
        blocks = tuple(replace(block, lasting=True) for block in plan.blocks)
        return problem.inputs.take(plan.inputs), replace(plan, inputs=None, blocks=blocks)

    def everything(self, adjacency: Csr) -> ForwardPlan:
        """The plan for the logits and hidden rows of all nodes."""
        head = full_head(adjacency, self._head_hops, self.head_rows(adjacency, None))
        return full_plan(adjacency, self._reach, head)

    @cached_property
    def whole(self) -> ForwardPlan:
        """The same, where no edge is masked."""
        return self.everything(self.problem.normalised)

    @cached_property
    def training(self) -> tuple[Inputs, ForwardPlan]:
        """The plan for the logits of the training nodes alone."""
        return self.fixed(self.problem.train_nodes)

    @cached_property
    def evaluation(self) -> tuple[Inputs, ForwardPlan] | None:
        """The plan for the logits of `eval_nodes`; None where a pass over the whole graph is better."""
        problem = self.problem
        if problem.batches is None:
            return self.fixed(problem.eval_nodes)
        graph, adjacency, nodes = problem.graph, problem.stored, problem.eval_nodes
        # Dense features never change where nothing is dropped, so what is propagated takes their place, once.
        kind = blueprint(problem.shape)
        x = kind.read(graph)
        dense = isinstance(x, np.ndarray)
        ahead = dense and kind.propagates_features
        ahead = ahead and not problem.shape.residual  # a skip connection reads the features themselves
        linear = problem.shape.head == "linear"
        head = take_rows(identity(adjacency.rows), nodes) if linear else adjacency.take(nodes)
        reach = np.unique(head.indices.numpy())
        for _ in range(self._reach - ahead + self._head_hops - 1):
            if graph.degree[reach].sum() > EVALUATED:
                return None
            reach = np.union1d(reach, neighbour_entries(graph, reach)[0])
        if dense and len(reach) * x.shape[1] > EVALUATED:
            return None
        plan = pruned_plan(adjacency, self._reach - ahead, (head, nodes), NO_NODES, 1, self._head_hops)
        assert plan.inputs is not None
        if not ahead:
            return Inputs.over(x[plan.inputs], problem.device), replace(plan, inputs=None)
        blocks = (identity(len(plan.inputs), problem.device), *plan.blocks)
        levels = (plan.levels[0], *plan.levels)
        propagated = Inputs(adjacency.propagated(plan.inputs).to(problem.device))
        return propagated, replace(plan, inputs=None, blocks=blocks, levels=levels)
