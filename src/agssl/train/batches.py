"""Mini-batches: the parts of a graph that the steps of an epoch see.

A mini-batch is a set of nodes with all edges between them (an induced subgraph), so that every task, integrator and
network works on it as on a whole graph. Two ways give the sets:

- `partition`: the graph is cut into small parts once (`agssl.ops.partition`); every epoch deals them anew into groups,
  one per step (Chiang et al. 2019, Cluster-GCN). Edges between the parts of a group are kept. An epoch costs about as
  much as one full-batch epoch, whatever the size of the groups.
- `neighbour`: a step sees seeds with sampled neighbours, and there is nothing to prepare. An epoch has as many steps as
  in the other mode; its seeds are distinct and drawn anew, so that over the epochs every node is one equally often.
  Seeds and neighbours alike take part in all losses, so a step has only as many seeds as fill a mini-batch with their
  neighbours. On average over nodes, one is seen at most once per epoch: less where nodes have few neighbours or share
  them, and the ones with many neighbours more often than others.

Labels are few: a step that would see none teaches nothing of the classes, so to each set are added labelled nodes (and
what else the step wants: pairs of a pool, nodes with held-out labels) with sampled neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops.partition import FAST, cut_by
from agssl.ops.subgraph import hood
from agssl.pretext.par import Partition
from agssl.pretext.prepare import prepared

if TYPE_CHECKING:
    from agssl.train.loop import Schedule

MODES = ("partition", "neighbour")
FANOUTS = (8, 4)  # neighbours drawn of a seed, and of each of those; 2 beyond
LABELLED = 64  # labelled nodes that a step sees at least, where there are as many
PER_GROUP = 4  # parts per group, at least: dealing groups anew mixes nothing if a part is a group
LEAST_EPOCHS, LEAST_PATIENCE = 20, 5
LONGER = {"partition": 1.0, "neighbour": 1.5}  # times the patience: with sampled neighbours accuracy rises less evenly


@dataclass(frozen=True, eq=False)
class Batches:
    """How the steps of an epoch are cut out of a graph."""

    graph: Graph
    mode: str
    nodes: int  # about so many per step, before what is added
    hops: int  # edges from an input to a hidden representation: layers of an encoder that propagates, else 0
    cache: Path | None = None  # where the partition is kept

    @cached_property
    def steps(self) -> int:
        """Steps per epoch."""
        return -(-self.graph.num_nodes // self.nodes)

    @cached_property
    def seeds(self) -> int:
        """Seeds per step of neighbour mode: as many as bring at most `nodes` nodes with them, but at least one."""
        return max(1, self.nodes // _reach(self.fanouts(self.hops)))

    @cached_property
    def parts(self) -> list[np.ndarray]:
        """The nodes of each part."""
        task, least = Partition(), min(PER_GROUP * self.steps, self.graph.num_nodes)
        if task.count(self.graph) < least:  # else the parts of the task PAR will do, and one cut serves both
            task = Partition(least)
        labels = prepared(task, self.graph, self.cache)["labels"]
        order = np.argsort(labels, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)

    def epoch(self, rng: Rng) -> Iterator[np.ndarray]:
        """The sorted sets of nodes of one epoch, by `rng`: every node in one of them, or seeds with neighbours."""
        draw = rng.numpy()
        if self.steps == 1:
            yield np.arange(self.graph.num_nodes)
        elif self.mode == "partition":
            for group in np.array_split(draw.permutation(len(self.parts)), self.steps):
                yield np.sort(np.concatenate([self.parts[part] for part in group]))
        else:
            nodes, wanted = self.graph.num_nodes, self.steps * self.seeds
            chosen = draw.choice(nodes, wanted, replace=False) if wanted <= nodes else draw.permutation(nodes)
            for seeds in np.array_split(chosen, self.steps):
                yield hood(self.graph, seeds, self.fanouts(self.hops), draw)

    def with_others(
        self, nodes: np.ndarray, labelled: Sequence[np.ndarray], others: Sequence[np.ndarray], rng: Rng
    ) -> np.ndarray:
        """A set with what a step also wants, sorted.

        Args:
            nodes: the sorted set.
            labelled: groups of labelled nodes whose logits are read: of each, `LABELLED` should be there.
            others: nodes whose hidden representations are read.
            rng: draws.
        """
        if len(nodes) == self.graph.num_nodes:
            return nodes
        draw, added = rng.numpy(), [nodes]
        for group in labelled:
            missing = np.setdiff1d(group, nodes, assume_unique=True)
            wanted = min(LABELLED, len(group)) - (len(group) - len(missing))
            if wanted > 0:
                some = draw.choice(missing, wanted, replace=False)
                # A class head propagates once more, unless nothing does.
                added.append(hood(self.graph, some, self.fanouts(self.hops + (self.hops > 0)), draw))
        if others:
            few = tuple(fanout // 2 for fanout in self.fanouts(self.hops))  # there are many of them
            added.append(hood(self.graph, np.concatenate(others), few, draw))
        return np.unique(np.concatenate(added)) if len(added) > 1 else nodes

    @staticmethod
    def fanouts(hops: int) -> tuple[int, ...]:
        """Neighbours to draw, hop by hop."""
        return (FANOUTS + (2,) * hops)[:hops]

    def schedule(self, schedule: Schedule) -> Schedule:
        """Epochs and patience for so many steps per epoch.

        Both count steps: what full-batch training does in one epoch takes one step, and here an epoch has several.
        Never less than a few epochs, since each is evaluated once; patience is longer by half in neighbour mode.
        """
        epochs = min(schedule.epochs, max(LEAST_EPOCHS, -(-schedule.epochs // self.steps)))
        patience = schedule.patience
        if patience is not None:
            patience = min(patience, max(LEAST_PATIENCE, math.ceil(patience * LONGER[self.mode] / self.steps)))
        return replace(schedule, epochs=epochs, patience=patience, least=schedule.least // self.steps)

    @property
    def cache_key(self) -> tuple[object, ...]:
        """All of it that decides the result of a training, beside the graph."""
        fast = self.mode == "partition" and cut_by(self.graph.num_edges) == FAST
        return self.mode, self.nodes, self.hops, *((FAST,) if fast else ())


def _reach(fanouts: tuple[int, ...]) -> int:
    """Nodes that a seed brings with it, itself included."""
    total = front = 1
    for fanout in fanouts:
        front *= fanout
        total += front
    return total
