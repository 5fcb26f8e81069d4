"""`agssl bench beyond`: images and text as graphs of nearest neighbours, with few labels of each class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.cells import Cell
from agssl.bench.records import Records
from agssl.bench.scope import Scope, title_of
from agssl.bench.style import line_style, new_figure, tidy
from agssl.bench.tables import Entry, Table, accuracy_sheets
from agssl.bench.tabular import MOST, NEIGHBOURS
from agssl.config import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY, SEEDS = "beyond", 5
TABLES = {"digits": "Digits (images)", "cora": "Cora's words (text)"}
COUNTS = (10, 20, 30, 40, MOST)  # labels of each class


@dataclass(frozen=True, eq=False)
class Way:
    """A row: how the labels are used."""

    name: str
    title: str
    settings: Mapping[str, Any]
    by: str = "fit"

    def cells(self, scope: Scope, dataset: str, count: int) -> list[Cell]:
        """One for each seed; the settings of what is not fitted by AGSSL count for nothing."""
        settings = Settings().replace(**{"patience": 100, **scope.changes, **self.settings})
        study = f"{STUDY}:labels={count}:by={self.by}"
        seeds = range(SEEDS) if scope.seeds is None else scope.seeds
        return [Cell(dataset, self.name, settings, seed, whole=True, study=study) for seed in seeds]


GCN = Way("gcn", "GCN", {"method": "gcn"})
WAYS = (
    Way("logistic", "Logistic regression", {"method": "gcn"}, "logistic"),
    Way("spreading", "Label spreading", {"method": "gcn"}, "spreading"),
    GCN,
    Way("quick", "AGSSL quick", {"method": "agssl", "effort": "quick"}),
    Way("standard", "AGSSL standard", {"method": "agssl"}),
)
_NOTES = (
    "Digits are the 1,797 images of 8 x 8 pixels that come with scikit-learn. The text is the bag of words of Cora's "
    "2,708 papers with the citations dropped, as no table of text comes with what is installed: these papers were "
    "chosen since they cite each other, so words and classes may hang together more than in other texts.",
    f"So many rows of each class are told to every method, the same by seed; all but {MOST} of each class are asked, "
    f"the same rows for every number of labels. The graph links each row to the {NEIGHBOURS} most like it by cosine. "
    "The GCN and AGSSL are fitted as `agssl fit` does for a user: they hold labels out in turn, all else is default.",
    "Logistic regression has rows of unit length and a strength by cross-validation; label spreading is scikit-learn's "
    "on the same rows, the number of neighbours and their share by cross-validation.",
)


def _asked(scope: Scope) -> list[Way]:
    return [way for way in WAYS if scope.methods is None or way is GCN or way.name in scope.methods]


def _cells(scope: Scope) -> list[Cell]:
    tables = scope.datasets_or(TABLES)
    return [cell for table in tables for n in COUNTS for way in _asked(scope) for cell in way.cells(scope, table, n)]


def _entries(scope: Scope, records: Records, table: str) -> list[Entry]:
    """Accuracies of each way with each number of labels, paired with the GCN's."""

    def scores(way: Way, count: int) -> dict[int, float]:
        return {r["seed"]: 100 * r["accuracy"] for r in records.of(way.cells(scope, table, count))}

    entries = []
    for count in COUNTS:
        base, wanted = scores(GCN, count), len(GCN.cells(scope, table, count))
        for way in _asked(scope):
            own = scores(way, count)
            gains = tuple(value - base[seed] for seed, value in own.items() if seed in base)
            entries.append(Entry(way.title, str(count), wanted, own, gains, block=table))
    return entries


def _title(table: str) -> str:
    return TABLES.get(table, title_of(table))


def _render(scope: Scope, records: Records) -> Rendered:
    found = {table: _entries(scope, records, table) for table in scope.datasets_or(TABLES)}
    sheets = [
        sheet
        for table, entries in found.items()
        for sheet in accuracy_sheets(
            f"{_title(table)}, by labels of a class", entries, paper_too=False, what="accuracy on hidden rows in %"
        )
    ]
    rows = [entry.to_dict() for entries in found.values() for entry in entries]
    return Rendered(Table(sheets, rows, [*_NOTES]), {"beyond": lambda: draw_labels_needed(found)})


def draw_labels_needed(found: Mapping[str, list[Entry]]) -> Figure:
    """Accuracy against labels of a class, a panel for each table."""
    found = {
        table: entries for table, entries in found.items() if any(one.mean is not None for one in entries)
    } or found
    figure = new_figure(5 * len(found), 3.8)
    for axes, (table, entries) in zip(figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True):
        for row in dict.fromkeys(entry.row for entry in entries):
            points = [(int(e.column), e.mean, e.std or 0.0) for e in entries if e.row == row and e.mean is not None]
            if points:
                at, means, spreads = zip(*points, strict=True)
                how: dict[str, Any] = {"linewidth": 1.4, "markersize": 5, "capsize": 2, "elinewidth": 0.7}
                axes.errorbar(at, means, yerr=spreads, label=row, **how, **line_style(row))
        tidy(axes, _title(table), "labels of a class", "accuracy on hidden rows in %")
        axes.legend(fontsize=8, frameon=False)
    return figure


BEYOND = Artifact(
    "Beyond graphs: tables with few labels",
    _cells,
    _render,
    figures=True,
    methods=tuple(way.name for way in WAYS),
)
