"""The normalised adjacency, whole, with edges masked, and cut down to some rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from agssl.data.graph import Graph
from agssl.ops.csr import Csr, identity


@dataclass(frozen=True, eq=False)
class Adjacency:
    """A + I of a graph, from which Â = D^-1/2 (A + I) D^-1/2 is made (Kipf & Welling's renormalised adjacency).

    Self-loops are stored in place, so that the pattern is that of Â and rows stay sorted. Where edges have weights,
    these are the entries of A, and a degree is the sum of a node's weights; a self-loop has weight 1.

    What an encoder propagates with is its choice (`norm`): `symmetric` is Â above, `mean` is D^-1 A, the mean over
    neighbours, by weight; `walk` is (D + I)^-1 (A + I), the mean over these and the node itself; `none` is I, whatever
    the edges are. The others have the same pattern: in `mean`, a self-loop is stored with value 0. **An entry with
    value 0 is no edge**: so are masked edges (`without`), and an encoder that looks at the pattern alone must leave
    them out.

    With a `skip_weight` s, Â becomes (1 - s) Â + s I: a node keeps that much of itself at each propagation, however
    many neighbours it has. Its self-loop alone leaves it one part in degree + 1.

    A part of a larger graph lacks edges that leave it. Its entries are those of the larger Â, and each row is scaled to
    the sum it has there: what a node gathers is then an estimate of what it would gather in the whole graph.
    """

    indptr: np.ndarray  # int32 [N + 1]
    indices: np.ndarray  # int32 [2E + N]
    # of a part: degrees, and sums of rows of Â, in the larger graph
    within: tuple[np.ndarray, np.ndarray] | None = None
    skip_weight: float = 0.0
    norm: str = "symmetric"
    weights: np.ndarray | None = None  # float32 [2E + N], those of self-loops included; None: all are 1

    @classmethod
    def of(
        cls,
        graph: Graph,
        within: tuple[np.ndarray, np.ndarray] | None = None,
        skip_weight: float = 0.0,
        norm: str = "symmetric",
    ) -> Adjacency:
        """A + I with the self-loop of each row in its sorted place."""
        n = graph.num_nodes
        rows = np.repeat(np.arange(n, dtype=np.int64), graph.degree)
        before = np.bincount(rows[graph.indices < rows], minlength=n)  # neighbours that sort before the node itself
        loops = graph.indptr[:-1] + np.arange(n) + before
        indices = np.empty(len(graph.indices) + n, dtype=np.int32)
        mask = np.ones(len(indices), dtype=bool)
        mask[loops] = False
        indices[mask] = graph.indices
        indices[loops] = np.arange(n, dtype=np.int32)
        weights = None
        if graph.weights is not None:
            weights = np.ones(len(indices), dtype=np.float32)
            weights[mask] = graph.weights
        return cls((graph.indptr + np.arange(n + 1)).astype(np.int32), indices, within, skip_weight, norm, weights)

    @property
    def num_nodes(self) -> int:
        """N."""
        return len(self.indptr) - 1

    @cached_property
    def rows(self) -> np.ndarray:
        """The row of every stored entry, int32 [2E + N]."""
        return np.repeat(np.arange(self.num_nodes, dtype=np.int32), np.diff(self.indptr))

    @property
    def degree(self) -> np.ndarray:
        """Degree without the self-loop, in the larger graph where this is a part of one; float64, a fresh array.

        A mean is over the neighbours that are there, so its parts have degrees of their own.
        """
        if self.within is not None and self.norm == "symmetric":
            return self.within[0].astype(np.float64)
        return (np.diff(self.indptr) - 1).astype(np.float64) if self.weights is None else self._sums(self.weights)

    def _sums(self, weights: np.ndarray) -> np.ndarray:
        """Row sums of weights [2E + N] but those of self-loops, float64 [N]; all are positive, so nothing cancels."""
        others = weights.astype(np.float64)
        others[self._loops] = 0
        return np.add.reduceat(others, self.indptr[:-1])

    @cached_property
    def _gain(self) -> np.ndarray | None:
        """What each row of a part is scaled by, float32 [N]."""
        if self.within is None or self.norm != "symmetric":
            return None
        return self.within[1] / np.add.reduceat(self._entries(self.degree), self.indptr[:-1])

    def _entries(self, degree: np.ndarray) -> np.ndarray:
        """The normalised entries, float32 [2E + N], where nodes have this degree, self-loops left out."""
        if self.norm == "symmetric":
            scale = root_share(degree)
            values = scale[self.rows] * scale[self.indices]
            return values if self.weights is None else values * self.weights
        values = mean_share(degree + (self.norm == "walk"))[self.rows]
        if self.weights is not None:
            values *= self.weights
        if self.norm == "mean":
            values[self._loops] = 0
        return values

    def _values(self, degree: np.ndarray) -> np.ndarray:
        values = self._entries(degree)
        return values if self._gain is None else values * self._gain[self.rows]

    @cached_property
    def normalised(self) -> Csr:
        """Â, or what else `norm` says."""
        return identity(self.num_nodes) if self.norm == "none" else self._csr(self._values(self.degree))

    @cached_property
    def symmetric(self) -> Adjacency:
        """The same edges, normalised to Â; those of a part by themselves."""
        return replace(self, norm="symmetric", within=None)

    def without(self, source: np.ndarray, target: np.ndarray) -> Csr:
        """Â of the graph with these undirected edges removed, each given in either direction (or twice).

        The pattern stays, the values of removed edges are zero and the others are normalised anew.
        """
        if self.norm == "none":
            return self.normalised
        gone = np.unique(np.concatenate([self.position(source, target), self.position(target, source)]))
        values = self._values(self._degree_without(gone))
        values[gone] = 0
        return self._csr(values)

    def _degree_without(self, gone: np.ndarray) -> np.ndarray:
        """Degrees where the entries stored at `gone` are no more."""
        degree = self.degree
        if self.weights is None:
            np.subtract.at(degree, self.rows[gone], 1)
            return degree
        left = self.weights.copy()
        left[gone] = 0
        sums = self._sums(left)  # added up anew: a difference to a heavy edge would have lost the light ones
        if self.within is None:
            return sums
        np.subtract.at(degree, self.rows[gone], self.weights[gone])
        return np.maximum(degree, sums)

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Where every undirected edge is stored, as (i, j) with i < j and as (j, i); int64 [E] each."""
        upper = np.flatnonzero(self.rows < self.indices)
        return upper, self.position(self.indices[upper], self.rows[upper])

    def thinned(self, keep: np.ndarray) -> Csr:
        """Â of the graph with only the undirected edges that `keep` (bool [E], in the order of `edges`) names.

        Other than `without`, which is for few edges, this one shortens the pattern.
        """
        if self.norm == "none":
            return self.normalised
        stays = np.ones(len(self.indices), dtype=bool)
        for at in self.edges:
            stays[at] = keep
        before = np.zeros(len(stays) + 1, dtype=np.int32)
        np.cumsum(stays, out=before[1:])
        weights = None if self.weights is None else self.weights[stays]
        thin = Adjacency(before[self.indptr], self.indices[stays], None, self.skip_weight, self.norm, weights)
        return thin.normalised

    @cached_property
    def _keys(self) -> np.ndarray:
        """row * N + column of every stored entry: sorted, since rows are."""
        return self.rows.astype(np.int64) * self.num_nodes + self.indices

    def position(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Where the entries (source, target) are stored; they must exist."""
        return np.searchsorted(self._keys, source.astype(np.int64) * self.num_nodes + target)

    def has_edge(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Which of the pairs are edges (or a node with itself)."""
        keys = source.astype(np.int64) * self.num_nodes + target
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return self._keys[at] == keys

    @cached_property
    def _loops(self) -> np.ndarray:
        """Where each node's entry with itself is stored."""
        return np.flatnonzero(self.rows == self.indices)

    def _csr(self, values: np.ndarray) -> Csr:
        values = lazy(values, self._loops, self.skip_weight) if self.skip_weight else values
        symmetric = self.norm == "symmetric" and self.within is None
        return self._pattern.with_values(torch.from_numpy(values), symmetric)

    @cached_property
    def _pattern(self) -> Csr:
        """All matrices of this adjacency, so that what is known of their transposes serves them all."""
        indptr, indices = torch.from_numpy(self.indptr), torch.from_numpy(self.indices)
        return Csr(indptr, indices, torch.empty(len(self.indices)), self.num_nodes)


def root_share(degree: np.ndarray) -> np.ndarray:
    """(degree + 1)^-1/2 of degrees without self-loops; float32."""
    return ((degree + 1.0) ** -0.5).astype(np.float32)


def mean_share(degree: np.ndarray) -> np.ndarray:
    """What an edge of weight 1 counts in a mean over edges that sum to this degree; float32."""
    return (1 / np.where(degree > 0, degree, 1)).astype(np.float32)


def lazy(values: np.ndarray, loops: np.ndarray, skip_weight: float) -> np.ndarray:
    """The values of (1 - s) Â + s I from those of Â, float32; `loops` says which are on the diagonal."""
    values = values * np.float32(1 - skip_weight)
    values[loops] += np.float32(skip_weight)
    return values


def take_rows(a: Csr, rows: np.ndarray) -> Csr:
    """The matrix of these rows of `a`, in this order."""
    indptr, indices, device = a.indptr.cpu().numpy(), a.indices.cpu().numpy(), a.values.device
    starts = indptr[rows]
    counts = indptr[rows + 1] - starts
    new_indptr = np.zeros(len(rows) + 1, dtype=np.int32)
    np.cumsum(counts, out=new_indptr[1:])
    at = np.repeat(starts - new_indptr[:-1], counts) + np.arange(new_indptr[-1], dtype=np.int32)
    rows_at, columns_at, taken = (torch.from_numpy(part).to(device) for part in (new_indptr, indices[at], at))
    return Csr(rows_at, columns_at, a.values.index_select(0, taken), a.columns)


def relabel_columns(a: Csr, columns: np.ndarray) -> Csr:
    """The matrix of these columns of `a`; every stored entry must lie in one of them."""
    lookup = np.empty(a.columns, dtype=np.int32)
    lookup[columns] = np.arange(len(columns), dtype=np.int32)
    indices = torch.from_numpy(lookup[a.indices.cpu().numpy()]).to(a.values.device)
    return Csr(a.indptr, indices, a.values, len(columns))
