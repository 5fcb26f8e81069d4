"""Tables without what was never run: rows and columns with nothing in them go, and a note says which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agssl.bench.tables import Sheet, Table

_EMPTY = re.compile(r"(missing|not in the paper|not published)( \(.*\))?|–|")
_SUMMARY = "average rank"  # columns that sum up the others


def trimmed(table: Table) -> Table:
    """The table without rows and columns of which nothing was run; they are named in its last note."""
    sheets, gone = [], dict[str, None]()
    for sheet in table.sheets:
        width = range(1, len(sheet.header))
        told = [c for c in width if not sheet.header[c].startswith(_SUMMARY)]
        rows = [r for r, row in enumerate(sheet.rows) if not _blank([row[c] for c in told])]
        columns = [c for c in width if not _blank([sheet.rows[r][c] for r in rows])]
        absent = [row[0] for r, row in enumerate(sheet.rows) if r not in rows and _not_run(row)]
        absent += [
            sheet.header[c] for c in told if rows and c not in columns and _not_run(row[c] for row in sheet.rows)
        ]
        gone |= dict.fromkeys(absent)
        if rows and columns:
            sheets.append(_part(sheet, rows, [0, *columns]))
    if not sheets:
        return replace(table, sheets=[], notes=["Nothing of this was run yet."] if table.sheets else table.notes)
    shown = {name for sheet in sheets for name in (*sheet.header, *(row[0] for row in sheet.rows))}
    names = [name for name in gone if name and name not in shown]
    note = [f"Left out, since nothing of it was run: {', '.join(names)}."] if names else []
    return replace(table, sheets=sheets, notes=[*table.notes, *note])


def _blank(cells: Sequence[str]) -> bool:
    return all(_EMPTY.fullmatch(cell) for cell in cells)


def _not_run(cells: Iterable[str]) -> bool:
    return any(cell.startswith("missing") for cell in cells)


def _part(sheet: Sheet, rows: Sequence[int], columns: Sequence[int]) -> Sheet:
    return replace(
        sheet,
        header=tuple(sheet.header[c] for c in columns),
        rows=tuple(tuple(sheet.rows[r][c] for c in columns) for r in rows),
        best=frozenset((rows.index(r), columns.index(c)) for r, c in sheet.best if r in rows and c in columns),
    )
