"""Mixed orders: H = relu(1/(K+1) sum_k Â^k X W + b), k = 0, ..., K: the network of GRAND (Feng et al. 2020)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from torch import Tensor

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Features, Graph
from agssl.encoders.base import ENCODERS, Shape
from agssl.encoders.prepared import PreparedMlp
from agssl.ops.csr import Csr
from agssl.ops.propagated import by_columns, mean_of_powers
from agssl.ops.subgraph import StoredAdjacency


class Mixed(PreparedMlp):
    """A perceptron on the mean of the features, their neighbours', and so on: no propagation in a step.

    Where a view drops the features of nodes (`--tasks grand`), it does so before they are spread.

    Args:
        shape: what the network looks like.
        rng: of the initial weights.
        k: the highest power of Â.
    """

    name: ClassVar[str] = "mixed"
    spreads: ClassVar[bool] = True

    def __init__(self, shape: Shape, rng: Rng, k: int = 8) -> None:
        if k < 1:
            raise SettingsError(f"encoder mixed: k = {k}, but it is at least 1 (mlp reads the features alone)")
        self.k = k
        super().__init__(shape, rng, k=k)

    @property
    def read_hops(self) -> int:
        """The highest power."""
        return self.k

    def spread(self, rows: Tensor, adjacency: Csr) -> Tensor:
        """The mean of what Â^0 to Â^k make of rows.

        Args:
            rows: of X times some matrix.
            adjacency: Â.
        """
        return mean_of_powers(adjacency, rows, self.k)

    def prepare(self, graph: Graph) -> Features:
        """The mean of X, ÂX, ..., Â^k X, which is dense."""
        instead = "hops:k=1 or sage"
        self.check_in_memory(graph, instead)
        self.check_size(graph, 4 * graph.num_nodes * graph.num_features, instead)
        adjacency = StoredAdjacency(graph, self.shape.skip_weight).take(np.arange(graph.num_nodes))
        return by_columns(graph.x, lambda tile: mean_of_powers(adjacency, tile, self.k))

    def made(self, graph: Graph) -> tuple[float, bool]:
        """A number for every node and feature."""
        return float(graph.num_nodes * graph.num_features), True


ENCODERS.add("mixed", Mixed)
