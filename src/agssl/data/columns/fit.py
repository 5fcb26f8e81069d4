"""Fit the encoding of a table's columns, and encode them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from agssl.base.errors import GraphError
from agssl.data.columns import parse
from agssl.data.columns.apply import Block, block, join
from agssl.data.columns.guess import Parsed, forced, guess
from agssl.data.columns.options import TableOptions
from agssl.data.columns.parse import Where
from agssl.data.columns.plain import Column, Columns
from agssl.data.columns.words import fit_words

LARGE = 20.0  # of a mean or a standard deviation: beyond, numbers swamp the others
SPREAD = 30.0  # largest over smallest standard deviation, up to which numbers are of one scale
BUCKETS = 128  # features of hashed categories


def fit_columns(
    table: pa.Table, where: Where, options: TableOptions | None = None, notes: Sequence[str] = ()
) -> tuple[Columns, Block]:
    """The encoding of a table of raw feature columns, and its features, float64 [N, d] or sparse float32.

    Args:
        table: one column per raw feature.
        where: names a row in messages.
        options: what the user says of columns; the rest is decided by type and values.
        notes: further lines for the user.

    >>> table = pa.table({"age": [31, 47, 25, 60], "city": ["Bonn", "Rome", None, "Rome"]})
    >>> columns, x = fit_columns(table, lambda row: f"row {row}")
    >>> columns.lines()
    ['age: standardised', 'city: 2 categories, missing as a flag']
    >>> x.shape, columns.features
    ((4, 4), ('age', 'city=Bonn', 'city=Rome', 'city missing'))
    """
    options = options or TableOptions()
    options.check_names(table.column_names, "the table")
    columns: list[Column] = []
    blocks: dict[str, Block] = {}
    numbers: dict[str, np.ndarray] = {}
    for name in table.column_names:
        parsed = _parsed(table[name], name, where, options)
        column = _fit(name, parsed)
        columns.append(column)
        if column.kind == "number":
            assert parsed.numbers is not None
            numbers[name] = parsed.numbers
        elif column.kind != "dropped":
            blocks[name] = block(column, parsed)
    scales = _scales(numbers) if options.encode else {}
    for i, column in enumerate(columns):
        if column.name in numbers:
            mean, scale = scales.get(column.name, (0.0, 1.0))
            columns[i] = dataclasses.replace(column, mean=mean, scale=scale)
            blocks[column.name] = block(columns[i], Parsed("number", numbers.pop(column.name)))
    fitted = Columns(tuple(columns), tuple(notes))
    if not fitted.used:
        found = "; ".join(fitted.lines())
        raise GraphError(f"no column is left to learn from ({found}); add columns, or name them in --categorical ...")
    x = join([blocks[name] for name in fitted.names])
    return (fitted if fitted.as_they_are else dataclasses.replace(fitted, raw=table)), x


def _parsed(raw: pa.ChunkedArray, name: str, where: Where, options: TableOptions) -> Parsed:
    option = options.kind_of(name)
    if option == "drop":
        return Parsed("dropped", why="as asked")
    if not options.encode:
        array = parse.numbers(raw, name, where)
        if np.isnan(array).any():
            row = int(np.flatnonzero(np.isnan(array))[0])
            raise GraphError(
                f"{where(row)}: column {name!r} has no number; fill in or drop the missing values, or leave "
                "--no-encode out"
            )
        return Parsed("number", array)
    return guess(raw, name, where) if option is None else forced(raw, name, where, option)


def _fit(name: str, parsed: Parsed) -> Column:
    kind = parsed.kind
    if kind == "dropped":
        return Column(name, kind, why=parsed.why)
    flag = bool(parsed.missing.any()) and kind != "text"
    if kind in ("number", "date"):
        assert parsed.numbers is not None
        present = parsed.numbers[~np.isnan(parsed.numbers)]
        column = Column(name, kind, float(np.median(present)), flag, decimal=parsed.decimal, format=parsed.format)
        if kind == "date":
            mean, scale = float(present.mean()), float(present.std())
            column = dataclasses.replace(column, fill=float(np.floor(column.fill)), mean=mean, scale=scale or 1.0)
        return column
    if kind == "boolean":
        return Column(name, kind, flag=flag)
    assert parsed.texts is not None
    if kind == "text":
        words, idf = fit_words(parsed.texts)
        return (
            Column(name, kind, values=words, idf=idf) if words else Column(name, "dropped", why="no word occurs twice")
        )
    if kind == "hash":
        return Column(name, kind, flag=flag, buckets=BUCKETS)
    return Column(name, kind, flag=flag, values=tuple(sorted(parsed.texts.values.to_pylist())))


def _scales(columns: dict[str, np.ndarray]) -> dict[str, tuple[float, float]]:
    """Mean and scale of the columns of numbers that are to be changed.

    Columns of 0 and 1 are left alone, and so are all where no mean or standard deviation is beyond `LARGE` and the
    standard deviations are within a factor `SPREAD`. Otherwise all are standardised. A column of mostly zeros, as in a
    bag of words, is judged by itself: it is divided by the root mean square of its other values where that is beyond
    `LARGE`, so that zeros stay zeros.
    """
    changed: dict[str, tuple[float, float]] = {}
    dense: dict[str, tuple[float, float]] = {}
    spreads: list[float] = []
    for name, array in columns.items():
        present = array[~np.isnan(array)]
        used = present[present != 0]
        if 2 * len(used) < len(present):
            size = float(np.sqrt(np.mean(np.square(used)))) if len(used) else 0.0
            if size > LARGE:
                changed[name] = (0.0, size)
            continue
        mean, std = float(present.mean()), float(present.std())
        if std > 0:
            spreads.append(std)
        if not ((present == 0) | (present == 1)).all():
            dense[name] = (mean, std or 1.0)
    beyond = any(max(abs(mean), std) > LARGE for mean, std in dense.values())
    if beyond or (spreads and max(spreads) > SPREAD * min(spreads)):
        changed |= dense
    return changed
