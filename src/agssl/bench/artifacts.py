"""Everything that `agssl bench` can make, by name: which cells it needs, and what it shows of their records.

To add one, write a `Thing` and add it below: `THINGS.add("fig9", Thing(...))`. One whose numbers don't come from cells
brings its own `compute`, which keeps what it finds below the folder of results, so that it too goes on where it was;
its `show` finds that folder as `records.folder`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agssl.base.registry import Registry
from agssl.bench.cells import Cell, Record, Records
from agssl.bench.methods import Method
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
    sources: Sequence[Record] = ()  # what the numbers come from, if not from cells


def nothing_of(methods: Iterable[Method]) -> Rendered:
    """What a figure shows if none of the methods that it is about is asked for."""
    return Rendered(Table(notes=[f"Nothing to show: this is about {', '.join(m.name for m in methods)}."]))


@dataclass(frozen=True)
class Artifact:
    """A table or figure."""

    title: str
    cells: Callable[[Scope], list[Cell]]
    show: Callable[[Scope, Records], Rendered]
    figures: bool = False  # whether it needs the extra `plot`
    compute: Callable[[Scope, Path, Say], None] | None = None  # own work beside cells: scope, results folder, progress


ARTIFACTS: Registry[Artifact] = Registry("table or figure", "agssl.bench")


def load_artifacts() -> Registry[Artifact]:
    """The registry, filled."""
    from agssl.bench import accuracy, claims, cost, ranking, schemes, weights

    for module in (accuracy, cost, ranking, weights, schemes, claims):
        for name, thing in module.ARTIFACTS.items():
            if name not in ARTIFACTS:
                ARTIFACTS.add(name, thing)
    return ARTIFACTS
