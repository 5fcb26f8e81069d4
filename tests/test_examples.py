"""The tables and scripts under examples/ are what their pages say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from agssl.cli.main import main
from agssl.data.readers import read_graph
from reference.plugins import forget_plugins

TABLES = Path(__file__).resolve().parent.parent / "examples" / "tables"


def test_the_script_makes_the_tables_that_are_there(tmp_path: Path) -> None:
    runpy.run_path(str(TABLES / "make.py"))["main"](tmp_path)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert len(made) == 5
    assert all((tmp_path / path).read_bytes() == (TABLES / path).read_bytes() for path in made)
    assert sum((TABLES / path).stat().st_size for path in made) < 300_000


@pytest.mark.parametrize(
    ("name", "options", "lines"),
    [
        ("employees", {"encoding": "latin-1"}, ["rating: standardised, decimal comma", "company: dropped (constant)"]),
        ("products", {"id": "sku", "label": "fraud"}, ["stock: scaled", "brand: categories, hashed to 128 features"]),
        ("papers/papers.gml", {"label": "field"}, ["year: standardised", "venue: 3 categories"]),
    ],
)
def test_every_example_is_read(name: str, options: dict[str, str], lines: list[str]) -> None:
    graph = read_graph(TABLES / name, **options)  # type: ignore[arg-type]
    assert graph.columns is not None and set(lines) <= set(graph.columns.lines())


SCRIPTS = TABLES.parent


def printed(name: str, capsys: pytest.CaptureFixture[str], *words: object) -> tuple[dict, str]:
    found = runpy.run_path(str(SCRIPTS / f"{name}.py"))["main"](*words)
    return found, capsys.readouterr().out


def test_of_a_table_with_edges_it_makes_more_than_either_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, text = printed("own_table", capsys, str(tmp_path / "shops"))
    assert found["agssl"] > found["logistic regression"] + 0.15
    assert found["agssl"] > found["label spreading"] + 0.15
    assert "held out, the model said of itself" in text


def test_networkx_and_pandas_go_in_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("networkx")
    pytest.importorskip("pandas")
    found, text = printed("networkx_pandas", capsys)
    assert found["agssl"] > found["logistic regression"] + 0.15 and "since: date" in text
    assert found["agssl"] > found["label spreading"]


def test_nine_labels_give_an_interval_that_holds_the_truth_and_suggested_ones_a_better_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found, text = printed("few_labels", capsys)
    assert list(found) == [9, 21] and all(low <= true <= high for low, high, true in found.values())
    assert found[21][2] > found[9][2] and text.count("of the doubt") == 6


def test_the_pool_finds_out_that_neighbours_differ(capsys: pytest.CaptureFixture[str]) -> None:
    found, text = printed("heterophily", capsys)
    assert found["automatic pool"] > found["plain GCN"] + 0.2 and "it kept:" in text


def test_a_task_and_an_encoder_of_ones_own_are_trusted_like_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forget_plugins(monkeypatch)
    found, _ = printed("own_task_encoder", capsys)
    assert set(found) == {"clu", "degree"} and sum(found.values()) == pytest.approx(1, abs=1e-5)


def test_a_node_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    found, text = printed("explain_node", capsys)
    assert sum(found.values()) == pytest.approx(1, abs=1e-5) and "feature" in text and text.count("adds") == 6


def test_the_demo_ends_with_what_was_learnt_and_what_is_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    quick = ("--epochs", "3", "--hidden", "8", "--jobs", "1")
    assert main(["fit", "digits", "--tasks", "clu,dgi", "--out", "run", *quick]) == 0
    assert main(["fit", "digits", "--method", "gcn", "--out", "gcn", *quick]) == 0
    capsys.readouterr()
    _, text = printed("learnt", capsys, "run", "gcn")
    assert text.startswith("Learnt: ") and "by a plain GCN" in text and "\nNext: open run/report.html" in text
    assert len(text.strip().splitlines()) == 2


def test_the_docs_list_every_example() -> None:
    page = TABLES.parents[1] / "docs" / "examples.md"
    listed = {path.name for path in SCRIPTS.glob("*.py") if f"(../examples/{path.name})" in page.read_text()}
    assert listed == {path.name for path in SCRIPTS.glob("*.py")}
