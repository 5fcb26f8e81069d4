"""The pages of results: what was run, in full, and nothing else; findings and shortfalls from made-up records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agssl.bench.catalog import ARTIFACTS
from agssl.bench.cells import unique
from agssl.bench.fair import DATASETS
from agssl.bench.findings import FINDINGS
from agssl.bench.methods import AVERAGE, EQUAL, GCN, LF, TS
from agssl.bench.records import Records
from agssl.bench.results import made_by, write_results
from agssl.bench.scope import Scope
from agssl.bench.shortfalls import shortfall_sheets
from agssl.bench.site import PAGES
from agssl.bench.tables import Sheet, Table
from agssl.bench.trim import trimmed
from reference.records import record_of, records_of

ROOT = Path(__file__).parents[2]
SCOPE = Scope(datasets=("citeseer", "cs"), seeds=(0, 1))


def test_rows_and_columns_of_which_nothing_was_run_are_left_out_and_named() -> None:
    header = ("", "Cora", "CS", "ogbn-arxiv", "average rank in the paper")
    rows = (
        ("GCN", "81.00", "missing", "missing (71.16 ± 0.32)", "2.00"),
        ("PAR", "missing (83.52 ± 0.39)", "missing (92.30)", "missing", "1.00"),
        ("DGI", "not in the paper", "90.00", "missing", "–"),
        ("Average", "not in the paper", "not in the paper", "not in the paper", "–"),
    )
    found = trimmed(Table([Sheet("Some", header, rows, frozenset({(2, 2)}))], notes=["a note"]))
    (sheet,) = found.sheets
    assert sheet.header == ("", "Cora", "CS", "average rank in the paper")
    assert [row[0] for row in sheet.rows] == ["GCN", "DGI"] and sheet.best == {(1, 2)}
    assert found.notes == ["a note", "Left out, since nothing of it was run: PAR, ogbn-arxiv."]


def test_what_another_sheet_shows_is_not_called_left_out_and_empty_tables_say_so() -> None:
    run = Sheet("One", ("", "a"), (("GCN", "81.00"), ("PAR", "80.00")))
    not_run = Sheet("Two", ("", "a", "b"), (("GCN", "80.00", "missing"), ("PAR", "missing", "missing")))
    assert trimmed(Table([run, not_run])).notes == ["Left out, since nothing of it was run: b."]
    nothing = trimmed(Table([Sheet("None", ("", "a"), (("GCN", "missing"),))], notes=["a note"]))
    assert (nothing.sheets, nothing.notes) == ([], ["Nothing of this was run yet."])


def test_every_table_has_a_page_and_every_page_a_place_on_the_site() -> None:
    names = [name for page in PAGES for name in page.artifacts]
    assert sorted(names) == sorted(ARTIFACTS)
    listed = set(re.findall(r"research/([\w-]+\.md)", (ROOT / "mkdocs.yml").read_text()))
    assert listed == {page.file for page in PAGES} | {"index.md", "shortfalls.md", "notes.md"}
    there = {path.name for path in (ROOT / "docs" / "research").glob("*.md")}
    assert there == listed
    for target in re.findall(r"\]\(notes\.md#([\w-]+)\)", (ROOT / "docs/research/shortfalls.md").read_text()):
        assert f"\n### {target}\n" in (ROOT / "docs/research/notes.md").read_text().lower()


def test_pages_say_what_made_each_table_and_no_machine(tmp_path: Path) -> None:
    artifacts = {name: ARTIFACTS[name] for name in ("table1", "fig5")}
    cells = unique(artifacts["fig5"].cells(SCOPE))
    records = records_of(tmp_path / "records", cells)
    paths = write_results(artifacts, SCOPE, records, tmp_path)
    assert paths[0] == tmp_path / "RESULTS.md" and all(path.is_file() for path in paths)
    pages = {path.name for path in paths if path.parent.name == "research"}
    assert pages == {"index.md", "shortfalls.md", "table1.md", "weights.md"}
    text = (tmp_path / "docs/research/weights.md").read_text()
    assert "[![Figure 5: mean task weights by node degree](../figures/fig5.png)](../figures/fig5.svg)" in text
    assert "`agssl bench fig5 --datasets citeseer,cs --seeds 0,1`; 8 records; seeds 0-1 (citeseer, cs);" in text
    every = "".join(path.read_text() for path in paths if path.suffix == ".md")
    assert not any(word in every for word in (str(tmp_path), "abc123", "some kind", "| missing |"))
    assert made_by("theory", []) == "`agssl bench theory`."


def _records(folder: Path, scope: Scope) -> Records:
    """AGSSL 4 points above the GCN, its average 3, the baselines with equal labels 1."""
    records = Records(folder)
    gains = {GCN: 0.0, AVERAGE: 0.03, LF: 0.04, TS: 0.035, EQUAL[0]: 0.01, EQUAL[1]: 0.005}
    for dataset in scope.datasets_or(DATASETS):
        for method, gain in gains.items():
            for cell in scope.cells(method, dataset):
                records.add(record_of(cell, 0.80 + gain + 0.001 * cell.seed * (1 + gain)))
    return records


def test_findings_are_filled_from_records(tmp_path: Path) -> None:
    scope = Scope(datasets=("cora", "computers"), seeds=(0, 1, 2))
    found = [finding for one in FINDINGS if (finding := one(scope, _records(tmp_path, scope))) is not None]
    assert [one.title for one in found] == [
        "AGSSL is above a GCN on 2 of 2 graphs",
        "Of 4.0 points, 3.0 come with equal weights for all teachers",
        "The paper's accuracy is reached on 0 of 2 graphs",
    ]
    assert "+3.00 to +3.00 on Cora and Computers" in found[0].text
    assert "further below on Cora (-1.22) and Computers (-5.62)" in found[2].text
    assert all(one.figure[1]().axes[0].has_data() for one in found)
    assert not [one for one in FINDINGS if one(scope, Records(tmp_path / "none"))]


def test_shortfalls_have_a_row_for_what_is_below_the_paper_only(tmp_path: Path) -> None:
    scope = Scope(datasets=("citeseer", "computers"), seeds=(0, 1), strategies=("jt",))
    first, second = shortfall_sheets(scope, _records(tmp_path, scope))
    assert [row[0] for row in first.rows] == ["Computers, joint training"]
    assert first.rows[0][1:5] == ("84.05 (89.72)", "-5.67", "-6.31", "+4.00 (+3.36)")
    assert first.rows[0][5].startswith("the GCN is short")  # the seeds are too close together to leave 5 points open
    assert second.rows[0][:3] == ("Citeseer: AGSSL over the average of its teachers, points", "+1.00", "+1.08")


def test_trust_is_the_mean_over_seeds_of_what_fits_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope, records = Scope(datasets=("cora",), methods=("auto",), seeds=(0, 1, 2)), Records(tmp_path)
    artifact = ARTIFACTS["trust"]
    shares = {"disagreement": 0.2, "most_trusted": 0.6, "best_single": 0.5, "majority": None}
    for cell, pairs in zip(artifact.cells(scope), (0.7, 0.8, None), strict=True):
        trust = shares | {"pairs_right": pairs, "pairs_right_se": 0.1, "nodes": 3, "effective_teachers": 1.5}
        teachers = [{"task": "par"}, {"task": "clu"}][: 1 if cell.seed == 2 else 2]  # one teacher has nobody to trust
        records.add(record_of(cell) | {"trust": trust, "teachers": teachers})
    rendered = artifact.render(scope, records)
    (sheet,) = rendered.table.sheets
    assert sheet.rows == (("Cora, AGSSL auto", "2", "2", "1.50", "0.750 ± 0.100", "20.0", "60.0", "50.0", "–"),)
    assert rendered.figures["trust"]().axes[0].has_data()
    assert artifact.render(scope, Records(tmp_path / "none")).table.notes == ["Nothing was run yet."]
    assert [cell.key for cell in artifact.cells(scope)] == [cell.key for cell in ARTIFACTS["graphs"].cells(scope)]
