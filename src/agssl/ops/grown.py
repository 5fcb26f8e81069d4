"""A graph with a few more nodes, of which only the surroundings of the new ones are ever read.

What a network says of a node depends on the nodes within its reach, and on their degrees. `Grown.field` cuts these out
of a graph that may lie on disk: rows of nodes nearer than the reach are whole, those at its edge have no neighbours but
the degree that they have in the whole graph. So the answers are those of the whole graph, and the cost is that of the
neighbourhood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from agssl.base.errors import GraphError
from agssl.data.graph import Features, Graph
from agssl.data.packed import stored_in
from agssl.data.validate import clean_edges
from agssl.ops.subgraph import entry_positions

MOST_ENTRIES = 1 << 24  # neighbours that are read of a graph on disk


@dataclass(frozen=True, eq=False)
class Part(Graph):
    """Some nodes of a larger graph, with the degrees that they have there."""

    origin: np.ndarray | None = None  # int64 [n], their numbers in the larger graph
    whole_degree: np.ndarray | None = None  # [n], the sums of their edges' weights in the larger graph

    @cached_property
    def weighted_degree(self) -> np.ndarray:
        """Those of the larger graph."""
        assert self.whole_degree is not None
        return self.whole_degree


@dataclass(frozen=True, eq=False)
class Grown:
    """A graph and new nodes, numbered after its own.

    Args:
        graph: None where there are new nodes alone.
        x: features of the new nodes, [m, d].
        ends: new edges, int64 [2, E], at least one end of each a new node; either direction is enough.
        weights: of the new edges, [E]; None: 1 each.
    """

    graph: Graph | None
    x: Features
    ends: np.ndarray
    weights: np.ndarray | None = None

    @property
    def old(self) -> int:
        """Nodes before the new ones."""
        return 0 if self.graph is None else self.graph.num_nodes

    @property
    def nodes(self) -> np.ndarray:
        """The new ones."""
        return np.arange(self.old, self.old + self.x.shape[0])

    @cached_property
    def _links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """New edges in both directions without duplicates, by source: sources, targets, weights."""
        if self.weights is None:
            both, size = np.hstack([self.ends, self.ends[::-1]]), self.old + self.x.shape[0]
            source, target = np.divmod(np.unique(both[0] * size + both[1]), size)
            others = source != target
            return source[others], target[others], np.ones(int(others.sum()), dtype=np.float32)
        touched, compact = np.unique(self.ends, return_inverse=True)
        if not len(touched):
            none = np.empty(0, dtype=np.int64)
            return none, none, np.empty(0, dtype=np.float32)
        indptr, indices, weights, _ = clean_edges(compact.reshape(2, -1), len(touched), self.weights)
        if weights is None:  # all alike
            weights = np.full(len(indices), self.weights[0], dtype=np.float32)
        return touched[np.repeat(np.arange(len(touched)), np.diff(indptr))], touched[indices], weights

    @property
    def linked(self) -> np.ndarray:
        """Which of the new nodes have an edge, bool [m]."""
        return np.isin(self.nodes, self._links[0])

    def _rows(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges that begin at these sorted nodes: sources, targets and weights."""
        source, target, weight = self._links
        mine = np.isin(source, nodes)
        source, target, weight = source[mine], target[mine], weight[mine]
        old = nodes[nodes < self.old]
        if self.graph is None or not len(old):
            return source, target, weight
        self._check_size(old)
        at, counts = entry_positions(self.graph, old)
        given = np.ones(len(at), np.float32) if self.graph.weights is None else self.graph.weights[at]
        parts = ((np.repeat(old, counts), source), (self.graph.indices[at].astype(np.int64), target), (given, weight))
        sources, targets, weights = (np.concatenate(pair) for pair in parts)
        return sources, targets, weights

    def _check_size(self, old: np.ndarray) -> None:
        assert self.graph is not None
        entries = int((self.graph.indptr[old + 1] - self.graph.indptr[old]).sum())
        if entries > MOST_ENTRIES and stored_in(self.graph) is not None:
            raise GraphError(
                f"the new nodes see {entries:,} edges of {self.graph.name}, but at most {MOST_ENTRIES:,} are read from "
                "disk; give fewer nodes at a time, or fit a student with a shorter reach (--student mlp reads none)"
            )

    def _degrees(self, nodes: np.ndarray) -> np.ndarray:
        """The sums of the weights of these nodes' edges, float64."""
        source, _, weight = self._links
        sums = np.zeros(len(nodes))
        if self.graph is not None:
            old = nodes < self.old
            if self.graph.weights is None:
                sums[old] = self.graph.indptr[nodes[old] + 1] - self.graph.indptr[nodes[old]]
                weight = np.ones_like(weight)
            elif stored_in(self.graph) is None:
                sums[old] = self.graph.weighted_degree[nodes[old]]
            else:
                self._check_size(nodes[old])
                at, counts = entry_positions(self.graph, nodes[old])
                rows = np.repeat(np.flatnonzero(old), counts)
                sums += np.bincount(rows, self.graph.weights[at], len(nodes))
        mine = np.isin(source, nodes)
        np.add.at(sums, np.searchsorted(nodes, source[mine]), weight[mine].astype(np.float64))
        return sums

    def field(self, hops: int) -> Part:
        """The new nodes, at the end, and all within so many hops: what a network of this reach sees of the graph."""
        nodes = front = self.nodes
        inside = np.empty(0, dtype=np.int64)  # nodes whose neighbours are all there
        found: list[tuple[np.ndarray, ...]] = []
        for _ in range(hops):
            found.append(self._rows(front))
            inside = np.union1d(inside, front)
            near = np.union1d(nodes, found[-1][1])
            nodes, front = near, np.setdiff1d(near, nodes, assume_unique=True)
        source, target, weight = (
            np.concatenate([one[part] for one in found]) if found else np.empty(0, np.int64) for part in range(3)
        )
        order = np.lexsort((target, source))
        rows, columns = (np.searchsorted(nodes, ends[order]) for ends in (source, target))
        weighted = self.graph.weights is not None if self.graph is not None else self.weights is not None
        return Part(
            np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(nodes)))]),
            columns.astype(np.int32),
            self._features(nodes[nodes < self.old]),
            np.full(len(nodes), -1),
            (),
            name="the new nodes",
            weights=weight[order].astype(np.float32) if weighted else None,
            origin=nodes,
            whole_degree=self._degrees(nodes),
        )

    def _features(self, old: np.ndarray) -> Features:
        """Those of the old nodes, then those of the new."""
        if self.graph is None:
            return self.x
        given = self.graph.x[old]
        if isinstance(given, np.ndarray):
            return np.vstack([given, self.x if isinstance(self.x, np.ndarray) else self.x.toarray()])
        return sp.vstack([given, sp.csr_matrix(self.x)], format="csr", dtype=np.float32)


def side_by_side(parts: Sequence[Part], new: Sequence[int]) -> tuple[Part, np.ndarray]:
    """Parts as one graph without edges between them, and where the new nodes of each are, one part after the other.

    Args:
        parts: with their new nodes at the end.
        new: how many these are.
    """
    ends = np.cumsum([part.num_nodes for part in parts])
    places = np.concatenate([np.arange(end - count, end) for end, count in zip(ends.tolist(), new, strict=True)])
    if len(parts) == 1:
        return parts[0], places
    rows: list[Features] = [part.x for part in parts]
    dense = all(isinstance(one, np.ndarray) for one in rows)
    shifts = np.concatenate([[0], np.cumsum([len(part.indices) for part in parts])])
    weights = [part.weights for part in parts if part.weights is not None]
    return (
        Part(
            np.concatenate([[0], *(part.indptr[1:] + shift for part, shift in zip(parts, shifts, strict=False))]),
            np.concatenate(
                [part.indices + (end - part.num_nodes) for part, end in zip(parts, ends, strict=True)]
            ).astype(np.int32),
            np.vstack(rows) if dense else sp.vstack([sp.csr_matrix(one) for one in rows], "csr", np.float32),
            np.concatenate([part.y for part in parts]),
            (),
            name="the new nodes",
            weights=np.concatenate(weights) if len(weights) == len(parts) else None,
            origin=np.concatenate([part.origin for part in parts if part.origin is not None]),
            whole_degree=np.concatenate([part.weighted_degree for part in parts]),
        ),
        places,
    )
