"""Running a trained network on a graph, layer by layer and block by block: exact, in memory that does not grow.

Only the projected rows, X W, of one layer are held for all nodes at a time, [N, F], on disk where they are large;
hidden representations exist block by block. A graph that lies on disk is read once per layer.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from agssl.base.errors import DataError, GraphError
from agssl.data.feature_norm import scaled
from agssl.data.graph import Features, Graph
from agssl.data.packed import row_blocks
from agssl.encoders import Layer, Network, Pass
from agssl.ops import subgraph
from agssl.ops.adjacency import relabel_columns
from agssl.ops.features import Inputs
from agssl.ops.graph_views import viewed
from agssl.ops.plan import Hop
from agssl.ops.subgraph import StoredAdjacency

ON_DISK = 1 << 24  # bytes from which what is held for all nodes lies on disk


@dataclass(frozen=True, eq=False)
class Inference:
    """What a network says of every node."""

    logits: np.ndarray  # float32 [N, C]
    hidden: np.ndarray  # float32 [N, F]


def infer(model: Network, graph: Graph, device: str = "cpu") -> Inference:
    """Logits and hidden representations of all nodes of a graph as its user has it, in evaluation mode."""
    return infer_viewed(model, viewed(graph, model.shape.view), device)


def infer_viewed(model: Network, graph: Graph, device: str = "cpu") -> Inference:
    """The same of a graph that has the edges of the model's view already."""
    graph = scaled(graph, model.shape.feature_norm)
    hidden = np.empty((graph.num_nodes, model.shape.hidden), dtype=np.float32)
    logits = infer_logits(model, graph, device, hidden)
    if not np.isfinite(logits).all():
        raise DataError(
            f"the model gives values on {graph.name} that are no finite numbers: its weights are damaged, or the "
            "features are far from those that it was fitted on; fit again, or check the features"
        )
    return Inference(logits, hidden)


@torch.no_grad()
def infer_logits(model: Network, graph: Graph, device: str = "cpu", hidden: np.ndarray | None = None) -> np.ndarray:
    """Logits of all nodes, float32 [N, C], in evaluation mode; hidden representations go to `hidden` [N, F].

    Features are taken for scaled; `infer` scales them first.
    """
    if graph.num_features != model.shape.features:
        raise GraphError(
            f"the graph has {graph.num_features} features, but the model was trained on {model.shape.features}; "
            "give the same columns in the same order"
        )
    if next(model.parameters()).device != torch.device(device):
        model = model.to(device)
    encoder, head, size = model.encoder, model.head, graph.num_nodes
    x, first = encoder.read(graph), encoder.convolution(0)
    below = _room(size, sum(matrix.shape[1] for matrix in first.matrices(first.outputs)))
    for start, stop in row_blocks(np.arange(size + 1) * _values_a_row(x), subgraph.BLOCK_ENTRIES):
        inputs = Inputs.over(x if stop - start == size else x[start:stop], device)
        _put(below, start, torch.cat(inputs.times(first.matrices(first.outputs)), dim=1))
    for number in range(encoder.hops):
        layer, last = encoder.convolution(number), number == encoder.hops - 1
        (onward,) = (head.matrix(),) if last else encoder.convolution(number + 1).matrices(model.shape.hidden)
        above = _room(size, onward.shape[1])
        for start, hop in _hops(graph, model, device, encoder.propagation if encoder.reach else "none"):
            sums = layer.sums(*_cut(layer, hop, below, device))
            block = encoder.activate((sums,), number, Pass())[0]
            if hidden is not None and last:
                _put(hidden, start, block)
            _put(above, start, block @ onward)
        below = above
    logits = _room(size, model.shape.classes)
    if not head.propagates:
        np.add(below[:, : model.shape.classes], head.layer.bias.cpu().numpy(), out=logits)
        return logits
    projected = below
    for number in range(head.layer.hops):
        last = number == head.layer.hops - 1
        above = logits if last else _room(size, projected.shape[1])
        for start, hop in _hops(graph, model, device, encoder.propagation):
            if number == 0:
                sums = head.layer.sums(*_cut(head.layer, hop, below, device))
            else:
                rows = (torch.from_numpy(part).to(device) for part in (below, projected))
                sums = head.layer.further(number, hop, *rows)
            _put(above, start, head.finish(sums) if last else sums)
        below = above
    return logits


def _hops(graph: Graph, model: Network, device: str, propagation: str) -> Iterator[tuple[int, Hop]]:
    """The propagation from all nodes to each block of rows, with the first row of each."""
    adjacency = StoredAdjacency(graph, model.shape.skip_weight, propagation)
    for start, stop in row_blocks(graph.indptr, subgraph.BLOCK_ENTRIES):
        rows = np.arange(start, stop)
        yield start, Hop(adjacency.take(rows).to(device), None, rows)


def _cut(layer: Layer, hop: Hop, below: np.ndarray, device: str) -> tuple[Hop, Tensor]:
    """The hop and the rows below that it reads: all, or where the layer touches every row, those with edges alone."""
    if not layer.reads_every_row or hop.above is None:
        return hop, torch.from_numpy(below).to(device)
    columns = np.union1d(hop.matrix.indices.cpu().numpy(), hop.above).astype(np.int64)
    rows = torch.from_numpy(below[columns]).to(device)
    return Hop(relabel_columns(hop.matrix, columns), columns, hop.above), rows


def _values_a_row(x: Features) -> int:
    return max(1, x.shape[1] if isinstance(x, np.ndarray) else -(-x.nnz // x.shape[0]))


def _room(rows: int, columns: int) -> np.ndarray:
    """An array to fill, in a file that goes away with it where it is large."""
    if rows * columns * 4 < ON_DISK:
        return np.empty((rows, columns), dtype=np.float32)
    with tempfile.TemporaryFile() as file:
        return np.asarray(np.memmap(file, np.float32, "w+", shape=(rows, columns)))


def _put(room: np.ndarray, start: int, block: Tensor) -> None:
    room[start : start + len(block)] = block.cpu().numpy()
