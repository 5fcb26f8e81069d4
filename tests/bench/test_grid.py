"""Running cells: what they record, in which order, and what is left to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl.base.errors import TrainingError
from agssl.bench import grid as grid_module
from agssl.bench import measure
from agssl.bench.cells import Cell
from agssl.bench.grid import Grid, TimeLeft
from agssl.bench.measure import Workspace, curves, run_cell
from agssl.bench.records import CellRecord, Records
from agssl.data.graph import Graph
from agssl.train.distill import degree_buckets
from agssl.train.methods import MethodResult, train_method
from reference.graphs import blocks_graph
from reference.records import record_of, records_of
from reference.settings import quick

SETTINGS = quick(tasks=("clu:clusters=3", "pairdis"))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Graph:
    graph = blocks_graph(90)
    monkeypatch.setattr(measure, "graph_of", lambda name: graph)
    return graph


def test_a_record_holds_what_tables_need_and_is_small(small: Graph, tmp_path: Path) -> None:
    cell = Cell("blocks", "agssl-ts", SETTINGS, 0, curves=True)
    record = run_cell(Workspace(tmp_path / "cache"), cell)
    Records(tmp_path).add(record)
    text = (tmp_path / "blocks.jsonl").read_text()
    assert json.loads(text) == record and len(text) < 30_000
    assert Records(tmp_path).get(cell) == record
    result = train_method(small, SETTINGS, 0)
    assert small.split is not None and result.weights is not None
    right = [0] * 8
    for node in small.split.test:
        right[degree_buckets(small.degree)[node]] += int(result.logits[node].argmax() == small.y[node])
    assert record["by_degree"]["correct"] == right
    assert sum(record["by_degree"]["count"]) == len(small.split.test)
    assert record["test"]["accuracy"] == pytest.approx(sum(right) / len(small.split.test))
    for bucket, mean in enumerate(record["lambda_by_degree"]):
        members = result.weights[degree_buckets(small.degree) == bucket]
        assert (mean is None) == (len(members) == 0)
        if mean is not None:
            np.testing.assert_allclose(mean, members.mean(0), atol=2e-5)
    assert record["curves"]["val_mse"] and len(record["teachers"]) == 2
    assert record["seconds"] > 0 and record["cpu_seconds"] > 0 and record["settings"]["hidden"] == 8


def test_the_fit_of_a_cell_sees_no_test_label(small: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Graph] = []

    def spy(graph: Graph, *args: Any, **kwargs: Any) -> MethodResult:
        seen.append(graph)
        return train_method(graph, *args, **kwargs)

    monkeypatch.setattr("agssl.fitting.fit.train_method", spy)
    run_cell(Workspace(tmp_path / "cache"), Cell("blocks", "gcn", quick(method="gcn"), 0))
    (graph,) = seen
    assert graph.split is not None and small.split is not None
    assert (graph.y[small.split.test] == -1).all()
    assert (graph.y[small.split.val] >= 0).all()


def test_curves_are_thinned_and_are_those_of_the_last_student() -> None:
    def epochs(count: int, shift: float) -> list[dict[str, float]]:
        return [
            {
                "epoch": e,
                "lambda0": 0.1,
                "lambda0_degree4": shift + e,
                "train_mse": e,
                "val_mse": 1,
                "val_accuracy": 0.5,
            }
            for e in range(count)
        ]

    found = curves({"teacher par": epochs(3, 0), "student": epochs(9, 0), "student 2": epochs(500, 0.5)})
    assert len(found["epoch"]) <= measure.POINTS and found["epoch"][0] == 0 and found["epoch"][-1] == 499
    assert found["lambda0"] == [epoch + 0.5 for epoch in found["epoch"]]
    assert found["epoch"] == sorted(set(found["epoch"])) and "lambda0_degree4" not in found
    assert curves({"gcn": epochs(3, 0)}) == {}


def cells(row: str, seeds: int, **changes: object) -> list[Cell]:
    return [Cell("blocks", row, quick(**changes), seed) for seed in range(seeds)]


def run(grid: Grid, workspace: Workspace, jobs: int = 1) -> list[tuple[str, Any]]:
    heard: list[tuple[str, Any]] = []
    grid.run(workspace, jobs, lambda cell, result, estimate: heard.append((str(cell), result)))
    return heard


def test_only_missing_cells_run_and_single_networks_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Cell] = []
    monkeypatch.setattr(grid_module, "run_cell", lambda workspace, cell: ran.append(cell) or record_of(cell))
    wanted = cells("agssl-ts", 2) + cells("gcn", 2, method="gcn") + cells("clu", 2, method="single", tasks=("clu",))
    records = records_of(tmp_path, wanted[1:2])
    grid = Grid([*wanted, wanted[0]], records)
    assert (grid.present, len(grid.missing)) == (1, 5)
    run(grid, Workspace(tmp_path))
    assert [(c.seed, c.method) for c in ran] == [
        *((0, name) for name in ("gcn", "clu", "agssl-ts")),
        *((1, name) for name in ("gcn", "clu")),
    ]
    assert all(records.get(cell) for cell in wanted) and not Grid(wanted, records).missing


def test_cells_of_a_running_group_wait_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Cell] = []

    def fake_work(call: Any, feed: Any, done: Any, jobs: int, fresh: bool = False, cluster: None = None) -> None:
        flying: list[Cell] = []
        while True:
            while len(flying) < jobs and (cell := feed()) is not None:
                flying.append(cell)
                begun.append(cell)
            if not flying:
                return
            cell = flying.pop(0)
            done(cell, record_of(cell))

    monkeypatch.setattr(grid_module, "work", fake_work)
    wanted = cells("gcn", 2, method="gcn") + cells("clu", 2, method="single", tasks=("clu",))
    run(Grid(wanted, Records(tmp_path)), Workspace(tmp_path), jobs=2)
    assert [(c.method, c.seed) for c in begun] == [("gcn", 0), ("gcn", 1), ("clu", 0), ("clu", 1)]


def test_a_cell_that_fails_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(workspace: Workspace, cell: Cell) -> CellRecord:
        if cell.seed == 0:
            raise TrainingError("the loss is not finite")
        if cell.seed == 1:
            raise RuntimeError("not enough memory")
        return record_of(cell)

    monkeypatch.setattr(grid_module, "run_cell", fails)
    grid = Grid(cells("gcn", 3, method="gcn"), Records(tmp_path))
    heard = run(grid, Workspace(tmp_path))
    assert [isinstance(result, str) for _, result in heard] == [True, True, False]
    why = {cell.seed: why for cell, why in grid.failed.items()}
    assert why == {0: "the loss is not finite", 1: "RuntimeError: not enough memory"}


def test_the_estimate_uses_cells_of_the_same_kind_where_there_are_some(tmp_path: Path) -> None:
    known = [record_of(cell, seconds=s) for cell, s in zip(cells("gcn", 2, method="gcn"), (1.0, 3.0), strict=True)]
    records = Records(tmp_path)
    left = [*cells("gcn", 4, method="gcn")[2:], *cells("clu", 1, method="single", tasks=("clu",))]
    assert TimeLeft(left, records, 2).seconds() is None
    for record in known:
        records.add(record)
    estimate = TimeLeft(left, records, 2)
    assert estimate.seconds() == pytest.approx((2.0 + 2.0 + 2.0) / 2)
    estimate.finish(left[2], record_of(left[2], seconds=11.0))
    assert estimate.seconds() == pytest.approx((2.0 + 2.0) / 2)
    other = TimeLeft(cells("clu", 2, method="single", tasks=("clu",)), records, 1)
    other.finish(left[2], record_of(left[2], seconds=10.0))
    assert other.seconds() == pytest.approx(10.0)
