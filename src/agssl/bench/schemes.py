"""Table A2 and Figure 8: integration schemes against the number of teachers; sensitivity to alpha and beta."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agssl.bench import paper
from agssl.bench.accuracy import notes, with_gcn
from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.cells import Cell
from agssl.bench.methods import GCN, HEURISTICS, LF, TS, Method
from agssl.bench.records import Records
from agssl.bench.scope import CLOSE_UPS, Scope, title_of
from agssl.bench.style import empty, line_style, new_figure, tidy
from agssl.bench.tables import Entry, Sheet, Table, accuracy_sheets, mean_text
from agssl.config import PAPER_TASKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WEIGHTS = (0.1, 0.5, 1.0, 5.0, 10.0, 20.0, 30.0)  # the paper's grid of alpha and beta
_SCHEMES = (*HEURISTICS, LF, TS)
_SEEDS = 5  # of the sensitivity
_ONE_TEACHER = (
    "With one teacher (PAR) the paper repeats that teacher's own accuracy. Ours is that of a student distilled from "
    "it, so that what distillation itself gives is not put down to having more teachers."
)


def _schemes(scope: Scope) -> list[Method]:
    """Those of the methods asked for that integrate teachers."""
    return [method for method in scope.methods_or(_SCHEMES) if method.changes["method"] == "agssl"]


def _teachers(scope: Scope, method: Method, dataset: str, count: int) -> list[Cell]:
    if count == len(PAPER_TASKS):
        return scope.cells(method, dataset, curves=method in (LF, TS))  # the cells of Table 1
    return scope.cells(method, dataset, tasks=PAPER_TASKS[:count])


def _cells_a2(scope: Scope) -> list[Cell]:
    datasets, counts = scope.datasets_or(CLOSE_UPS), range(1, len(PAPER_TASKS) + 1)
    cells = [cell for dataset in datasets for cell in scope.cells(GCN, dataset)]
    return cells + [
        cell
        for dataset in datasets
        for count in counts
        for method in _schemes(scope)
        for cell in _teachers(scope, method, dataset, count)
    ]


def _entries_a2(scope: Scope, records: Records) -> dict[str, list[Entry]]:
    """By dataset: each scheme with each number of teachers."""
    return {
        dataset: [
            Entry(
                method.title,
                f"{count} (+{PAPER_TASKS[count - 1].upper()})",
                len(scope.seeds_of(dataset)),
                paper=paper.table_a2(dataset, method.name, count),
                block=dataset,
            ).filled(records, _teachers(scope, method, dataset, count), scope.cells(GCN, dataset))
            for method in _schemes(scope)
            for count in range(1, len(PAPER_TASKS) + 1)
        ]
        for dataset in scope.datasets_or(CLOSE_UPS)
    }


def _render_a2(scope: Scope, records: Records) -> Rendered:
    sheets, rows = [], []
    for dataset, entries in _entries_a2(scope, records).items():
        published = any(entry.paper for entry in entries)
        sheets += accuracy_sheets(f"Table A2, {title_of(dataset)}, teachers", entries, published)
        rows += [entry.to_dict() for entry in entries]
    return Rendered(Table(sheets, rows, [_ONE_TEACHER, *notes(with_gcn(scope, _SCHEMES))]))


def _sensitivity(scope: Scope, method: Method, dataset: str, name: str, value: float) -> list[Cell]:
    change: dict[str, Any] = {name: value}
    return scope.at_most(_SEEDS).cells(method, dataset, **change)


def _cells8(scope: Scope) -> list[Cell]:
    return _cells_a2(scope) + [
        cell
        for dataset in scope.datasets_or(CLOSE_UPS)
        for name in ("alpha", "beta")
        for value in WEIGHTS
        for method in scope.among((LF, TS))
        for cell in _sensitivity(scope, method, dataset, name, value)
    ]


def _render8(scope: Scope, records: Records) -> Rendered:
    teachers = _entries_a2(scope, records)
    lines: dict[str, list[Entry]] = {"alpha": [], "beta": []}
    for name, entries in lines.items():
        for dataset in scope.datasets_or(CLOSE_UPS):
            for method in scope.among((LF, TS)):
                for value in WEIGHTS:
                    cells = _sensitivity(scope, method, dataset, name, value)
                    blank = Entry(f"{method.title}, {title_of(dataset)}", f"{value:g}", len(cells), block=name)
                    entries.append(blank.filled(records, cells, scope.cells(GCN, dataset)))
    sheets = [
        Sheet(
            f"Figure 8: test accuracy in % against {name}",
            (name, *(f"{value:g}" for value in WEIGHTS)),
            tuple(
                (row, *(mean_text(e) for e in entries if e.row == row)) for row in dict.fromkeys(e.row for e in entries)
            ),
        )
        for name, entries in lines.items()
    ]
    rows = [e.to_dict() for entries in (*teachers.values(), *lines.values()) for e in entries]
    words = ["Numbers of teachers are in Table A2. Alpha is the same for all tasks here."]
    draw = lambda: draw_fig8({title_of(d): e for d, e in teachers.items()}, lines)  # noqa: E731
    return Rendered(Table(sheets, rows, words), {"fig8": draw})


def draw_fig8(teachers: dict[str, list[Entry]], lines: dict[str, list[Entry]]) -> Figure:
    """Accuracy against the number of teachers, one panel per dataset; gain over GCN against alpha, and against beta."""
    figure = new_figure(3.6 * (len(teachers) + 2), 4.2)
    axes = figure.subplots(1, len(teachers) + 2, squeeze=False)[0]
    for panel, (dataset, entries) in zip(axes, teachers.items(), strict=False):
        if not any(entry.values for entry in entries):
            empty(panel, dataset)
            continue
        for number, row in enumerate(dict.fromkeys(e.row for e in entries)):
            _line(panel, row, [e.values for e in entries if e.row == row], line_style(row), 0.06 * (number - 2))
        panel.set_xticks(range(5), range(1, 6))
        tidy(panel, dataset, "teachers", "test accuracy in %")
        _legend_below(panel)
    for panel, (name, entries) in zip(axes[len(teachers) :], lines.items(), strict=True):
        symbol = {"alpha": "α", "beta": "β"}[name]
        if not any(entry.values for entry in entries):
            empty(panel, f"sensitivity to {symbol}")
            continue
        styles: dict[str, str] = {}
        for number, row in enumerate(dict.fromkeys(e.row for e in entries)):
            method, _, dataset = row.partition(", ")
            style = styles.setdefault(dataset, ("-", "--", ":", "-.")[len(styles) % 4])
            values = [e.gains for e in entries if e.row == row]
            _line(panel, row, values, {"linestyle": style, **line_style(method)}, 0.06 * (number - 1.5))
        panel.axhline(0, color="#888888", linewidth=0.8)
        panel.set_xticks(range(len(WEIGHTS)), [f"{value:g}" for value in WEIGHTS])
        tidy(panel, f"sensitivity to {symbol}", symbol, "gain over GCN in points")
        _legend_below(panel)
    return figure


def _legend_below(panel: Axes) -> None:
    """A legend that hides nothing."""
    how: dict[str, Any] = {"fontsize": 7, "frameon": False, "handlelength": 3.5, "ncols": 2}
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), **how)


def _line(
    panel: Axes, label: str, values: Sequence[Sequence[float]], style: dict[str, Any], shift: float = 0.0
) -> None:
    """Means over seeds with their deviations; shifted a little sideways, so that lines can be told apart."""
    points = [
        (at + shift, statistics.fmean(found), statistics.stdev(found) if len(found) > 1 else 0.0)
        for at, found in enumerate(values)
        if found
    ]
    if points:
        at, means, spreads = zip(*points, strict=True)
        how: dict[str, Any] = {"linewidth": 1.4, "markersize": 5, "capsize": 2, "elinewidth": 0.7}
        panel.errorbar(at, means, yerr=spreads, label=label, **how, **style)
    panel.set_xlim(-0.4, len(values) - 0.6)


TABLE_A2 = Artifact("Table A2: integration schemes and the number of teachers", _cells_a2, _render_a2)
FIG8 = Artifact("Figure 8: number of teachers, and loss weights", _cells8, _render8, figures=True)
