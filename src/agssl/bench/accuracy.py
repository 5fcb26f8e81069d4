"""Tables 1 and 2: accuracy of all methods on all datasets."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace

from agssl.bench import paper
from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.cells import Cell
from agssl.bench.methods import (
    AUTOSSL,
    AVERAGE,
    BEST,
    CROSSFIT,
    EQUAL,
    GCN,
    JOAO,
    LATER,
    LF,
    MIXED,
    RIVALS,
    SINGLE,
    TABLE_METHODS,
    TS,
    VANILLA,
    Method,
    labels_read,
)
from agssl.bench.records import Records
from agssl.bench.scope import PAPER_DATASETS, STRATEGIES, Scope, title_of
from agssl.bench.tables import (
    MISSING,
    Entry,
    Sheet,
    Table,
    accuracy_sheets,
    gain_text,
    mean_text,
    paper_text,
)

NO_FEATURES = (
    "ogbn-arxiv was not run: its node features were not to be had. With them (`agssl data get ogbn-arxiv`), the same "
    "command fills it."
)
PAIRED = (
    "Differences to GCN are paired by seed: both saw the same split. On Cora, Citeseer and Pubmed all seeds share the "
    "public split, so intervals there are about training noise alone."
)
CHOSEN = "epochs, alphas, a temperature"  # by validation labels, for every method; the last one changes no answer

_Paper = Callable[[str, str, str], paper.Published | None]


def with_gcn(scope: Scope, default: tuple[Method, ...]) -> tuple[Method, ...]:
    """The methods asked for, and GCN, which the others are compared with."""
    methods = scope.methods_or(default)
    return methods if GCN in methods else (GCN, *methods)


def wants_curves(method: Method) -> bool:
    """Whether the figures want the learning curves of a method."""
    return method in (LF, TS)


@dataclass(frozen=True)
class AccuracyTable:
    """A table of accuracies, by method and dataset."""

    title: str
    methods: tuple[Method, ...]
    published: _Paper
    extra: tuple[Method, ...] = ()  # rows that are there where they have been run
    whose: str = "the paper's"  # the published figures
    pretrained: bool = True  # whether there is a part on pre-training, too
    chosen: bool = True  # whether AGSSL is also shown with the scheme that validation chooses
    paired: str = PAIRED  # what differences to GCN are about

    def strategies(self, scope: Scope) -> tuple[str, ...]:
        """Those of its parts that are asked for."""
        return tuple(strategy for strategy in scope.strategies if self.pretrained or strategy == "jt")

    def rows(self, scope: Scope, records: Records) -> tuple[Method, ...]:
        """The methods asked for; else the usual ones, and others of which there is any record."""
        methods = with_gcn(scope, self.methods)
        if scope.methods is not None:
            return methods
        datasets = scope.datasets_or(PAPER_DATASETS)
        run = {
            method.name
            for method in self.extra
            if any(
                cell in records
                for strategy in self.strategies(scope)
                for cell in _all(scope, method, datasets, strategy)
            )
        }
        wanted = {method.name for method in methods} | run
        return tuple(method for name, method in TABLE_METHODS.items() if name in wanted)

    def cells(self, scope: Scope, curves: bool = True) -> list[Cell]:
        """What it needs; with the learning curves that figures show."""
        return [
            cell
            for dataset in scope.datasets_or(PAPER_DATASETS)
            for strategy in self.strategies(scope)
            for method in with_gcn(scope, self.methods)
            for cell in scope.cells(
                method, dataset, strategy, curves=curves and wants_curves(method) and strategy == "jt"
            )
        ]

    def entries(self, scope: Scope, records: Records, strategy: str) -> list[Entry]:
        """Its places, row by row."""
        return [
            Entry(
                method.title,
                title_of(dataset),
                len(scope.seeds_of(dataset)),
                paper=self.published(dataset, strategy, method.name),
                block=strategy,
            ).filled(records, scope.cells(method, dataset, strategy), scope.cells(GCN, dataset))
            for method in self.rows(scope, records)
            for dataset in scope.datasets_or(PAPER_DATASETS)
        ]

    def render(self, scope: Scope, records: Records) -> Rendered:
        """The table."""
        datasets, methods = scope.datasets_or(PAPER_DATASETS), self.rows(scope, records)
        sheets, rows = [], []
        for strategy in self.strategies(scope):
            entries, title = self.entries(scope, records, strategy), f"{self.title}, {STRATEGIES[strategy]}"
            sheets += accuracy_sheets(title, entries, whose=self.whose)
            rows += [entry.to_dict() for entry in entries]
            if self.chosen and LF in methods and TS in methods:
                chosen = [choose_scheme(scope, records, dataset, strategy, self.published) for dataset in datasets]
                sheets.append(_chosen_sheet(title, chosen))
        if any(row["mean"] is not None for row in rows):
            sheets.append(labels_sheet(self.title, scope, methods, datasets))
        return Rendered(Table(sheets, rows, [self.paired, *notes(methods), *arxiv_note(datasets, rows)]))


def _all(scope: Scope, method: Method, datasets: tuple[str, ...], strategy: str) -> list[Cell]:
    return [cell for dataset in datasets for cell in scope.cells(method, dataset, strategy)]


@dataclass(frozen=True)
class ChosenScheme:
    """AGSSL with whichever of its two schemes has the higher mean validation accuracy."""

    dataset: str
    scheme: Method | None  # None before both have been run
    entry: Entry
    paper_gain: float | None  # the paper's better scheme (by test) minus its GCN
    over_average: Entry  # the same, compared with the average of all teachers


def choose_scheme(scope: Scope, records: Records, dataset: str, strategy: str, published: _Paper) -> ChosenScheme:
    """LF or TS, chosen by validation on the seeds that both have; test accuracy has no say."""
    cells = {method: scope.cells(method, dataset, strategy) for method in (LF, TS)}
    found = {method: {record["seed"]: record["val"] for record in records.of(own)} for method, own in cells.items()}
    seeds = set(found[LF]) & set(found[TS])

    def mean(method: Method, name: str) -> float:
        return statistics.fmean(found[method][seed][name] for seed in seeds)

    scheme = max((LF, TS), key=lambda m: (mean(m, "accuracy"), -mean(m, "log_loss"))) if seeds else None
    theirs = [pair for method in (LF, TS) if (pair := published(dataset, strategy, method.name)) is not None]
    gcn = published(dataset, strategy, GCN.name)
    chosen = [] if scheme is None else cells[scheme]
    paper_best = max(theirs, default=None)
    blank = Entry("AGSSL", title_of(dataset), len(scope.seeds_of(dataset)))
    entry = replace(blank, paper=paper_best).filled(records, chosen, scope.cells(GCN, dataset))
    over_average = blank.filled(records, chosen, scope.cells(AVERAGE, dataset, strategy))
    paper_gain = None if paper_best is None or gcn is None else paper_best[0] - gcn[0]
    return ChosenScheme(dataset, scheme, entry, paper_gain, over_average)


def _chosen_sheet(title: str, chosen: list[ChosenScheme]) -> Sheet:
    header = ("", "scheme", "ours", "minus the paper's better one", "gain over GCN", "the paper's gain", "over Average")
    rows = tuple(
        (
            title_of(one.dataset),
            MISSING if one.scheme is None else one.scheme.title,
            mean_text(one.entry),
            paper_text(one.entry),
            gain_text(one.entry),
            _paper_gain(one),
            gain_text(one.over_average),
        )
        for one in chosen
    )
    return Sheet(f"{title}: AGSSL with LF or TS, chosen on each dataset by mean validation accuracy", header, rows)


def _paper_gain(one: ChosenScheme) -> str:
    if one.paper_gain is None:
        return "–"
    return f"{one.paper_gain:+z.2f}" if one.scheme is not None else f"{MISSING} ({one.paper_gain:+z.2f})"


def notes(methods: tuple[Method, ...]) -> list[str]:
    """Why some methods have no numbers."""
    return [f"{m.title} is missing: it is not part of this version." for m in methods if m.missing() is not None]


def labels_sheet(title: str, scope: Scope, methods: tuple[Method, ...], datasets: tuple[str, ...]) -> Sheet:
    """Which labels each method reads for what."""
    rows = []
    for method in methods:
        cells = [cell for dataset in datasets for cell in scope.cells(method, dataset)[:1]]
        texts = dict.fromkeys(labels_read(cell.settings) for cell in cells)
        if texts:
            more = ", or ".join(text for text in texts if text)
            rows.append((method.title, "learn", CHOSEN, more or "nothing"))
    header = ("", "training labels", "validation labels choose", "and decide on")
    return Sheet(f"{title}: which labels each method reads for what", header, tuple(rows), words=3)


def arxiv_note(datasets: tuple[str, ...], rows: list[dict]) -> list[str]:
    """Why ogbn-arxiv has no numbers, if it has none."""
    title = title_of("ogbn-arxiv")
    empty = all(row["mean"] is None for row in rows if row["column"] == title)
    return [NO_FEATURES] if "ogbn-arxiv" in datasets and empty else []


ONE = AccuracyTable(
    "Table 1",
    (GCN, *SINGLE, VANILLA, AUTOSSL, AVERAGE, LF, TS),
    paper.table1,
    extra=(*EQUAL, *MIXED, *CROSSFIT),
)
TWO = AccuracyTable(
    "Table 2",
    (GCN, SINGLE[2], *RIVALS, AVERAGE, LF, TS, *LATER),
    paper.table2,
    extra=(JOAO, *BEST),
    pretrained=False,
)
TABLE1 = Artifact("Table 1: single- and multi-task learning", ONE.cells, ONE.render)
TABLE2 = Artifact("Table 2: other self-supervised methods", TWO.cells, TWO.render)
