"""Tables from CSV, TSV and Parquet files, read strictly: what is wrong is named by file, line and column."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agssl.base.errors import DataError, GraphError
from agssl.data.columns import TableOptions
from agssl.data.columns.parse import without_points
from agssl.data.weights import as_number

ENDINGS = (".csv", ".tsv", ".parquet")
SEPARATORS = (",", ";", "\t", "|")
NODE_IDS = ("node", "node_id", "nodeid", "node_name", "name")
ENDS = (("source", "target"), ("src", "dst"), ("from", "to"))
LONGEST_HEADER = 1 << 24  # characters


def is_table(path: Path) -> bool:
    """Whether the file's name ends like that of a table."""
    return path.suffix.lower() in ENDINGS


def find_table(folder: Path, stem: str) -> Path | None:
    """The one table `stem.csv`, `stem.tsv` or `stem.parquet` in a folder, if there is any."""
    found = [folder / f"{stem}{ending}" for ending in ENDINGS if (folder / f"{stem}{ending}").is_file()]
    if len(found) > 1:
        raise DataError(f"{folder} has both {found[0].name} and {found[1].name}; keep one of them")
    return found[0] if found else None


def read_table(
    path: Path,
    text: Collection[str],
    *,
    required: Sequence[str] = (),
    only_text: bool = False,
    options: TableOptions | None = None,
) -> pa.Table:
    """The table in `path`: columns named in `text` keep their characters.

    All others of a CSV are numbers where all of them are; else they keep their characters, too.

    Args:
        path: a `.csv`, `.tsv` or `.parquet` file; the first two with a header.
        text: columns of ids, labels and the like.
        required: columns that must be there.
        only_text: leave out the other columns.
        options: how the file is written.
    """
    options = options or TableOptions()
    with _readable(path, options):
        if path.suffix.lower() == ".parquet":
            from pyarrow import parquet

            table = parquet.read_table(path)
            header = _check_header(table.column_names, required, path)
            table = table.rename_columns(header)
            return table.select([name for name in header if name in text]) if only_text else table
        return _read_csv(path, text, required, only_text, options)


def read_header(path: Path, options: TableOptions) -> list[str]:
    """The names of the columns, trimmed."""
    with _readable(path, options):
        if path.suffix.lower() == ".parquet":
            from pyarrow import parquet

            return _check_header(parquet.read_schema(path).names, (), path)
        return _check_header(_raw_header(path, options)[0], (), path)


def number_columns(path: Path, options: TableOptions) -> list[str]:
    """The columns that hold numbers, by the first row of a CSV and by the types of a Parquet file."""
    with _readable(path, options):
        if path.suffix.lower() == ".parquet":
            from pyarrow import parquet

            fields = parquet.read_schema(path)
            return [field.name.strip() for field in fields if pa.types.is_primitive(field.type)]
        raw, row, _ = _first_lines(path, options)
        return [name.strip() for name, cell in zip(raw, row, strict=False) if as_number(cell.strip()) is not None]


@contextmanager
def _readable(path: Path, options: TableOptions) -> Iterator[None]:
    """Errors of the parsers as ours."""
    if not path.is_file():
        raise DataError(f"the file {path} does not exist; check the path")
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError, csv.Error) as error:
        reason = (str(error).splitlines() or [""])[0]
        if path.suffix.lower() != ".parquet" and (isinstance(error, UnicodeError) or "invalid UTF8" in reason):
            raise DataError(
                f"cannot read {path}: its characters are not {options.encoding} ({reason}); say what they are, as in "
                "--encoding latin-1 or --encoding cp1252"
            ) from error
        raise DataError(f"cannot read {path}: {reason}; it must be a table with a header") from error


def _raw_header(path: Path, options: TableOptions) -> tuple[list[str], str]:
    """The cells of the first line, and what separates them."""
    raw, _, separator = _first_lines(path, options)
    return raw, separator


def _first_lines(path: Path, options: TableOptions) -> tuple[list[str], list[str], str]:
    """The cells of the first line and of the next, and what separates them."""
    encoding = "utf-8-sig" if _is_utf8(options) else options.encoding
    with open(path, encoding=encoding, newline="") as file:
        first = file.readline(LONGEST_HEADER)
        separator = options.sep or _separator(first, "\t" if path.suffix.lower() == ".tsv" else ",")
        file.seek(0)
        lines = csv.reader(file, delimiter=separator)
        raw, row = next(lines, []), next(lines, [])
    if not raw:
        raise DataError(f"{path} is empty; write a header and one row per node or edge")
    return raw, row, separator


def _separator(header: str, usual: str) -> str:
    """What cuts a header into most cells, the usual one where several do."""
    cells = {sep: len(next(csv.reader([header], delimiter=sep), [])) for sep in (usual, *SEPARATORS)}
    return max(cells, key=lambda sep: cells[sep])


def _is_utf8(options: TableOptions) -> bool:
    return codecs.lookup(options.encoding).name in ("utf-8", "utf-8-sig")


def _read_csv(
    path: Path, text: Collection[str], required: Sequence[str], only_text: bool, options: TableOptions
) -> pa.Table:
    from pyarrow import csv as arrow

    raw, separator = _raw_header(path, options)
    header = _check_header(raw, required, path)
    types = [pa.string() if name in text else pa.float64() for name in header]
    keep = [name for name in raw if name.strip() in text] if only_text else raw
    encoding = "utf8" if _is_utf8(options) else options.encoding
    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    def read(column_types: list[pa.DataType]) -> pa.Table:
        table = arrow.read_csv(
            path,
            # in threads, a ragged row would not know its number
            read_options=arrow.ReadOptions(use_threads=False, encoding=encoding),
            parse_options=arrow.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=refuse),
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
        return read([pa.string()] * len(header))  # some column is not of numbers


def _check_header(raw: list[str], required: Sequence[str], path: Path) -> list[str]:
    """The columns' names, trimmed; all distinct, and all that are required."""
    header = [name.strip() for name in raw]
    twice = [name for i, name in enumerate(header) if name in header[:i]]
    if twice:
        raise DataError(f"{path} has two columns named {twice[0]!r}; rename one of them")
    for name in required:
        if name not in header:
            raise no_column(path, name, header)
    return header


def no_column(what: Any, name: str, header: Sequence[str], cure: str = "Rename the column or add it") -> DataError:
    """The error for a column that is not there."""
    shown = ", ".join(header[:20]) + (f" and {len(header) - 20} more" if len(header) > 20 else "")
    return DataError(f"{what} has no column {name!r}; it has {shown}. {cure}")


def id_columns(names: Sequence[str], taken: Collection[str]) -> list[str]:
    """Columns that may hold the nodes' ids, the likeliest first.

    >>> id_columns(["name", "age", "employee_id", "label"], ["label"])
    ['employee_id', 'name']
    >>> id_columns(["ID", "employee_id"], [])
    ['ID']
    """
    free = [name for name in names if name not in taken]
    plain = [name for name in free if name == "id"] or [name for name in free if name.lower() == "id"]
    if plain:
        return plain[:1]
    known = [name for usual in NODE_IDS[:-1] for name in free if name.lower().replace(" ", "_") == usual]
    ends = [name for name in free if name.lower().endswith(("_id", " id")) or name.endswith("Id")]
    return list(dict.fromkeys([*known, *ends, *(name for name in free if name.lower() == NODE_IDS[-1])]))


def end_columns(names: Sequence[str], what: Any, options: TableOptions) -> tuple[str, str]:
    """The columns of a table of edges where an edge begins and ends."""
    lower = {name.lower(): name for name in reversed(names)}
    pairs = [(a + more, b + more) for more in ("", "_id", "id") for a, b in ENDS]
    found = next(((lower[a], lower[b]) for a, b in pairs if a in lower and b in lower), ("source", "target"))
    chosen = (options.source or found[0], options.target or found[1])
    for name, option in zip(chosen, ("--source", "--target"), strict=True):
        if name not in names:
            raise no_column(what, name, names, f"Say which column it is with {option}, or add it")
    return chosen


def text_column(table: pa.Table, name: str, path: Path) -> pa.ChunkedArray:
    """A column of ids as trimmed strings; none may be empty."""
    column = pc.utf8_trim_whitespace(as_text(table[name], name))
    empty = pc.fill_null(pc.equal(column, ""), True)
    if pc.any(empty).as_py():
        row = pc.index(empty, True).as_py()
        raise GraphError(f"{path} line {row + 2} has no {name}; fill it in or drop the row")
    return column


def as_text(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column of this name as strings; whole numbers are written without a point, however they are stored."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    try:
        return pc.cast(without_points(column), pa.string())
    except pa.ArrowException as error:
        raise GraphError(f"the column {name!r} holds values of the type {column.type}; write ids as text") from error
