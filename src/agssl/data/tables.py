"""Tables from CSV, TSV and Parquet files, read strictly: what is wrong is named by file, line and column."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agssl.base.errors import DataError, GraphError

ENDINGS = (".csv", ".tsv", ".parquet")


def is_table(path: Path) -> bool:
    """Whether the file's name ends like that of a table."""
    return path.suffix.lower() in ENDINGS


def find_table(folder: Path, stem: str) -> Path | None:
    """The one table `stem.csv`, `stem.tsv` or `stem.parquet` in a folder, if there is any."""
    found = [folder / f"{stem}{ending}" for ending in ENDINGS if (folder / f"{stem}{ending}").is_file()]
    if len(found) > 1:
        raise DataError(f"{folder} has both {found[0].name} and {found[1].name}; keep one of them")
    return found[0] if found else None


def read_table(path: Path, text: Sequence[str], *, required: Sequence[str] = (), only_text: bool = False) -> pa.Table:
    """The table in `path`; columns named in `text` keep their characters, all others must be numbers.

    Args:
        path: a `.csv`, `.tsv` or `.parquet` file; the first two with a header, in UTF-8, with or without a BOM.
        text: columns of ids, labels and the like.
        required: columns that must be there.
        only_text: leave out the other columns.
    """
    if not path.is_file():
        raise DataError(f"the file {path} does not exist; check the path")
    try:
        if path.suffix.lower() == ".parquet":
            return _read_parquet(path, text, required, only_text)
        return _read_csv(path, text, required, only_text)
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"cannot read {path}: {reason}; it must be a table with a header, in UTF-8") from error


def _read_csv(path: Path, text: Sequence[str], required: Sequence[str], only_text: bool) -> pa.Table:
    from pyarrow import csv as arrow

    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with open(path, encoding="utf-8-sig", newline="") as file:
        raw = next(csv.reader(file, delimiter=delimiter), [])
    if not raw:
        raise DataError(f"{path} is empty; write a header and one row per node or edge")
    header = _check_header(raw, required, path)
    types = [pa.string() if name in text else pa.float64() for name in header]
    keep = [name for name in raw if name.strip() in text] if only_text else raw
    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    def read(column_types: list[pa.DataType]) -> pa.Table:
        table = arrow.read_csv(
            path,
            read_options=arrow.ReadOptions(use_threads=False),  # else a ragged row would not know its number
            parse_options=arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse),
            convert_options=arrow.ConvertOptions(
                column_types=dict(zip(raw, column_types, strict=True)), include_columns=keep
            ),
        )
        return table.rename_columns([name.strip() for name in table.column_names])

    try:
        return read(types)
    except pa.ArrowInvalid as error:
        if ragged:
            row = ragged[0]
            raise DataError(
                f"{path} line {row.number} has {row.actual_columns} cells, but the header has {row.expected_columns}: "
                f"{row.text[:60]!r}; make them equal"
            ) from error
        # some feature is no number: find out which
        return _numbers_only(read([pa.string()] * len(header)), text, path)


def _read_parquet(path: Path, text: Sequence[str], required: Sequence[str], only_text: bool) -> pa.Table:
    from pyarrow import parquet

    table = parquet.read_table(path)
    header = _check_header(table.column_names, required, path)
    table = table.rename_columns(header)
    if only_text:
        return table.select([name for name in header if name in text])
    return _numbers_only(table, text, path)


def _check_header(raw: list[str], required: Sequence[str], path: Path) -> list[str]:
    """The columns' names, trimmed; all distinct, and all that are required."""
    header = [name.strip() for name in raw]
    twice = [name for i, name in enumerate(header) if name in header[:i]]
    if twice:
        raise DataError(f"{path} has two columns named {twice[0]!r}; rename one of them")
    for name in required:
        if name not in header:
            raise DataError(f"{path} has no column {name!r}; it has {', '.join(header)}. Rename the column or add it")
    return header


def _numbers_only(table: pa.Table, text: Sequence[str], path: Path) -> pa.Table:
    """Insist that all columns but those in `text` are numbers."""
    for name in table.column_names:
        column = table[name]
        if name in text or _is_numeric(column.type):
            continue
        for row, value in enumerate(column.to_pylist()):
            if not _is_number(value):
                raise GraphError(
                    f"{path} line {row + 2}: column {name!r} has {value!r}, but features must be numbers; "
                    "drop the column or encode it as numbers"
                )
        table = table.set_column(table.column_names.index(name), name, pc.cast(column, pa.float64()))
    return table


def _is_numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _is_number(value: Any) -> bool:
    try:
        float("nan" if value in (None, "") else value)
    except (TypeError, ValueError):
        return False
    return True


def text_column(table: pa.Table, name: str, path: Path) -> pa.ChunkedArray:
    """A column of ids as trimmed strings; none may be empty."""
    column = pc.utf8_trim_whitespace(pc.cast(table[name], pa.string()))
    empty = pc.fill_null(pc.equal(column, ""), True)
    if pc.any(empty).as_py():
        row = pc.index(empty, True).as_py()
        raise GraphError(f"{path} line {row + 2} has no {name}; fill it in or drop the row")
    return column


def number_matrix(table: pa.Table, names: list[str], rows: Any, path: Path) -> np.ndarray:
    """The columns `names` as float64 [N, d]; `rows` are the nodes' names, for the message about a missing value."""
    matrix = np.empty((table.num_rows, len(names)), dtype=np.float64)
    for i, name in enumerate(names):
        matrix[:, i] = pc.cast(table[name], pa.float64()).to_numpy()  # null becomes NaN
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0]
        raise GraphError(
            f"{path} line {row + 2}: node {str(rows[row])!r} has no finite number in column {names[column]!r}; "
            "fill in or drop the missing values"
        )
    return matrix
