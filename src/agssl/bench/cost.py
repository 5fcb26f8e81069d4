"""Table A3: time and peak memory of joint training and AGSSL, each fit in a process of its own."""

from __future__ import annotations

import statistics

from agssl.bench import paper
from agssl.bench.accuracy import arxiv_note
from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.cells import Cell
from agssl.bench.methods import LF, TS, VANILLA, Method
from agssl.bench.records import Records
from agssl.bench.scope import PAPER_DATASETS, Scope, title_of
from agssl.bench.tables import MISSING, Entry, Sheet, Table, some_seeds

_METHODS = ((VANILLA, "JOINT-T", "joint-t"), (LF, "AGSSL-LF", "agssl-lf"), (TS, "AGSSL-TS", "agssl-ts"))
_WHAT = {
    "seconds": "training time in seconds",
    "cpu_seconds": "processor time in seconds",
    "peak_mb": "peak memory in MB",
}
_SEEDS = 3
_NOTE = (
    "Each fit ran alone in a new process, with nothing trained before it taken from a cache; the tasks' targets "
    "(partitions, clusters) were computed beforehand. Time is that of the fit, memory is the peak of the whole "
    "process, Python and the graph included. The paper measured on a GPU: its figures say how methods compare, no more."
)


def _cells_of(scope: Scope, method: Method, dataset: str) -> list[Cell]:
    return scope.at_most(_SEEDS).cells(method, dataset, cost=True)


def _asked(scope: Scope) -> list[tuple[Method, str, str]]:
    return [row for row in _METHODS if scope.methods is None or row[0].name in scope.methods]


def _cells(scope: Scope) -> list[Cell]:
    datasets = scope.datasets_or(PAPER_DATASETS)
    return [
        cell for dataset in datasets for method, _, _ in _asked(scope) for cell in _cells_of(scope, method, dataset)
    ]


def _render(scope: Scope, records: Records) -> Rendered:
    datasets, sheets, rows = scope.datasets_or(PAPER_DATASETS), [], []
    for what, words in _WHAT.items():
        texts = []
        for method, title, name in _asked(scope):
            line = [title]
            for dataset in datasets:
                cells = _cells_of(scope, method, dataset)
                values = {r["seed"]: r[what] for r in records.of(cells) if r[what] is not None}
                published = paper.table_a3(dataset, name, what)
                entry = Entry(title, title_of(dataset), len(cells), values, block=what)
                rows.append(entry.to_dict() | {"paper_mean": published})
                line.append(_text(entry, published))
            texts.append(tuple(line))
        header = ("", *map(title_of, datasets))
        quoted = "" if what == "cpu_seconds" else " (the paper's in brackets)"
        sheets.append(Sheet(f"Table A3: {words}{quoted}", header, tuple(texts)))
    measured = any(row["mean"] is not None for row in rows)
    return Rendered(Table(sheets, rows, [_NOTE, *arxiv_note(datasets, rows)] if measured else []))


def seconds_of(scope: Scope, records: Records, method: Method, dataset: str) -> float | None:
    """Processor time of a fit, the mean over seeds; None where it was not measured."""
    found = [record["cpu_seconds"] for record in records.of(_cells_of(scope, method, dataset))]
    return statistics.fmean(found) if found else None


def _text(entry: Entry, published: float | None) -> str:
    digits = 0 if entry.block == "peak_mb" else 1
    ours = MISSING if entry.mean is None else f"{entry.mean:,.{digits}f}"
    spread = f" ± {entry.std:,.{digits}f}" if entry.std is not None else ""
    some = "" if entry.mean is None else some_seeds(len(entry.scores), entry.wanted)
    return ours + spread + some + ("" if published is None else f" ({published:,.{digits}f})")


TABLE_A3 = Artifact("Table A3: time and memory", _cells, _render)
