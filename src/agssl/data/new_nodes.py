"""New nodes for a graph that a model knows: rows of a table, and edges to old nodes or among themselves."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from agssl.base.errors import GraphError
from agssl.data.columns import Columns, TableOptions
from agssl.data.frames import edge_weights, frame_table, is_frame
from agssl.data.graph import Features
from agssl.data.networks import EDGE_LISTS, read_edge_list
from agssl.data.node_table import choose_ids, encode, text_names
from agssl.data.tables import as_text, end_columns, id_columns, read_header, read_table, text_column
from agssl.data.validate import as_features
from agssl.data.weights import COLUMN, WeightChoice, check_weights, weight_column, weight_name

log = logging.getLogger("agssl")

ALL = WeightChoice()
NAMED = 3  # nodes that a message names


class NodeIndex:
    """Numbers of nodes by their names.

    Args:
        names: of all nodes; None: they are numbered.
        count: how many there are.

    >>> NodeIndex(["ann", "bob"], 2).find(["bob", "cyd"]).tolist(), NodeIndex(None, 2).find(["1", "2"]).tolist()
    ([1, -1], [1, -1])
    """

    def __init__(self, names: Sequence[str] | None, count: int) -> None:
        self.count = count
        self.numbers = None if names is None else {name: number for number, name in enumerate(names)}

    def find(self, names: Sequence[str]) -> np.ndarray:
        """The number of each, int64; -1 where there is none of this name."""
        if self.numbers is not None:
            return np.array([self.numbers.get(name, -1) for name in names], dtype=np.int64)
        # at most 18 digits: more are no number of a node, and too large for one of NumPy
        found = (int(name) if len(name) < 19 and name.isascii() and name.isdecimal() else -1 for name in names)
        return np.array([number if number < self.count else -1 for number in found], dtype=np.int64)

    def fresh(self, count: int) -> list[str]:
        """Names for so many new nodes that have none."""
        if self.numbers is None:
            return [str(self.count + number) for number in range(count)]
        return [f"new-{number}" for number in range(count)]


@dataclass(frozen=True, eq=False)
class NewNodes:
    """Rows as a model reads them, and their edges."""

    names: list[str]
    x: Features  # [m, d]
    ends: np.ndarray  # int64 [2, E]; new nodes are numbered after the old ones
    weights: np.ndarray | None = None  # float64 [E]


@dataclass(frozen=True)
class Known:
    """What a model and its graph say about rows that are to come."""

    index: NodeIndex
    features: int  # d
    columns: Columns | None = None
    ignored: tuple[str, ...] = ("label", "split")  # columns that are no features

    def make(self, names: list[str] | None, x: Features, edges: Edges | None) -> NewNodes:
        """New nodes, all checked.

        Args:
            names: of the new nodes; None: they get some.
            x: their features.
            edges: by the names of nodes.
        """
        if x.shape[1] != self.features:
            raise GraphError(
                f"the new nodes have {x.shape[1]} features, but the model was trained on {self.features}; give the "
                "same columns in the same order"
            )
        names = self.index.fresh(x.shape[0]) if names is None else names
        there = self.index.find(names)
        if (there >= 0).any():
            which = [name for name, number in zip(names, there.tolist(), strict=True) if number >= 0]
            raise GraphError(
                f"{_some(which)} is no new node: the fitted graph has it already; predict without --new tells its "
                "class, or give the row another id"
            )
        if len(set(names)) < len(names):
            again = next(name for number, name in enumerate(names) if name in names[:number])
            raise GraphError(f"two new nodes have the id {again!r}; ids must be distinct")
        if edges is None:
            return NewNodes(names, x, np.empty((2, 0), dtype=np.int64))
        return NewNodes(names, x, *self._resolved(edges, names))

    def _resolved(self, edges: Edges, names: list[str]) -> tuple[np.ndarray, np.ndarray | None]:
        ours = {name: self.index.count + number for number, name in enumerate(names)}
        ends = []
        for side, given in (("source", edges.source), ("target", edges.target)):
            found = self.index.find(given)
            found = np.array([ours.get(name, old) for name, old in zip(given, found.tolist(), strict=True)], np.int64)
            lost = np.flatnonzero(found < 0)
            if len(lost):
                raise GraphError(
                    f"{edges.where(int(lost[0]))} has the {side} {given[lost[0]]!r}, which is neither a new node nor "
                    "one of the fitted graph; add its row, or drop the edge"
                )
            ends.append(found)
        both = np.vstack(ends) if len(edges.source) else np.empty((2, 0), dtype=np.int64)
        weights = None if edges.weights is None else check_weights(edges.weights, (both[0], both[1]))
        new = (both >= self.index.count).any(0)
        if not new.all():
            log.warning("left out %d edges between nodes that the model knows already", int((~new).sum()))
        return both[:, new], None if weights is None else weights[new]

    def encoded(self, table: pa.Table, where: str, what: str) -> Features:
        """The features of raw columns, by the model's encoding; of a model without one, as they are.

        Args:
            table: the feature columns.
            where: what to call a row, with a place for its number.
            what: what to call the table.
        """
        if self.columns is not None:
            return encode(table, lambda row: where.format(row), what, columns=self.columns)[1]
        if table.num_columns != self.features:
            raise GraphError(
                f"{what} has {table.num_columns} columns of features, but the model was trained on {self.features} "
                "without names; give as many in the same order"
            )
        try:
            return as_features(np.column_stack([np.asarray(column, dtype=np.float64) for column in table.columns]))
        except (ValueError, TypeError) as error:
            raise GraphError(f"{what} has a value that is no number ({error}); give numbers alone") from error


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges by the names of their ends."""

    source: list[str]
    target: list[str]
    weights: Any = None  # [E]
    place: str = "edge {}"  # names one of them in messages
    first: int = 0  # the number of the first one there

    def where(self, number: int) -> str:
        """Which edge this is, in words."""
        return self.place.format(number + self.first)


def read_new_nodes(
    nodes: Path, edges: Path | None, known: Known, options: TableOptions, weights: WeightChoice = ALL
) -> NewNodes:
    """New nodes from files, as `agssl predict --new nodes.csv --edges edges.csv` has them.

    Args:
        nodes: a table with a row for each.
        edges: a table of edges, or an edge list.
        known: the model and its graph.
        options: how tables are written.
        weights: which edge weights to read.
    """
    header = read_header(nodes, options)
    taken = [name for name in known.ignored if known.columns is None or name not in known.columns.names]
    roles = [*taken, *([options.id] if options.id else id_columns(header, taken))]
    table = read_table(nodes, [*roles, *text_names(options, known.columns)], options=options)
    if not table.num_rows:
        raise GraphError(f"{nodes} has a header but no rows; give one for each new node")
    column = choose_ids(table, options.id, taken, nodes, needed=edges is not None)
    features = [name for name in table.column_names if name not in (*taken, column)]
    names = None if column is None else text_column(table, column, nodes).to_pylist()
    x = known.encoded(table.select(features), f"{nodes} row {{}}", str(nodes))
    return known.make(names, x, None if edges is None else _read_edges(edges, options, weights))


def _read_edges(path: Path, options: TableOptions, weights: WeightChoice) -> Edges:
    if path.suffix.lower() in EDGE_LISTS:
        source, target, values = read_edge_list(path, options.encoding, weights)
        return Edges(list(map(str, source)), list(map(str, target)), values, f"{path} line {{}}", 1)
    header = read_header(path, options)
    sides = end_columns(header, path, options)
    column = weights.column or weight_name(header) or COLUMN
    table = read_table(path, [*sides, column], required=sides, only_text=True, options=options)
    source, target = (text_column(table, side, path).to_pylist() for side in sides)
    return Edges(
        source, target, None if weights.ignored else weight_column(table, column, path), f"{path} line {{}}", 2
    )


def frame_new_nodes(nodes: Any, edges: Any, known: Known) -> NewNodes:
    """New nodes from Python: a table or an array [m, d], and edges as a table or an array of names or numbers.

    Args:
        nodes: a table of pandas, polars or pyarrow with a column `id`, or an array, whose rows are numbered after the
            nodes of the graph.
        edges: a table with `source` and `target`, an array [2, E] or [E, 2], or None.
        known: the model and its graph.
    """
    names: list[str] | None = None
    if is_frame(nodes):
        table = frame_table(nodes)
        taken = [name for name in known.ignored if known.columns is None or name not in known.columns.names]
        column = choose_ids(table, None, taken, "the table", needed=is_frame(edges))
        features = [name for name in table.column_names if name not in (*taken, column)]
        names = None if column is None else as_text(table[column], column).to_pylist()
        x = known.encoded(table.select(features), "row {} of the table", "the table")
    else:
        x = as_features(nodes)
        if known.columns is not None and not known.columns.as_they_are:
            raise GraphError(
                "the new nodes have features without names, but the model was trained on the columns "
                f"{', '.join(known.columns.names[:8])}, which it encodes itself; give a table with these columns"
            )
    return known.make(names, x, None if edges is None else _frame_edges(edges))


def _frame_edges(edges: Any) -> Edges:
    if is_frame(edges):
        table = frame_table(edges)
        sides = end_columns(table.column_names, "the table of edges", TableOptions())
        source, target = (as_text(table[side], side).to_pylist() for side in sides)
        return Edges(source, target, edge_weights(edges))
    array = np.asarray(edges)
    if not array.size:
        return Edges([], [])
    array = array.T if array.ndim == 2 and array.shape[1] == 2 and array.shape[0] != 2 else array
    if array.ndim != 2 or array.shape[0] != 2:
        raise GraphError(f"the edges of new nodes have shape {array.shape}, expected (2, E) or (E, 2)")
    source, target = ([str(name) for name in side.tolist()] for side in array)
    return Edges(source, target)


def _some(names: list[str]) -> str:
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(map(repr, names[:NAMED])) + rest
