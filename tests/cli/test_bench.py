"""`agssl bench`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agssl.base.errors import SettingsError
from agssl.base.lock import Lock
from agssl.base.system import duration
from agssl.cli.bench import WHAT
from agssl.cli.common import parse_seeds

QUICK = ("--set", "epochs=2", "--set", "hidden=8", "--set", "alpha=1", "--jobs", 1)
RECORDS = Path("results/bench/small.jsonl")
Agssl = Callable[..., Any]


def test_a_table_is_run_once_and_then_only_shown(agssl: Agssl, graph: Path) -> None:
    words = ("bench", "table1", "--datasets", graph, "--methods", "clu,agssl-ts", "--seeds", 2, "--strategies", "jt")
    words += (*QUICK, "--set", 'tasks=["clu","pairdis"]')
    done = agssl(*words)
    assert done.code == 0, done.err
    assert done.err.splitlines()[0] == "0 cells done before, 6 to run"
    assert "[6/6]" in done.err and "| GCN | " in done.out and "missing" not in done.out
    before = RECORDS.read_bytes()
    assert len(before.splitlines()) == 6
    again = agssl(*words, "--json")
    assert again.code == 0 and again.err == ""
    value = json.loads(again.out)
    assert (value["cells"], value["missing"]) == (6, 0)
    entries = value["shown"]["table1"]["entries"]
    assert {(e["row"], e["column"], e["seeds"]) for e in entries} == {
        (row, "small", 2) for row in ("GCN", "CLU", "AGSSL-TS")
    }
    assert RECORDS.read_bytes() == before
    for path in value["shown"]["table1"]["files"]:
        assert Path(path).stat().st_size
    assert not list((Path.cwd().parent / "cache" / "stages").rglob("*.safetensors"))


def test_graphs_are_compared_and_listed(agssl: Agssl, graph: Path) -> None:
    words = ("bench", "graphs", "--datasets", graph, "--methods", "linear,gcn,auto", "--seeds", 2, *QUICK)
    done = agssl(*words)
    assert done.code == 0, done.err
    assert done.err.splitlines()[0] == "0 cells done before, 6 to run" and "missing" not in done.out
    before = RECORDS.read_bytes()
    assert len(before.splitlines()) == 6 and "| AGSSL auto minus best simple |" in done.out
    again = agssl(*words, "--json")
    assert again.code == 0 and again.err == "" and RECORDS.read_bytes() == before
    rows = json.loads(again.out)
    assert len(rows) == 8 and {row["method"] for row in rows} == {"linear", "gcn", "auto", "best-simple"}
    for row in rows:
        assert row["graph"] == "small" and row["metric"] == "accuracy" and 0 <= row["value"] <= 1 and row["seconds"] > 0


def test_graphs_for_practice_are_found_below_the_data_folder(
    agssl: Agssl, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGSSL_DATA", str(tmp_path / "data"))
    words = ("bench", "graphs", "--datasets", "texas", "--methods", "lp", "--seeds", 1, *QUICK)
    absent = agssl(*words)
    assert absent.code == 0 and "practice/texas.npz is left out: " in absent.err
    (tmp_path / "data" / "practice").mkdir(parents=True)
    graph.rename(tmp_path / "data" / "practice" / "texas.npz")  # a folder, whatever its name
    done = agssl(*words, "--json")
    assert done.code == 0, done.err
    assert [row["graph"] for row in json.loads(done.out)] == ["texas", "texas"]
    assert json.loads(Path("results/bench/texas.jsonl").read_text())["dataset"] == "practice/texas.npz"


def test_weights_of_tasks_are_set_as_for_fit(agssl: Agssl, graph: Path) -> None:
    words = ("bench", "table1", "--datasets", graph, "--methods", "agssl-ts", "--strategies", "jt", "--seeds", 1)
    words += (*QUICK, "--set", 'tasks=["clu"]', "--set", "alpha=clu=3", "--set", "student_tasks=clu=2")
    done = agssl(*words)
    assert done.code == 0, done.err
    record = next(r for r in map(json.loads, RECORDS.read_text().splitlines()) if r["method"] == "agssl-ts")
    assert record["alphas"] == {"clu": 3.0} and record["settings"]["student_tasks"] == {"clu": 2.0}


def test_two_commands_do_not_run_the_same_cells_at_once(agssl: Agssl, graph: Path) -> None:
    RECORDS.parent.mkdir(parents=True)
    lock = Lock(RECORDS.parent / ".small.lock")
    lock.take("that file")
    words = ("bench", "table1", "--datasets", graph, "--methods", "gcn", "--seeds", 1, *QUICK)
    refused = agssl(*words)
    assert refused.code == 2 and "another process" in refused.err and str(RECORDS) in refused.err
    assert agssl(*words, "--summary").code == 0
    lock.release()
    assert agssl(*words).code == 0 and not lock.path.exists()


def test_summary_runs_nothing(agssl: Agssl, graph: Path) -> None:
    done = agssl("bench", "table-a3", "--datasets", graph, "--seeds", 1, "--summary", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["missing"] == 3 and not RECORDS.exists()


@pytest.mark.slow
def test_a_killed_run_goes_on_without_redoing_a_cell(agssl: Agssl, graph: Path) -> None:
    words = ("bench", "table1", "--datasets", graph, "--methods", "gcn,clu,pairdis", "--seeds", 3, "--strategies", "jt")
    words += ("--set", "epochs=150", "--set", "patience=200", "--set", "hidden=64", "--set", "alpha=1", "--jobs", 1)
    command = [sys.executable, "-m", "agssl", *map(str, words)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not RECORDS.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)  # into the next cell
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = RECORDS.read_text().splitlines()
    assert 1 <= len(before) < 9
    done = agssl(*words, "--json")
    assert done.code == 0, done.err
    assert f"{len(before)} cell" in done.err and json.loads(done.out)["missing"] == 0
    after = RECORDS.read_text().splitlines()
    assert len(after) == 9 and after[: len(before)] == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("table3",), "unknown table or figure 'table3'; did you mean 'table"),
        (("table1", "--methods", "agsl-ts"), "unknown method 'agsl-ts'; did you mean 'agssl-ts'"),
        (("graphs", "--methods", "agssl-ts"), "unknown method 'agssl-ts'"),
        (("graphs", "--methods", "atuo"), "unknown method 'atuo'; did you mean 'auto'"),
        (("graphs", "--datasets", "texsa"), "unknown dataset 'texsa'"),
        (("table1", "--methods", "auto"), "unknown method 'auto'"),
        (("table1", "--strategies", "jt,fp"), "unknown strategy 'fp'"),
        (("table1", "--datasets", "corra"), "unknown dataset 'corra'; did you mean 'cora'"),
        (("table1", "--seeds", "a-b"), "seeds 'a-b' is not understood"),
        (("table1", "--set", "alpha=par:3"), "alpha 'par:3' is not understood"),
        (("table1", "--set", "hidden"), "--set 'hidden' is not understood"),
        (("table1", "--set", "hidden=0"), "hidden = 0"),
        (("table1", "--jobs", "0", "--datasets", "digits"), "jobs = 0"),
    ],
)
def test_mistakes_are_one_line_and_2(agssl: Agssl, words: tuple[str, ...], message: str) -> None:
    done = agssl("bench", *words)
    assert done.code == 2 and done.out == ""
    assert message in done.err and done.err.count("\n") == 1


def test_results_are_written_from_what_there_is(agssl: Agssl) -> None:
    pytest.importorskip("matplotlib")
    done = agssl("bench", "results", "--datasets", "citeseer", "--seeds", 1, "--json")
    assert done.code == 0, done.err
    files = json.loads(done.out)["files"]
    assert files[0] == "RESULTS.md" and all(Path(file).is_file() for file in files)
    start, table = Path("docs/research/index.md"), Path("docs/research/table1.md").read_text()
    assert "[Single and several tasks](docs/research/table1.md)" in Path("RESULTS.md").read_text()
    assert "`agssl bench table1 --datasets citeseer --seeds 0`." in table and "Nothing of this was run yet." in table
    for path in start.parent.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]*)", path.read_text()):
            assert target.startswith("../bench") or "notes" in target or (path.parent / target).is_file(), target


def test_the_help_names_all_tables_and_figures() -> None:
    from agssl.bench.catalog import ARTIFACTS

    assert [*ARTIFACTS] == [*WHAT]


def test_seeds_and_durations_read_as_people_write_them() -> None:
    assert parse_seeds(" 3 ") == (0, 1, 2) and parse_seeds("5-5") == (5,)
    for wrong in ("", "0", "3,3", "-2", "2-1", "x"):
        with pytest.raises(SettingsError):
            parse_seeds(wrong)
    assert (duration(0.4), duration(600), duration(7200)) == ("0 s", "10 min", "2 h 0 min")
