"""Graphs from what Python users have: a pandas, polars or pyarrow table of nodes, edges of many kinds, labels.

Types are told apart by the module that defines them, so none of those packages is imported to look.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from agssl.base.errors import GraphError
from agssl.data.columns import Columns, TableOptions
from agssl.data.graph import Graph
from agssl.data.node_table import choose_ids, encode
from agssl.data.split_files import split_from_words
from agssl.data.tables import as_text, end_columns
from agssl.data.weights import network_weights, weight_name


def packages(obj: Any) -> set[str]:
    """The packages that an object's classes are from."""
    return {kind.__module__.partition(".")[0] for kind in type(obj).__mro__}


def is_frame(obj: Any) -> bool:
    """Whether it is a table of pandas, polars or pyarrow."""
    return hasattr(obj, "columns") and bool(packages(obj) & {"pandas", "polars", "pyarrow"})


def frame_table(frame: Any) -> pa.Table:
    """A table of pandas, polars or pyarrow as one of pyarrow; names of columns become text."""
    if "polars" in packages(frame):
        frame = frame.to_arrow()
    if "pandas" in packages(frame):
        names = [str(name) for name in frame.columns]
        arrays = [arrow_array(frame.iloc[:, i]) for i in range(len(names))]
    else:
        names, arrays = [str(name) for name in frame.column_names], frame.columns
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise GraphError(f"the table has two columns named {twice[0]!r}; rename one of them")
    return pa.table(dict(zip(names, arrays, strict=True)))


def arrow_array(values: Any) -> pa.Array:
    """Values of any kind; where they are of several, as text."""
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        array = pa.array([None if _is_missing(value) else str(value) for value in values], pa.string())
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def _is_missing(value: Any) -> bool:
    if value is None or str(value) in ("<NA>", "NaT"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def from_frame(
    edges: Any,
    frame: Any,
    y: Any = None,
    *,
    name: str = "graph",
    require_labels: bool = True,
    unweighted: bool = False,
    columns: Columns | None = None,
    options: TableOptions | None = None,
) -> Graph:
    """A graph from edges, a table of nodes and labels.

    Nodes are named by a column `id` (or one called alike, with distinct values), by the index of a pandas table, or by
    row numbers.

    Args:
        edges: see `edge_ends`.
        frame: one row per node.
        y: labels [N], the name of their column, or None for the column `label`.
        name: what to call the graph.
        require_labels: as for `Graph.from_arrays`.
        unweighted: ignore edge weights.
        columns: the encoding of a model.
        options: what the user says of columns.
    """
    table, options = frame_table(frame), options or TableOptions()
    if not table.num_rows:
        raise GraphError("the table of nodes has no rows; give one per node")
    if isinstance(y, str) and y not in table.column_names:
        raise GraphError(f"the table has no column {y!r} with labels; it has {', '.join(table.column_names[:20])}")
    label = y if isinstance(y, str) else "label"
    if y is not None and not isinstance(y, str) and label in table.column_names and columns is None:
        raise GraphError(
            "labels are given, but the table has a column 'label' besides, which would tell the answer; drop it, or "
            "give y='label' to use it"
        )
    taken = [label, "split"]
    column = choose_ids(table, options.id, taken, "the table", needed=False)
    ids = _row_names(frame, table, column)
    features = [one for one in table.column_names if one not in (*taken, column)]
    if not features:
        raise GraphError(f"the table has no feature columns beside {', '.join(table.column_names)}; add some")
    fitted, x = encode(
        table.select(features), lambda row: f"row {row} of the table", "the table", options=options, columns=columns
    )
    return Graph.from_arrays(
        edge_ends(edges, ids, options),
        x,
        _labels(y, frame, table, label),
        split=_split(table, ids),
        name=name,
        node_names=ids,
        columns=fitted,
        require_labels=require_labels,
        weights=None if unweighted else edge_weights(edges),
        unweighted=unweighted,
    )


def edge_ends(edges: Any, ids: np.ndarray, options: TableOptions | None = None) -> Any:
    """Edges as positions of nodes, int64 [2, E], or the sparse adjacency as it is.

    Args:
        edges: a NetworkX graph or a table with columns like `source` and `target`, both by the names of nodes; an array
            [2, E] or [E, 2] of positions, or of names if they are text; or a sparse adjacency.
        ids: the names of nodes, [N].
        options: names of the columns of edges.
    """
    if sp.issparse(edges) or hasattr(edges, "detach") or hasattr(edges, "to_scipy"):
        return edges
    if "networkx" in packages(edges):
        unknown = next((node for node in map(str, edges.nodes) if node not in set(ids.tolist())), None)
        if unknown is not None:
            raise _unknown(unknown, ids)
        pairs = [(str(u), str(v)) for u, v in edges.edges()]
        if not edges.is_directed():  # both ways at once, so that nothing looks one-way
            pairs += [(v, u) for u, v in pairs if u != v]
        return _positions(np.array(pairs, dtype=str).reshape(-1, 2).T, ids)
    if is_frame(edges):
        table = frame_table(edges)
        sides = end_columns(table.column_names, "the table of edges", options or TableOptions())
        ends = [as_text(table[side], side) for side in sides]
        empty = next((side for side, end in zip(sides, ends, strict=True) if end.null_count), None)
        if empty is not None:
            raise GraphError(f"the table of edges has a row without {empty}; fill it in or drop the row")
        return _positions(np.array([end.to_numpy().astype(str) for end in ends]), ids)
    array = np.asarray(edges)
    if array.ndim == 2 and array.shape[1] == 2 and array.shape[0] != 2:
        array = array.T
    if array.ndim == 2 and array.shape[0] == 2 and array.dtype.kind in "UO":
        return _positions(array.astype(str), ids)
    return array


def edge_weights(edges: Any) -> np.ndarray | None:
    """Weights of the edges that `edge_ends` gives, in their order; None: they have none, or bring them as values."""
    if "networkx" in packages(edges):
        weights = network_weights(edges, None)
        if weights is None or edges.is_directed():
            return weights
        return np.concatenate([weights, weights[[u != v for u, v in edges.edges()]]])
    if not is_frame(edges):
        return None
    table = frame_table(edges)
    column = weight_name(table.column_names)
    if column is None:
        return None
    try:
        return np.array([float(value) for value in table[column].to_pylist()])
    except (TypeError, ValueError) as error:
        raise GraphError(
            f"the column {column!r} of the edges has a value that is no number ({error}); mend or drop it"
        ) from None


def _positions(ends: np.ndarray, ids: np.ndarray) -> np.ndarray:
    known = pa.array(ids.tolist(), pa.string())
    index = pc.index_in(pa.array(ends.ravel().tolist(), pa.string()), value_set=known)
    if index.null_count:
        raise _unknown(str(ends.ravel()[pc.index(pc.is_null(index), True).as_py()]), ids)
    return index.to_numpy(zero_copy_only=False).astype(np.int64).reshape(ends.shape)


def _unknown(node: str, ids: np.ndarray) -> GraphError:
    return GraphError(
        f"the edges have a node {node!r}, which is no row of the table (rows are {', '.join(ids[:3].tolist())} ...); "
        "add the row, or name rows by a column 'id' or by the index"
    )


def _row_names(frame: Any, table: pa.Table, column: str | None) -> np.ndarray:
    if column is not None:
        text = as_text(table[column], column)
        if text.null_count or pc.count_distinct(text).as_py() < len(text):
            raise GraphError(f"the column {column!r} of ids has values that are missing or occur twice; mend them")
        return np.array(text.to_pylist(), dtype=str)
    if "pandas" in packages(frame) and frame.index.is_unique:
        return np.array([str(value) for value in frame.index], dtype=str)
    return np.arange(table.num_rows).astype(str)


def _labels(y: Any, frame: Any, table: pa.Table, label: str) -> Any:
    if y is None or isinstance(y, str):
        return table[label].to_pylist() if label in table.column_names else np.full(table.num_rows, -1)
    if "pandas" in packages(y) and hasattr(y, "index"):
        if "pandas" in packages(frame) and not y.index.equals(frame.index) and set(y.index) == set(frame.index):
            y = y.reindex(frame.index)  # the same nodes in another order
        return [None if _is_missing(value) else value for value in y.tolist()]
    return y if hasattr(y, "dtype") else list(y)


def _split(table: pa.Table, ids: np.ndarray) -> Any:
    if "split" not in table.column_names:
        return None
    return split_from_words([str(word or "").strip() for word in table["split"].to_pylist()], ids, "the table")
