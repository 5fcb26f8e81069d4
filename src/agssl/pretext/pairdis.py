"""PAIRDIS: predict how many hops lie between two nodes (Jin et al. 2020; paper, App. H)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops.adjacency import Adjacency
from agssl.ops.distance import distance_pool
from agssl.pretext.base import TASKS, Part, Targets, Task, TaskSample, Views, linear
from agssl.pretext.needs import Needs
from agssl.pretext.pairs import pair_differences, pair_sample

CLASSES = 4  # distance 1, 2, 3, and 4 or more (unreachable included)


class PairDistance(Task):
    """Four-way cross-entropy on |h_i - h_j| of pairs at true distance 1, 2, 3 and >= 4.

    A pool of pairs of each class is found once by exact breadth-first search; every epoch draws from it, the same
    number per class. A class that does not occur (no two nodes three hops apart) is left out.

    Args:
        pairs: pairs per epoch, over all classes.
    """

    name: ClassVar[str] = "pairdis"
    space: ClassVar[Mapping[str, tuple]] = {"pairs": (400, 1000, 4000)}

    def __init__(self, pairs: int = 400) -> None:
        if pairs < CLASSES:
            raise SettingsError(f"pairdis: pairs = {pairs}, but one per class needs at least {CLASSES}; raise it")
        self.pairs = pairs

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """Pools of pairs, [2, n] each, by class."""
        pools = distance_pool(graph, rng, per_class=max(20_000, 4 * self.pairs))
        return {f"class{c}": pool for c, pool in enumerate(pools)}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """Four scores (the paper says one value, but it has four classes)."""
        return linear(width, CLASSES, rng)

    @property
    def needs_whole(self) -> bool:
        """Distances hold in the whole graph."""
        return True

    def extra_nodes(self, targets: Targets, rng: Rng) -> np.ndarray:
        """As many pairs as a step reads, so that a mini-batch has them."""
        return self._drawn(targets, rng)[0].ravel()

    def restrict(self, targets: Targets, part: Part, rng: Rng) -> Targets:
        """The pairs of the pools with both ends in the part."""
        return {name: part.pairs(pool)[0] for name, pool in targets.items()}

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """`pairs` / 4 pairs of each class that occurs."""
        return pair_sample(*self._drawn(targets, rng))

    def _drawn(self, targets: Targets, rng: Rng) -> tuple[np.ndarray, Tensor]:
        """Pairs [2, n] and their classes [n]."""
        draw = rng.numpy()
        pools = {c: targets[f"class{c}"] for c in range(CLASSES) if targets[f"class{c}"].shape[1]}
        each = self.pairs // max(1, len(pools))
        chosen = [pool[:, draw.integers(pool.shape[1], size=each)] for pool in pools.values()]
        pairs = np.concatenate(chosen, axis=1) if chosen else np.zeros((2, 0), dtype=np.int64)
        return pairs, torch.from_numpy(np.repeat(list(pools), each))

    def needs(self, graph: Graph, width: int) -> Needs:
        """Both ends of every pair."""
        return Needs(nodes=min(2 * self.pairs, graph.num_nodes), parameters=(width + 1) * CLASSES)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """1/|S| sum CE(g(|h_i - h_j|), class of d(i, j))."""
        differences = pair_differences(views, sample)
        return F.cross_entropy(head(differences), sample.data["labels"].to(differences.device))


TASKS.add("pairdis", PairDistance)
