"""The network on dense matrices, node by node where that is clearest, with plain autograd."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from agssl.data.graph import Graph
from agssl.encoders import Network
from agssl.ops.csr import Csr
from reference.graphs import edge_list, edge_weights

Weights = dict[tuple[int, int], float]


def normalised(num_nodes: int, edges: list[tuple[int, int]], weights: Weights | None = None) -> np.ndarray:
    """D^-1/2 (A + I) D^-1/2, entry by entry, float64 [N, N]; edges have weight 1 where none is given."""
    a = np.eye(num_nodes)
    for i, j in edges:
        a[i, j] = a[j, i] = 1 if weights is None else weights[i, j]
    degree = [sum(a[i]) for i in range(num_nodes)]
    for i in range(num_nodes):
        for j in range(num_nodes):
            a[i, j] /= (degree[i] * degree[j]) ** 0.5
    return a


def normalised_of(graph: Graph, without: tuple[tuple[int, int], ...] = ()) -> np.ndarray:
    """Â of a graph, with some edges (smaller end first) taken out beforehand."""
    return normalised(graph.num_nodes, [e for e in edge_list(graph) if e not in without], edge_weights(graph))


def mean_of(graph: Graph, without: tuple[tuple[int, int], ...] = ()) -> np.ndarray:
    """D^-1 A: the mean over neighbours by weight, entry by entry, float64 [N, N]."""
    a = np.zeros((graph.num_nodes, graph.num_nodes))
    for (i, j), weight in edge_weights(graph).items():
        if (i, j) not in without:
            a[i, j] = a[j, i] = weight
    for row in a:
        row /= sum(row) or 1
    return a


def dense_features(graph: Graph) -> np.ndarray:
    """X as an array, whatever it is stored as."""
    return graph.x if isinstance(graph.x, np.ndarray) else graph.x.toarray()


def gcn(model: Network, a: np.ndarray, x: np.ndarray, head: np.ndarray | None = None) -> tuple[Tensor, Tensor]:
    """Hidden representations and logits without dropout, by dense products; `head` replaces Â in the class head."""
    dtype = model.head.layer.weight.dtype
    propagate, h = torch.tensor(a, dtype=dtype), torch.tensor(x, dtype=dtype)
    for layer in model.encoder.layers:
        h = torch.relu(propagate @ (h @ layer.weight) + layer.bias)
    last = propagate if head is None else torch.tensor(head, dtype=dtype)
    return h, last @ (h @ model.head.layer.weight) + model.head.layer.bias


def dense_of(a: Csr) -> np.ndarray:
    """A sparse matrix, written out."""
    matrix = np.zeros((a.rows, a.columns))
    rows = np.repeat(np.arange(a.rows), np.diff(a.indptr.numpy()))
    matrix[rows, a.indices.numpy()] = a.values.numpy()
    return matrix
