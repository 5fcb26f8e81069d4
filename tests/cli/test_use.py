"""`agssl predict`, `embed` and `explain`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl.store.fitted import judged
from agssl.store.run import Run


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_are_those_of_the_run_with_or_without_its_graph(
    agssl: Callable[..., Any], fitted: Path, graph: Path
) -> None:
    stored = [(row["node"], row["prediction"]) for row in Run.open(fitted).predictions(0)]
    for words in ([], [graph]):
        done = agssl("predict", fitted, *words, "--seed", 0)
        assert done.code == 0, done.err
        assert done.out.splitlines()[0] == "node,prediction,probability"
        assert [(row["node"], row["prediction"]) for row in rows(done.out)] == stored
    assert agssl("predict", fitted, "--seed", 1).out != done.out


def test_probabilities_sum_to_one(agssl: Callable[..., Any], fitted: Path) -> None:
    table = rows(agssl("predict", fitted, "--proba").out)
    assert list(table[0]) == ["node", "prediction", "probability", "proba_a", "proba_b"]
    for row in table:
        both = {"a": float(row["proba_a"]), "b": float(row["proba_b"])}
        assert sum(both.values()) == pytest.approx(1, abs=2e-6)
        assert float(row["probability"]) == max(both.values()) == both[row["prediction"]]


def test_predict_json_is_one_value(agssl: Callable[..., Any], fitted: Path) -> None:
    records = json.loads(agssl("predict", fitted, "--json", "--proba").out)
    assert len(records) == 40 and set(records[0]) == {"node", "prediction", "probability", "probabilities"}


def test_sets_hold_the_prediction_where_one_class_is_left(agssl: Callable[..., Any], fitted: Path, graph: Path) -> None:
    table = rows(agssl("predict", fitted, "--coverage", 0.8).out)
    assert list(table[0]) == ["node", "prediction", "probability", "set", "unsure"]
    assert {row["set"] for row in table} <= {"", "a", "b", "a | b"}
    for row in table:
        assert (row["unsure"] == "unsure") == (" | " in row["set"])
    records = json.loads(agssl("predict", fitted, graph, "--coverage", 0.8, "--json").out)
    assert [" | ".join(one["set"]) for one in records] == [row["set"] for row in table]
    more = rows(agssl("predict", fitted, "--coverage", 0.99, "--seed", 0, "--by-class").out)
    assert all(row["set"] == "a | b" for row in more)  # 20 held-out nodes of a class can't promise so much


def test_a_coverage_that_can_not_be_is_refused(agssl: Callable[..., Any], fitted: Path) -> None:
    done = agssl("predict", fitted, "--coverage", 2)
    assert done.code == 2 and "coverage = 2, but it is a chance between 0 and 1" in done.err
    done = agssl("predict", fitted, "--by-class")
    assert done.code == 2 and "give --coverage 0.9, too" in done.err


def test_explain_says_which_labelled_nodes_vouch_for_a_teacher(agssl: Callable[..., Any], fitted: Path) -> None:
    found = json.loads(agssl("explain", fitted, "--node", "x3", "--json").out)
    near = found["witnesses"]
    assert near and all(one["node"] != "x3" for one in near)
    assert [one["nearness"] for one in near] == sorted((one["nearness"] for one in near), reverse=True)
    run = Run.open(fitted)
    model, graph = run.fitted(0), run.graph(0)
    names = graph.node_names.tolist()
    said = judged(model, graph.split, "val")
    for one in near:
        node = names.index(one["node"])
        assert one["label"] == graph.classes[graph.y[node]]
        answers = said.teachers[:, said.nodes.tolist().index(node)].argmax(1)
        assert one["right"] == [t for t, c in zip(model.task_names, answers, strict=True) if c == graph.y[node]]
    text = agssl("explain", fitted, "--node", "x3").out
    assert f"of the {len(near)} labelled nodes nearest to it, held out" in text
    first = found["opinions"][0]["task"]
    assert (
        f"{first} {found['opinions'][0]['weight']:.2f}: right on {sum(first in one['right'] for one in near)}" in text
    )


def test_unseen_nodes_need_no_labels(agssl: Callable[..., Any], fitted: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    (new / "nodes.csv").write_text("id,f0,f1,f2,f3\nmoon,2,2,2,2\nsun,0,0,0,0\nstar,3,2,1,0\n")
    (new / "edges.csv").write_text("source,target\nmoon,sun\nsun,moon\n")
    done = agssl("predict", fitted, new, "-o", "new.csv")
    assert done.code == 0 and done.out == ""
    assert [row["node"] for row in rows(Path("new.csv").read_text())] == ["moon", "sun", "star"]
    (new / "nodes.csv").write_text("id,f0,f1\nmoon,2,2\nsun,0,0\nstar,3,2\n")
    done = agssl("predict", fitted, new)
    assert (
        done.code == 2 and "lacks 2 of the columns that the model was trained on: f2, f3" in done.err and done.out == ""
    )


def test_weights_of_new_nodes_are_written_beside_their_predictions(
    agssl: Callable[..., Any], fitted: Path, tmp_path: Path
) -> None:
    own = rows(agssl("predict", fitted, "--weights").out)
    with open(fitted / "seed-0/task_weights.csv", encoding="utf-8") as file:
        teachers = [name for name in next(csv.reader(file)) if name != "node"]
    assert list(own[0]) == ["node", "prediction", "probability", *(f"weight_{name}" for name in teachers)]
    means = sum(run.weights.astype(float) for run in map(Run.open(fitted).fitted, Run.open(fitted).seeds)) / 2
    assert [float(own[7][f"weight_{name}"]) for name in teachers] == pytest.approx(means[7].tolist(), abs=1e-6)
    new = tmp_path / "new"
    new.mkdir()
    (new / "nodes.csv").write_text("id,f0,f1,f2,f3\nmoon,2,2,2,2\nsun,0,0,0,0\nstar,3,2,1,0\n")
    (new / "edges.csv").write_text("source,target\nmoon,sun\n")
    records = json.loads(agssl("predict", fitted, new, "--weights", "--json").out)
    assert [record["node"] for record in records] == ["moon", "sun", "star"]
    for record in records:
        assert list(record["weights"]) == teachers and sum(record["weights"].values()) == pytest.approx(1)
    one = json.loads(agssl("predict", fitted, new, "--weights", "--json", "--seed", 0).out)
    found = json.loads(agssl("explain", fitted, new, "--node", "star", "--json").out)
    told = {opinion["task"]: opinion["weight"] for opinion in found["opinions"]}
    assert (found["index"], found["neighbours"]) == (2, []) and told == pytest.approx(one[2]["weights"])
    groups = json.loads(agssl("explain", fitted, new, "--degree", "--json").out)
    assert [(group["degree"], group["nodes"]) for group in groups] == [("0", 1), ("1", 2)]
    assert agssl("explain", fitted, new, "--class", "--csv").code == 0


def test_a_method_without_teachers_has_no_weights_to_write(agssl: Callable[..., Any], graph: Path) -> None:
    assert agssl("fit", graph, "--method", "gcn", "--epochs", 2, "--out", "plain").code == 0
    done = agssl("predict", "plain", "--weights")
    assert done.code == 2 and "method gcn weighs no teachers" in done.err and done.err.count("\n") == 1


def test_a_run_leaves_out_teachers_that_are_too_large_and_says_so(
    agssl: Callable[..., Any], graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--tasks", "clu:clusters=3,pairdis", "--epochs", 2, "--hidden", 4)
    assert agssl("fit", graph, *words, "--out", "kept").code == 0
    assert Run.open("kept").seed_metrics()["teachers_kept"] is True
    monkeypatch.setattr("agssl.fitting.job.KEPT", 100)
    done = agssl("fit", graph, *words, "--out", "light")
    assert done.code == 0 and done.err.count("and are not kept: the run has teacher weights") == 1
    assert Run.open("light").seed_metrics()["teachers_kept"] is False
    assert Run.open("light").fitted().teachers is None
    assert agssl("predict", "light").out == agssl("predict", "kept").out


def test_a_run_with_knn_links_a_new_table_alike(agssl: Callable[..., Any], graph: Path, tmp_path: Path) -> None:
    words = ("--knn", 3, "--method", "gcn", "--epochs", 3, "--hidden", 4, "--out", "table")
    assert agssl("fit", graph / "nodes.csv", *words).code == 0
    new = tmp_path / "new.csv"
    new.write_text((graph / "nodes.csv").read_text().replace(",label", ",other"))
    done = agssl("predict", "table", new)
    assert done.code == 0 and "left out columns that the model does not know: other" in done.err
    lines = (graph / "nodes.csv").read_text().splitlines()
    new.write_text("\n".join(line.rpartition(",")[0] for line in lines))
    done = agssl("predict", "table", new)
    assert done.code == 0, done.err
    assert done.out == agssl("predict", "table").out
    done = agssl("predict", "table", graph)  # brings its own edges
    assert done.code == 0, done.err


def test_a_model_file_needs_a_graph(agssl: Callable[..., Any], fitted: Path, graph: Path) -> None:
    model = fitted / "seed-0/model.safetensors"
    done = agssl("predict", model)
    assert done.code == 2 and "without its graph" in done.err
    assert agssl("predict", model, graph).out == agssl("predict", fitted, graph, "--seed", 0).out
    done = agssl("predict", model, graph, "--seed", 1)
    assert done.code == 2 and "--seed" in done.err


def test_embeddings_as_npy_and_csv_agree(agssl: Callable[..., Any], fitted: Path) -> None:
    done = agssl("embed", fitted, "-o", "e.npy")
    assert done.code == 0 and done.out == ""
    array = np.load("e.npy", allow_pickle=False)
    assert array.shape == (40, 8) and array.dtype == np.float32
    table = rows(agssl("embed", fitted).out)
    assert [row["node"] for row in table[:2]] == ["x0", "x1"]
    written = np.array([[row[f"h{i}"] for i in range(8)] for row in table], dtype=np.float32)
    np.testing.assert_array_equal(written, array)
    done = agssl("embed", fitted, "-o", "e.txt")
    assert done.code == 2 and ".npy or .csv" in done.err


def test_explain_a_node_by_its_name(agssl: Callable[..., Any], fitted: Path) -> None:
    found = json.loads(agssl("explain", fitted, "--node", "x7", "--json").out)
    assert found["node"] == "x7" and found["label"] == "b" and len(found["neighbours"]) == found["degree"]
    weights = Run.open(fitted).fitted(0).weights
    assert weights is not None
    assert {o["task"]: o["weight"] for o in found["opinions"]} == pytest.approx(
        dict(zip(["clu:clusters=3", "pairdis"], weights[7].tolist(), strict=True))
    )
    out = agssl("explain", fitted, "--node", "x7").out
    assert out.startswith("node x7: predicted ") and "█" in out and f"{found['degree']} neighbours:" in out
    table = rows(agssl("explain", fitted, "--node", "x7", "--csv").out)
    assert {row["task"] for row in table} == {"clu:clusters=3", "pairdis"}
    done = agssl("explain", fitted, "--node", "y7")
    assert done.code == 2 and "'y7'" in done.err


@pytest.mark.parametrize("kind", ["degree", "class"])
def test_explain_groups_of_nodes(agssl: Callable[..., Any], fitted: Path, kind: str) -> None:
    groups = json.loads(agssl("explain", fitted, f"--{kind}", "--json").out)
    assert sum(group["nodes"] for group in groups) == 40
    for group in groups:
        assert sum(group["weights"].values()) == pytest.approx(1)
    table = rows(agssl("explain", fitted, f"--{kind}", "--csv").out)
    assert list(table[0]) == [kind, "nodes", "clu:clusters=3", "pairdis"]
    assert [row[kind] for row in table] == [group[kind] for group in groups]
    assert agssl("explain", fitted, f"--{kind}").out.split()[:2] == [kind, "nodes"]


def test_what_a_run_lacks_is_said(agssl: Callable[..., Any], graph: Path) -> None:
    assert agssl("fit", graph, "--method", "gcn", "--epochs", 2, "--hidden", 4, "--out", "gcn").code == 0
    done = agssl("explain", "gcn", "--class")
    assert done.code == 2 and "no task weights" in done.err
    assert json.loads(agssl("explain", "gcn", "--node", "x0", "--json").out)["opinions"] == []
    for words in (["predict", "gcn", "--seed", 5], ["explain", "gcn"], ["predict", "nowhere"], ["predict", graph]):
        done = agssl(*words)
        assert done.code == 2 and done.err.count("\n") == 1 and done.out == ""


def test_a_changed_graph_is_noticed(agssl: Callable[..., Any], fitted: Path, graph: Path) -> None:
    (graph / "edges.csv").write_text("source,target\nx0,x1\nx1,x0\n")
    done = agssl("embed", fitted)
    assert done.code == 2 and "has changed since the run" in done.err
    assert agssl("predict", fitted).code == 0  # the answers are on file


def test_seeds_predict_by_their_mean_probability(agssl: Callable[..., Any], fitted: Path, graph: Path) -> None:
    proba = [rows(agssl("predict", fitted, "--proba", "--seed", seed).out) for seed in (0, 1)]
    mean = [(float(a["proba_a"]) + float(b["proba_a"])) / 2 for a, b in zip(*proba, strict=True)]
    for words in ([], [graph]):
        together = rows(agssl("predict", fitted, *words, "--proba").out)
        assert [float(row["proba_a"]) for row in together] == pytest.approx(mean, abs=2e-6)
    stored = rows((fitted / "predictions.csv").read_text())
    assert [(row["node"], row["prediction"]) for row in stored] == [
        (row["node"], row["prediction"]) for row in together
    ]
    assert list(stored[0]) == ["node", "prediction", "probability", "label"]


def test_a_graph_that_moved_is_named(agssl: Callable[..., Any], fitted: Path, graph: Path, tmp_path: Path) -> None:
    before = agssl("explain", fitted, "--degree", "--json").out
    moved = tmp_path / "elsewhere"
    graph.rename(moved)
    done = agssl("explain", fitted, "--degree")
    assert done.code == 2 and "name it with --graph" in done.err and done.err.count("\n") == 1
    assert agssl("explain", fitted, "--degree", "--json", "--graph", moved).out == before
    for command in (["predict"], ["embed", "-o", "e.npy"], ["report", "--map", "pca"]):
        done = agssl(*command, fitted, "--graph", moved)
        assert done.code == 0, done.err
    done = agssl("embed", fitted, moved, "--graph", moved)
    assert done.code == 2 and "two graphs" in done.err
    (moved / "edges.csv").write_text("source,target\nx0,x1\nx1,x0\n")
    for command in ("predict", "embed", "report"):
        done = agssl(command, fitted, "--graph", moved)
        assert done.code == 2 and "is not the graph of the run" in done.err
