"""`agssl data list | info | get`, through the real parser."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from agssl.base.errors import AgsslError
from agssl.cli import data as command


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser(prog="agssl")
    command.add_parser(parser.add_subparsers())
    args = parser.parse_args(["data", *argv])
    code: int = args.handler(args)
    return code


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"n{i},{i},{i % 3},{'ab'[i % 2]}" for i in range(10)]
    (tmp_path / "nodes.csv").write_text("id,f,g,label\n" + "\n".join(rows))
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(f"n{i},n{i + 1}" for i in range(9)))
    return tmp_path


def test_list_names_every_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list") == 0
    out = capsys.readouterr().out
    for name in ("cora", "citeseer", "pubmed", "photo", "computers", "cs", "physics", "ogbn-arxiv", "digits"):
        assert name in out
    assert "built-in" in out and "247,962" in out
    assert run("list", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 9


def test_info_of_a_dataset_is_one_json_value(data_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", "citeseer", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["nodes"], facts["edges"], facts["split"]["train"]) == (3327, 4552, 120)


def test_info_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", "digits") == 0
    out = capsys.readouterr().out
    assert "1,797" in out and "train 200, val 500, test 1,000" in out


def test_info_of_a_graph_of_ones_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", str(folder), "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["nodes"], facts["edges"], facts["split"]) == (10, 9, {"train": 10, "val": 10, "test": 0})
    assert run("info", str(folder / "nodes.csv"), "--knn", "2", "--knn-metric", "euclidean", "--json") == 0
    assert json.loads(capsys.readouterr().out)["isolated"] == 0


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["info", "coraa"], "did you mean 'cora'"),
        (["info", "no/such/folder"], "no/such/folder does not exist"),
        (["info", "graph.npz"], "graph.npz does not exist"),
        (["info", "digits", "--knn", "3"], "brings its own edges"),
        (["get", "digits", "pubmedd"], "did you mean 'pubmed'"),
    ],
)
def test_mistakes_get_an_error_of_one_line(argv: list[str], message: str) -> None:
    with pytest.raises(AgsslError, match=message) as caught:
        run(*argv)
    assert "\n" not in str(caught.value)


def test_get_prints_the_paths(data_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("get", "cora", "digits") == 0
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 8
    assert all(Path(line).is_file() for line in captured.out.splitlines())
    assert "built in" in captured.err


@pytest.mark.parametrize("argv", [[], ["list"], ["info"], ["get"], ["pack"], ["generate"]])
def test_every_help_has_an_example(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*argv, "--help")
    assert caught.value.code == 0
    assert "  agssl data" in capsys.readouterr().out.split("example")[1]


def test_building_the_parser_imports_nothing_heavy() -> None:
    code = (
        "import sys, agssl.cli.data; print(sorted({'numpy', 'torch', 'scipy', 'pyarrow', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
