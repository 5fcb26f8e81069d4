"""`agssl suggest`, `check`, and labels in a file of their own."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def unlabelled(folder: Path, every: int = 2) -> set[str]:
    """Take the labels of some nodes away; gives back their names."""
    lines = (folder / "nodes.csv").read_text().splitlines()
    taken = [line for number, line in enumerate(lines[1:]) if number // 2 % every]
    text = [line.rsplit(",", 1)[0] + "," if line in taken else line for line in lines]
    (folder / "nodes.csv").write_text("\n".join(text) + "\n")
    return {line.split(",")[0] for line in taken}


@pytest.fixture
def half(agssl: Callable[..., Any], graph: Path, quick: tuple[str, ...]) -> tuple[Path, set[str]]:
    """A run on a graph of which half the nodes have labels, and the names of the others."""
    names = unlabelled(graph)
    done = agssl("fit", graph, *quick, "--seeds", 2, "--out", "half")
    assert done.code == 0, done.err
    return Path("half").resolve(), names


def test_suggest_names_unlabelled_nodes_with_a_reason(
    agssl: Callable[..., Any], half: tuple[Path, set[str]], tmp_path: Path
) -> None:
    run, names = half
    done = agssl("suggest", run, "-n", 6, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    nodes = [one["node"] for one in found]
    assert len(set(nodes)) == 6 and set(nodes) <= names and all(one["reason"] for one in found)
    shown = agssl("suggest", run, "-n", 6).out.splitlines()
    assert [line.split()[0] for line in shown] == ["node", *nodes]
    assert agssl("suggest", run, "-n", 6, "-o", tmp_path / "ask.csv").code == 0
    with open(tmp_path / "ask.csv", newline="") as file:
        assert [row["node"] for row in csv.DictReader(file)] == nodes


def test_suggest_takes_one_seed_another_graph_and_refuses_a_full_one(
    agssl: Callable[..., Any], half: tuple[Path, set[str]], graph: Path
) -> None:
    run, _ = half
    one = json.loads(agssl("suggest", run, "--seed", 1, "--json", "-n", 3).out)
    other = json.loads(agssl("suggest", run, graph, "--seed", 1, "--json", "-n", 3).out)
    assert [row["node"] for row in one] == [row["node"] for row in other]
    (graph / "nodes.csv").write_text(
        "\n".join(line + "a" if line.endswith(",") else line for line in (graph / "nodes.csv").read_text().splitlines())
        + "\n"
    )
    done = agssl("suggest", run, graph)
    assert done.code == 2 and "every node of small has a label" in done.err


def test_check_ranks_labels_and_counts_suspects(agssl: Callable[..., Any], half: tuple[Path, set[str]]) -> None:
    run, names = half
    done = agssl("check", run, "--all", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert len(found) == 20 and not names & {one["node"] for one in found}
    suspects = [one["node"] for one in found if one["suspect"]]
    assert f"{len(suspects)} of 20 labels are doubted" in done.err and "never held out" not in done.err
    assert [one["node"] for one in json.loads(agssl("check", run, "--json").out)] == suspects
    assert agssl("check", run, "--all", "-o", "all.csv").code == 0
    with open("all.csv", newline="") as file:
        assert [row["node"] for row in csv.DictReader(file)] == [one["node"] for one in found]
    shown = agssl("check", run, "--all").out.splitlines()
    assert [line.split()[0] for line in shown[1:]] == [one["node"] for one in found]


def test_suspects_are_left_out_of_a_fit(
    agssl: Callable[..., Any], half: tuple[Path, set[str]], graph: Path, quick: tuple[str, ...]
) -> None:
    Path("suspects.csv").write_text("node,suspect\nx0,true\nx5,true\nx8,false\n")
    done = agssl("fit", graph, *quick, "--drop-suspects", "suspects.csv", "--out", "cleaner", "--json")
    assert done.code == 0, done.err
    assert "2 of 20 labels are left out" in done.err and json.loads(done.out)["labels"]["train"] == 18
    checked = {one["node"] for one in json.loads(agssl("check", "cleaner", "--all", "--json").out)}
    assert len(checked) == 18 and not checked & {"x0", "x5"} and "x8" in checked


def test_check_wants_a_run(agssl: Callable[..., Any], half: tuple[Path, set[str]]) -> None:
    done = agssl("check", half[0] / "seed-0" / "model.safetensors")
    assert done.code == 2 and "is a model without the labels of its graph" in done.err


def test_labels_of_a_file_are_fitted_with_and_found_again_by_the_run(agssl: Callable[..., Any], graph: Path) -> None:
    lines = (graph / "nodes.csv").read_text().splitlines()
    truth = {line.split(",")[0]: line.rsplit(",", 1)[1] for line in lines[1:]}
    (graph / "nodes.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    some = dict(list(truth.items())[:14])
    Path("mine.csv").write_text("id,label\n" + "".join(f"{node},{label}\n" for node, label in some.items()))
    gcn = ("--method", "gcn", "--epochs", "3", "--hidden", "4", "--split", "cv:2")
    done = agssl("fit", graph, *gcn, "--labels", "mine.csv", "--out", "by-hand", "--json")
    assert done.code == 0, done.err
    assert "14 labels from mine.csv" in done.err and json.loads(done.out)["labels"]["train"] == 14
    checked = json.loads(agssl("check", "by-hand", "--all", "--json").out)
    assert {one["node"]: one["label"] for one in checked} == some
    suggested = json.loads(agssl("suggest", "by-hand", "-n", 30, "--json").out)
    assert {one["node"] for one in suggested} == set(truth) - set(some)
    done = agssl("fit", graph, *gcn, "--out", "without")
    assert done.code == 2 and "label" in done.err
    Path("mine.csv").rename(graph / "labels.csv")  # now it is found by itself
    done = agssl("fit", graph, *gcn, "--out", "folder", "--json")
    assert done.code == 0 and json.loads(done.out)["labels"]["train"] == 14
    assert agssl("fit", graph, *gcn, "--labels", "none", "--out", "none").code == 2
