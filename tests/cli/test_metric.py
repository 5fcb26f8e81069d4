"""`--metric`, `--class-weight`, `--threshold` and `--positive` on the command line."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl.store.run import Run

HOW = ("--method", "gcn", "--epochs", 8, "--hidden", 8, "--split", "fraction:0.5/0.25/0.25")


def test_a_metric_is_chosen_measured_and_compared(agssl: Callable[..., Any], graph: Path) -> None:
    done = agssl("fit", graph, *HOW, "--seeds", 2, "--metric", "roc_auc", "--out", "auc", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["estimate"]["metric"] == found["metric"] == "roc_auc"
    assert found["estimate"]["low"] <= found["estimate"]["value"] <= found["estimate"]["high"]
    assert found["estimate"]["value"] == pytest.approx(found["test_roc_auc"]["mean"])
    assert len(found["test_roc_auc"]["values"]) == len(found["val_roc_auc"]["values"]) == 2
    assert found["baselines"]["majority"] == 0.5
    assert {row["class"] for row in found["per_class"]} == {"a", "b"}
    assert "roc_auc validation" in done.err and Run.open("auc").settings.metric == "roc_auc"
    assert agssl("fit", graph, *HOW, "--seeds", 2, "--out", "plain").code == 0
    done = agssl("compare", "plain", "auc", "--json")
    compared = json.loads(done.out)
    assert compared["measures"][0] == "test_roc_auc" and compared["differences"][0]["test_roc_auc"] is not None
    assert "test roc_auc" in agssl("compare", "plain", "auc").out


def test_the_table_shows_the_metric_classes_and_threshold(agssl: Callable[..., Any], graph: Path) -> None:
    done = agssl("fit", graph, *HOW, "--metric", "average_precision", "--threshold", "f1", "--positive", "a")
    assert done.code == 0, done.err
    for words in (
        "test average_precision: ",
        "precision",
        "recall",
        "threshold: a is predicted from a probability of 0.",
    ):
        assert words in done.out


def test_a_threshold_decides_predictions(agssl: Callable[..., Any], graph: Path) -> None:
    words = ("--threshold", "0.9", "--positive", "b", "--class-weight", "a=1,b=2", "--seeds", 2, "--out", "run")
    done = agssl("fit", graph, *HOW, *words, "--json")
    assert done.code == 0, done.err
    decision = json.loads(done.out)["decision"]
    assert (decision["positive"], decision["rule"], decision["threshold"]) == ("b", 0.9, 0.9)
    rows = list(csv.DictReader(agssl("predict", "run", "--proba").out.splitlines()))
    assert [row["prediction"] for row in rows] == ["b" if float(row["proba_b"]) >= 0.9 else "a" for row in rows]
    assert all(float(row["probability"]) == float(row[f"proba_{row['prediction']}"]) for row in rows)
    with open("run/predictions.csv", newline="") as file:
        assert [row["prediction"] for row in csv.DictReader(file)] == [row["prediction"] for row in rows]
    stored = Run.open("run").seed_metrics(0)
    assert stored["decision"]["positive"] == "b" and np.isfinite(stored["per_class"][0]["f1"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--metric", "cosine"), "unknown metric 'cosine'"),
        (("--threshold", "best"), "threshold = 'best', but it must be none, f1"),
        (("--class-weight", "heavy"), "class_weight = 'heavy'"),
        (("--class-weight", "a=1,c=2"), "unknown class in class_weight 'c'"),
        (("--positive", "c"), "unknown positive class 'c'"),
    ],
)
def test_mistakes_are_named(agssl: Callable[..., Any], graph: Path, words: tuple[str, ...], message: str) -> None:
    done = agssl("fit", graph, *HOW, *words)
    assert done.code == 2 and message in done.err and done.out == ""
