"""A table of nodes, from a file or from Python: which column is what, and the features of the rest."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agssl.base.errors import DataError, GraphError
from agssl.data.columns import Columns, TableOptions, apply_columns, fit_columns
from agssl.data.columns.apply import check_names
from agssl.data.columns.parse import Where
from agssl.data.graph import Features
from agssl.data.tables import as_text, id_columns, no_column
from agssl.data.validate import as_features


def encode(
    table: pa.Table,
    where: Where,
    what: str,
    *,
    options: TableOptions | None = None,
    columns: Columns | None = None,
    notes: Sequence[str] = (),
) -> tuple[Columns, Features]:
    """The features of raw columns, by the encoding of a model where there is one, else by one of their own.

    Args:
        table: the feature columns.
        where: names a row in messages.
        what: names the table in messages.
        options: what the user says of columns.
        columns: the encoding of a model.
        notes: further lines for the user.
    """
    try:
        if columns is None:
            fitted, x = fit_columns(table, where, options, notes)
        else:
            x = apply_columns(columns, table, where, what)
            fitted = dataclasses.replace(columns, notes=tuple(notes), raw=None if columns.as_they_are else table)
    except pa.ArrowException as error:
        raise DataError(f"cannot encode {what}: {error}; check its columns") from error
    return fitted, as_features(x)


def reencode(x: Features, given: Columns | None, columns: Columns, name: str) -> tuple[Columns, Features]:
    """The features of a graph by the encoding of a model.

    Args:
        x: the graph's features.
        given: their encoding; None: they come from arrays and have no names.
        columns: the encoding of the model.
        name: the graph's, for messages.
    """
    if given == columns or (given is None and columns.as_they_are and x.shape[1] == len(columns.features)):
        return columns, x
    if given is None:
        raise GraphError(
            f"{name} has features without names, but the model was trained on the columns "
            f"{', '.join(columns.names[:8])}, which it encodes itself; give a table with these columns"
        )
    raw = given.raw
    if given.as_they_are and columns.as_they_are:  # both are the very numbers, so sparse ones need not be unfolded
        check_names(columns, given.names, name)
        position = {column: i for i, column in enumerate(given.names)}
        return columns, as_features(x[:, [position[column] for column in columns.names]])
    if raw is None and given.as_they_are:
        dense = x if isinstance(x, np.ndarray) else x.toarray()
        raw = pa.table({column: pa.array(dense[:, i]) for i, column in enumerate(given.names)})
    if raw is None:
        raise GraphError(
            f"{name} was encoded by itself, not as the model's data; read it again with columns=model.columns_"
        )
    return encode(raw, lambda row: f"row {row} of {name}", name, columns=columns)


def text_names(options: TableOptions, columns: Columns | None) -> tuple[str, ...]:
    """The columns whose characters must be kept when a file is read."""
    if columns is None:
        return (*options.categorical, *options.text)
    return tuple(column.name for column in columns.used if column.kind != "number")


def choose_ids(table: pa.Table, chosen: str | None, taken: Collection[str], what: Any, needed: bool) -> str | None:
    """The column with the nodes' ids: the chosen one, `id`, or the first of those called alike that can be one."""
    if chosen is not None:
        if chosen not in table.column_names:
            raise no_column(what, chosen, table.column_names, "Say which column has the ids with --id")
        return chosen
    candidates = id_columns(table.column_names, taken)
    found = next((name for name in candidates if name.lower() == "id" or _distinct(table[name], name)), None)
    if found is None and needed:
        raise no_column(what, "id", table.column_names, "Say which column has the ids with --id, or add it")
    return found


def _distinct(column: pa.ChunkedArray, name: str) -> bool:
    return not column.null_count and pc.count_distinct(as_text(column, name)).as_py() == len(column)
