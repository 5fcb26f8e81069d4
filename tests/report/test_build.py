from __future__ import annotations

import base64
import csv
import dataclasses
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agssl.cli.main import main
from agssl.explain.groups import by_degree
from agssl.explain.node import softmax
from agssl.report.build import PARTS
from agssl.report.suggested import suggested
from agssl.store.fitted import save_fitted
from agssl.store.run import Run
from reference.page import EVIL_CLASS, EVIL_NODE, NODES, TASKS, Page, edges_of, write_graph

ROOT = Path(__file__).parents[2]


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_results_are_those_of_the_run(page: Page, run: Run, gcn: Run) -> None:
    rows = {row["name"]: row for row in page.data["results"]}
    assert list(rows) == ["GCN", *TASKS.split(","), "student"]
    for name, source in (("student", run), ("GCN", gcn)):
        found = [json.loads((source.path / f"seed-{seed}" / "metrics.json").read_text()) for seed in (0, 1)]
        for measure in ("accuracy", "macro_f1", "log_loss", "ece"):
            assert rows[name][measure]["values"] == [one["test"][measure] for one in found]
        assert rows[name]["val_accuracy"]["values"] == [one["val"]["accuracy"] for one in found]
    summary = json.loads((run.path / "metrics.json").read_text())
    assert rows["student"]["accuracy"] == summary["test_accuracy"]
    for teacher in summary["teachers"]:
        assert rows[teacher["task"]]["accuracy"] == teacher["test_accuracy"]
        assert rows[teacher["task"]]["weight"]["mean"] == pytest.approx(teacher["weight"])
    gains = [
        a - b for a, b in zip(rows["student"]["accuracy"]["values"], rows["GCN"]["accuracy"]["values"], strict=True)
    ]
    assert page.data["gain"]["mean"] == pytest.approx(np.mean(gains))


def test_nodes_are_those_of_the_run(page: Page, run: Run) -> None:
    classes, share = page.data["classes"], page.data["share"]
    predictions = rows_of(run.path / "seed-1" / "predictions.csv")
    weights = rows_of(run.path / "seed-1" / "task_weights.csv")
    names = page.arrays["names"].tobytes().decode().split("\0")
    assert page.data["seed"] == 1 and len(predictions) == NODES
    for i, (said, trusted) in enumerate(zip(predictions, weights, strict=True)):
        assert names[i] == said["node"]
        assert classes[page.arrays["top"][0, i, 0]] == said["prediction"]
        assert page.arrays["probability"][0, i, 0] / share == pytest.approx(float(said["probability"]), abs=6e-5)
        label = page.arrays["label"][i]
        assert ("" if label < 0 else classes[label]) == said["label"]
        assert PARTS[page.arrays["part"][i]] == said["part"]
        for k, task in enumerate(page.data["tasks"]):
            assert page.arrays["weights"][i, k] / share == pytest.approx(float(trusted[task]), abs=6e-5)


def test_teachers_say_on_the_page_what_they_said(page: Page, run: Run) -> None:
    logits = run.fitted(1).teacher_logits
    for k in range(len(logits)):
        probabilities = softmax(logits[k])
        top, share = page.arrays["top"][k + 1], page.arrays["probability"][k + 1] / page.data["share"]
        assert np.array_equal(top[:, 0], probabilities.argmax(1))
        assert np.allclose(share, np.take_along_axis(probabilities, top.astype(int), 1), atol=6e-5)
        assert (np.diff(share, axis=1) <= 0).all()


def test_edges_curves_and_groups_are_those_of_the_run(page: Page, run: Run) -> None:
    graph = run.graph(1)
    pairs = {(i, int(j)) for i in range(NODES) for j in graph.neighbours(i) if i < j}
    assert edges_of(page.arrays["edges"], page.arrays["steps"]) == pairs
    history = json.loads((run.path / "seed-1" / "history.json").read_text())
    assert set(page.data["history"]) == set(history)
    for stage, columns in page.data["history"].items():
        assert columns == {name: history[stage][name] for name in columns}
        assert {"loss", "val_accuracy"} <= set(columns)
    assert "lambda0" in page.data["history"]["student"] and "val_mse" in page.data["history"]["student"]
    assert page.data["degree"] == [group.to_dict() for group in by_degree(run.fitted(1), graph.degree)]
    assert page.data["command"] == run.about["command"]
    assert page.data["data"]["nodes"] == NODES and page.data["data"]["edges"] == len(pairs)


def test_counts_add_up_to_the_accuracies(page: Page, run: Run) -> None:
    metrics = run.seed_metrics(1)
    size = metrics["split"]["test"]
    confusion = np.array(page.data["confusion"])
    assert confusion.sum() == size
    assert np.trace(confusion) / size == pytest.approx(metrics["test"]["accuracy"])
    changes = page.data["changes"]
    best = max(metrics["teachers"], key=lambda teacher: teacher["val_accuracy"])
    assert changes["best"] == best["task"]
    assert (changes["both_right"] + changes["rescued"]) / size == pytest.approx(metrics["test"]["accuracy"])
    assert (changes["both_right"] + changes["spoiled"]) / size == pytest.approx(best["test_accuracy"])
    assert sum(row["nodes"] for row in changes["by_right"]) == size


def test_what_to_label_next_is_what_suggest_says(page: Page, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suggest", str(run.path), "--seed", "1", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert page.data["suggested"] == [{"node": one["index"], "reason": one["reason"]} for one in said]
    assert {one["node"] for one in page.data["suggested"]} == set(np.flatnonzero(page.arrays["label"] < 0).tolist())


def test_without_unlabelled_nodes_nothing_is_suggested(run: Run) -> None:
    graph, fitted = run.graph(1), run.fitted(1)
    labelled = dataclasses.replace(graph, y=np.maximum(graph.y, 0), split=None)
    assert suggested(fitted, labelled, fitted.classes, softmax(fitted.logits), fitted.logits) == []


def test_names_that_are_markup_stay_data(page: Page) -> None:
    assert EVIL_CLASS in page.data["classes"]
    assert EVIL_NODE in page.arrays["names"].tobytes().decode().split("\0")
    assert page.text.count("</script>") == 3 and "<img" not in page.text


def test_only_our_own_script_may_run(page: Page) -> None:
    script = re.findall(r"<script>(.*?)</script>", page.text, re.S)
    assert len(script) == 1
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    policy = re.search(r'Security-Policy" content="(.*?)"', page.text)[1]
    assert policy.startswith("default-src 'none'; ") and f"script-src 'sha256-{digest}'" in policy


def test_the_bundle_is_up_to_date() -> None:
    if not (ROOT / "web").is_dir():
        pytest.skip("the sources of the page are not here")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted((ROOT / "web" / "src").iterdir())))
    head = (ROOT / "src/agssl/report/page/page.js").read_text()[:200]
    assert f"sources {digest.hexdigest()};" in head, "web/src has changed; run `make page`"


@pytest.mark.parametrize(
    "options", [("--method", "gcn"), ("--method", "single", "--tasks", "clu"), ("--method", "joint", "--tasks", TASKS)]
)
def test_every_method_has_a_page(fit: Callable[..., Run], tmp_path: Path, options: tuple[str, ...]) -> None:
    run = fit(*options)
    assert main(["report", str(run.path), "--map", "pca", "-o", str(tmp_path / "page.html")]) == 0
    page = Page.read(tmp_path / "page.html")
    assert [row["role"] for row in page.data["results"]] == ["model"]
    assert page.data["results"][0]["accuracy"] == run.metrics["test_accuracy"]
    assert page.data["changes"] is None and "weights" not in page.arrays and page.arrays["top"].shape[0] == 1


def test_without_test_nodes_the_page_measures_on_validation(fit: Callable[..., Run], tmp_path: Path) -> None:
    run = fit("--method", "gcn", "--split", "fraction:0.5/0.5/0")
    assert main(["report", str(run.path), "--map", "pca", "-o", str(tmp_path / "page.html")]) == 0
    page = Page.read(tmp_path / "page.html")
    assert page.data["part"] == "val"
    assert page.data["results"][0]["accuracy"]["values"] == [run.seed_metrics()["val"]["accuracy"]]


def test_of_held_out_nodes_the_page_shows_what_was_said_without_their_labels(
    fit: Callable[..., Run], tmp_path: Path
) -> None:
    words = ("--seeds", "2", "--split", "cv:3")
    run, gcn = fit("--tasks", TASKS, *words), fit("--method", "gcn", *words)
    path = tmp_path / "page.html"
    assert main(["report", str(run.path), "--baseline", str(gcn.path), "--map", "pca", "-o", str(path)]) == 0
    page, fitted, held = Page.read(path), run.fitted(0), run.split(0).val
    assert page.data["split"] == "cv:3 (seed 0)" and page.data["part"] == "val"
    assert np.array_equal(page.arrays["top"][0, held, 0], fitted.heldout.argmax(1))
    assert np.array_equal(page.arrays["top"][1, held, 0], fitted.teacher_heldout[0].argmax(1))
    assert np.array(page.data["confusion"]).sum() == len(held)
    pairs = [run.seed_metrics(s)["val"]["accuracy"] - gcn.seed_metrics(s)["val"]["accuracy"] for s in (0, 1)]
    assert page.data["gain"]["mean"] == pytest.approx(np.mean(pairs)) and page.data["gain"]["seeds"] == [0, 1]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--seed", "9"], "has no seed 9"),
        (["--map", "umap"], "map 'umap' is not known"),
        (["--baseline", "nowhere"], "does not exist"),
    ],
)
def test_mistakes_are_one_line(run: Run, words: list[str], error: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run.path), *words]) == 2
    captured = capfd.readouterr()
    assert error in captured.err and captured.err.count("\n") == 1 and captured.out == ""


def test_a_baseline_must_be_a_gcn(run: Run, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["report", str(run.path), "--baseline", str(run.path), "-o", str(tmp_path / "x.html")]) == 2
    assert "is of method agssl; give a run of method gcn" in capfd.readouterr().err
    assert not (tmp_path / "x.html").exists()


def test_a_gain_of_one_seed_has_the_interval_of_its_nodes(fit: Callable[..., Run], tmp_path: Path) -> None:
    run, gcn = fit("--tasks", TASKS), fit("--method", "gcn")
    path = tmp_path / "page.html"
    assert main(["report", str(run.path), "--baseline", str(gcn.path), "--map", "pca", "-o", str(path)]) == 0
    gain, test = Page.read(path).data["gain"], run.split(0).test
    said = [one.predictions(0) for one in (gcn, run)]
    right = np.array([[rows[i]["prediction"] == rows[i]["label"] for i in test] for rows in said]).astype(float)
    both = right[1] - right[0]
    assert gain["over"] == "nodes" and gain["mean"] == pytest.approx(both.mean())
    half = 2.02 * both.std(ddof=1) / np.sqrt(len(test))  # Student's t of these many nodes
    assert gain["high"] - gain["mean"] == pytest.approx(half, rel=0.02)


def test_nodes_held_out_to_measure_are_told_from_those_that_choose(fit: Callable[..., Run], tmp_path: Path) -> None:
    run = fit("--tasks", TASKS, "--split", "holdout:0.3")
    assert main(["report", str(run.path), "--map", "pca", "-o", str(tmp_path / "page.html")]) == 0
    page, split = Page.read(tmp_path / "page.html"), run.split(0)
    assert page.data["measured_on"] == "heldout" and split.measure is not None
    assert np.array_equal(np.flatnonzero(page.arrays["known"]), split.measure)
    assert np.array_equal(np.flatnonzero(page.arrays["part"] == PARTS.index("measure")), split.measure)
    assert np.array(page.data["confusion"]).sum() == len(split.measure)


def test_prediction_sets_are_those_of_the_model(page: Page, run: Run) -> None:
    fitted, graph = run.fitted(1), run.graph(1)
    sets = fitted.sets(fitted.logits, graph, page.data["coverage"], False)
    packed = np.unpackbits(page.arrays["sets"], axis=1, bitorder="little", count=sets.shape[1])
    assert np.array_equal(packed.astype(bool), sets)


def test_where_teachers_answer_the_page_says_so(run: Run, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run.path, copy)
    for seed in run.seeds:
        fitted = run.fitted(seed)
        said = np.roll(fitted.logits, 1, axis=1)  # another class than the student's, but where two are alike
        said[:30] = fitted.logits[:30]
        answered = dataclasses.replace(fitted, logits=said, student_logits=fitted.logits)
        save_fitted(answered, copy / f"seed-{seed}" / "model.safetensors")
    assert main(["report", str(copy), "--map", "pca", "-o", str(tmp_path / "page.html")]) == 0
    page = Page.read(tmp_path / "page.html")
    assert page.data["own"] == page.data["results"][-1]["name"] == "teachers together"
    assert page.arrays["why_node"].tolist() == list(range(30))  # where the student says the same


def test_labelled_nodes_in_no_part_are_told_right_or_wrong(fit: Callable[..., Run], tmp_path: Path) -> None:
    run = fit("--method", "gcn", "--split", "random:5/10/10")
    assert main(["report", str(run.path), "--map", "pca", "-o", str(tmp_path / "page.html")]) == 0
    page, split = Page.read(tmp_path / "page.html"), run.split(0)
    known, labelled = page.arrays["known"].astype(bool), page.arrays["label"] >= 0
    assert not known[split.train].any() and known[split.test].all() and not known[~labelled].any()
    assert known.sum() == labelled.sum() - len(split.train) > len(split.val) + len(split.test)


def test_the_page_tells_what_the_automatic_pool_tried(fit: Callable[..., Run], tmp_path: Path) -> None:
    run = fit("--teachers", "auto")
    assert main(["report", str(run.path), "--map", "pca", "-o", str(tmp_path / "page.html")]) == 0
    pool, tried = Page.read(tmp_path / "page.html").data["pool"], run.seed_metrics(0)["tried"]
    assert [row["name"] for row in pool] == [one["name"] for one in tried]
    assert {row["name"] for row in pool if row["kept"]} == set(run.fitted(0).task_names)
    assert all(row["seconds"] > 0 for row in pool)


def test_reasons_are_given_for_as_many_nodes_as_asked(run: Run, tmp_path: Path) -> None:
    for most in (0, 7):
        path = tmp_path / f"{most}.html"
        assert main(["report", str(run.path), "--map", "pca", "--reasons", str(most), "-o", str(path)]) == 0
        found = Page.read(path).arrays
        assert len(found.get("why_node", ())) == most
    assert main(["report", str(run.path), "--reasons", "-1"]) == 2


def test_a_threshold_decides_on_the_page_too(fit: Callable[..., Run], tmp_path: Path) -> None:
    two = write_graph(tmp_path / "two", classes=("yes", "no"))
    out = tmp_path / "run"
    quick = ("--epochs", "3", "--hidden", "8", "--split", "per-class:5/5", "--method", "gcn", "--threshold", "0.9")
    assert main(["fit", str(two), *quick, "--out", str(out)]) == 0
    assert main(["report", str(out), "--map", "pca", "-o", str(tmp_path / "page.html")]) == 0
    page, said = Page.read(tmp_path / "page.html"), Run.open(out).predictions(0)
    assert [page.data["classes"][c] for c in page.arrays["predicted"]] == [row["prediction"] for row in said]
    assert (page.arrays["predicted"] != page.arrays["top"][0, :, 0]).any()
