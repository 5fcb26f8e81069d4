"""HOPS: H = relu([X, PX, ..., P^k X] W + b), a perceptron on what was propagated once (SIGN; Frasca et al. 2020)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from torch import Tensor

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Features, Graph
from agssl.encoders.base import ENCODERS, Shape
from agssl.encoders.prepared import PreparedMlp
from agssl.ops.propagated import DENSE_SHARE, beside, propagated, stored_after
from agssl.ops.subgraph import StoredAdjacency


class Hops(PreparedMlp):
    """A perceptron on a node's features beside the mean of its neighbours', of theirs, ...: no propagation in a step.

    Args:
        shape: what the network looks like.
        rng: of the initial weights.
        k: how many propagations.
    """

    name: ClassVar[str] = "hops"

    def __init__(self, shape: Shape, rng: Rng, k: int = 2) -> None:
        if k < 1:
            raise SettingsError(f"encoder hops: k = {k}, but it is at least 1 (mlp reads the features alone)")
        self.k = k
        super().__init__(shape, rng, k=k)

    @property
    def width(self) -> int:
        """Those of X, PX, ..., P^k X."""
        return (self.k + 1) * self.shape.features

    @property
    def read_hops(self) -> int:
        """As many as there are propagations."""
        return self.k

    def prepare(self, graph: Graph) -> Features:
        """[X, PX, ..., P^k X] with P = D^-1 A."""
        adjacency, parts, size = StoredAdjacency(graph, self.shape.skip_weight, "mean"), [graph.x], 0

        def check(more: int) -> None:
            self.check_size(graph, size + more, "sage" if self.k == 1 else f"sage, or {self.name}:k=1")

        for _ in range(self.k):
            parts.append(propagated(adjacency, parts[-1], check))
            size += parts[-1].nbytes if isinstance(parts[-1], np.ndarray) else 8 * parts[-1].nnz
        size = 0  # one matrix takes the place of all
        return beside(parts, check)

    def made(self, graph: Graph) -> tuple[float, bool]:
        """By some of the rows, where features are sparse."""
        entries = float(graph.num_nodes * graph.num_features)
        if isinstance(graph.x, np.ndarray):
            return (self.k + 1) * entries, True
        stored = stored_after(StoredAdjacency(graph, self.shape.skip_weight, "mean"), graph.x, self.k)
        if max(stored) >= DENSE_SHARE * entries:
            return (self.k + 1) * entries, True
        return graph.x.nnz + sum(stored), False

    def widened(self, features: Tensor, other: float) -> Tensor:
        """The same for every hop."""
        return features.repeat(self.k + 1)


ENCODERS.add("hops", Hops)
