"""Tables 1 and 2 on the one fixed split that the paper's authors ship of four graphs, and what that split is worth."""

from __future__ import annotations

from dataclasses import replace

from agssl.bench.accuracy import ONE, TWO, AccuracyTable
from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.cells import BENCHMARK, Cell
from agssl.bench.records import Records
from agssl.bench.scope import PAPER_DATASETS, STRATEGIES, Scope
from agssl.bench.tables import MISSING, Entry, Sheet, Table
from agssl.data.authors import AUTHORS, WITH_AUTHORS

PAIRED = (
    "All seeds share the authors' one split, so deviations here and intervals of paired differences to GCN are about "
    "training noise alone. Those of random splits are about splits as well."
)
NOTHING = f"Nothing to show: the authors' split is of {', '.join(WITH_AUTHORS)}."


def on_authors(scope: Scope) -> Scope:
    """The same on the authors' split, of the graphs that have one."""
    wanted = scope.datasets_or(PAPER_DATASETS)
    return replace(scope, datasets=tuple(name for name in wanted if name in WITH_AUTHORS), split=AUTHORS)


def split_worth(table: AccuracyTable, scope: Scope, records: Records, strategy: str) -> Sheet:
    """How much of the difference to the paper is the split's: our means on both, for each method and dataset.

    Args:
        table: whose methods.
        scope: on the authors' split.
        records: of both kinds of split.
        strategy: jt or pf.
    """
    entries = table.entries(scope, records, strategy)
    drawn = {(e.row, e.column): e for e in table.entries(replace(scope, split=BENCHMARK), records, strategy)}
    rows = list(dict.fromkeys(entry.row for entry in entries))
    columns = list(dict.fromkeys(entry.column for entry in entries))
    at = {(entry.row, entry.column): entry for entry in entries}
    return Sheet(
        f"{table.title}, {STRATEGIES[strategy]}: the mean on the authors' split minus that on random splits (in "
        "brackets ours minus the paper's: on random splits, then on the authors')",
        ("", *columns),
        tuple((row, *(_worth(at[row, c], drawn.get((row, c))) for c in columns)) for row in rows),
    )


def _worth(entry: Entry, drawn: Entry | None) -> str:
    if entry.mean is None or drawn is None or drawn.mean is None:
        return MISSING
    gaps = [one.difference for one in (drawn, entry)]
    brackets = "".join(f" ({first:+z.2f}, {second:+z.2f})" for first, second in [gaps] if None not in gaps)
    return f"{entry.mean - drawn.mean:+z.2f}{brackets}"


def _artifact(table: AccuracyTable, title: str) -> Artifact:
    table = replace(table, title=f"{table.title} on the authors' split", paired=PAIRED)

    def cells(scope: Scope) -> list[Cell]:
        return table.cells(on_authors(scope), curves=False)

    def render(scope: Scope, records: Records) -> Rendered:
        here = on_authors(scope)
        if not here.datasets:
            return Rendered(Table(notes=[NOTHING]))
        rendered = table.render(here, records)
        worth = [split_worth(table, here, records, strategy) for strategy in table.strategies(here)]
        return replace(rendered, table=replace(rendered.table, sheets=[*rendered.table.sheets, *worth]))

    return Artifact(title, cells, render)


TABLE1 = _artifact(ONE, "Table 1 on the authors' split")
TABLE2 = _artifact(TWO, "Table 2 on the authors' split")
