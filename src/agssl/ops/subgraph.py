"""Cutting parts out of a graph that may lie on disk: only the rows that are asked for are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from agssl.data.graph import Graph
from agssl.data.packed import row_blocks
from agssl.data.splits import Split
from agssl.ops.adjacency import lazy, mean_share, relabel_columns, root_share
from agssl.ops.csr import Csr, product

BLOCK_ENTRIES = 1 << 20  # stored entries of Â, or values of X, that a pass over a graph on disk has in memory


def neighbour_entries(graph: Graph, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All neighbours of these nodes, row after row, int32, and how many each row has."""
    at, counts = entry_positions(graph, nodes)
    return graph.indices[at], counts


def entry_positions(graph: Graph, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the neighbours of these nodes are stored, row after row, and how many each row has."""
    starts = graph.indptr[nodes]
    counts = graph.indptr[nodes + 1] - starts
    before = np.cumsum(counts) - counts
    at = np.repeat(starts - before, counts)
    at += np.arange(len(at))
    return at, counts


def sampled_neighbours(graph: Graph, nodes: np.ndarray, fanout: int, draw: np.random.Generator) -> np.ndarray:
    """Neighbours of these nodes: all of a node with at most `fanout`, else that many draws of them; some repeat.

    Where edges have weights, neighbours are drawn in proportion to them.
    """
    starts = graph.indptr[nodes]
    counts = graph.indptr[nodes + 1] - starts
    few = counts <= fanout
    where = draw.random((int((~few).sum()), fanout))
    if graph.weights is None:
        drawn = (where * counts[~few, None]).astype(np.int64) + starts[~few, None]
    else:
        drawn = _by_weight(graph, graph.weights, nodes[~few], where)
    return np.concatenate([neighbour_entries(graph, nodes[few])[0], graph.indices[drawn.ravel()]])


def _by_weight(graph: Graph, weights: np.ndarray, nodes: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Positions of stored entries of each node's row, drawn by their weights.

    Args:
        graph: has these weights.
        weights: of its edges.
        nodes: with neighbours, [n].
        where: uniform numbers in 0..1, [n, draws].
    """
    if not len(nodes):
        return np.empty(where.shape, dtype=np.int64)
    at, counts = entry_positions(graph, nodes)
    ends = np.cumsum(counts)
    share = weights[at] / np.repeat(graph.weighted_degree[nodes], counts)  # of a row, so that small rows stay precise
    rising = np.cumsum(share)
    base = np.concatenate([[0.0], rising[ends[:-1] - 1]])
    found = np.searchsorted(rising, base[:, None] + where * (rising[ends - 1] - base)[:, None], side="right")
    return at[np.clip(found, (ends - counts)[:, None], ends[:, None] - 1)]


def hood(graph: Graph, seeds: np.ndarray, fanouts: tuple[int, ...], draw: np.random.Generator) -> np.ndarray:
    """The seeds with sampled neighbours, those with sampled neighbours of their own, and so on; sorted."""
    nodes = front = np.unique(seeds)
    for fanout in fanouts:
        found = np.union1d(nodes, sampled_neighbours(graph, front, fanout, draw))
        nodes, front = found, np.setdiff1d(found, nodes, assume_unique=True)
    return nodes.astype(np.int64)


def induced(graph: Graph, nodes: np.ndarray) -> Graph:
    """The graph of these sorted nodes and all edges between them, with their features, labels and split."""
    at, counts = entry_positions(graph, nodes)
    columns = graph.indices[at]
    inside = np.zeros(graph.num_nodes, dtype=bool)
    inside[nodes] = True
    place = np.empty(graph.num_nodes, dtype=np.int32)  # of nodes inside; nothing else of it is written or read
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    kept = np.flatnonzero(inside.take(columns))  # few: most neighbours of a hub are elsewhere
    return replace(
        graph,
        indptr=np.concatenate([[0], np.searchsorted(kept, np.cumsum(counts))]),
        indices=place[columns[kept]],
        weights=None if graph.weights is None else graph.weights[at[kept]],
        x=graph.x[nodes],
        y=graph.y[nodes],
        split=None if graph.split is None else _split_within(graph.split, inside, place),
        splits=(),
        node_names=None,
    )


def _split_within(split: Split, inside: np.ndarray, place: np.ndarray) -> Split:
    parts = (part[inside[part]] for part in (split.train, split.val, split.test))
    train, val, test = (place[part].astype(np.int64) for part in parts)
    return Split(train, val, test, split.origin)


@dataclass(frozen=True, eq=False)
class StoredAdjacency:
    """Â of a graph that may lie on disk: only rows that are asked for are ever made."""

    graph: Graph
    skip_weight: float = 0.0  # see `Adjacency`
    norm: str = "symmetric"

    @property
    def rows(self) -> int:
        """N."""
        return self.graph.num_nodes

    @cached_property
    def sums(self) -> np.ndarray:
        """The sum of each row before any `skip_weight`, float32 [N]."""
        if self.norm == "none":
            return np.ones(self.rows, dtype=np.float32)
        if self.norm == "mean":
            return (self.graph.degree > 0).astype(np.float32)
        if self.norm == "walk":
            return np.ones(self.rows, dtype=np.float32)
        sums = self._scale.astype(np.float64)  # of the node itself
        for start, stop in row_blocks(self.graph.indptr, BLOCK_ENTRIES):
            first, last = self.graph.indptr[start], self.graph.indptr[stop]
            scale = self._scale[self.graph.indices[first:last]]
            if self.graph.weights is not None:
                scale *= self.graph.weights[first:last]
            before = np.concatenate([[0], np.cumsum(scale, dtype=np.float64)])
            sums[start:stop] += np.diff(before[self.graph.indptr[start : stop + 1] - first])
        return (sums * self._scale).astype(np.float32)

    def propagated(self, nodes: np.ndarray) -> Tensor:
        """The rows of Â X of these nodes, for dense features, [n, d]; in memory for a block at a time."""
        sums = []
        counts = np.cumsum(self.graph.degree[nodes])
        for block in np.split(nodes, np.searchsorted(counts, np.arange(BLOCK_ENTRIES, counts[-1], BLOCK_ENTRIES))):
            rows = self.take(block)
            columns = np.unique(rows.indices.numpy())
            sums.append(product(relabel_columns(rows, columns), torch.from_numpy(self.graph.x[columns])))
        return torch.cat(sums)

    @cached_property
    def _scale(self) -> np.ndarray:
        """(degree + 1)^-1/2."""
        return root_share(self.graph.weighted_degree)

    def take(self, nodes: np.ndarray) -> Csr:
        """The rows of these nodes, [n, N], with the self-loop of each in its sorted place."""
        if self.norm == "none":
            ones, starts = torch.ones(len(nodes)), torch.arange(len(nodes) + 1, dtype=torch.int32)
            return Csr(starts, torch.from_numpy(nodes.astype(np.int32)), ones, self.rows)
        at, counts = entry_positions(self.graph, nodes)
        columns = self.graph.indices[at]
        ends = np.cumsum(counts)
        own = nodes.astype(np.int32)
        before = np.zeros(len(columns) + 1, dtype=np.int64)  # entries that sort before their own node
        np.cumsum(columns < np.repeat(own, counts), out=before[1:])
        loops = ends - counts + before[ends] - before[ends - counts] + np.arange(len(nodes))
        indices = np.empty(len(columns) + len(nodes), dtype=np.int32)
        others = np.ones(len(indices), dtype=bool)
        others[loops] = False
        indices[others], indices[loops] = columns, own
        indptr = np.concatenate([[0], ends + np.arange(1, len(nodes) + 1)]).astype(np.int32)
        if self.norm == "symmetric":
            values = np.repeat(self._scale[nodes], counts + 1) * self._scale[indices]
        else:
            values = np.repeat(mean_share(self.graph.weighted_degree[nodes] + (self.norm == "walk")), counts + 1)
        if self.graph.weights is not None:
            values[others] *= self.graph.weights[at]
        if self.norm == "mean":
            values[loops] = 0
        values = lazy(values, loops, self.skip_weight) if self.skip_weight else values
        return Csr(torch.from_numpy(indptr), torch.from_numpy(indices), torch.from_numpy(values), self.rows)
