"""Every table and figure, from no records and from all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agssl.bench import paper, ranking, weights
from agssl.bench.catalog import ARTIFACTS
from agssl.bench.cells import unique
from agssl.bench.output import write_rendered
from agssl.bench.records import Records
from agssl.bench.scope import Scope
from reference.records import record_of, records_of

SCOPE = Scope(datasets=("citeseer", "cs"), seeds=(0, 1))
APART = ("theory", "graphs", "trust", "redundancy", "embeddings", "beyond")  # not the paper's; with tests of their own
NAMES = [name for name in ARTIFACTS if name not in APART]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_run_shows_as_missing(name: str, tmp_path: Path) -> None:
    artifact = ARTIFACTS[name]
    assert artifact.cells(SCOPE)
    rendered = artifact.render(SCOPE, Records(tmp_path))
    assert any("missing" in cell for sheet in rendered.table.sheets for row in sheet.rows for cell in row)


@pytest.mark.parametrize("name", NAMES)
def test_everything_run_shows_numbers_and_draws(name: str, tmp_path: Path) -> None:
    artifact = ARTIFACTS[name]
    scope = Scope(datasets=SCOPE.datasets, seeds=SCOPE.seeds, strategies=("jt",))
    beside = ARTIFACTS[name.removesuffix("-authors")].cells(scope)  # they show random splits, too
    rendered = artifact.render(scope, records_of(tmp_path, [*artifact.cells(scope), *beside]))
    for sheet in rendered.table.sheets:
        assert {len(row) for row in sheet.rows} == {len(sheet.header)}
        titles = {row[0] for row in sheet.rows if any("missing" in cell for cell in row)}
        assert titles <= {"AutoSSL", "GMI", "MVGRL", "GRACE", "GCA", "CG3", "BGRL", "GraphMAE", "WAS"}  # not installed
    assert bool(rendered.figures) == artifact.figures == (name.startswith("fig"))
    for draw in rendered.figures.values():
        assert all(axes.has_data() for axes in draw().axes)


def test_files_are_what_their_endings_say(tmp_path: Path) -> None:
    artifact = ARTIFACTS["fig5"]
    scope = Scope(datasets=("citeseer",), seeds=(0,))
    records = records_of(tmp_path, artifact.cells(scope))
    files = write_rendered(tmp_path / "out", "fig5", artifact.render(scope, records))
    starts = {path.suffix: path.read_bytes()[:20] for path in files}
    assert set(starts) == {".md", ".csv", ".tex", ".png", ".svg"}
    assert starts[".png"].startswith(b"\x89PNG") and starts[".svg"].startswith(b"<?xml")
    assert starts[".md"].startswith(b"**Figure 5") and starts[".tex"].startswith(rb"\begin{table}")
    again = write_rendered(tmp_path / "again", "fig5", artifact.render(scope, Records(tmp_path)))
    assert [p.read_bytes() for p in files] == [p.read_bytes() for p in again]


@pytest.mark.slow
def test_tables_share_cells() -> None:
    table1 = {cell.key for cell in ARTIFACTS["table1"].cells(SCOPE)}
    assert {cell.key for cell in ARTIFACTS["fig5"].cells(SCOPE)} <= table1
    together = ARTIFACTS["table-a2"].cells(SCOPE) + ARTIFACTS["fig8"].cells(SCOPE)
    assert len(unique(together)) == len({cell.key for cell in ARTIFACTS["fig8"].cells(SCOPE)})


def test_table_a3_measures_cost_in_fresh_processes_alone() -> None:
    assert all(cell.cost == (name == "table-a3") for name in NAMES for cell in ARTIFACTS[name].cells(SCOPE))


def test_lf_or_ts_is_chosen_by_validation_and_never_by_test(tmp_path: Path) -> None:
    from agssl.bench.accuracy import GCN, LF, TS, choose_scheme

    scope, records = Scope(seeds=(0, 1)), Records(tmp_path)
    for method, val, test in ((LF, 0.9, 0.5), (TS, 0.8, 0.99), (GCN, 0.7, 0.4)):
        for cell in scope.cells(method, "cora"):
            record = record_of(cell, test + 0.01 * cell.seed) | {"val": {"accuracy": val, "log_loss": 1.0}}
            records.add(record)
    chosen = choose_scheme(scope, records, "cora", "jt", paper.table1)
    assert chosen.scheme is LF and chosen.entry.mean == pytest.approx(50.5) and chosen.entry.gain == pytest.approx(10)
    assert chosen.entry.paper == (85.32, 0.32) and chosen.paper_gain == pytest.approx(85.32 - 81.72)
    assert choose_scheme(scope, records, "cora", "pf", paper.table1).scheme is None


def test_a_tie_of_lf_and_ts_is_broken_by_validation_loss_on_seeds_that_both_have(tmp_path: Path) -> None:
    from agssl.bench.accuracy import AVERAGE, LF, TS, choose_scheme

    scope, records = Scope(seeds=(0, 1)), Records(tmp_path)
    for method, loss in ((LF, 0.5), (TS, 0.4), (AVERAGE, 0.4)):
        for cell in scope.cells(method, "cora")[: 2 if method is LF else 1]:
            best = {"accuracy": 0.9 if cell.seed == 0 else 1.0, "log_loss": loss}
            record = record_of(cell, 0.7 if method is AVERAGE else 0.8) | {"val": best}
            records.add(record)
    chosen = choose_scheme(scope, records, "cora", "jt", paper.table1)
    assert chosen.scheme is TS and chosen.over_average.gain == pytest.approx(10)


@pytest.mark.parametrize("name", NAMES)
def test_methods_that_a_figure_is_not_about_show_nothing(name: str, tmp_path: Path) -> None:
    artifact = ARTIFACTS[name]
    for methods in (("gcn",), ("par",), ("agssl-ts",)):
        rendered = artifact.render(Scope(datasets=("cora",), methods=methods, seeds=(0,)), Records(tmp_path))
        for draw in rendered.figures.values():
            draw()
        assert rendered.figures or not name.startswith("fig") or "Nothing to show" in rendered.table.notes[0]


def test_the_paper_is_quoted_as_published() -> None:
    assert paper.table1("physics", "jt", "agssl-lf") == (95.74, 0.38)
    assert paper.table2("physics", "jt", "gmi") is None and paper.table2("cora", "pf", "gcn") is None
    assert paper.table_a2("cs", "agssl-ts", 5) == paper.table1("cs", "jt", "agssl-ts") == (93.46, 0.25)
    assert paper.table_a3("cora", "joint-t", "seconds") == 17.87


def test_accuracy_by_degree_pools_the_nodes_of_all_seeds() -> None:
    cells = Scope(seeds=(0, 1)).cells(ranking.SINGLE[0], "cora")
    first, second = (record_of(cell) for cell in cells)
    first["by_degree"] |= {"count": [0, 30, 5, 0, 0, 0, 0, 0], "correct": [0, 15, 5, 0, 0, 0, 0, 0]}
    second["by_degree"] |= {"count": [0, 10, 5, 0, 0, 0, 0, 0], "correct": [0, 9, 1, 0, 0, 0, 0, 0]}
    assert ranking.degree_accuracy([first, second]) == [("1", 60.0, 20)]
    assert ranking.degree_accuracy([second] * 10) == []  # ten times the same 10 nodes are not 100


def test_task_ranks_need_all_tasks() -> None:
    ranks = ranking.task_ranks({"A": {"x": 80.0, "y": 70.0}, "B": {"x": 82.0, "y": None}})
    assert ranks == {"A": {"x": 2.0, "y": None}, "B": {"x": 1.0, "y": None}}


def test_mean_lambda_is_the_mean_over_seeds_without_empty_buckets() -> None:
    records = [record_of(cell) for cell in Scope(seeds=(0, 1)).cells(weights.TS, "cora")]
    for record in records:
        record["lambda_by_degree"][0] = None
    names, table = weights.mean_lambda(records)
    assert names == records[0]["by_degree"]["buckets"][1:]
    first, second = (record["lambda_by_degree"][1:] for record in records)
    naive = [[(x + y) / 2 for x, y in zip(a, b, strict=True)] for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(table, naive)
