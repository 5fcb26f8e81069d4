"""The authors' split, equal labels, and rivals in `agssl bench`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agssl.bench import paper
from agssl.bench.accuracy import ONE, TWO
from agssl.bench.authors import NOTHING, on_authors
from agssl.bench.catalog import ARTIFACTS
from agssl.bench.cells import Cell
from agssl.bench.measure import Workspace, run_cell
from agssl.bench.methods import BEST, CROSSFIT, EQUAL, GCN, LF, MIXED, TABLE_METHODS
from agssl.bench.records import Records
from agssl.bench.scope import Scope
from agssl.cli.main import main
from agssl.config import Settings
from reference.records import record_of, records_of

needs_split = pytest.mark.skipif(
    not (Path(os.environ.get("AGSSL_DATA", "")) / "splits").is_dir(), reason="AGSSL_DATA with the authors' splits"
)


def test_another_split_makes_another_cell_and_its_own_teachers() -> None:
    drawn, fixed = (Cell("photo", "gcn", Settings(method="gcn"), 0, split=s) for s in ("benchmark", "authors"))
    assert drawn.key != fixed.key and drawn.teacher_group != fixed.teacher_group
    assert drawn.key == Cell("photo", "gcn", Settings(method="gcn"), 0).key
    assert str(fixed) == "photo gcn split authors seed 0"


@pytest.mark.parametrize("name", ["table1", "table2"])
def test_the_authors_tables_have_the_cells_of_the_random_ones(name: str) -> None:
    scope = Scope(seeds=(0,))
    cells = ARTIFACTS[f"{name}-authors"].cells(scope)
    assert {cell.split for cell in cells} == {"authors"}
    assert {cell.dataset for cell in cells} == {"cs", "physics", "photo", "computers"}
    drawn = {
        replace(c, curves=False).key for c in ARTIFACTS[name].cells(scope) if c.dataset in on_authors(scope).datasets
    }
    assert {replace(cell, split="benchmark").key for cell in cells} == drawn
    assert {cell.strategy for cell in cells} >= ({"jt", "pf"} if name == "table1" else {"jt"})


def test_what_the_split_is_worth_is_the_difference_of_two_means(tmp_path: Path) -> None:
    scope, records = Scope(datasets=("photo",), methods=("gcn", "agssl-lf"), seeds=(0, 1), strategies=("jt",)), None
    records = Records(tmp_path)
    for method, drawn, fixed in ((GCN, 0.90, 0.93), (LF, 0.92, 0.94)):
        for cell in scope.cells(method, "photo"):
            records.add(record_of(cell, drawn))
            records.add(record_of(replace(cell, split="authors"), fixed + 0.01 * cell.seed))
    table = ARTIFACTS["table1-authors"].render(scope, records).table
    worth = next(sheet for sheet in table.sheets if "minus that on random splits" in sheet.title)
    assert worth.rows == (("GCN", "+3.50 (-1.90, +1.60)"), ("AGSSL-LF", "+2.50 (-1.98, +0.52)"))
    assert all(row["wanted"] == 2 for row in table.entries)
    only = ARTIFACTS["table1-authors"].render(Scope(datasets=("cora",)), records).table
    assert only.notes == [NOTHING] and not ARTIFACTS["table1-authors"].cells(Scope(datasets=("cora",)))


def test_further_rows_are_shown_where_they_have_been_run(tmp_path: Path) -> None:
    scope, records = Scope(datasets=("cora", "cs"), seeds=(0,), strategies=("jt",)), Records(tmp_path)
    for table, extra in ((ONE, (*EQUAL, *MIXED, *CROSSFIT)), (TWO, BEST)):
        names = [method.name for method in table.rows(scope, records)]
        assert not {method.name for method in extra} & set(names)
        for cell in scope.cells(extra[-1], "cs"):
            records.add(record_of(cell))
        after = [method.name for method in table.rows(scope, records)]
        assert set(after) - set(names) == {extra[-1].name}
        assert after == [name for name in TABLE_METHODS if name in after]


def test_crossfit_rows_are_what_set_makes() -> None:
    by_name = Scope(seeds=(0,)).cells(CROSSFIT[0], "cora")
    by_set = Scope(seeds=(0,), changes={"weights_from": "crossfit"}).cells(LF, "cora")
    assert [cell.key for cell in by_name] == [cell.key for cell in by_set]


def test_rivals_have_their_papers_settings_and_figures(tmp_path: Path) -> None:
    rivals = {method.name: method for method in BEST}
    deep, _ = rivals["gcnii"].settings("cora", "jt")
    assert (deep.method, deep.layers, deep.encoder, deep.head) == ("gcn", 64, "gcnii:alpha=0.1:theta=0.5", "linear")
    assert rivals["gcnii"].settings("photo", "jt")[0].layers == 16
    views, _ = rivals["grand-net"].settings("citeseer", "jt")
    assert views.tasks == ("grand:views=2:share=0.5:temperature=0.3:consistency=0.7",) and views.encoder == "mixed:k=2"
    assert rivals["grand-net"].settings("cs", "jt")[0].method == "grand"
    assert rivals["cpf-gat"].settings("photo", "jt")[0].encoder == "gat"
    assert rivals["gcnii"].settings("cora", "jt", base={"epochs": 3})[0].epochs == 3  # --set has the last word
    assert paper.rival("cora", "jt", "gcnii") == (85.5, 0.5) and paper.rival("cora", "jt", "cpf") is None
    scope = Scope(datasets=("pubmed",), seeds=(0, 1))
    table = ARTIFACTS["rivals"].render(scope, records_of(tmp_path, ARTIFACTS["rivals"].cells(scope))).table
    theirs = next(sheet for sheet in table.sheets if "published figures in brackets" in sheet.title)
    text = {row[0]: row[1] for row in theirs.rows}
    assert text["CPF of GCNII"].endswith("(83.20)") and text["JOAO"] == "not published"
    assert "WWW 2021" in table.notes[-1]


@needs_split
def test_a_cell_is_fitted_on_the_authors_split(tmp_path: Path) -> None:
    settings = Settings(method="gcn", epochs=2, hidden=4)
    record = run_cell(Workspace(tmp_path), Cell("photo", "gcn", settings, 3, split="authors"))
    assert record["split_asked"] == "authors" and record["split"]["origin"] == "authors"


def test_without_the_file_a_dataset_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = os.environ.get("AGSSL_DATA", "")
    if not (Path(data) / "Photo").is_dir():
        pytest.skip("AGSSL_DATA with Photo")
    root = tmp_path / "data"
    root.mkdir()
    (root / "Photo").symlink_to(Path(data) / "Photo")
    monkeypatch.setenv("AGSSL_DATA", str(root))
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    words = ["bench", "table1-authors", "--datasets", "photo", "--methods", "gcn", "--seeds", "1"]
    assert main([*words, "--jobs", "1", "--out", str(tmp_path / "out")]) == 0
    assert "photo is left out: the split authors of photo is not here" in capsys.readouterr().err
