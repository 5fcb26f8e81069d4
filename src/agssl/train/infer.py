"""Running a trained network on a graph, layer by layer and block by block: exact, in memory that does not grow.

Only the products X W of one layer are held for all nodes at a time, [N, F], on disk where they are large; hidden
representations exist block by block. A graph that lies on disk is read once a layer.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from agssl.base.errors import GraphError
from agssl.data.feature_norm import scaled
from agssl.data.graph import Graph
from agssl.data.packed import row_blocks
from agssl.encoders.gcn import Gcn
from agssl.ops import subgraph
from agssl.ops.csr import Csr, product
from agssl.ops.features import Inputs
from agssl.ops.subgraph import StoredAdjacency

ON_DISK = 1 << 24  # bytes from which what is held for all nodes lies on disk


@dataclass(frozen=True, eq=False)
class Inference:
    """What a network says of every node."""

    logits: np.ndarray  # float32 [N, C]
    hidden: np.ndarray  # float32 [N, F]


def infer(model: Gcn, graph: Graph, device: str = "cpu") -> Inference:
    """Logits and hidden representations of all nodes of a graph as its user has it, in evaluation mode."""
    graph = scaled(graph, model.shape.feature_norm)
    hidden = np.empty((graph.num_nodes, model.shape.hidden), dtype=np.float32)
    return Inference(infer_logits(model, graph, device, hidden), hidden)


@torch.no_grad()
def infer_logits(model: Gcn, graph: Graph, device: str = "cpu", hidden: np.ndarray | None = None) -> np.ndarray:
    """Logits of all nodes, float32 [N, C], in evaluation mode; hidden representations go to `hidden` [N, F].

    Features are taken for scaled; `infer` scales them first.
    """
    if graph.num_features != model.shape.features:
        raise GraphError(
            f"the graph has {graph.num_features} features, but the model was trained on {model.shape.features}; "
            "give the same columns in the same order"
        )
    model = model.to(device)
    # A multiple of 16 columns, as in `Gcn`: products run more than twice as fast.
    last = F.pad(model.class_weight, (0, -model.shape.classes % 16))
    weights = [*model.weights[1:], last]
    below = _room(graph.num_nodes, model.shape.hidden)
    for start, stop in row_blocks(np.arange(graph.num_nodes + 1) * _values_a_row(graph), subgraph.BLOCK_ENTRIES):
        inputs = Inputs.of(graph, device, slice(start, stop))
        _put(below, start, torch.cat(inputs.times([model.weights[0]]), dim=1))
    for layer, weight in enumerate(weights):
        above = _room(graph.num_nodes, weight.shape[1])
        for start, rows in _propagation(graph, model.shape.skip_weight, device):
            sums = product(rows, torch.from_numpy(below).to(device))
            block = model.activate((sums,), layer, training=False)[0]
            if hidden is not None and layer == model.shape.layers - 1:
                _put(hidden, start, block)
            _put(above, start, block @ weight)
        below = above
    logits = _room(graph.num_nodes, model.shape.classes)
    if model.shape.head == "linear":
        np.add(below[:, : model.shape.classes], model.class_bias.cpu().numpy(), out=logits)
        return logits
    for start, rows in _propagation(graph, model.shape.skip_weight, device):
        sums = product(rows, torch.from_numpy(below).to(device))[:, : model.shape.classes]
        _put(logits, start, sums + model.class_bias)
    return logits


def _propagation(graph: Graph, skip_weight: float, device: str) -> Iterator[tuple[int, Csr]]:
    """Â in blocks of rows, each with its first row."""
    adjacency = StoredAdjacency(graph, skip_weight)
    for start, stop in row_blocks(graph.indptr, subgraph.BLOCK_ENTRIES):
        yield start, adjacency.take(np.arange(start, stop)).to(device)


def _values_a_row(graph: Graph) -> int:
    return max(1, graph.num_features if isinstance(graph.x, np.ndarray) else -(-graph.x.nnz // graph.num_nodes))


def _room(rows: int, columns: int) -> np.ndarray:
    """An array to fill, in a file that goes away with it where it is large."""
    if rows * columns * 4 < ON_DISK:
        return np.empty((rows, columns), dtype=np.float32)
    with tempfile.TemporaryFile() as file:
        return np.asarray(np.memmap(file, np.float32, "w+", shape=(rows, columns)))


def _put(room: np.ndarray, start: int, block: Tensor) -> None:
    room[start : start + len(block)] = block.cpu().numpy()
