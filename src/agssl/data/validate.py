"""What a graph must fulfil on entry, and how its edges and features are brought into shape.

Nothing here repairs silently: what can't be right raises a `GraphError` that names the value, the cause and the cure;
what is merely untidy (one-way edges, self-loops, duplicates) is tidied and counted in an `EdgeReport`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from agssl.base.errors import GraphError
from agssl.data.weights import all_equal, check_weights, symmetric_weights

log = logging.getLogger("agssl")

LARGEST = 1e15  # of a feature: squares of larger ones, and products of their logits, overflow 32-bit floats
LEAST = 1e-30  # smaller ones may be zeros as 32-bit floats
SPARSE_BELOW = 0.4  # density up to which sparse products beat dense ones (benchmarks/step.py)

UNEVEN = 100  # times as much as another column, that one of dense features may vary
FILLED = 0.1  # of the values of a column that are not 0, for it to be compared
SAMPLED = 5000  # rows that are looked at


@dataclass(frozen=True)
class EdgeReport:
    """What cleaning changed: one-way edges that got their reverse, and the edges that were dropped."""

    mirrored: int
    loops: int
    duplicates: int
    summed: bool = False  # duplicates: their weights were added up
    unequal: int = 0  # edges whose directions had different weights

    def __str__(self) -> str:
        parts = []
        if self.mirrored:
            parts.append(f"made {self.mirrored:,} one-way edges two-way")
        untidy = ((self.loops, "self-loops"), (0 if self.summed else self.duplicates, "duplicates"))
        dropped = [f"{n:,} {what}" for n, what in untidy if n]
        if dropped:
            parts.append(f"dropped {' and '.join(dropped)}")
        if self.summed and self.duplicates:
            parts.append(f"added the weights of {self.duplicates:,} duplicates")
        if self.unequal:
            parts.append(f"took the larger weight of {self.unequal:,} edges whose two directions differ")
        return ", ".join(parts)


def clean_edges(
    edges: Any, num_nodes: int, weights: Any = None, *, unweighted: bool = False, names: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, EdgeReport]:
    """The symmetric CSR adjacency (indptr int64, indices int32 sorted in each row) without loops or duplicates.

    With it come the weights of its entries, float32 (see `agssl.data.weights`); None where there are none, or where all
    are equal.

    Args:
        edges: int array [2, E], or a SciPy sparse adjacency whose non-zero entries are the edges, with their weights.
        num_nodes: N; every index must be below.
        weights: of the edges [2, E], one each.
        unweighted: read no weights.
        names: of the nodes, for messages.
    """
    if num_nodes < 1:
        raise GraphError("the graph has no nodes; give at least one row of features per node")
    source, target, stored = _endpoints(edges, num_nodes)
    for end in (source, target):
        _check_range(end, num_nodes)
    if weights is not None and stored is not None:
        raise GraphError("there are edge weights beside an adjacency that has its own values; give one of the two")
    weights = None if unweighted else stored if weights is None else weights
    values = None if weights is None else check_weights(weights, (source, target), names)
    keep = source != target
    loops = len(source) - int(keep.sum())
    ones = np.ones(len(source) - loops, dtype=bool)  # bool, because any number of copies of an edge sum to True
    one_way = sp.csr_matrix((ones, (source[keep], target[keep])), shape=(num_nodes, num_nodes))
    one_way.sum_duplicates()
    both = (one_way + one_way.T).tocsr()
    both.sort_indices()
    found, unequal = None, 0
    if values is not None and not all_equal(values[keep]):
        found, unequal = symmetric_weights(source[keep], target[keep], values[keep], num_nodes)
    report = EdgeReport(both.nnz - one_way.nnz, loops, len(ones) - one_way.nnz, found is not None, unequal)
    return both.indptr.astype(np.int64), both.indices.astype(np.int32), found, report


def _endpoints(edges: Any, num_nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Sources, targets, and the values of a sparse adjacency."""
    if sp.issparse(edges):
        if edges.shape != (num_nodes, num_nodes):
            raise GraphError(
                f"the adjacency has shape {edges.shape}, but there are {num_nodes} nodes; "
                f"give a square one of {num_nodes} x {num_nodes}"
            )
        coo = edges.tocoo()
        stored = coo.data != 0
        return coo.row[stored].astype(np.int64), coo.col[stored].astype(np.int64), coo.data[stored]
    array = np.asarray(edges)
    if array.size == 0:
        array = np.empty((2, 0), dtype=np.int64)
    if array.ndim != 2 or array.shape[0] != 2:
        hint = "; transpose it" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise GraphError(f"edges have shape {array.shape}, expected (2, E): sources above targets{hint}")
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < 2**53)
        if not whole.all():
            row, edge = np.argwhere(~whole)[0]
            raise GraphError(f"edge {edge} has the node id {array[row, edge]}; node ids must be whole numbers")
    elif array.dtype.kind not in "iu":
        raise GraphError(
            f"edges have the type {array.dtype}; give whole numbers, or use read_graph for ids that are names"
        )
    array = array.astype(np.int64)
    return array[0], array[1], None


def _check_range(end: np.ndarray, num_nodes: int) -> None:
    bad = np.flatnonzero((end < 0) | (end >= num_nodes))
    if not len(bad):
        return
    edge, node = int(bad[0]), int(end[bad[0]])
    if node < 0:
        raise GraphError(f"edge {edge} has the negative node id {node}; number your nodes from 0")
    raise GraphError(
        f"edge {edge} points at node {node}, but the graph has {num_nodes} nodes; re-index your nodes from 0"
    )


def as_features(x: Any) -> np.ndarray | sp.csr_matrix:
    """Features as every other part wants them: float32, CSR below 40% density, C-contiguous dense above.

    >>> type(as_features([[1, 0], [0, 2]])).__name__
    'ndarray'
    """
    if sp.issparse(x):
        return _from_sparse(x)
    array = np.asarray(x)
    if array.ndim != 2:
        raise GraphError(f"features have shape {array.shape}, expected (N, d): one row per node")
    if array.dtype.kind not in "fiub":
        raise GraphError(f"features have the type {array.dtype}, expected real numbers; encode other values as numbers")
    with np.errstate(over="ignore"):
        dense = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(dense).all():
        node, column = np.argwhere(~np.isfinite(dense))[0]
        raise _not_finite(array[node, column], int(node), int(column))
    dense = _cut_off(dense)
    if dense.size and np.count_nonzero(dense) < SPARSE_BELOW * dense.size:
        return sp.csr_matrix(dense)
    return dense.copy() if dense is x else dense


def uneven_columns(x: np.ndarray | sp.csr_matrix) -> str:
    """What to say where a column of dense features varies far more than another, which then hardly counts; else "".

    Columns with few values that are not 0, such as words, are not compared.
    """
    if sp.issparse(x) or not len(x):
        return ""
    some = x if len(x) <= SAMPLED else x[:: len(x) // SAMPLED + 1]
    spread = some.std(axis=0, dtype=np.float64)
    at = np.flatnonzero(((some != 0).mean(axis=0) > FILLED) & (spread > 0))
    if len(at) < 2:
        return ""
    most, least = at[spread[at].argmax()], at[spread[at].argmin()]
    if spread[most] <= UNEVEN * spread[least]:
        return ""
    times = spread[most] / spread[least]
    return (
        f"column {most} of the features varies {times:,.0f} times as much as column {least}, which then hardly counts; "
        "standardise them first, or give a table (pandas or CSV), whose columns are"
    )


def numbered_features(rows: Sequence[Mapping[int, float]], width: int) -> np.ndarray | sp.csr_matrix:
    """The same of rows of finite numbers by feature, zeros left out; all at once, as a service has few at a time.

    >>> numbered_features([{7: 2.0, 1: 0.5}], 9).indices.tolist()
    [1, 7]
    """
    entries = [sorted(row.items()) for row in rows]
    indptr = np.cumsum([0, *map(len, entries)], dtype=np.int32)
    columns = np.array([column for row in entries for column, _ in row], dtype=np.int32)
    given = np.array([value for row in entries for _, value in row], dtype=np.float64)
    shape = (len(rows), width)
    values = np.abs(given)
    plain = len(given) < SPARSE_BELOW * len(rows) * width and ((values > LEAST) & (values < LARGEST)).all()
    if not plain:
        return as_features(sp.csr_matrix((given, columns, indptr), shape))
    return sp.csr_matrix((given.astype(np.float32), columns, indptr), shape)


def _from_sparse(x: Any) -> np.ndarray | sp.csr_matrix:
    if x.ndim != 2:
        raise GraphError(f"features have shape {x.shape}, expected (N, d): one row per node")
    if x.dtype.kind not in "fiub":
        raise GraphError(f"features have the type {x.dtype}, expected real numbers; encode other values as numbers")
    wide = sp.csr_matrix(x, copy=True)
    try:
        wide.check_format(full_check=True)
    except ValueError as error:
        raise GraphError(f"the sparse features are malformed: {error}; rebuild the matrix") from error
    with np.errstate(over="ignore"):
        csr = wide.astype(np.float32)
        csr.sum_duplicates()
    if not np.isfinite(csr.data).all():
        entry = int(np.flatnonzero(~np.isfinite(csr.data))[0])
        node = int(np.searchsorted(csr.indptr, entry, side="right")) - 1
        column = int(csr.indices[entry])
        wide.sum_duplicates()
        raise _not_finite(wide[node, column], node, column)
    csr.data = _cut_off(csr.data)
    csr.eliminate_zeros()
    csr.sort_indices()
    if csr.nnz >= SPARSE_BELOW * csr.shape[0] * csr.shape[1]:
        return csr.toarray()
    return csr


def _cut_off(values: np.ndarray) -> np.ndarray:
    """The same with what is beyond `LARGEST` set to it, and a warning that says so."""
    most = np.abs(values).max(initial=0.0)
    if most <= LARGEST:
        return values
    log.warning("features of up to %.0e are cut off at %.0e; rescale them", most, LARGEST)
    return np.clip(values, -LARGEST, LARGEST)


def _not_finite(value: Any, node: int, column: int) -> GraphError:
    if np.isfinite(value):
        cause, cure = "which is too large for 32-bit floats", "rescale the features"
    else:
        cause, cure = "which is not a finite number", "fill in or drop the missing values"
    return GraphError(f"feature {column} of node {node} is {value}, {cause}; {cure}")


def check_node_names(names: Any, num_nodes: int) -> np.ndarray | None:
    """Node names as a string array of N distinct entries, or None where none were given."""
    if names is None:
        return None
    array = np.asarray(names).astype(str)
    if array.shape != (num_nodes,):
        raise GraphError(f"there are {array.size} node names for {num_nodes} nodes; give one name per node")
    unique, first, counts = np.unique(array, return_index=True, return_counts=True)
    if len(unique) < num_nodes:
        name = unique[counts > 1][np.argmin(first[counts > 1])]
        raise GraphError(
            f"the node name {str(name)!r} occurs {counts[unique == name][0]} times; node names must be distinct"
        )
    return array
