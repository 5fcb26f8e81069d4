"""Figure 1: no task is best everywhere, not all pairs of tasks get along, and nodes of different degree differ."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from agssl.bench.accuracy import arxiv_note
from agssl.bench.artifacts import Artifact, Rendered, nothing_of
from agssl.bench.cells import Cell
from agssl.bench.methods import GCN, SINGLE, VANILLA, Method
from agssl.bench.records import CellRecord, Records
from agssl.bench.scope import PAPER_DATASETS, Scope, title_of
from agssl.bench.style import ColourScale, empty, heatmap, line_style, new_figure, tidy
from agssl.bench.tables import Entry, Sheet, Table, accuracies, gain_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLOSE_UP = "citeseer"  # the paper's dataset for pairs and degrees
_FEWEST = 20  # test nodes per seed, for a degree bucket to be drawn: seeds may share their split


def close_up(scope: Scope) -> str:
    """The dataset of the second and third panel."""
    datasets = scope.datasets_or(PAPER_DATASETS)
    return CLOSE_UP if CLOSE_UP in datasets else datasets[0]


def _pairs(scope: Scope) -> list[tuple[Method, Method]]:
    return list(combinations(scope.among(SINGLE), 2))


def _pair_cells(scope: Scope, pair: tuple[Method, Method]) -> list[Cell]:
    return scope.cells(VANILLA, close_up(scope), tasks=tuple(method.name for method in pair))


def _cells(scope: Scope) -> list[Cell]:
    methods, datasets = (GCN, *scope.among(SINGLE)), scope.datasets_or(PAPER_DATASETS)
    cells = [cell for dataset in datasets for method in methods for cell in scope.cells(method, dataset)]
    return cells + [cell for pair in _pairs(scope) for cell in _pair_cells(scope, pair)]


def task_ranks(means: dict[str, dict[str, float | None]]) -> dict[str, dict[str, float | None]]:
    """By task and dataset, the rank (1: best) among the tasks; None where one of them is missing."""
    from scipy.stats import rankdata

    ranks: dict[str, dict[str, float | None]] = {task: {} for task in means}
    for dataset in next(iter(means.values()), {}):
        values = [means[task][dataset] for task in means]
        known = all(value is not None for value in values)
        found = rankdata([-value for value in values]) if known else [None] * len(values)  # type: ignore[operator]
        for task, rank in zip(means, found, strict=True):
            ranks[task][dataset] = None if rank is None else float(rank)
    return ranks


def degree_accuracy(records: Iterable[CellRecord]) -> list[tuple[str, float, int]]:
    """Accuracy in % by degree bucket, over the test nodes of all seeds together: bucket, accuracy, nodes per seed."""
    records = list(records)
    if not records:
        return []
    count = np.mean([r["by_degree"]["count"] for r in records], axis=0)
    right = np.mean([r["by_degree"]["correct"] for r in records], axis=0)
    names = records[0]["by_degree"]["buckets"]
    return [(n, float(100 * c / k), round(k)) for n, c, k in zip(names, right, count, strict=True) if k >= _FEWEST]


def _render(scope: Scope, records: Records) -> Rendered:
    datasets, tasks, near = scope.datasets_or(PAPER_DATASETS), scope.among(SINGLE), close_up(scope)
    if not tasks:
        return nothing_of(SINGLE)
    means = {m.title: {title_of(d): _mean(records.of(scope.cells(m, d))) for d in datasets} for m in tasks}
    ranks = task_ranks(means)
    wanted, baseline = len(scope.seeds_of(near)), scope.cells(GCN, near)
    pairs = [
        Entry(a.title, b.title, wanted, block="pair").filled(records, _pair_cells(scope, (a, b)), baseline)
        for a, b in _pairs(scope)
    ]
    alone = [
        Entry(m.title, m.title, wanted, block="single").filled(records, scope.cells(m, near), baseline) for m in tasks
    ]
    degrees = {m.title: degree_accuracy(records.of(scope.cells(m, near))) for m in (GCN, *tasks)}
    entries = [e.to_dict() for e in (*alone, *pairs)]
    entries += [
        {"block": "degree", "row": task, "column": name, "mean": value, "nodes": nodes}
        for task, points in degrees.items()
        for name, value, nodes in points
    ]
    entries += [
        {"block": "rank", "row": t, "column": d, "mean": rank}
        for t, values in ranks.items()
        for d, rank in values.items()
    ]
    columns = [title_of(d) for d in datasets]
    rows = [(t, *(_text(values[c], "{:.1f}") for c in columns)) for t, values in ranks.items()]
    names = [m.title for m in tasks]
    sheets = [
        Sheet("Figure 1a: rank of the tasks (1: best), joint training", ("", *columns), tuple(rows)),
        Sheet(
            f"Figure 1b: gain over GCN with two tasks at once (one on the diagonal), {title_of(near)}, 95% interval",
            ("", *names),
            _gain_rows(names, [*alone, *pairs]),
        ),
        _degree_sheet(degrees, f"Figure 1c: accuracy in % by node degree, {title_of(near)}, all seeds together"),
    ]
    notes = arxiv_note(datasets, [e for e in entries if e["block"] == "rank"])
    draw = lambda: draw_fig1(ranks, names, [*alone, *pairs], degrees, title_of(near))  # noqa: E731
    return Rendered(Table(sheets, entries, notes), {"fig1": draw})


def _gain_rows(names: list[str], entries: list[Entry]) -> tuple[tuple[str, ...], ...]:
    at = {(e.row, e.column): gain_text(e) for e in entries}
    return tuple((row, *(at.get((row, column), "") for column in names)) for row in names)


def _degree_sheet(degrees: dict[str, list[tuple[str, float, int]]], title: str) -> Sheet:
    buckets = list(dict.fromkeys(name for points in degrees.values() for name, _, _ in points))
    table = {task: {name: value for name, value, _ in points} for task, points in degrees.items()}
    rows = [(task, *(_text(table[task].get(b), "{:.2f}") for b in buckets)) for task in degrees]
    counts = {name: nodes for points in degrees.values() for name, _, nodes in points}
    return Sheet(title, ("degree", *buckets), (*rows, ("test nodes per seed", *(str(counts[b]) for b in buckets))))


def _mean(records: Iterable[CellRecord]) -> float | None:
    values = accuracies(records)
    return statistics.fmean(values.values()) if values else None


def _text(value: float | None, form: str) -> str:
    return "missing" if value is None else form.format(value)


def draw_fig1(
    ranks: dict[str, dict[str, float | None]],
    names: list[str],
    gains: list[Entry],
    degrees: dict[str, list[tuple[str, float, int]]],
    dataset: str,
) -> Figure:
    """Three panels: ranks over datasets, gains of pairs, accuracy by degree."""
    figure = new_figure(14, 4)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1.15, 1, 1.15])
    asked = list(next(iter(ranks.values()), {}))
    columns = [c for c in asked if any(ranks[task][c] is not None for task in names)] or asked
    table = np.array([[np.nan if (v := ranks[task][c]) is None else v for c in columns] for task in names])
    heatmap(left, table, names, columns, "{:g}", ColourScale("viridis_r", low=1, high=len(names)))
    left.set_title("(a) rank of each task (1: best)", fontsize=10)
    left.tick_params(axis="x", labelrotation=35)
    square = np.full((len(names), len(names)), np.nan)
    for entry in gains:
        if entry.gain is not None:
            row, column = names.index(entry.row), names.index(entry.column)
            square[row, column] = square[column, row] = entry.gain
    heatmap(middle, square, names, names, "{:+.2f}", ColourScale("PuOr", centred=True))
    middle.set_title(f"(b) gain over GCN by task pairs, {dataset}\n(points; diagonal: one task)", fontsize=10)
    middle.tick_params(axis="x", labelrotation=35)
    if not any(degrees.values()):
        empty(right, f"(c) accuracy by node degree, {dataset}")
        return figure
    buckets = list(dict.fromkeys(name for points in degrees.values() for name, _, _ in points))
    for task, points in degrees.items():
        dashes = {"linestyle": "--"} if task == "GCN" else {}
        at = [buckets.index(name) for name, _, _ in points]
        right.plot(at, [v for _, v, _ in points], label=task, markersize=5, linewidth=1.4, **dashes, **line_style(task))
    nodes = {name: count for points in degrees.values() for name, _, count in points}
    right.set_xticks(range(len(buckets)), [f"{name}\n({nodes[name]})" for name in buckets])
    tidy(right, f"(c) accuracy by node degree, {dataset}", "degree (test nodes)", "test accuracy in %")
    right.legend(fontsize=8, frameon=False, ncols=2)
    return figure


FIG1 = Artifact("Figure 1: tasks differ by dataset, pair and node", _cells, _render, figures=True)
