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

    Groups of new nodes know nothing of each other: no edge leads from one to another, and each has the graph for
    itself. So a node of the graph may be in a field once for each group; its *place* tells which one is meant: number
    of the group times the nodes of the graph, plus its own number. Places of new nodes come after all of these.

    Args:
        graph: None where there are new nodes alone.
        x: features of the new nodes, [m, d].
        ends: new edges, int64 [2, E], at least one end of each a new node; either direction is enough.
        weights: of the new edges, [E]; None: 1 each.
        counts: sizes of the groups, whose nodes follow each other; None: all nodes are one group.
    """

    graph: Graph | None
    x: Features
    ends: np.ndarray
    weights: np.ndarray | None = None
    counts: tuple[int, ...] | None = None

    @classmethod
    def together(cls, groups: Sequence[Grown]) -> Grown:
        """Several that stand beside the same graph, as groups of one."""
        if len(groups) == 1:
            return groups[0]
        old, counts = groups[0].old, [one.x.shape[0] for one in groups]
        ends = np.concatenate([one.ends for one in groups], axis=1)
        ends += np.repeat(np.cumsum(counts) - counts, [one.ends.shape[1] for one in groups]) * (ends >= old)
        weights = None
        if any(one.weights is not None for one in groups):
            each = (np.ones(one.ends.shape[1]) if one.weights is None else one.weights for one in groups)
            weights = np.concatenate(list(each))
        return cls(groups[0].graph, stacked([one.x for one in groups]), ends, weights, tuple(counts))

    @property
    def old(self) -> int:
        """Nodes before the new ones."""
        return 0 if self.graph is None else self.graph.num_nodes

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the groups."""
        return self.counts or (self.x.shape[0],)

    @property
    def _first(self) -> int:
        """The place of the first new node."""
        return self.old * len(self.sizes)

    @property
    def _new(self) -> np.ndarray:
        """The places of the new nodes."""
        return np.arange(self._first, self._first + self.x.shape[0])

    @cached_property
    def _links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """New edges in both directions without duplicates: places of sources and of targets, weights."""
        new = self.ends - self.old
        group = np.repeat(np.arange(len(self.sizes)), self.sizes)[new.max(0)]
        places = np.where(new < 0, self.ends + group * self.old, new + self._first)
        touched, ends = np.unique(places, return_inverse=True)
        ends, size = ends.reshape(2, -1), len(touched)
        if self.weights is None or not size:
            both = np.hstack([ends, ends[::-1]])
            source, target = np.divmod(np.unique(both[0] * size + both[1]), max(1, size))
            others = source != target
            return touched[source[others]], touched[target[others]], np.ones(int(others.sum()), dtype=np.float32)
        found = [
            _cleaned(ends[:, which], size, self.weights[which]) for which in (group == one for one in np.unique(group))
        ]
        source, target, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return touched[source], touched[target], weights

    @property
    def linked(self) -> np.ndarray:
        """Which of the new nodes have an edge, bool [m]."""
        return np.isin(self._new, self._links[0])

    def _numbers(self, places: np.ndarray) -> np.ndarray:
        """The numbers of these nodes of the graph."""
        return places % self.old if self.old else places

    def _rows(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges that begin at these sorted places: sources, targets and weights."""
        source, target, weight = self._links
        mine = np.isin(source, places)
        source, target, weight = source[mine], target[mine], weight[mine]
        old = places[places < self._first]
        if self.graph is None or not len(old):
            return source, target, weight
        numbers = self._numbers(old)
        self._check_size(numbers)
        at, counts = entry_positions(self.graph, numbers)
        given = np.ones(len(at), np.float32) if self.graph.weights is None else self.graph.weights[at]
        near = self.graph.indices[at] + np.repeat(old - numbers, counts)
        parts = ((np.repeat(old, counts), source), (near, target), (given, weight))
        sources, targets, weights = (np.concatenate(pair) for pair in parts)
        return sources, targets, weights

    def _check_size(self, old: np.ndarray) -> None:
        assert self.graph is not None
        if stored_in(self.graph) is None:
            return
        entries = int((self.graph.indptr[old + 1] - self.graph.indptr[old]).sum())
        if entries > MOST_ENTRIES:
            raise GraphError(
                f"the new nodes see {entries:,} edges of {self.graph.name}, but at most {MOST_ENTRIES:,} are read from "
                "disk; give fewer nodes at a time, or fit a student with a shorter reach (--student mlp reads none)"
            )

    def _degrees(self, places: np.ndarray) -> np.ndarray:
        """The sums of the weights of these nodes' edges, float64."""
        source, _, weight = self._links
        sums = np.zeros(len(places))
        if self.graph is not None:
            old = places < self._first
            numbers = self._numbers(places[old])
            if self.graph.weights is None:
                sums[old] = self.graph.indptr[numbers + 1] - self.graph.indptr[numbers]
                weight = np.ones_like(weight)
            elif stored_in(self.graph) is None:
                sums[old] = self.graph.weighted_degree[numbers]
            else:
                self._check_size(numbers)
                at, counts = entry_positions(self.graph, numbers)
                rows = np.repeat(np.flatnonzero(old), counts)
                sums += np.bincount(rows, self.graph.weights[at], len(places))
        mine = np.isin(source, places)
        np.add.at(sums, np.searchsorted(places, source[mine]), weight[mine].astype(np.float64))
        return sums

    def field(self, hops: int) -> Part:
        """The new nodes, at the end, and all within so many hops: what a network of this reach sees of the graph."""
        places = front = self._new
        found: list[tuple[np.ndarray, ...]] = []
        for _ in range(hops):
            found.append(self._rows(front))
            near = np.union1d(places, found[-1][1])
            places, front = near, np.setdiff1d(near, places, assume_unique=True)
        source, target, weight = (
            np.concatenate([one[part] for one in found]) if found else np.empty(0, np.int64) for part in range(3)
        )
        order = np.lexsort((target, source))
        rows, columns = (np.searchsorted(places, ends[order]) for ends in (source, target))
        weighted = self.graph.weights is not None if self.graph is not None else self.weights is not None
        old = self._numbers(places[: len(places) - self.x.shape[0]])
        return Part(
            np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(places)))]),
            columns.astype(np.int32),
            self._features(old),
            np.full(len(places), -1),
            (),
            name="the new nodes",
            weights=weight[order].astype(np.float32) if weighted else None,
            origin=np.concatenate([old, np.arange(self.old, self.old + self.x.shape[0])]),
            whole_degree=self._degrees(places) if hops else None,
        )

    def _features(self, old: np.ndarray) -> Features:
        """Those of these nodes of the graph, then those of the new."""
        if self.graph is None or not len(old):
            return self.x
        given, new = self.graph.x[old], self.x
        return stacked([given, new if isinstance(new, np.ndarray) or sp.issparse(given) else new.toarray()])


def _cleaned(ends: np.ndarray, size: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted edges of one group in both directions, without duplicates: sources, targets, weights."""
    indptr, indices, found, _ = clean_edges(ends, size, weights)
    if found is None:  # all alike
        found = np.full(len(indices), weights[0], dtype=np.float32)
    return np.repeat(np.arange(size), np.diff(indptr)), indices, found


def stacked(parts: Sequence[Features]) -> Features:
    """Features one below the other, dense where all are."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(one, np.ndarray) for one in parts):
        return np.vstack(parts)
    rows = [sp.csr_matrix(one) if isinstance(one, np.ndarray) else one for one in parts]
    # in a tenth of the time that sp.vstack takes, which matters for one row each
    entries = np.cumsum([one.nnz for one in rows])
    indptr = np.concatenate([[0], *(one.indptr[1:] + (end - one.nnz) for one, end in zip(rows, entries, strict=True))])
    values, columns = (np.concatenate([getattr(one, name) for one in rows]) for name in ("data", "indices"))
    return sp.csr_matrix((values, columns, indptr), (len(indptr) - 1, rows[0].shape[1]), dtype=np.float32)
