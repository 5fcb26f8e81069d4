"""`agssl data pack` and `agssl data generate`, and fits of what they wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Agssl


def test_pack_then_fit_gives_the_result_of_the_original(agssl: Agssl, graph: Path) -> None:
    done = agssl("data", "pack", graph, "packed", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["nodes"] == 40 and json.loads(done.out)["split"] is None
    results = [
        json.loads(agssl("fit", where, "--method", "gcn", "--epochs", 5, "--json").out) for where in (graph, "packed")
    ]
    assert results[0]["test_accuracy"] == results[1]["test_accuracy"]
    assert results[0]["log_loss"] == results[1]["log_loss"]


@pytest.mark.parametrize(
    "words", [("--teachers", "clu@gcn,labels@linkx"), ("--student", "linkx"), ("--encoder", "linkx")]
)
def test_an_encoder_that_needs_the_whole_graph_says_so_of_one_on_disk(
    agssl: Agssl, graph: Path, words: tuple[str, ...]
) -> None:
    assert agssl("data", "pack", graph, "packed").code == 0
    done = agssl("fit", "packed", *words, "--tasks", "clu:clusters=3", "--epochs", 2, "--split", "benchmark")
    assert done.code == 2 and "encoder 'linkx' reads the whole graph at once" in done.err
    assert done.err.splitlines()[-1].endswith("is read from disk; use sage")


def test_generate_then_info_and_fit(agssl: Agssl) -> None:
    done = agssl("data", "generate", "made", "--nodes", 2000, "--degree", 6, "--classes", 3, "--seed", 4, "--json")
    assert done.code == 0, done.err
    facts = json.loads(agssl("data", "info", "made", "--json").out)
    assert facts["nodes"] == 2000 and abs(facts["edges"] / 6000 - 1) < 0.05
    assert facts["split"] == {"train": 60, "val": 500, "test": 1000} and abs(facts["homophily"] - 0.8) < 0.03
    fitted = agssl("fit", "made", "--method", "gcn", "--epochs", 30, "--json")
    assert fitted.code == 0, fitted.err
    assert json.loads(fitted.out)["test_accuracy"]["mean"] > 0.6  # a third by chance


def test_mistakes_are_one_line_and_exit_2(agssl: Agssl, graph: Path) -> None:
    for argv in (
        ("generate", "made", "--nodes", 100),
        ("generate", "made", "--nodes", 100, "--edges", 10, "--homophily", 2),
        ("pack", graph, graph),
        ("pack", "no/such", "out"),
    ):
        done = agssl("data", *argv)
        assert done.code == 2 and len(done.err.strip().splitlines()) == 1, done.err
