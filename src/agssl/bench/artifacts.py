"""What a table or figure of `agssl bench` is: which cells it needs, and what it shows of their records.

To add one, write an `Artifact` and a line in `agssl.bench.catalog`. One whose numbers don't come from cells brings its
own `compute`, which keeps what it finds below the folder of results, so that it too goes on where it was; its `render`
finds that folder as `records.folder`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agssl.bench.cells import Cell
from agssl.bench.methods import TABLE_METHODS, Method
from agssl.bench.records import CellRecord, Records
from agssl.bench.scope import Scope
from agssl.bench.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[[], "Figure"]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Rendered:
    """What came out: tables in text, and figures that are drawn when asked for."""

    table: Table
    figures: Mapping[str, Draw] = field(default_factory=dict)  # by file name, without its ending
    sources: Sequence[CellRecord] = ()  # what the numbers come from, if not from cells


def nothing_of(methods: Iterable[Method]) -> Rendered:
    """What a figure shows if none of the methods that it is about is asked for."""
    return Rendered(Table(notes=[f"Nothing to show: this is about {', '.join(m.name for m in methods)}."]))


@dataclass(frozen=True)
class Artifact:
    """A table or figure."""

    title: str
    cells: Callable[[Scope], list[Cell]]
    render: Callable[[Scope, Records], Rendered]
    figures: bool = False  # whether it needs the extra `plot`
    compute: Callable[[Scope, Path, Say], None] | None = None  # own work beside cells: scope, results folder, progress
    methods: Iterable[str] = tuple(TABLE_METHODS)  # that `--methods` may name
    listing: Callable[[Scope, Records], list[dict[str, Any]]] | None = None  # all that `--json` is to print of it
