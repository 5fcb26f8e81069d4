"""What makes a cell the same cell, and what is read back of it."""

from __future__ import annotations

import pytest

from agssl.bench.cells import Cell, unique
from agssl.bench.methods import TABLE_METHODS
from agssl.config import Settings, effective
from agssl.pretext import TASKS
from reference.settings import FIVE


def cell(seed: int = 0, dataset: str = "cora", cost: bool = False, curves: bool = False, **changes: object) -> Cell:
    return Cell(dataset, "some", Settings(**changes), seed, curves, cost)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other",
    [
        cell(seed=1),
        cell(dataset="citeseer"),
        cell(cost=True),
        *(cell(**change) for change in ({"hidden": 32}, {"beta": 1.0}, {"tasks": ("par",)}, {"alpha": {"par": 1.0}})),
        cell(generations=1),
    ],
)
def test_whatever_decides_the_result_makes_another_cell(other: Cell) -> None:
    assert other.key != cell().key


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
        choosing, some = Settings(tasks=FIVE), Settings(tasks=FIVE, alpha={"clu": 1.0})
        given = (Settings(tasks=FIVE, alpha=1.0), Settings(tasks=FIVE, alpha={"par": 1.0}), Settings(method="gcn"))
        return [Cell("cora", "any", settings, 0).key for settings in (choosing, some, *given)]

    before = keys()
    monkeypatch.setattr(TASKS["par"], "alphas", (1.0, 2.0))
    after = keys()
    assert after[0] != before[0] and after[1] != before[1]
    assert after[2:] == before[2:]


def test_if_one_of_several_equal_cells_asks_for_curves_that_one_is_kept() -> None:
    plain, curved = cell(), cell(curves=True)
    assert [c.curves for c in unique([plain, curved, plain])] == [True]


def test_a_setting_that_came_later_makes_another_cell_only_where_it_is_used() -> None:
    assert "encoder" not in effective(Settings()) and "encoder" in effective(Settings(encoder="sage"))
    assert cell(encoder="gcn").key == cell().key != cell(encoder="sage").key
