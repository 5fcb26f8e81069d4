"""Figures 5 to 7: teacher weights by node degree and over epochs, and the error of the integrated teacher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agssl.bench.artifacts import Artifact, Rendered, nothing_of
from agssl.bench.cells import Cell
from agssl.bench.methods import LF, TABLE_METHODS, TS, Method
from agssl.bench.records import CellRecord, Records
from agssl.bench.scope import CLOSE_UPS, Scope, title_of
from agssl.bench.style import ColourScale, empty, heatmap, line_style, new_figure, tidy
from agssl.bench.tables import Sheet, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Panels = dict[str, list[CellRecord]]  # by title, the records of all seeds


def _chosen(scope: Scope) -> list[tuple[Method, str]]:
    return [(method, dataset) for dataset in scope.datasets_or(CLOSE_UPS) for method in scope.among((LF, TS))]


def _cells(scope: Scope) -> list[Cell]:
    return [cell for method, dataset in _chosen(scope) for cell in scope.cells(method, dataset, curves=True)]


def _panels(scope: Scope, records: Records) -> Panels:
    return {
        f"{method.title} on {title_of(dataset)}": records.of(scope.cells(method, dataset, curves=True))
        for method, dataset in _chosen(scope)
    }


def task_titles(record: CellRecord) -> list[str]:
    """What to call the teachers of a record."""
    names = [teacher["task"] for teacher in record["teachers"]]
    return [TABLE_METHODS[name].title if name in TABLE_METHODS else name for name in names]


def mean_lambda(records: Sequence[CellRecord]) -> tuple[list[str], np.ndarray]:
    """Degree buckets and mean lambda [buckets, K] over seeds; buckets without nodes are left out."""
    tables = [
        [[np.nan] * len(record["teachers"]) if row is None else row for row in record["lambda_by_degree"]]
        for record in records
    ]
    kept = [b for b in range(len(tables[0])) if all(not np.isnan(table[b][0]) for table in tables)]
    names = [records[0]["by_degree"]["buckets"][b] for b in kept]
    return names, np.mean(tables, axis=0)[kept]


def _render5(scope: Scope, records: Records) -> Rendered:
    panels = _panels(scope, records)
    if not panels:
        return nothing_of((LF, TS))
    sheets, rows = [], []
    for title, found in panels.items():
        if not found:
            sheets.append(Sheet(f"Figure 5: mean weight by degree, {title}", ("degree",), (("missing",),)))
            continue
        tasks, (names, table) = task_titles(found[0]), mean_lambda(found)
        texts = tuple((name, *(f"{v:.3f}" for v in line)) for name, line in zip(names, table, strict=True))
        heading = f"Figure 5: mean weight by degree, {title}, {len(found)} seeds"
        sheets.append(Sheet(heading, ("degree", *tasks), texts))
        rows += [
            {"panel": title, "degree": name, "task": task, "weight": round(float(value), 5), "seeds": len(found)}
            for name, line in zip(names, table, strict=True)
            for task, value in zip(tasks, line, strict=True)
        ]
    return Rendered(Table(sheets, rows), {"fig5": lambda: draw_fig5(panels)})


def draw_fig5(panels: Panels) -> Figure:
    """Heatmaps of mean lambda by degree and task, on one scale."""
    figure = new_figure(3.6 * max(2, len(panels)), 3.6)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    tables = {title: mean_lambda(found) for title, found in panels.items() if found}
    high = max((float(table.max()) for _, table in tables.values()), default=1.0)
    image = None
    for panel, (title, found) in zip(axes, panels.items(), strict=True):
        if title not in tables:
            empty(panel, title)
            continue
        names, table = tables[title]
        image = heatmap(panel, table, names, task_titles(found[0]), scale=ColourScale(low=0, high=high))
        panel.set_title(title, fontsize=10)
        panel.set_ylabel("degree", fontsize=9)
        panel.tick_params(axis="x", labelrotation=35)
    if image is not None:
        figure.colorbar(image, ax=list(axes), label="mean weight λ", shrink=0.9)
    return figure


def _curve_rows(panels: Panels) -> list[dict]:
    rows = []
    for title, found in panels.items():
        for record in found:
            curves = record["curves"]
            for number, epoch in enumerate(curves.get("epoch", [])):
                figures = {name: values[number] for name, values in curves.items() if name != "epoch"}
                rows.append({"panel": title, "seed": record["seed"], "epoch": int(epoch)} | figures)
    return rows


def _final_sheet(panels: Panels, title: str) -> Sheet:
    """Where the curves of the first seed start, end and were stopped."""
    header = ("", "best epoch", "train MSE", "validation MSE", "train %", "validation %", "test %")
    rows = []
    for name, found in panels.items():
        if not found:
            rows.append((name, *["missing"] * (len(header) - 1)))
            continue
        record = found[0]
        curves = record["curves"]
        cells = [f"{curves[key][0]:.3f} → {curves[key][-1]:.3f}" for key in ("train_mse", "val_mse")]
        cells += [f"{100 * curves[key][0]:.1f} → {100 * curves[key][-1]:.1f}" for key in _ACCURACIES]
        rows.append((name, str(record["best_epoch"]), *cells, f"{100 * record['test']['accuracy']:.1f}"))
    return Sheet(title, header, tuple(rows))


_ACCURACIES = ("train_accuracy", "val_accuracy")
_NO_TEST = (
    "The paper shows test nodes; here they are validation nodes, since no test label is read while anything trains. "
    "The teachers' weights are fitted to validation labels by default (`weights_from`), so the squared error there is "
    "not that of unseen nodes; the accuracy of the student, which never trains on them, nearly is. Test accuracy is "
    "that of the chosen epoch. Curves are those of the last student of the first seed."
)


def _render6(scope: Scope, records: Records) -> Rendered:
    panels = _panels(scope, records)
    if not panels:
        return nothing_of((LF, TS))
    rows = []
    for title, found in panels.items():
        if not found:
            rows.append((title, "missing"))
            continue
        curves = found[0]["curves"]
        last = [
            f"{t} {curves[f'lambda{k}'][-1]:.3f}" for k, t in enumerate(task_titles(found[0])) if f"lambda{k}" in curves
        ]
        rows.append((title, ", ".join(last) or "no node has such a degree"))
    sheet = Sheet("Figure 6: weights at the last epoch, nodes of degree 4 to 6", ("", "weights"), tuple(rows))
    notes = ["Curves are those of the last student of the first seed."]
    return Rendered(Table([sheet], _curve_rows(panels), notes), {"fig6": lambda: draw_fig6(panels)})


def draw_fig6(panels: Panels) -> Figure:
    """Mean lambda over epochs for nodes of degree 4 to 6, of the first seed."""
    figure = new_figure(3.6 * max(2, len(panels)), 3.2)
    axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for panel, (title, found) in zip(axes, panels.items(), strict=True):
        curves = found[0]["curves"] if found else {}
        if "lambda0" not in curves:
            empty(panel, title)
            continue
        for k, task in enumerate(task_titles(found[0])):
            every = max(1, len(curves["epoch"]) // 6)
            panel.plot(
                curves["epoch"],
                curves[f"lambda{k}"],
                label=task,
                markevery=every,
                markersize=4,
                linewidth=1.4,
                **line_style(task),
            )
        panel.axvline(found[0]["best_epoch"], color="#888888", linewidth=0.8, linestyle=":")
        tidy(panel, title, "epoch (dotted: chosen)", "")
    axes[0].set_ylabel("mean weight λ, degree 4 to 6", fontsize=9)
    shown = next((p for p in axes if p.get_legend_handles_labels()[0]), None)
    if shown is not None:
        figure.legend(
            *shown.get_legend_handles_labels(), loc="outside lower center", ncols=8, fontsize=8, frameon=False
        )
    return figure


def _render7(scope: Scope, records: Records) -> Rendered:
    panels = _panels(scope, records)
    if not panels:
        return nothing_of((LF, TS))
    sheet = _final_sheet(panels, "Figure 7: first and last epoch")
    return Rendered(Table([sheet], _curve_rows(panels), [_NO_TEST]), {"fig7": lambda: draw_fig7(panels)})


def draw_fig7(panels: Panels) -> Figure:
    """How the integrated teacher's squared error changed above, accuracy of the student below, of the first seed."""
    figure = new_figure(3.6 * max(2, len(panels)), 5.2)
    grid = figure.subplots(2, len(panels), squeeze=False, sharex="col")
    for column, (title, found) in enumerate(panels.items()):
        upper, lower = grid[0][column], grid[1][column]
        if not found or not found[0]["curves"]:
            empty(upper, title)
            empty(lower, "")
            continue
        record, curves = found[0], found[0]["curves"]
        for part, name in (("train", "training nodes"), ("val", "validation nodes")):
            colour, dashes = ("#222222", "-") if part == "train" else ("#888888", "--")
            how: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.5}
            errors = np.array(curves[f"{part}_mse"])
            upper.plot(curves["epoch"], errors - errors[0], label=name, **how)
            lower.plot(curves["epoch"], 100 * np.array(curves[f"{part}_accuracy"]), label=name, **how)
        lower.plot(
            [record["best_epoch"]], [100 * record["test"]["accuracy"]], "k*", markersize=9, label="test, chosen epoch"
        )
        upper.axhline(0, color="#888888", linewidth=0.6)
        tidy(upper, title, "", "squared error of the teacher,\nsince the first epoch" if column == 0 else "")
        tidy(lower, "", "epoch", "accuracy in %" if column == 0 else "")
        if column == 0:
            handles = lower.get_legend_handles_labels()
            figure.legend(*handles, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


FIG5 = Artifact("Figure 5: mean task weights by node degree", _cells, _render5, figures=True)
FIG6 = Artifact("Figure 6: task weights over epochs", _cells, _render6, figures=True)
FIG7 = Artifact("Figure 7: error of the integrated teacher, and accuracy", _cells, _render7, figures=True)
