"""What is fitted to the columns of a table, as plain data: JSON in a model file, never a pickle."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

KINDS = ("number", "boolean", "category", "hash", "date", "text", "dropped")
LINES = 20  # columns that are described one by one; more are grouped
DATE_PARTS = ("days", "month sin", "month cos")


@dataclass(frozen=True)
class Column:
    """One column and its encoding.

    Args:
        name: its name in the table.
        kind: one of `KINDS`.
        fill: of numbers and dates, what a missing value becomes: the median.
        flag: whether one more feature says where the value is missing.
        mean: of numbers and dates; subtracted.
        scale: of numbers and dates; divided by.
        decimal: of numbers in text: "." or ",".
        format: of dates in text, as for `strptime`.
        values: of categories and text: one feature each.
        idf: of text: the weight of each word.
        buckets: of hashed categories.
        why: of dropped columns: the reason.

    >>> Column("city", "category", values=("Bonn", "Rome"), flag=True).features
    ('city=Bonn', 'city=Rome', 'city missing')
    """

    name: str
    kind: str
    fill: float = 0.0
    flag: bool = False
    mean: float = 0.0
    scale: float = 1.0
    decimal: str = "."
    format: str = ""
    values: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()
    buckets: int = 0
    why: str = ""

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that it becomes."""
        made: Iterable[str] = {
            "number": (self.name,),
            "boolean": (self.name,),
            "category": (f"{self.name}={value}" for value in self.values),
            "hash": (f"{self.name}#{bucket}" for bucket in range(self.buckets)),
            "date": (f"{self.name} {part}" for part in DATE_PARTS),
            "text": (f"{self.name}:{word}" for word in self.values),
            "dropped": (),
        }[self.kind]
        return (*made, *([f"{self.name} missing"] if self.flag else []))

    @property
    def as_it_is(self) -> bool:
        """Whether the feature is the very number in the table."""
        return self.kind == "number" and (self.mean, self.scale, self.flag) == (0.0, 1.0, False)

    def describe(self) -> str:
        """What it becomes, in words."""
        changed = "scaled" if self.mean == 0 else "standardised"
        words = {
            "number": "number as it is" if (self.mean, self.scale) == (0.0, 1.0) else changed,
            "boolean": "boolean",
            "category": f"{len(self.values)} categories",
            "hash": f"categories, hashed to {self.buckets} features",
            "date": "date" + (f" ({self.format})" if "/" in self.format else ""),
            "text": f"text, TF-IDF of {len(self.values):,} words",
            "dropped": f"dropped ({self.why})",
        }[self.kind]
        words += ", decimal comma" if self.decimal == "," else ""
        filled = (
            ", missing values as the median and a flag" if self.kind in ("number", "date") else ", missing as a flag"
        )
        return words + (filled if self.flag else "")

    def check(self) -> None:
        """Insist on what `Columns.from_dict` can't know; raises TypeError or ValueError."""
        texts = (self.name, self.kind, self.decimal, self.format, self.why, *self.values)
        numbers = (self.fill, self.mean, self.scale, *self.idf)
        if not all(isinstance(text, str) for text in texts) or not isinstance(self.flag, bool):
            raise TypeError("a column has a name or value that is no text")
        if not all(isinstance(n, int | float) and math.isfinite(n) for n in numbers) or self.scale == 0:
            raise ValueError(f"the column {self.name!r} has a number that can't be right")
        if self.kind not in KINDS or self.decimal not in ".,":
            raise ValueError(f"the column {self.name!r} is of the unknown kind {self.kind!r}")
        if not isinstance(self.buckets, int) or (self.kind == "hash") != (0 < self.buckets <= 1 << 20):
            raise ValueError(f"the column {self.name!r} has {self.buckets!r} buckets")
        if len(self.idf) != (len(self.values) if self.kind == "text" else 0):
            raise ValueError(f"the column {self.name!r} has {len(self.idf)} weights for {len(self.values)} words")


@dataclass(frozen=True)
class Columns:
    """The encoding of a table: its columns in the order of their features.

    Args:
        columns: one entry per column of the table, dropped ones included.
        notes: more to tell the user, a line each.
        raw: the table itself, for models that encode it otherwise; not part of what is fitted.
    """

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = field(default=(), compare=False)
    raw: Any = field(default=None, compare=False, repr=False)  # pa.Table

    def __getstate__(self) -> dict[str, Any]:
        """For other processes, which need no table."""
        return {"columns": self.columns, "notes": self.notes, "raw": None}

    @cached_property
    def used(self) -> tuple[Column, ...]:
        """The columns that become features."""
        return tuple(column for column in self.columns if column.kind != "dropped")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that become features."""
        return tuple(column.name for column in self.used)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """Names of all features."""
        return tuple(feature for column in self.used for feature in column.features)

    @property
    def as_they_are(self) -> bool:
        """Whether the features are the very numbers in the table."""
        return all(column.as_it_is for column in self.used)

    @property
    def plain(self) -> bool:
        """Whether there is nothing to tell: every column is a number that is taken as it is."""
        return all(column.as_it_is for column in self.columns)

    def lines(self) -> list[str]:
        """What every column becomes, one line each; of very many columns, those alike share a line.

        >>> Columns((Column("age", "number", mean=40.0, scale=9.0), Column("member", "boolean"))).lines()
        ['age: standardised', 'member: boolean']
        """
        if len(self.columns) <= LINES:
            return [*self.notes, *(f"{column.name}: {column.describe()}" for column in self.columns)]
        alike = Counter(column.describe() for column in self.columns)
        first = {column.describe(): column.name for column in reversed(self.columns)}
        grouped = [
            f"{first[words]}: {words}" if n == 1 else f"{first[words]} and {n - 1:,} more: {words}"
            for words, n in alike.items()
        ]
        if len(grouped) > LINES:
            grouped = [*grouped[:LINES], f"and {len(grouped) - LINES:,} more kinds of columns"]
        return [*self.notes, *grouped]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; what is as by default is left out."""
        return {"columns": [_without_defaults(column) for column in self.columns]}

    @classmethod
    def from_dict(cls, value: Any) -> Columns:
        """What `to_dict` gave; anything else is a TypeError, ValueError or KeyError."""
        columns = []
        for entry in value["columns"]:
            lists = {key: tuple(entry[key]) for key in ("values", "idf") if key in entry}
            columns.append(Column(**(entry | lists)))
            columns[-1].check()
        if len({column.name for column in columns}) < len(columns):
            raise ValueError("two columns have one name")
        return cls(tuple(columns))


def _without_defaults(column: Column) -> dict[str, Any]:
    defaults = {f.name: f.default for f in dataclasses.fields(Column)}
    values = {name: getattr(column, name) for name in defaults}
    return {name: value for name, value in values.items() if value != defaults[name]}
