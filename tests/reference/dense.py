"""The network on dense matrices, node by node where that is clearest, with plain autograd."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from agssl.data.graph import Graph
from agssl.encoders import Network
from agssl.ops.csr import Csr
from reference.graphs import edge_list


def normalised(num_nodes: int, edges: list[tuple[int, int]]) -> np.ndarray:
    """D^-1/2 (A + I) D^-1/2, entry by entry, float64 [N, N]."""
    a = np.eye(num_nodes)
    for i, j in edges:
        a[i, j] = a[j, i] = 1
    degree = [sum(a[i]) for i in range(num_nodes)]
    for i in range(num_nodes):
        for j in range(num_nodes):
            a[i, j] /= (degree[i] * degree[j]) ** 0.5
    return a


def normalised_of(graph: Graph, without: tuple[tuple[int, int], ...] = ()) -> np.ndarray:
    """Â of a graph, with some edges (smaller end first) taken out beforehand."""
    return normalised(graph.num_nodes, [e for e in edge_list(graph) if e not in without])


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
