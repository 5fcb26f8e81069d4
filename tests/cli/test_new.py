"""`agssl predict --new`: new nodes, attached to the run's graph or alone."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl import AGSSL, read_graph
from agssl.cli.main import main
from agssl.store.fitted import load_fitted, save_fitted

Agssl = Callable[..., Any]

NODES = "id,f0,f1,f2,f3\nn0,2.1,1.8,2.2,1.9\nn1,-0.9,-1.2,-0.3,-0.8\nn2,900,-800,700,5\n"
EDGES = "source,target\nn0,x1\nn0,x3\nx2,n1\nn1,n0\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A graph and a run of it with two seeds, fitted once: nothing here may change them."""
    folder = tmp_path_factory.mktemp("new")
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x = rng.normal(size=(40, 4)) + 2 * y[:, None]
    ends = rng.integers(0, 40, size=(2, 160))
    keep = (ends[0] < ends[1]) & ((y[ends[0]] == y[ends[1]]) | (rng.random(160) < 0.2))
    edges = "".join(dict.fromkeys(f"x{a},x{b}\nx{b},x{a}\n" for a, b in ends[:, keep].T))
    (folder / "edges.csv").write_text("source,target\n" + edges)
    rows = "".join(f"x{i},{','.join(f'{v:.4f}' for v in x[i])},{'ab'[y[i]]}\n" for i in range(40))
    (folder / "nodes.csv").write_text("id,f0,f1,f2,f3,label\n" + rows)
    out = tmp_path_factory.mktemp("runs") / "fitted"
    how = ("--epochs", 5, "--hidden", 8, "--tasks", "clu:clusters=3,pairdis", "--folds", 2, "--jobs", 1)
    assert main([str(word) for word in ("fit", folder, *how, "--seeds", 2, "--out", out)]) == 0
    return folder, out


@pytest.fixture
def graph(run: tuple[Path, Path]) -> Path:
    return run[0]


@pytest.fixture
def fitted(run: tuple[Path, Path]) -> Path:
    return run[1]


@pytest.fixture
def new(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_text(EDGES)
    return tmp_path / "nodes.csv", tmp_path / "edges.csv"


def grown(graph: Path, folder: Path) -> Path:
    """The graph with the new nodes in its own files."""
    folder.mkdir()
    for name, more in (("nodes", NODES), ("edges", EDGES)):
        lines = [line + ("," if name == "nodes" else "") for line in more.splitlines()[1:]]
        (folder / f"{name}.csv").write_text((graph / f"{name}.csv").read_text() + "\n".join(lines) + "\n")
    return folder


def rows(text: str) -> dict[str, dict[str, str]]:
    return {row["node"]: row for row in csv.DictReader(io.StringIO(text))}


def test_new_nodes_are_judged_as_in_the_grown_graph(
    agssl: Agssl, fitted: Path, graph: Path, new: tuple[Path, Path], tmp_path: Path
):
    how = ("--weights", "--proba")
    done = agssl("predict", fitted, "--new", new[0], "--edges", new[1], *how, "--coverage", 0.9)
    assert done.code == 0, done.err
    whole = agssl("predict", fitted, grown(graph, tmp_path / "grown"), *how)
    found, expected = rows(done.out), rows(whole.out)
    assert list(found) == ["n0", "n1", "n2"]
    for name, row in found.items():
        for column, value in expected[name].items():
            if column.startswith(("proba", "weight_")):
                assert float(row[column]) == pytest.approx(float(value), abs=2e-5), column
        assert row["prediction"] == expected[name]["prediction"]
        assert set(row["set"].split(" | ")) <= {"a", "b", ""}
    assert [bool(row["unlike"]) for row in found.values()] == [False, False, True]
    assert "1 of 3 new nodes have no edges (n2)" in done.err


def test_python_says_the_same(agssl: Agssl, graph: Path, fitted: Path, new: tuple[Path, Path]):
    pd = pytest.importorskip("pandas")
    done = agssl(
        "predict", fitted, "--seed", 0, "--new", new[0], "--edges", new[1], "--coverage", 0.9, "--json", "--weights"
    )
    model = AGSSL.load(fitted)
    found = model.predict_new(pd.read_csv(new[0]), pd.read_csv(new[1]), coverage=0.9, weights=True)
    assert found.records() == json.loads(done.out)
    model.save("one.agssl")
    alone = AGSSL.load("one.agssl")
    same = alone.predict_new(pd.read_csv(new[0]), pd.read_csv(new[1]), graph=read_graph(graph))
    np.testing.assert_allclose(same.probabilities, found.probabilities, atol=1e-9)


def test_arrays_are_numbered_after_the_nodes_of_the_graph(agssl: Agssl):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x = rng.normal(size=(40, 4)) + 2 * y[:, None]
    edges = rng.integers(0, 40, (2, 90))
    model = AGSSL(tasks=("clu:clusters=3", "pairdis"), epochs=3, hidden=8, folds=2).fit((edges, x, y))
    found = model.predict_new(x[:2] + 0.1, np.array([[40, 41], [3, 40]]))
    assert list(found.nodes) == ["40", "41"]
    whole = (np.hstack([edges, [[40, 41], [3, 40]]]), np.vstack([x, x[:2] + 0.1]), np.full(42, -1))
    np.testing.assert_allclose(found.probabilities, model.predict_proba(whole)[40:], atol=1e-5)


def test_a_student_that_reads_no_edges_needs_no_graph(agssl: Agssl, run: tuple[Path, Path], new: tuple[Path, Path]):
    graph = Path(shutil.copytree(run[0], "here"))
    how = ("--method", "gcn", "--encoder", "mlp", "--epochs", 3, "--hidden", 8)
    assert agssl("fit", graph, *how, "--out", "mlp").code == 0
    shutil.rmtree(graph)
    done = agssl("predict", "mlp", "--new", new[0], "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert {one["prediction"] for one in found} <= {"a", "b"} and found[2]["unlike"] and not found[0]["unlike"]
    assert "no edges" not in done.err and found[0]["answered_by"] == "student"


def test_the_teachers_answer_where_they_do_so_in_the_run(agssl: Agssl, run: tuple[Path, Path], new: tuple[Path, Path]):
    fitted = Path(shutil.copytree(run[1], "changed"))
    ask = ("predict", fitted, "--seed", 0, "--new", new[0], "--edges", new[1], "--json")
    student = json.loads(agssl(*ask).out)
    path = fitted / "seed-0/model.safetensors"
    model = load_fitted(path)
    save_fitted(replace(model, student_logits=model.logits.copy()), path)
    done = agssl(*ask)
    assert {one["answered_by"] for one in json.loads(done.out)} == {"teachers"}
    assert "answered by the teachers together" in done.err
    assert json.loads(done.out)[0]["probability"] != student[0]["probability"]
    save_fitted(replace(model, student_logits=model.logits.copy()), path, teachers=False)
    left = agssl(*ask)
    assert "the student answers in place of its teachers" in left.err
    assert json.loads(left.out) == student


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ("id,f0,f1,f2,f3\nx3,1,1,1,1\n", None, "'x3' is no new node"),
        ("id,f0,f1,f2,f3\nn0,1,1,1,1\nn0,1,1,1,1\n", None, "two new nodes have the id 'n0'"),
        ("id,f0,f1,f3\nn0,1,1,1\n", None, "lacks 1 of the columns that the model was trained on: f2"),
        (NODES, "source,target\nn0,x3\nn0,nobody\n", "line 3 has the target 'nobody'"),
        (NODES, "source,target,weight\nn0,x3,-1\n", "has the weight '-1'"),
        ("id,f0,f1,f2,f3\n", None, "has a header but no rows"),
    ],
)
def test_mistakes_are_named_with_a_cure(
    agssl: Agssl, fitted: Path, tmp_path: Path, nodes: str, edges: str | None, words: str
):
    (tmp_path / "nodes.csv").write_text(nodes)
    (tmp_path / "edges.csv").write_text(edges or "")
    more = () if edges is None else ("--edges", tmp_path / "edges.csv")
    done = agssl("predict", fitted, "--new", tmp_path / "nodes.csv", *more)
    assert (done.code, done.out) == (2, "") and words in done.err and len(done.err.splitlines()) == 1


def test_options_that_do_not_go_together_are_refused(agssl: Agssl, fitted: Path, graph: Path, new: tuple[Path, Path]):
    assert "give their table with --new" in agssl("predict", fitted, "--edges", new[1]).err
    assert "leave one of them out" in agssl("predict", fitted, graph, "--new", new[0]).err
    assert agssl("predict", fitted, "--new", "nowhere.csv").code == 2
    old = agssl("predict", fitted, "--new", new[0], "--edges", graph / "edges.csv")
    assert old.code == 0 and "edges between nodes that the model knows already" in old.err
