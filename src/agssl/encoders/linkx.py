"""LINKX: H = relu(A W_A (I + C_A) + X W_X (I + C_X) + b): a node by its neighbours' names (Lim et al. 2021)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.errors import GraphError
from agssl.base.rng import Rng
from agssl.data.graph import Features, Graph
from agssl.encoders.base import ENCODERS, Shape
from agssl.encoders.layer import Layer, glorot
from agssl.encoders.mlp import Linear
from agssl.encoders.prepared import PreparedMlp
from agssl.ops.grown import Part


class Links(Linear):
    """[A | X] times weights of their own, each with a skip connection: h = a + a C_A + x + x C_X.

    All of it is linear, so rows are multiplied by one matrix, W (I + C) of both.
    """

    def __init__(self, nodes: int, features: int, outputs: int, rng: Rng) -> None:
        nn.Module.__init__(self)
        self.outputs = outputs
        shapes = {
            "links": (nodes, outputs),
            "links_skip": (outputs, outputs),
            "features": (features, outputs),
            "features_skip": (outputs, outputs),
        }
        for name, shape in shapes.items():
            weight = nn.Parameter(torch.empty(shape))
            glorot(weight, rng.child(name))
            self.register_parameter(name, weight)
        self.bias = nn.Parameter(torch.zeros(outputs))

    links: Tensor
    links_skip: Tensor
    features: Tensor
    features_skip: Tensor

    @property
    def weight(self) -> Tensor:
        """What rows of [A | X] are multiplied by."""
        both = ((self.links, self.links_skip), (self.features, self.features_skip))
        return torch.cat([torch.addmm(matrix, matrix, skip) for matrix, skip in both])


class Linkx(PreparedMlp):
    """A perceptron on a node's row of the adjacency beside its features: who the neighbours are, not what.

    It has weights for each node of the graph, so it predicts for this graph, and for one with more nodes after its own:
    of their edges, those to nodes that it knows are read.
    """

    name: ClassVar[str] = "linkx"
    knows_nodes: ClassVar[bool] = True

    def __init__(self, shape: Shape, rng: Rng) -> None:
        super().__init__(shape, rng)

    def first_layer(self, rng: Rng) -> Layer:
        """The one that knows links from features."""
        return Links(self.shape.nodes, self.shape.features, self.shape.hidden, rng)

    @property
    def read_hops(self) -> int:
        """The neighbours."""
        return 1

    def prepare(self, graph: Graph) -> Features:
        """[A | X], sparse; A has a column for each node that it was trained on."""
        self.check_in_memory(graph, "sage")
        known = self.shape.nodes
        names = graph.origin if isinstance(graph, Part) and graph.origin is not None else np.arange(graph.num_nodes)
        if not isinstance(graph, Part) and graph.num_nodes < known:
            raise GraphError(
                f"{graph.name} has {graph.num_nodes} nodes, but encoder linkx knows each of the {known} that it was "
                "trained on; give a graph that begins with these nodes, or train another encoder (sage, hops)"
            )
        weights = np.ones(len(graph.indices), dtype=np.float32) if graph.weights is None else graph.weights
        columns = max(known, int(names.max(initial=0)) + 1)
        links = sp.csr_matrix((weights, names[graph.indices], graph.indptr), (graph.num_nodes, columns))
        self.check_size(graph, int(8 * self.made(graph)[0]), "mlp or sage")
        return sp.hstack([links[:, :known], sp.csr_matrix(graph.x)], format="csr", dtype=np.float32)

    def made(self, graph: Graph) -> tuple[float, bool]:
        """The edges and the features."""
        features = graph.x.size if isinstance(graph.x, np.ndarray) else graph.x.nnz
        return float(len(graph.indices) + features), False

    def widened(self, features: Tensor, other: float) -> Tensor:
        """For the features as they are, after the nodes."""
        return F.pad(features, (self.shape.nodes, 0), value=other)


ENCODERS.add("linkx", Linkx)
