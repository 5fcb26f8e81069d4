"""The rivals on the command line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agssl.base.install import install_line
from agssl.store.run import Run

TASKS = ["clu:clusters=3", "pairdis"]


def test_autossl_reports_its_weights_everywhere(agssl: Callable[..., Any], graph: Path, quick: tuple[str, ...]) -> None:
    words = ("fit", graph, *quick, "--method", "autossl", "--alpha", 1, "--seeds", 2, "--out", "auto")
    result = json.loads(agssl(*words, "--json").out)
    assert (result["method"], result["integration"], result["teachers"]) == ("autossl", None, [])
    assert list(result["task_weights"]) == TASKS
    run = Run.open("auto")
    assert set(run.history()) == {"search", "autossl", "autossl, all labels"} and "lambda1" in run.history()["search"]
    means = [run.seed_metrics(seed)["task_weights"] for seed in (0, 1)]
    for task in TASKS:
        assert result["task_weights"][task] == pytest.approx((means[0][task] + means[1][task]) / 2)
    assert run.seed_metrics()["alphas"] == dict.fromkeys(TASKS, 1.0)
    rows = list(csv.DictReader((run.folder() / "task_weights.csv").open()))
    assert len(rows) == 40
    for row in rows:
        assert [float(row[task]) for task in TASKS] == pytest.approx(list(means[0].values()), abs=1e-5)
    assert "task weights: clu:clusters=3 0." in agssl(*words).out
    (group, *_) = json.loads(agssl("explain", "auto", "--degree", "--json").out)
    assert group["weights"] == pytest.approx(means[0], abs=1e-5)
    node = agssl("explain", "auto", "--node", "x3")
    assert node.code == 0 and "pairdis" in node.out
    table = list(csv.DictReader(agssl("explain", "auto", "--node", "x3", "--csv").out.splitlines()))
    assert {row["prediction"] for row in table} == {""}
    assert len(agssl("predict", "auto").out.splitlines()) >= 40


def test_es_and_was_run(agssl: Callable[..., Any], graph: Path, quick: tuple[str, ...]) -> None:
    done = agssl("fit", graph, *quick, "--method", "autossl", "--autossl-search", "es", "--autossl-budget", 2, "--json")
    assert done.code == 0, done.err
    assert Run.open(json.loads(done.out)["run"]).seed_metrics()["epochs"]["search"] == 2
    done = agssl("fit", graph, *quick, "--integration", "was", "--json")
    assert sum(json.loads(done.out)["task_weights"].values()) == pytest.approx(1, abs=1e-5)


def test_fixed_weights_of_joint_training(agssl: Callable[..., Any], graph: Path, quick: tuple[str, ...]) -> None:
    weights = "clu=1,pairdis=0.25"
    done = agssl("fit", graph, *quick, "--method", "joint", "--task-weights", weights, "--out", "joint")
    assert done.code == 0, done.err
    assert Run.open("joint").settings.task_weights == {"clu": 1.0, "pairdis": 0.25}
    done = agssl("fit", graph, "--config", "joint/config.toml", "--out", "again", "--json")
    assert done.code == 0, done.err
    done = agssl("fit", graph, *quick, "--method", "joint", "--task-weights", "clu=1")
    assert done.code == 2 and "no weight for 'pairdis'" in done.err and done.err.count("\n") == 1


def test_a_missing_package_is_named_before_training(
    agssl: Callable[..., Any], graph: Path, quick: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cmaes", None)
    done = agssl("fit", graph, *quick, "--method", "autossl", "--autossl-search", "es")
    assert done.code == 2 and install_line("es") in done.err


def test_without_pymetis_a_fit_says_once_who_cuts_the_graph(
    agssl: Callable[..., Any], graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agssl.ops.partition.has_metis", lambda: False)
    quick = ("--epochs", "2", "--hidden", "4", "--alpha", "1", "--tasks")
    done = agssl("fit", graph, *quick, "par,clu", "--out", "a")
    assert done.code == 0 and done.err.count("pymetis is not installed") == 1 and install_line("metis") in done.err
    assert "pymetis" not in agssl("fit", graph, *quick, "clu", "--out", "b").err
    assert agssl("fit", graph, *quick, "par,clu", "--out", "a").err.count("is finished already") == 1
    monkeypatch.undo()
