"""Pairs of teachers, errors in common and growing pools, against naive loops; one cell of a tiny graph."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from agssl.bench.catalog import ARTIFACTS
from agssl.bench.cells import Cell
from agssl.bench.measure import Workspace, run_cell
from agssl.bench.records import Records
from agssl.bench.redundancy import TEACHERS
from agssl.bench.redundant import error_correlation, greedy_order, grown, pair_gains
from agssl.bench.scope import Scope
from agssl.config import Settings
from agssl.encoders import ENCODERS
from agssl.pretext.base import TASKS
from reference.records import record_of


@pytest.fixture
def said() -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.ones(3), (5, 40))


@pytest.fixture
def truth() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 3, 40)


def accuracy(p: np.ndarray, truth: np.ndarray) -> float:
    return sum(int(np.argmax(row)) == y for row, y in zip(p, truth, strict=True)) / len(truth)


def test_what_a_teacher_adds_is_the_pair_minus_the_one_that_is_there(said: np.ndarray, truth: np.ndarray) -> None:
    found = pair_gains(said, truth)
    for k in range(5):
        for j in range(5):
            naive = accuracy((said[k] + said[j]) / 2, truth) - accuracy(said[j], truth)
            assert found[k, j] == pytest.approx(naive)
    assert not found.diagonal().any()


def test_correlation_of_mistakes_is_pearsons(said: np.ndarray, truth: np.ndarray) -> None:
    right = said.argmax(2) == truth
    found = error_correlation(right)
    np.testing.assert_allclose(found, np.corrcoef(~right), atol=1e-12)
    assert error_correlation(np.vstack([right[0], np.ones_like(right[0])]))[0, 1] == 0


def test_greedy_order_takes_what_makes_the_mean_likeliest(said: np.ndarray, truth: np.ndarray) -> None:
    def loss(pool: list[int]) -> float:
        p = sum(said[k] for k in pool) / len(pool)
        return -sum(math.log(row[y]) for row, y in zip(p, truth, strict=True)) / len(truth)

    naive: list[int] = []
    for _ in range(4):
        naive.append(min((k for k in range(5) if k not in naive), key=lambda k: loss([*naive, k])))
    assert greedy_order(said, truth, 4) == naive
    assert sorted(greedy_order(said, truth)) == list(range(5))


def test_a_growing_pool_is_the_mean_of_its_first_teachers(said: np.ndarray, truth: np.ndarray) -> None:
    found = grown(said, truth, [3, 0, 2], [1.0, 2.0, 4.0, 8.0, 16.0])
    assert [one["seconds"] for one in found] == [8.0, 9.0, 13.0]
    for size, pool in enumerate(([3], [3, 0], [3, 0, 2])):
        assert found[size]["accuracy"] == pytest.approx(accuracy(np.mean(said[pool], axis=0), truth))


def test_every_task_is_among_the_teachers_and_every_encoder_is_there() -> None:
    own = {name for name in TASKS if TASKS[name].__module__.startswith("agssl.")}
    assert {f"{name}@gcn" for name in own} <= set(TEACHERS)
    assert {name.partition("@")[2] for name in TEACHERS} <= set(ENCODERS)


def test_a_cell_has_all_figures_and_its_own_key(tmp_path: Path) -> None:
    teachers = ("clu@gcn", "labels@mlp", "labels@gcn")
    settings = Settings(method="agssl", teachers=teachers, integration="both", epochs=3, hidden=4)
    cell = Cell("digits", "redundancy", settings, 0, whole=True, study="redundancy")
    assert cell.key != Cell("digits", "redundancy", settings, 0, whole=True).key
    record = run_cell(Workspace(tmp_path), cell)
    assert [one["name"] for one in record["teachers"]] == list(teachers) and sorted(record["order"]) == sorted(teachers)
    assert np.shape(record["adds"]) == np.shape(record["errors"]) == (3, 3) and len(record["grown"]) == 3
    assert 1 <= record["effective_teachers"] <= 3 and record["nodes"] == 1797
    assert record["grown"][-1]["seconds"] == pytest.approx(sum(one["seconds"] for one in record["teachers"]), abs=0.01)
    assert 0 < record["grown"][-1]["seconds"] <= record["seconds"]


def test_tables_are_means_over_seeds_then_over_graphs(tmp_path: Path) -> None:
    artifact, scope, records = ARTIFACTS["redundancy"], Scope(datasets=("cora", "cs"), seeds=(0, 1)), Records(tmp_path)
    for cell in artifact.cells(scope):
        add = {"cora": 0.02, "cs": 0.04}[cell.dataset] + 0.01 * cell.seed
        teachers = [
            {"name": n, "val_accuracy": 0.8, "test_accuracy": 0.8, "seconds": 2.0} for n in ("par@gcn", "clu@gcn")
        ]
        pool = [
            {"accuracy": 0.8, "log_loss": 1.0, "seconds": 2.0},
            {"accuracy": 0.8 + add, "log_loss": 1.0, "seconds": 4.0},
        ]
        about = {"nodes": 9, "edges": 20, "teachers": teachers, "order": ["clu@gcn", "par@gcn"], "grown": pool}
        about |= {"adds": [[0, add], [0, 0]], "errors": [[1, 0.5], [0.5, 1]], "effective_teachers": 1.5}
        records.add(record_of(cell) | about)
    rendered = artifact.render(scope, records)
    worth, adds, errors, size, cost = rendered.table.sheets
    assert worth.rows[0] == ("par@gcn", "80.00", "+3.50", "0.50", "100", "2.0")
    assert adds.header == ("", "par", "clu") and adds.rows[0] == ("par@gcn", "", "+3.5")
    assert errors.rows[1] == ("clu@gcn", "0.50", "")
    assert size.rows[0][:4] == ("Cora", "80.00", "82.50", "82.50") and cost.rows[1][:5] == (
        "CS",
        "9",
        "20",
        "2.0",
        "4.0",
    )
    assert all(axes.has_data() for draw in rendered.figures.values() for axes in draw().axes)
    assert artifact.render(scope, Records(tmp_path / "none")).table.notes == ["Nothing was run yet."]
