"""Columns to features by a fitted encoding, by name."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from agssl.base.errors import GraphError
from agssl.data.columns import parse
from agssl.data.columns.guess import Parsed
from agssl.data.columns.parse import Texts, Where
from agssl.data.columns.plain import Column, Columns
from agssl.data.columns.words import tf_idf

log = logging.getLogger("agssl")

Block: TypeAlias = np.ndarray | sp.csr_matrix


def apply_columns(columns: Columns, table: pa.Table, where: Where, what: str = "the table") -> Block:
    """The features of a table, float64 [N, d] or sparse float32, by the encoding of another one.

    Columns may come in any order; further ones are left out with a warning. Unseen categories
    and words are unknown: zeros.

    Args:
        columns: the encoding.
        table: the feature columns, raw.
        where: names a row in messages.
        what: names the table in messages.
    """
    check_names(columns, table.column_names, what)
    return join([block(column, parsed_as(column, table[column.name], where)) for column in columns.used])


def check_names(columns: Columns, names: Sequence[str], what: str) -> None:
    """Refuse what lacks a column of the model, and warn of columns that it does not know."""
    found, known = set(names), {column.name for column in columns.columns}
    lacking = [column.name for column in columns.used if column.name not in found]
    if lacking:
        raise GraphError(
            f"{what} lacks {len(lacking)} of the columns that the model was trained on: {_some(lacking)}; add them"
        )
    extra = [name for name in names if name not in known]
    if extra:
        log.warning("%s: left out columns that the model does not know: %s", what, _some(extra))


def _some(names: list[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def parsed_as(column: Column, raw: pa.ChunkedArray, where: Where) -> Parsed:
    """A raw column, read as the fitted one."""
    parse.check_type(raw, column.name)
    if pa.types.is_null(raw.type):
        raw = pc.cast(raw, pa.string())
    if column.kind == "number":
        return Parsed("number", parse.numbers(raw, column.name, where, column.decimal))
    if column.kind == "boolean":
        return Parsed("boolean", parse.booleans(raw, column.name, where))
    if column.kind == "date":
        return Parsed("date", parse.dates(raw, column.name, where, column.format))
    return Parsed(column.kind, texts=parse.texts(raw))


def block(column: Column, parsed: Parsed) -> Block:
    """The features of one column."""
    made = _values(column, parsed)
    if not column.flag:
        return made
    flag = parsed.missing.astype(np.float64)[:, None]
    return np.hstack([made, flag]) if isinstance(made, np.ndarray) else sp.hstack([made, flag], "csr", np.float32)


def _values(column: Column, parsed: Parsed) -> Block:
    array, found = parsed.numbers, parsed.texts
    if array is not None:
        filled = np.where(np.isnan(array), column.fill, array)
        scaled = filled if (column.mean, column.scale) == (0.0, 1.0) else (filled - column.mean) / column.scale
        return _date(filled, scaled) if column.kind == "date" else scaled[:, None]
    assert found is not None
    if column.kind == "text":
        return tf_idf(found, column.values, column.idf)
    if column.kind == "hash":
        bucket = np.array([zlib.crc32(value.encode()) % column.buckets for value in found.values.to_pylist()])
        return _one_hot(found, bucket, column.buckets)
    known = pc.index_in(found.values, value_set=pa.array(column.values, pa.large_string()))
    position = pc.fill_null(known, -1).to_numpy(zero_copy_only=False)
    return _one_hot(found, position, len(column.values))


def _date(days: np.ndarray, scaled: np.ndarray) -> np.ndarray:
    month = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    angle = month * (np.pi / 6)
    return np.column_stack([scaled, np.sin(angle), np.cos(angle)])


def _one_hot(found: Texts, position: np.ndarray, width: int) -> sp.csr_matrix:
    """A one where each row's value is, float32 [N, width]; zeros where it is unknown or missing."""
    at = np.append(position.astype(np.int64), -1)[found.codes]
    known = at >= 0
    indptr = np.concatenate([[0], np.cumsum(known)])
    return sp.csr_matrix((np.ones(int(known.sum()), np.float32), at[known], indptr), shape=(len(at), width))


def join(blocks: list[Any]) -> Block:
    """Features side by side: dense float64 where all are, else CSR."""
    if all(isinstance(one, np.ndarray) for one in blocks):
        return np.hstack(blocks)
    merged: list[Any] = []
    for one in blocks:  # neighbours that are dense go together, since each sparse matrix costs
        if isinstance(one, np.ndarray) and merged and isinstance(merged[-1], np.ndarray):
            merged[-1] = np.hstack([merged[-1], one.astype(np.float32)])
        else:
            merged.append(one.astype(np.float32))
    return sp.hstack([sp.csr_matrix(one) for one in merged], "csr", np.float32)
