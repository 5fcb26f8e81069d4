from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from agssl.cli.main import main
from agssl.report.compare import compare, paired_interval, welch
from agssl.store.run import Run
from reference.page import Page


def test_intervals_are_those_of_scipy() -> None:
    draw = np.random.default_rng(0)
    one, two = draw.normal(size=7), draw.normal(size=7) + 0.3
    paired = stats.ttest_rel(two, one).confidence_interval(0.95)
    assert paired_interval(two - one) == pytest.approx(
        {"mean": (two - one).mean(), "low": paired.low, "high": paired.high}
    )
    apart = stats.ttest_ind(two[:4], one, equal_var=False).confidence_interval(0.95)
    expected = {"mean": two[:4].mean() - one.mean(), "low": apart.low, "high": apart.high}
    assert welch(one, two[:4]) == pytest.approx(expected)
    assert paired_interval(np.array([0.5])) == {"mean": 0.5, "low": None, "high": None}


def test_common_seeds_with_the_same_splits_are_paired(run: Run, gcn: Run) -> None:
    found = compare([gcn, run])
    difference = found["differences"][0]
    assert difference["paired"] and difference["seeds"] == [0, 1] and difference["note"] == ""
    for measure, key in (("test_accuracy", "accuracy"), ("log_loss", "log_loss")):
        pairs = [run.seed_metrics(s)["test"][key] - gcn.seed_metrics(s)["test"][key] for s in (0, 1)]
        assert difference[measure]["mean"] == pytest.approx(np.mean(pairs))
        assert difference[measure]["low"] <= difference[measure]["mean"] <= difference[measure]["high"]
    assert found["runs"][1]["test_accuracy"] == run.metrics["test_accuracy"]


def test_other_seeds_or_splits_are_not_paired(fit: Callable[..., Run], gcn: Run) -> None:
    later = fit("--method", "gcn", "--seed", "7")
    other = fit("--method", "gcn", "--seeds", "2", "--split", "per-class:4/6")
    found = compare([gcn, later, other])
    assert [d["note"] for d in found["differences"]] == ["no seed in common", "not the same splits"]
    assert not any(d["paired"] for d in found["differences"])
    assert found["differences"][0]["test_accuracy"]["low"] is None  # one seed has no spread
    means = [r["test_accuracy"]["mean"] for r in found["runs"]]
    assert found["differences"][1]["test_accuracy"]["mean"] == pytest.approx(means[2] - means[0])


def test_runs_without_test_nodes_are_compared_on_held_out_ones(fit: Callable[..., Run], gcn: Run) -> None:
    one = fit("--method", "gcn", "--seeds", "2", "--split", "cv:3")
    two = fit("--method", "gcn", "--seeds", "2", "--split", "cv:3", "--lr", "0.03")
    found = compare([one, two, gcn])
    paired, other = found["differences"]
    assert paired["paired"] and paired["test_accuracy"] is None and other["note"] == "not the same splits"
    for measure, key in (("val_accuracy", "accuracy"), ("log_loss", "log_loss")):
        pairs = [two.seed_metrics(s)["val"][key] - one.seed_metrics(s)["val"][key] for s in (0, 1)]
        assert paired[measure]["mean"] == pytest.approx(np.mean(pairs))


def test_the_command_prints_a_table_json_or_a_page(
    run: Run, gcn: Run, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    capfd.readouterr()
    assert main(["compare", str(gcn.path), str(run.path)]) == 0
    text = capfd.readouterr().out
    assert "paired, 2 seeds" in text and run.path.name in text
    assert main(["compare", str(gcn.path), str(run.path), "--json"]) == 0
    value = json.loads(capfd.readouterr().out)
    assert [r["run"] for r in value["runs"]] == [str(gcn.path), str(run.path)]
    assert main(["compare", str(gcn.path), str(run.path), "-o", str(tmp_path / "c.html")]) == 0
    page = Page.read(tmp_path / "c.html")
    assert page.data["kind"] == "compare" and page.data["differences"] == value["differences"]


def test_one_run_is_not_enough(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(run.path)]) == 2
    assert "one run can't be compared" in capfd.readouterr().err
