"""Tables with few labels: what is told and asked, label spreading, one cell of each way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agssl.base.rng import Rng
from agssl.bench.beyond import COUNTS, WAYS
from agssl.bench.catalog import ARTIFACTS
from agssl.bench.cells import Cell
from agssl.bench.measure import Workspace, run_cell
from agssl.bench.records import Records
from agssl.bench.scope import Scope
from agssl.bench.tabular import as_graph, draw_labels, spread
from agssl.config import Settings
from agssl.data.datasets import load_dataset
from reference.records import record_of


def test_more_labels_hold_the_fewer_and_the_same_rows_are_asked() -> None:
    y = np.random.default_rng(0).integers(-1, 3, 300)
    few, asked = draw_labels(y, 10, Rng(1))
    more, same = draw_labels(y, 50, Rng(1))
    assert np.isin(few, more).all() and np.array_equal(asked, same)
    assert not np.isin(more, asked).any() and (y[np.concatenate([more, asked])] >= 0).all()
    assert np.bincount(y[few]).tolist() == [10] * 3 and np.bincount(y[more]).tolist() == [50] * 3


def test_the_table_as_a_graph_has_neighbours_and_no_label_beyond_those_told() -> None:
    graph = load_dataset("digits")
    told, asked = draw_labels(graph.y, 10, Rng(0))
    table = as_graph(graph, told)
    assert np.array_equal(np.flatnonzero(table.y >= 0), told) and (table.y[asked] == -1).all()
    assert np.array_equal(table.y[told], graph.y[told]) and table.classes == graph.classes
    assert table.degree.min() >= 10 and not table.named


def test_label_spreading_follows_clusters() -> None:
    draw = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    rows = np.stack([np.cos(y * 2 + 0.3 * draw.normal(size=120)), np.sin(y * 2 + 0.3 * draw.normal(size=120))], axis=1)
    told = np.concatenate([np.arange(5), 60 + np.arange(5)])
    hidden = y.copy()
    hidden[np.setdiff1d(np.arange(120), told)] = 1 - y[np.setdiff1d(np.arange(120), told)]  # nobody may read these
    assert (spread(rows, hidden, told) == y).mean() > 0.95


@pytest.mark.parametrize("by", ["logistic", "fit"])
def test_a_cell_measures_the_rows_that_are_asked(by: str, tmp_path: Path) -> None:
    cell = Cell("digits", "gcn", Settings(method="gcn", epochs=3, hidden=8), 0, study=f"beyond:labels=10:by={by}")
    record = run_cell(Workspace(tmp_path), cell)
    assert record["labels"] == 10 and record["asked"] == 1797 - 500 and record["accuracy"] > 0.2
    assert str(cell) == f"digits gcn beyond:labels=10:by={by} seed 0"


def test_ways_are_told_the_same_and_paired_with_the_gcn(tmp_path: Path) -> None:
    artifact, scope, records = ARTIFACTS["beyond"], Scope(datasets=("digits",), seeds=(0, 1)), Records(tmp_path)
    cells = artifact.cells(scope)
    assert len(cells) == len({cell.key for cell in cells}) == len(WAYS) * len(COUNTS) * 2
    for cell in cells:
        place = [way.name for way in WAYS].index(cell.method)
        records.add(record_of(cell) | {"accuracy": 0.8 + 0.02 * place + 0.01 * cell.seed, "test": None})
    rendered = artifact.render(scope, records)
    ours, gains = rendered.table.sheets
    assert ours.header == ("", *map(str, COUNTS), "average rank") and ours.rows[4][:2] == (
        "AGSSL standard",
        "88.50 ± 0.71",
    )
    assert gains.rows[0][1].startswith("-4.00 [") and [row[0] for row in gains.rows][-1] == "AGSSL standard"
    assert all(axes.has_data() for axes in rendered.figures["beyond"]().axes)
