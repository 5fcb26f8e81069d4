"""What makes a cell the same cell, and what is read back of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agssl.bench.cells import Cell, Records, unique, write_record
from agssl.bench.methods import TABLE_METHODS
from agssl.config import Settings
from agssl.pretext import TASKS
from reference.records import record_of, records_of


def cell(seed: int = 0, dataset: str = "cora", fresh: bool = False, curves: bool = False, **changes: object) -> Cell:
    return Cell(dataset, "some", Settings(**changes), seed, curves, fresh)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other",
    [
        cell(seed=1),
        cell(dataset="citeseer"),
        cell(fresh=True),
        *(cell(**change) for change in ({"hidden": 32}, {"beta": 1.0}, {"tasks": ("par",)}, {"alpha": {"par": 1.0}})),
        cell(generations=1),
    ],
)
def test_whatever_decides_the_result_makes_another_cell(other: Cell) -> None:
    assert other.key != cell().key and other.path != cell().path


def test_the_name_of_the_table_that_asks_makes_no_other_cell() -> None:
    assert Cell("cora", "average", Settings(), 0, curves=True).key == cell().key


@pytest.mark.parametrize("change", [{"beta": 1.0}, {"strategy": "pf"}, {"tasks": ("par",)}, {"student_dropout": 0.1}])
def test_a_gcn_is_the_same_whatever_it_does_not_read(change: dict[str, object]) -> None:
    assert cell(method="gcn", **change).key == cell(method="gcn").key
    assert cell(method="gcn", lr=0.1).key != cell(method="gcn").key


def test_a_changed_default_makes_a_new_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Cell("cora", "gcn", TABLE_METHODS["gcn"].settings("cora", "jt")[0], 0).key
    values = [*Settings.__init__.__defaults__]  # type: ignore[misc]
    monkeypatch.setattr(Settings.__init__, "__defaults__", tuple(0.02 if v == 0.01 else v for v in values))
    assert Cell("cora", "gcn", TABLE_METHODS["gcn"].settings("cora", "jt")[0], 0).key != before


def test_other_alphas_to_choose_from_make_a_new_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def keys() -> list[str]:
        choosing, some = Settings(), Settings(alpha={"clu": 1.0})
        given = (Settings(alpha=1.0), Settings(alpha={"par": 1.0}), Settings(method="gcn"))
        return [Cell("cora", "any", settings, 0).key for settings in (choosing, some, *given)]

    before = keys()
    monkeypatch.setattr(TASKS["par"], "alphas", (1.0, 2.0))
    after = keys()
    assert after[0] != before[0] and after[1] != before[1]
    assert after[2:] == before[2:]


def test_records_are_found_by_cell_and_damaged_ones_are_missing(tmp_path: Path) -> None:
    cells = [cell(seed=s) for s in range(3)]
    records_of(tmp_path, cells)
    (tmp_path / cells[1].path).write_text('{"format": "agssl-be')
    old = record_of(cells[2]) | {"schema": 0}
    (tmp_path / cells[2].path).write_text(json.dumps(old))
    found = Records(tmp_path)
    assert [found.get(c) is not None for c in cells] == [True, False, False]
    assert [r["seed"] for r in found.of(cells)] == [0]


def test_a_record_without_curves_does_not_do_for_a_cell_that_wants_them(tmp_path: Path) -> None:
    plain, curved = cell(), cell(curves=True)
    write_record(tmp_path, plain, record_of(plain))
    assert Records(tmp_path).get(plain) and Records(tmp_path).get(curved) is None
    write_record(tmp_path, curved, record_of(curved))
    assert Records(tmp_path).get(plain) and Records(tmp_path).get(curved)
    assert [c.curves for c in unique([plain, curved, plain])] == [True]


def test_a_graph_of_ones_own_has_a_folder_of_its_name() -> None:
    assert cell(dataset="/some where/my graph.csv").path.startswith("my-graph/some-jt-0-")
