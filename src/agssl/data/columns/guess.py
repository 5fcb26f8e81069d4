"""What a column is: decided by its type and values; what could be two things is refused, not guessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agssl.base.errors import GraphError
from agssl.data.columns import parse
from agssl.data.columns.parse import Texts, Where, matches

ONE_HOT = 50  # categories up to which each has a feature of its own
SENTENCE = 3  # words of a value on average from which a column of many values is text
FEW_ROWS = 10  # below, all values may be different by chance
ID_NAMES = ("id", "ids", "uid", "uuid", "guid", "index", "row", "key", "unnamed: 0", "")


@dataclass(frozen=True, eq=False)
class Parsed:
    """A column of which it is known what it is."""

    kind: str  # as in `plain.KINDS`
    numbers: np.ndarray | None = None  # of numbers, booleans and dates (days), float64 [N], NaN where missing
    texts: Texts | None = None  # of categories and text
    decimal: str = "."
    format: str = ""
    why: str = ""

    @property
    def missing(self) -> np.ndarray:
        """Where there is no value, bool [N]."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        assert self.texts is not None
        return self.texts.codes < 0


def guess(column: pa.ChunkedArray, name: str, where: Where) -> Parsed:
    """What a column is."""
    parse.check_type(column, name)
    if pa.types.is_null(column.type):
        return Parsed("dropped", why="empty")
    if pa.types.is_dictionary(column.type):  # what pandas calls a category
        return forced(column, name, where, "categorical")
    if pa.types.is_boolean(column.type):
        return _boolean(parse.booleans(column, name, where))
    if parse.is_number_type(column.type):
        return _number(parse.numbers(column, name, where), name)
    if parse.is_date_type(column.type):
        return _date(parse.dates(column, name, where, ""), "")
    found = parse.texts(column)
    if not len(found.values):
        return Parsed("dropped", why="empty")
    if {value.lower() for value in found.values[:8].to_pylist()} <= {*parse.TRUE, *parse.FALSE} and _few(found, 8):
        return _boolean(parse.booleans(column, name, where))
    return _as_number(found, name, where) or _as_date(found, name, where) or _as_words(found)


def forced(column: pa.ChunkedArray, name: str, where: Where, option: str) -> Parsed:
    """The column as the user says it is: one of categorical, numeric, text."""
    parse.check_type(column, name)
    if option == "numeric":
        is_text = not (parse.is_number_type(column.type) or pa.types.is_boolean(column.type))
        decimal = "," if is_text and _decimal_comma(parse.texts(column).values) else "."
        array = parse.numbers(column, name, where, decimal)
        if np.isnan(array).all():
            return Parsed("dropped", why="empty")
        return Parsed("number", array, decimal=decimal)
    found = parse.texts(column)
    if not len(found.values):
        return Parsed("dropped", why="empty")
    if option == "text":
        return Parsed("text", texts=found)
    return Parsed("category" if _few(found, ONE_HOT) else "hash", texts=found)


def _few(found: Texts, most: int) -> bool:
    return len(found.values) <= most


def _boolean(truth: np.ndarray) -> Parsed:
    if np.isnan(truth).all():
        return Parsed("dropped", why="empty")
    if not np.isnan(truth).any() and truth.min() == truth.max():
        return Parsed("dropped", why="constant")
    return Parsed("boolean", truth)


def _number(array: np.ndarray, name: str, decimal: str = ".") -> Parsed:
    present = array[~np.isnan(array)]
    if not len(present):
        return Parsed("dropped", why="empty")
    if len(present) == len(array) and present.min() == present.max() and present[0] not in (0, 1):
        return Parsed("dropped", why="constant")  # 0 and 1 may be a word of a bag that nobody or everybody uses
    if _like_id(name) and len(array) >= FEW_ROWS and _all_different(array):
        return Parsed("dropped", why="all different, like an id")
    return Parsed("number", array, decimal=decimal)


def _like_id(name: str) -> bool:
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    return plain in {text.replace(" ", "_") for text in ID_NAMES} or plain.endswith("_id") or name.endswith("Id")


def _all_different(array: np.ndarray) -> bool:
    return bool((array == np.floor(array)).all() and len(np.unique(array)) == len(array))


def _date(days: np.ndarray, form: str) -> Parsed:
    present = days[~np.isnan(days)]
    if not len(present):
        return Parsed("dropped", why="empty")
    if len(present) == len(days) and present.min() == present.max():
        return Parsed("dropped", why="constant")
    return Parsed("date", days, format=form)


def _decimal_comma(values: pa.Array) -> bool:
    comma = matches(values, parse.DECIMAL_COMMA)
    return bool(comma.any() and (comma | matches(values, r"^[+-]?\d+$")).all())


def _as_number(found: Texts, name: str, where: Where) -> Parsed | None:
    fits = matches(found.values, parse.NUMBER)
    if fits.all():
        return _number(parse.check_finite(found.take(parse.parse_numbers(found.values)), name, where), name)
    if _decimal_comma(found.values):
        comma = matches(found.values, parse.DECIMAL_COMMA)
        if not (comma & ~matches(found.values, parse.THOUSANDS)).any():
            row = found.row_of(comma)
            raise GraphError(
                f"{where(row)}: column {name!r} has {found.at(row)!r}, which may be a decimal comma or thousands; "
                "write it with a point or without, or name the column in numeric (--numeric) if "
                "commas are decimal"
            )
        array = found.take(parse.parse_numbers(found.values, ","))
        return _number(parse.check_finite(array, name, where), name, ",")
    _refuse_odd(found, fits, name, where, "numbers")
    return None


def _as_date(found: Texts, name: str, where: Where) -> Parsed | None:
    like = matches(found.values, parse.DATE)
    if 2 * found.counts[like].sum() <= found.counts.sum():
        return None
    parsed = [(form, parse.parse_dates(found.values, form)) for form in parse.FORMATS]
    form, days = max(parsed, key=lambda one: int((~np.isnan(one[1])).sum()))  # the first of the best
    if not np.isnan(days).any():
        return _date(found.take(days), form)
    _refuse_odd(found, ~np.isnan(days), name, where, f"dates like {form}")
    return None


def _refuse_odd(found: Texts, fits: np.ndarray, name: str, where: Where, what: str) -> None:
    """Refuse a column that is mostly one thing: as categories, all of that would be lost silently."""
    if 2 * found.counts[fits].sum() <= found.counts.sum():
        return
    row = found.row_of(~fits)
    raise GraphError(
        f"{where(row)}: column {name!r} has {found.at(row)!r}, but most of it is {what}; "
        "correct it or leave it empty, or say what the column is: categorical, text or drop (--categorical ...)"
    )


def _as_words(found: Texts) -> Parsed:
    different, present = len(found.values), int(found.counts.sum())
    spaces = pc.count_substring(found.values, " ").to_numpy(zero_copy_only=False)
    average = float(((spaces + 1) * found.counts).sum() / present)
    written = 2 * found.counts[matches(found.values, r"\p{L}\p{L}")].sum() > present  # and no numbers of telephones
    if written and average >= SENTENCE and different > min(ONE_HOT, present / 2):
        return Parsed("text", texts=found)
    if different == 1 and present == len(found.codes):
        return Parsed("dropped", why="constant")
    if different == present and present >= FEW_ROWS:
        return Parsed("dropped", why="all different, like an id")
    return Parsed("category" if different <= ONE_HOT else "hash", texts=found)
