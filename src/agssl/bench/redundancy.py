"""`agssl bench redundancy`: which teachers are redundant, what more of them bring, and what they cost."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agssl.bench.artifacts import Artifact, Rendered
from agssl.bench.cells import Cell
from agssl.bench.fair import DATASETS
from agssl.bench.methods import Method
from agssl.bench.records import CellRecord, Records
from agssl.bench.redundant import MOST
from agssl.bench.scope import Scope, title_of
from agssl.bench.style import ColourScale, heatmap, line_style, new_figure, tidy
from agssl.bench.tables import Sheet, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY, SEEDS = "redundancy", 3
_TASKS = [
    "par",
    "clu",
    "dgi",
    "pairdis",
    "pairsim",
    "gmi",
    "mvgrl",
    "grace",
    "gca",
    "cg3",
    "bgrl",
    "graphmae",
    "grand",
    "joao",
]
_ENCODERS = ("mlp", "sage", "gat", "appnp", "ppr")  # on the labels alone
TEACHERS = (*(f"{task}@gcn" for task in _TASKS), "labels@gcn", *(f"labels@{name}" for name in _ENCODERS))
METHOD = Method(
    STUDY,
    "All teachers",
    {"method": "agssl", "teachers": TEACHERS, "integration": "both", "alpha_epochs": 100},
    two_strategies=False,
)
_ADDS = "Redundancy: points that the teacher of a row adds where that of a column is there"
_FIRST = 5  # of a greedy order
_AT = (1, 2, 3, 5, 8, MOST)  # sizes of a pool that are shown
_NOTE = (
    "All teachers of a graph and seed are trained in one fit with the dataset's config, and calibrated by validation "
    "labels; accuracies are those of the mean of their probabilities on test nodes, without a student. Pools grow by "
    "one teacher at a time, in the order in which each makes the mean likeliest on validation nodes, each once. Time "
    "is that of training the teachers of a pool on one thread, tasks' targets included. Effective teachers: exp of the "
    "entropy of a node's weights among all of them (integration `both`), the mean over test nodes."
)


def _cells_of(scope: Scope, dataset: str) -> list[Cell]:
    settings, config = METHOD.settings(dataset, "jt", scope.configs, scope.changes)
    seeds = scope.at_most(SEEDS).seeds_of(dataset)
    return [Cell(dataset, STUDY, settings, seed, config=config, whole=True, study=STUDY) for seed in seeds]


def _cells(scope: Scope) -> list[Cell]:
    return [cell for dataset in scope.datasets_or(DATASETS) for cell in _cells_of(scope, dataset)]


def _render(scope: Scope, records: Records) -> Rendered:
    by_graph = {title_of(name): records.of(_cells_of(scope, name)) for name in scope.datasets_or(DATASETS)}
    by_graph = {graph: found for graph, found in by_graph.items() if found}
    if not by_graph:
        return Rendered(Table(notes=["Nothing was run yet."]))
    names = names_of(by_graph)
    adds, errors = (over_graphs(by_graph, what, names) for what in ("adds", "errors"))
    sheets = [
        _worth_sheet(by_graph, names, adds, errors),
        _matrix_sheet(_ADDS, 100 * adds, names),
        _matrix_sheet("Redundancy: correlation of the mistakes of two teachers", errors, names, "{:.2f}"),
        _grown_sheet("Redundancy: test accuracy in % against the number of teachers", by_graph, "accuracy"),
        _grown_sheet("Redundancy: seconds of training against the number of teachers", by_graph, "seconds"),
    ]
    figures = {
        "redundancy": lambda: draw_matrices(100 * adds, errors, names),
        "pool-size": lambda: draw_growth(by_graph),
    }
    over = f"Matrices are means over seeds and {len(by_graph)} graphs: {', '.join(by_graph)}."
    return Rendered(Table(sheets, _entries(by_graph), [over, _NOTE]), figures)


def names_of(by_graph: Mapping[str, Sequence[CellRecord]]) -> list[str]:
    """The teachers that every record has."""
    each = [[teacher["name"] for teacher in record["teachers"]] for found in by_graph.values() for record in found]
    return [name for name in each[0] if all(name in names for names in each)]


def over_graphs(by_graph: Mapping[str, Sequence[CellRecord]], what: str, names: Sequence[str]) -> np.ndarray:
    """A matrix [K, K] of records, the mean over the seeds of each graph, then over graphs."""
    means = []
    for found in by_graph.values():
        parts = []
        for record in found:
            own = [teacher["name"] for teacher in record["teachers"]]
            at = [own.index(name) for name in names]
            parts.append(np.array(record[what])[np.ix_(at, at)])
        means.append(np.mean(parts, axis=0))
    mean: np.ndarray = np.mean(means, axis=0)
    return mean


def _worth_sheet(
    by_graph: Mapping[str, Sequence[CellRecord]], names: Sequence[str], adds: np.ndarray, errors: np.ndarray
) -> Sheet:
    """Each teacher in a row: alone, beside one other, in greedy pools."""
    accuracy = {
        name: _per_graph(by_graph, lambda record, n=name: _teacher(record, n)["test_accuracy"]) for name in names
    }
    times = {name: _per_graph(by_graph, lambda record, n=name: _teacher(record, n)["seconds"]) for name in names}
    early = {name: _per_graph(by_graph, lambda record, n=name: float(n in record["order"][:_FIRST])) for name in names}
    rows = []
    for k, name in enumerate(names):
        others = [j for j in range(len(names)) if j != k]
        rows.append(
            (
                name,
                f"{100 * accuracy[name]:.2f}",
                f"{100 * adds[k, others].mean():+z.2f}" if others else "–",
                f"{errors[k, others].mean():.2f}" if others else "–",
                f"{100 * early[name]:.0f}",
                f"{times[name]:.1f}",
            )
        )
    return Sheet(
        "Redundancy: each teacher, means over graphs",
        ("", "alone, %", "adds to another, points", "mistakes in common", "among the first five, %", "seconds"),
        tuple(rows),
    )


def _teacher(record: CellRecord, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(teacher for teacher in record["teachers"] if teacher["name"] == name)
    return found


def _per_graph(by_graph: Mapping[str, Sequence[CellRecord]], value: Any) -> float:
    """The mean over seeds, then over graphs."""
    return statistics.fmean(statistics.fmean(value(record) for record in found) for found in by_graph.values())


def _matrix_sheet(title: str, matrix: np.ndarray, names: Sequence[str], form: str = "{:+.1f}") -> Sheet:
    rows = [
        (name, *("" if k == j else form.format(matrix[k, j]) for j in range(len(names))))
        for k, name in enumerate(names)
    ]
    return Sheet(title, ("", *map(_short, names)), tuple(rows))


def _short(name: str) -> str:
    return name.removesuffix("@gcn") if not name.startswith("labels") else name.removeprefix("labels@")


def _grown_sheet(title: str, by_graph: Mapping[str, Sequence[CellRecord]], what: str) -> Sheet:
    scale, digits = (100, 2) if what == "accuracy" else (1, 1)
    rows = []
    for graph, found in by_graph.items():
        sizes = [min(size, min(len(record["grown"]) for record in found)) for size in _AT]
        values = (statistics.fmean(scale * record["grown"][size - 1][what] for record in found) for size in sizes)
        first = statistics.fmean(record["effective_teachers"] for record in found)
        more = (f"{first:.1f}", str(len(found[0]["teachers"]))) if what == "accuracy" else ()
        size = (f"{found[0]['nodes']:,}", f"{found[0]['edges']:,}") if what == "seconds" else ()
        rows.append((graph, *size, *(f"{value:.{digits}f}" for value in values), *more, str(len(found))))
    after = ("effective teachers", "of") if what == "accuracy" else ()
    before = ("nodes", "edges") if what == "seconds" else ()
    return Sheet(title, ("", *before, *map(str, _AT), *after, "seeds"), tuple(rows))


def _entries(by_graph: Mapping[str, Sequence[CellRecord]]) -> list[dict[str, Any]]:
    """Long form: every pair and every pool of each graph, means over seeds."""
    rows: list[dict[str, Any]] = []
    for graph, found in by_graph.items():
        one = {graph: found}
        names = names_of(one)
        matrices = {what: over_graphs(one, what, names) for what in ("adds", "errors")}
        rows += [
            {"block": what, "graph": graph, "row": a, "column": b, "mean": float(matrix[k, j]), "seeds": len(found)}
            for what, matrix in matrices.items()
            for k, a in enumerate(names)
            for j, b in enumerate(names)
            if k != j
        ]
        for size in range(1, 1 + min(len(record["grown"]) for record in found)):
            figures = {key: statistics.fmean(r["grown"][size - 1][key] for r in found) for key in found[0]["grown"][0]}
            rows.append({"block": "grown", "graph": graph, "column": size, "seeds": len(found)} | figures)
    return rows


def draw_matrices(adds: np.ndarray, errors: np.ndarray, names: Sequence[str]) -> Figure:
    """Both matrices, the diagonals empty."""
    short = [_short(name) for name in names]
    figure = new_figure(4 + 0.9 * len(names), 1.6 + 0.36 * len(names))
    left, right = figure.subplots(1, 2)
    off = np.where(np.eye(len(names), dtype=bool), np.nan, 0)
    heatmap(left, adds + off, short, short, "{:+.1f}", ColourScale("PuOr", centred=True))
    left.set_title("points that the row adds where the column is there", fontsize=10)
    heatmap(right, errors + off, short, short, "{:.2f}")
    right.set_title("correlation of mistakes", fontsize=10)
    for axes in (left, right):
        axes.tick_params(axis="x", labelrotation=60)
    return figure


def draw_growth(by_graph: Mapping[str, Sequence[CellRecord]]) -> Figure:
    """Accuracy beside one teacher, and time, against the number of teachers: a line for each graph."""
    figure = new_figure(10, 3.8)
    left, right = figure.subplots(1, 2)
    for graph, found in by_graph.items():
        sizes = range(1, 1 + min(len(record["grown"]) for record in found))
        accuracy, seconds = (
            np.mean([[record["grown"][size - 1][what] for size in sizes] for record in found], axis=0)
            for what in ("accuracy", "seconds")
        )
        style = line_style(graph)
        left.plot(sizes, 100 * (accuracy - accuracy[0]), label=graph, linewidth=1.4, markersize=4, **style)
        right.plot(sizes, seconds, label=f"{graph}, {found[0]['nodes']:,} nodes", linewidth=1.4, markersize=4, **style)
    left.axhline(0, color="#888888", linewidth=0.8)
    right.set_yscale("log")
    tidy(left, "", "teachers, in greedy order", "points over the first one")
    tidy(right, "", "teachers, in greedy order", "seconds of training")
    right.legend(fontsize=7, frameon=False)
    return figure


REDUNDANCY = Artifact("Which teachers are redundant", _cells, _render, figures=True, methods=(STUDY,))
