"""One raw column as numbers, dates or distinct texts; what does not parse is named by its row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agssl.base.errors import GraphError

Where = Callable[[int], str]  # a row, in words: "nodes.csv line 7"

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-")
TRUE, FALSE = ("true", "t", "yes", "y"), ("false", "f", "no", "n")
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
DECIMAL_COMMA = r"^[+-]?\d*,\d+$"
THOUSANDS = r"^[+-]?\d{1,3},\d{3}$"  # could be either
DATE = r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ]|$)"
TIME_OF_DAY = r"^(\d{4}[-/]\d{1,2}[-/]\d{1,2})[T ]\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(Z|[+-]\d{2}:?\d{2}))?$"
FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y")
LARGEST = float(np.finfo(np.float32).max)
DAY = 86_400  # seconds


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts: its distinct values, trimmed, and which one each row has."""

    values: pa.Array  # string [D], distinct
    codes: np.ndarray  # int64 [N], -1 where there is none

    @cached_property
    def counts(self) -> np.ndarray:
        """Rows of each value, int64 [D]."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    @cached_property
    def words(self) -> tuple[np.ndarray, pa.Array]:
        """Words of two letters or digits and more, in lower case, and which value each is from."""
        lists = pc.split_pattern_regex(pc.utf8_lower(self.values), r"[^\p{L}\p{N}]+")
        words, parents = pc.list_flatten(lists), pc.list_parent_indices(lists)
        long = pc.greater(pc.utf8_length(words), 1)
        return parents.filter(long).to_numpy(zero_copy_only=False).astype(np.int32), words.filter(long)

    def row_of(self, values: np.ndarray) -> int:
        """The first row with one of these values, bool [D]."""
        return int(np.flatnonzero(np.append(values, False)[self.codes])[0])

    def at(self, row: int) -> str:
        """The value of a row that has one."""
        return str(self.values[int(self.codes[row])].as_py())

    def take(self, of_values: np.ndarray) -> np.ndarray:
        """Numbers per value to numbers per row; NaN where there is none."""
        return np.append(of_values.astype(np.float64), np.nan)[self.codes]


def texts(column: pa.ChunkedArray) -> Texts:
    """Any column as texts; whole numbers are written without a point, and words for "missing" are missing."""
    if pa.types.is_dictionary(column.type):
        return texts(pc.cast(column, column.type.value_type))
    encoded = _one_chunk(pc.cast(without_points(column), pa.large_string())).dictionary_encode()
    raw = pc.utf8_trim_whitespace(encoded.dictionary)
    raw = pc.if_else(pc.is_in(pc.utf8_lower(raw), value_set=pa.array(MISSING, pa.large_string())), None, raw)
    values = pc.drop_null(pc.unique(raw))
    to_value = pc.fill_null(pc.index_in(raw, value_set=values), -1).to_numpy(zero_copy_only=False)
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return Texts(values, np.append(to_value, -1).astype(np.int64)[codes])


def without_points(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of floats as integers, where all of them are whole; any other column as it is."""
    if not pa.types.is_floating(column.type):
        return column
    values = pc.cast(column, pa.float64()).to_numpy()
    present = values[~np.isnan(values)]
    if (np.abs(present) >= 2**53).any() or (present != np.floor(present)).any():
        return column
    return pc.cast(pa.chunked_array([pa.array(values, from_pandas=True)]), pa.int64())


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    chunk = column.combine_chunks()
    return pa.concat_arrays(chunk.chunks) if isinstance(chunk, pa.ChunkedArray) else chunk


def matches(values: pa.Array, pattern: str) -> np.ndarray:
    """Which values match, bool [D]."""
    return np.asarray(pc.match_substring_regex(values, pattern).to_numpy(zero_copy_only=False), dtype=bool)


def is_number_type(kind: pa.DataType) -> bool:
    """Whether values of the type are real numbers already."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_duration(kind))


def is_date_type(kind: pa.DataType) -> bool:
    """Whether values of the type are points in time already."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def check_type(column: pa.ChunkedArray, name: str) -> None:
    """Refuse what is neither number, date nor text."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    types = pa.types
    known = is_number_type(kind) or is_date_type(kind) or types.is_boolean(kind) or types.is_null(kind)
    if not (known or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
        raise GraphError(f"the column {name!r} holds values of the type {kind}; drop it, or spread it over columns")


def numbers(column: pa.ChunkedArray, name: str, where: Where, decimal: str = ".") -> np.ndarray:
    """A column of numbers as float64 [N], NaN where one is missing."""
    if pa.types.is_boolean(column.type) or is_number_type(column.type) or pa.types.is_null(column.type):
        if pa.types.is_duration(column.type):
            column = pc.cast(column, pa.int64())
        return check_finite(pc.cast(column, pa.float64(), safe=False).to_numpy(), name, where)
    found = texts(column)
    bad = ~matches(found.values, DECIMAL_COMMA + "|" + NUMBER if decimal == "," else NUMBER)
    if bad.any():
        row = found.row_of(bad)
        raise GraphError(
            f"{where(row)}: column {name!r} has {found.at(row)!r}, but features must be numbers; correct it, leave it "
            "empty, or drop the column"
        )
    return check_finite(found.take(parse_numbers(found.values, decimal)), name, where)


def parse_numbers(values: pa.Array, decimal: str = ".") -> np.ndarray:
    """Texts that match the pattern of numbers, as float64 [D]."""
    if decimal == ",":
        values = pc.replace_substring(values, ",", ".")
    try:
        return pc.cast(values, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:  # it does not know "+1" and "1."
        return np.array([float(value) for value in values.to_pylist()], dtype=np.float64)


def check_finite(array: np.ndarray, name: str, where: Where) -> np.ndarray:
    """The same array, NaN apart all within what 32-bit floats can hold."""
    bad = np.flatnonzero(np.abs(array) > LARGEST)
    if len(bad):
        value = array[bad[0]]
        cause = "is too large for 32-bit floats; rescale" if np.isfinite(value) else "is not a finite number; correct"
        raise GraphError(f"{where(int(bad[0]))}: column {name!r} has {value}, which {cause} it or drop the column")
    return array


def booleans(column: pa.ChunkedArray, name: str, where: Where) -> np.ndarray:
    """A column of truth values as 0 and 1, float64 [N], NaN where one is missing."""
    if pa.types.is_boolean(column.type):
        return pc.cast(column, pa.float64()).to_numpy()
    found = texts(column)
    words = {**dict.fromkeys((*TRUE, "1"), 1.0), **dict.fromkeys((*FALSE, "0"), 0.0)}
    truth = np.array([words.get(value.lower(), np.nan) for value in found.values.to_pylist()], dtype=np.float64)
    if np.isnan(truth).any():
        row = found.row_of(np.isnan(truth))
        raise GraphError(
            f"{where(row)}: column {name!r} has {found.at(row)!r}, but it is true or false; "
            "correct it or leave it empty"
        )
    return found.take(truth)


def dates(column: pa.ChunkedArray, name: str, where: Where, form: str) -> np.ndarray:
    """A column of dates as days since 1970, float64 [N], NaN where one is missing."""
    if is_date_type(column.type):
        seconds = pc.cast(pc.cast(column, pa.timestamp("s"), safe=False), pa.int64())
        return np.floor(pc.cast(seconds, pa.float64(), safe=False).to_numpy() / DAY)
    found = texts(column)
    days = parse_dates(found.values, form or FORMATS[0])
    if np.isnan(days).any():
        row = found.row_of(np.isnan(days))
        raise GraphError(
            f"{where(row)}: column {name!r} has {found.at(row)!r}, but it is a date like "
            f"{form or FORMATS[0]}; correct it or leave it empty"
        )
    return found.take(days)


def parse_dates(values: pa.Array, form: str) -> np.ndarray:
    """Texts as days since 1970, float64 [D], NaN where the format is another; the time of day is left out."""
    plain = pc.cast(pc.replace_substring_regex(values, TIME_OF_DAY, r"\1"), pa.string())
    found = pc.strptime(plain, format=form, unit="s", error_is_null=True)
    days = np.floor(pc.cast(pc.cast(found, pa.int64()), pa.float64(), safe=False).to_numpy(zero_copy_only=False) / DAY)
    return np.where(matches(values, DATE), days, np.nan)
