"""PPR: H = relu(S X W + b), S = sum_k a (1 - a)^k Â^k: a perceptron on features smoothed by personalised PageRank."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Features, Graph
from agssl.encoders.base import ENCODERS, Shape
from agssl.encoders.prepared import PreparedMlp
from agssl.ops.propagated import personalised_pagerank
from agssl.ops.subgraph import StoredAdjacency


class Ppr(PreparedMlp):
    """A perceptron on features that were smoothed once by personalised PageRank: no propagation in a step.

    Args:
        shape: what the network looks like.
        rng: of the initial weights.
        a: the share of a node's own features, the teleport probability.
        k: steps after which the sum ends.
    """

    name: ClassVar[str] = "ppr"

    def __init__(self, shape: Shape, rng: Rng, a: float = 0.15, k: int = 10) -> None:
        if not 0 < a < 1:
            raise SettingsError(f"encoder ppr: a = {a}, but it is a share between 0 and 1; 0.15 is usual")
        if k < 1:
            raise SettingsError(f"encoder ppr: k = {k}, but it is at least 1 (mlp reads the features alone)")
        self.a, self.k = a, k
        super().__init__(shape, rng, a=a, k=k)

    @property
    def read_hops(self) -> int:
        """As many as there are steps."""
        return self.k

    def prepare(self, graph: Graph) -> Features:
        """S X, which is dense."""
        instead = "hops:k=1 or sage"
        self.check_in_memory(graph, instead)
        self.check_size(graph, 4 * graph.num_nodes * graph.num_features, instead)
        adjacency = StoredAdjacency(graph, self.shape.skip_weight).take(np.arange(graph.num_nodes))
        return personalised_pagerank(adjacency, graph.x, self.a, self.k)

    def made(self, graph: Graph) -> tuple[float, bool]:
        """A number for every node and feature."""
        return float(graph.num_nodes * graph.num_features), True


ENCODERS.add("ppr", Ppr)
