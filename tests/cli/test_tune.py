"""`agssl tune`."""

from __future__ import annotations

import csv
import json
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agssl.config import RUN_KEYS, Settings, effective, read_toml

pytest.importorskip("optuna")

Agssl = Callable[..., Any]
QUICK = ("--epochs", 2, "--tasks", "clu:clusters=3,pairdis", "--tuning-seeds", 2)


@pytest.mark.slow
def test_the_settings_found_are_a_config_for_fit(agssl: Agssl, graph: Path) -> None:
    done = agssl("tune", graph, *QUICK, "--trials", 3, "--json")
    assert done.code == 0, done.err
    value = json.loads(done.out)
    chosen = value["best"]["settings"]
    assert value["trials"] == {"complete": 3, "pruned": 0, "failed": 0}
    assert value["tuning_seeds"] == [100, 101] and (value["method"], value["integration"]) == ("agssl", "both")
    trials = [line.partition("]")[0] for line in done.err.splitlines() if line.startswith("[")]
    assert trials == ["[1/3", "[2/3", "[3/3"]
    text = Path("results/tune/small-agssl-both.toml").read_text()
    assert text.startswith("# made by: agssl tune ") and "# best of 3 complete trials" in text
    assert "seeds 100, 101; no test label was read" in text
    gain = value["gain"]
    assert (gain is None) == (value["best"]["trial"] == 0) == ("# above trial 0" not in text)
    assert gain is None or (gain["over_trial"] == 0 and gain["mean"] > 0 and gain["standard_error"] > 0)
    rows = list(csv.DictReader(Path(value["table"]).read_text().splitlines()))
    assert [row["state"] for row in rows] == ["complete"] * 3
    best = rows[value["best"]["trial"]]
    assert float(best["score"]) == pytest.approx((float(best["seed 100"]) + float(best["seed 101"])) / 2)
    assert (float(best["beta"]), int(best["hidden"])) == (chosen["beta"], chosen["hidden"])
    fitted = agssl("fit", graph, "--config", value["config"], "--out", "run", "--json")
    assert fitted.code == 0, fitted.err
    teachers = json.loads(fitted.out)["teachers"]
    assert [teacher["alpha"] for teacher in teachers] == [[chosen["alpha"]["clu"]], [chosen["alpha"]["pairdis"]]]
    again = agssl("tune", graph, *QUICK, "--trials", 3)
    assert again.code == 0 and "3 trials complete before, 0 to go" in again.err
    assert "best of 3 complete trials" in again.out
    assert not Path("results/tune/.small-agssl-both.db.lock").exists()


@pytest.mark.slow  # tests/search has the same without a process to kill
def test_a_killed_search_goes_on(agssl: Agssl, graph: Path) -> None:
    words = ("tune", graph, "--method", "gcn", "--epochs", 150, "--patience", 0, "--trials", 5, "--tuning-seeds", 2)
    process = subprocess.Popen([sys.executable, "-m", "agssl", *map(str, words)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while not (line := process.stderr.readline()).startswith("[1/5]"):
        assert line, "the search ended by itself"
    time.sleep(0.1)  # into the second trial
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = agssl(*words, "--json")
    assert done.code == 0, done.err
    trials = json.loads(done.out)["trials"]
    assert trials["complete"] == 5 and trials["failed"] <= 1 and not done.err.startswith("0 trials")


def test_two_searches_can_not_share_a_study(agssl: Agssl, graph: Path) -> None:
    from agssl.base.lock import Lock

    Path("results/tune").mkdir(parents=True)
    lock = Lock(Path("results/tune/.small-gcn.db.lock"))
    lock.take("it")
    done = agssl("tune", graph, "--method", "gcn", "--trials", 1, "--epochs", 1)
    lock.release()
    assert done.code == 2 and "results/tune/small-gcn.db" in done.err and done.err.count("\n") == 1


def test_a_config_tuned_in_two_steps_says_so_and_is_what_was_scored(agssl: Agssl, graph: Path) -> None:
    first = "# by hand\nself_weight = 0.2\nepochs = 2\ntau = 5.0\n"
    Path("base.toml").write_text(first)
    words = ("--method", "agssl", "--tasks", "clu:clusters=3,pairdis", "--config", "base.toml")
    more = ("--hidden", 8, "--tau", 2.0, "--only", "student_dropout", "--shared", "--trials", 2, "--tuning-seeds", 1)
    done = agssl("tune", graph, *words, *more, "--out", "two.toml", "--study", "secret.db", "--threads", 1, "--json")
    assert done.code == 0, done.err
    best = json.loads(done.out)["best"]["settings"]
    text = Path("two.toml").read_text()
    command = shlex.join(map(str, ("agssl", "tune", graph, *words, *more)))
    assert text.startswith(first.replace("tau = 5.0\n", "") + f"# made by: {command}\n# best of 2 complete trials")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines[2:] == ["hidden = 8", "tau = 2.0", f"student_dropout = {best['student_dropout']}"]
    fitted = agssl("fit", graph, *words[:4], "--config", "two.toml", "--out", "run")
    assert fitted.code == 0, fitted.err
    values = read_toml("run/config.toml", RUN_KEYS)
    assert effective(Settings().replace(**{n: v for n, v in values.items() if n not in RUN_KEYS})) == best


def test_settings_of_a_task_are_searched_and_written(agssl: Agssl, graph: Path) -> None:
    words = ("--tasks", "clu,pairdis", "--epochs", 1, "--trials", 3, "--tuning-seeds", 1, "--only", "clu.clusters")
    done = agssl("tune", graph, *words, "--shared", "--out", "mine.toml", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["best"]["settings"]["tasks"]
    assert tomllib.loads(Path("mine.toml").read_text())["tasks"] == found
    assert found[0] in {f"clu:clusters={n}" for n in (5, 10, 20)} and found[1] == "pairdis"
    assert agssl("fit", graph, "--config", "mine.toml", "--epochs", 1).code == 0


@pytest.mark.parametrize(("which", "seeds"), [("104-105", [104, 105]), ("103,101", [103, 101])])
def test_tuning_seeds_can_be_named(agssl: Agssl, graph: Path, which: str, seeds: list[int]) -> None:
    words = ("--method", "gcn", "--epochs", 1, "--trials", 1, "--only", "dropout")
    done = agssl("tune", graph, *words, "--tuning-seeds", which, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["tuning_seeds"] == seeds


@pytest.mark.parametrize(
    ("which", "told"), [("99-101", "99 is below 100"), ("0", "give a count"), ("-1", "give a count"), ("few", "'few'")]
)
def test_tuning_seeds_that_make_no_sense_are_refused(agssl: Agssl, graph: Path, which: str, told: str) -> None:
    done = agssl("tune", graph, "--method", "gcn", f"--tuning-seeds={which}")
    assert done.code == 2 and told in done.err and len(done.err.splitlines()) == 1


def test_a_table_with_other_neighbours_is_another_study(agssl: Agssl, graph: Path) -> None:
    words = ("tune", graph / "nodes.csv", "--method", "gcn", "--epochs", 1, "--tuning-seeds", 1, "--trials", 2)
    for knn, before in ((3, 0), (6, 0), (3, 2)):
        done = agssl(*words, "--knn", knn)
        assert done.code == 0 and f"{before} trials complete before" in done.err, done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--trials", 0), "trials = 0"),
        (("--only", "betta"), "unknown parameter 'betta'; did you mean 'beta'"),
        (("--tasks", "parr"), "unknown task 'parr'"),
    ],
)
def test_mistakes_are_one_line_and_2(agssl: Agssl, graph: Path, words: tuple[object, ...], message: str) -> None:
    done = agssl("tune", graph, *words)
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1
