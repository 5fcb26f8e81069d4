"""`agssl fit`."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from agssl import AGSSL, load_dataset
from agssl.cli import fit as command
from agssl.data.packed import write_packed
from agssl.data.readers import read_graph
from agssl.store.run import Run

KEYS = {
    *("dataset", "method", "integration", "tasks", "strategy", "seeds", "test_accuracy", "val_accuracy"),
    *("macro_f1", "log_loss", "ece", "seconds", "peak_mb", "run", "estimate", "labels", "baselines"),
}
GCN = ("--method", "gcn", "--epochs", "5", "--hidden", "8")


def test_json_has_the_promised_keys(agssl: Callable[..., Any], graph: Path, quick: tuple[str, ...]) -> None:
    done = agssl("fit", graph, *quick, "--seeds", 2, "--json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert set(result) >= KEYS
    assert (result["dataset"], result["method"], result["integration"]) == ("small", "agssl", "both")
    assert result["seeds"] == [0, 1] and result["tasks"] == ["clu:clusters=3", "pairdis"]
    for part, values in (("test_accuracy", 0), ("val_accuracy", 2)):
        assert set(result[part]) == {"mean", "std", "values"} and len(result[part]["values"]) == values
    assert 0 <= result["val_accuracy"]["mean"] <= 1 and result["test_accuracy"]["mean"] is None
    assert [teacher["task"] for teacher in result["teachers"]] == ["clu:clusters=3", "pairdis"]
    assert sum(teacher["weight"] for teacher in result["teachers"]) == pytest.approx(1)
    assert result["run"] == "runs/small-agssl-both" and Run.open(result["run"]).metrics["seeds"] == [0, 1]
    lines = [line for line in done.err.splitlines() if not line.startswith("WARNING: ")]
    assert [line.partition(":")[0] for line in lines] == ["seed 0", "seed 1"]


def test_the_table_has_a_row_for_each_teacher_and_fits_a_terminal(
    agssl: Callable[..., Any], graph: Path, quick: tuple[str, ...]
) -> None:
    done = agssl("fit", graph, *quick, "--tasks", "clu,pairdis")
    assert done.code == 0, done.err
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert lines[0].startswith("small: agssl (both, jt, gcn), 1 seed, ")
    assert [line.split("  ")[0] for line in lines[2:5]] == ["teacher clu", "teacher pairdis", "agssl"]
    assert lines[-1] == "the run is in runs/small-agssl-both"
    assert max(map(len, lines)) <= 80


def test_without_test_nodes_the_test_figures_are_null(agssl: Callable[..., Any], graph_without_test: Path) -> None:
    done = agssl("fit", graph_without_test, *GCN, "--json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["test_accuracy"] == {"mean": None, "std": None, "values": []}
    assert result["macro_f1"] is None and result["val_accuracy"]["mean"] is not None
    done = agssl("fit", graph_without_test, *GCN)
    assert [line.split()[:2] for line in done.out.splitlines() if line.startswith("gcn")] == [["gcn", "-"]]


def test_results_do_not_depend_on_jobs(agssl: Callable[..., Any], graph: Path, quick: tuple[str, ...]) -> None:
    for jobs, out in ((1, "one"), (2, "two")):
        done = agssl("fit", graph, *quick, "--seeds", 2, "--jobs", jobs, "--out", out)
        assert done.code == 0, done.err
    for seed in (0, 1):
        for file in ("predictions.csv", "task_weights.csv", "history.json", "split.npz"):
            name = f"seed-{seed}/{file}"
            assert (Path("one") / name).read_bytes() == (Path("two") / name).read_bytes(), name
        one, two = (Run.open(out).fitted(seed) for out in ("one", "two"))
        assert one.logits.tobytes() == two.logits.tobytes()
        for mine, other in zip(one.model.parameters(), two.model.parameters(), strict=True):
            assert mine.equal(other)


def test_an_error_in_a_worker_is_the_same_one_line(agssl: Callable[..., Any], graph: Path) -> None:
    words = ("--method", "gcn", "--epochs", 50, "--dropout", 0, "--seeds", 2, "--lr", 1e38)
    done = agssl("fit", graph, *words, "--jobs", 2, "--out", "out")
    assert done.code == 2
    assert done.err.startswith("agssl: error: gcn: val_loss is not finite at epoch 0") and done.err.count("\n") == 1
    assert not Path("out").exists()


def test_options_win_over_the_file_and_the_file_over_defaults(agssl: Callable[..., Any], graph: Path) -> None:
    Path("c.toml").write_text(
        'method = "gcn"\nepochs = 4\nhidden = 8\npatience = 0\nweight-decay = 0.1\nseeds = [3, 5]\n'
        'split = "fraction:0.5/0.3/0.2"\n'
    )
    done = agssl("fit", graph, "--config", "c.toml", "--hidden", 6, "--out", "out")
    assert done.code == 0, done.err
    run = Run.open("out")
    settings = run.settings
    assert (settings.method, settings.epochs, settings.hidden, settings.lr) == ("gcn", 4, 6, 0.01)
    assert settings.patience is None and settings.weight_decay == 0.1
    assert run.seeds == (3, 5) and run.split(3).origin == "fraction:0.5/0.3/0.2 (seed 3)"
    assert run.fitted(5).settings == settings
    words = ("--seed", 7, "--split", "fraction:0.4/0.3/0.3", "--out", "out", "--overwrite")
    done = agssl("fit", graph, "--config", "c.toml", *words)
    assert done.code == 0, done.err
    assert Run.open("out").seeds == (7,) and not Path("out/seed-3").exists()


def test_a_run_can_be_repeated_from_its_config(agssl: Callable[..., Any], graph: Path) -> None:
    assert agssl("fit", graph, *GCN, "--seed", 2, "--alpha", "par=2,clu=1", "--out", "first").code == 0
    assert tomllib.loads(Path("first/config.toml").read_text())["alpha"] == {"par": 2.0, "clu": 1.0}
    assert agssl("fit", graph, "--config", "first/config.toml", "--out", "second").code == 0
    assert Path("first/config.toml").read_text() == Path("second/config.toml").read_text()
    for file in ("predictions.csv", "history.json", "split.npz"):
        assert (Path("first/seed-2") / file).read_bytes() == (Path("second/seed-2") / file).read_bytes()


def test_each_seed_draws_its_own_split(agssl: Callable[..., Any], graph: Path) -> None:
    assert agssl("fit", graph, *GCN, "--seeds", 2, "--out", "both").code == 0
    assert agssl("fit", graph, *GCN, "--seed", 1, "--out", "alone").code == 0
    both, alone = Run.open("both"), Run.open("alone")
    assert both.split(0).fold.tolist() != both.split(1).fold.tolist()
    assert both.split(1).fold.tolist() == alone.split(1).fold.tolist()
    assert Path("both/seed-1/predictions.csv").read_text() == Path("alone/seed-1/predictions.csv").read_text()


def _without(path: Path, start: str) -> None:
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith(start)))


def _edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return change


def _labels(function: Callable[[str], str]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with open(folder / "nodes.csv", newline="") as file:
            header, *rows = list(csv.reader(file))
        lines = [",".join([*row[:-1], function(row[-1])]) for row in rows]
        (folder / "nodes.csv").write_text("\n".join([",".join(header), *lines]) + "\n")

    return change


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_edit("nodes.csv", "\nx7,", "\nx7,1,"), "line"),
        (_edit("nodes.csv", "\nx7,", "\nx7,nan\nx7,"), ""),
        (_labels(lambda label: "a"), "one class"),
        (_labels(lambda label: ""), "has a label"),
        (_edit("edges.csv", "source,target\n", "source,target\nx0,x99\n"), "x99"),
        (lambda folder: (folder / "nodes.csv").write_text("id,f0,label\n"), "empty"),
        (lambda folder: (folder / "nodes.csv").write_text(""), "nodes.csv"),
        (lambda folder: (folder / "nodes.csv").write_bytes(b"\x00\xff\xfe" * 50), "nodes.csv"),
        (lambda folder: (folder / "nodes.csv").unlink(), "nodes.csv"),
        (lambda folder: (folder / "edges.csv").unlink(), "edges.csv"),
        (_edit("nodes.csv", "\nx", "\n-"), "negative id"),
    ],
    ids=[
        "ragged",
        "nan",
        "one-class",
        "no-labels",
        "edge",
        "no-rows",
        "empty",
        "garbage",
        "nodes",
        "edges",
        "negative",
    ],
)
def test_a_bad_graph_is_one_line_and_nothing_is_written(
    agssl: Callable[..., Any], graph: Path, spoil: Callable[[Path], object], message: str
) -> None:
    spoil(graph)
    done = agssl("fit", graph, *GCN, "--out", "out")
    assert done.code == 2 and done.out == ""
    assert done.err.startswith("agssl: error: ") and done.err.count("\n") == 1
    assert message in done.err
    assert not Path("out").exists()


def test_infinite_features_are_refused(agssl: Callable[..., Any], graph: Path) -> None:
    rows = (graph / "nodes.csv").read_text().splitlines()
    rows[3] = ",".join(["x2", "inf", *rows[3].split(",")[2:]])
    (graph / "nodes.csv").write_text("\n".join(rows))
    done = agssl("fit", graph, *GCN)
    assert done.code == 2 and "not a finite number" in done.err and not Path("runs").exists()


def test_a_truncated_archive_is_refused(agssl: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 cut off")
    done = agssl("fit", tmp_path / "bad.npz", *GCN)
    assert done.code == 2 and "bad.npz" in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tasks", "par,dgl"], "did you mean 'dgi'"),
        (["--integration", "tss"], "did you mean 'ts'"),
        (["--method", "gnc"], "did you mean 'gcn'"),
        (["--split", "radom"], "did you mean 'random'"),
        (["--split", "public"], "without a split of its own"),
        (["--tasks", ","], "names nobody"),
        (["--tasks", "par,clu,par"], "'par' is named twice"),
        (["--teachers", "par@gnc"], "unknown encoder 'gnc'; did you mean 'gcn'"),
        (["--teachers", "lables@mlp"], "unknown task 'lables'; did you mean 'labels'"),
        (["--teachers", "autoo"], "unknown teacher 'autoo'; did you mean 'auto'"),
        (["--teachers", "papr"], "unknown teacher 'papr'; did you mean 'paper'"),
        (["--teachers", "labels@gcn:viiew=knn"], "viiew is not a setting of gcn or its network; did you mean view?"),
        (["--teachers", "labels@gcn:hiden=4"], "hiden is not a setting of gcn or its network; did you mean hidden?"),
        (["--teachers", "labels@gcn:view=knn:k=20"], "a view's own settings follow a slash: view=knn/k=20"),
        (["--teachers", "labels@mlp:view=moon"], "unknown view 'moon'. Known: given, knn"),
        (["--teachers", "labels@mlp:view=kn"], "unknown view 'kn'; did you mean 'knn'"),
        (["--teachers", "prr@gcn"], "unknown task 'prr'; did you mean 'par'"),
        (["--teachers", ","], "names nobody; name one at least"),
        (["--teachers", "auto,par@gcn"], "leave the others out"),
        (["--student", "gnc"], "unknown encoder 'gnc'; did you mean 'gcn'"),
        (["--student", "linear"], "linear"),
        (["--tau", "0"], "tau = 0.0"),
        (["--hidden", "0"], "hidden = 0"),
        (["--alpha", "parr=1"], "did you mean 'par'"),
        (["--alpha", "big"], "alpha 'big'"),
        (["--method", "single"], "one task"),
        (["--seeds", "0"], "at least one"),
        (["--seed", "-1"], "negative"),
        (["--jobs", "0"], "jobs = 0"),
        (["--threads", "0"], "threads = 0"),
        (["--device", "abacus"], "abacus"),
        (["--knn", "3"], "edge list already"),
        (["--config", "none.toml"], "none.toml"),
    ],
)
def test_bad_settings_are_found_before_training(
    agssl: Callable[..., Any], graph: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agssl.fitting.seeds.fit_seeds", lambda *args, **kwargs: pytest.fail("it went on to train"))
    done = agssl("fit", graph, *words)
    assert done.code == 2 and done.err.startswith("agssl: error: ")
    assert message in done.err and done.err.count("\n") == 1
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hiden = 3", "did you mean 'hidden'"),
        ("seed = 3", "did you mean 'seeds'"),
        ("hidden = 'wide'", "hidden = 'wide'"),
        ("tasks = 'par'", "tasks = 'par'"),
        ("tasks = [1]", "tasks = [1]"),
        ("tasks = 1", "tasks = 1"),
        ("integration = ['ts']", "integration = ['ts']"),
        ("seeds = 'all'", "seeds = 'all'"),
        ("seeds = [1, 1]", "only once"),
        ("seeds = []", "seeds = []"),
        ("split = 3", "split = 3"),
        ("[model]\nhidden = 3", "unknown setting 'model'"),
        ("hidden = ", "not valid TOML"),
    ],
)
def test_a_bad_config_is_refused(agssl: Callable[..., Any], graph: Path, text: str, message: str) -> None:
    Path("c.toml").write_text(text)
    done = agssl("fit", graph, "--config", "c.toml")
    assert done.code == 2 and message in done.err and done.err.count("\n") == 1


def test_an_output_folder_that_cannot_be_written_shows_before_training(
    agssl: Callable[..., Any], graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agssl.fitting.seeds.fit_seeds", lambda *args, **kwargs: pytest.fail("it went on to train"))
    Path("file").write_text("mine")
    Path("full").mkdir()
    Path("full/thesis.txt").write_text("mine")
    for out, message in (("file/run", "cannot write"), ("file", "is a file"), ("full", "left alone")):
        done = agssl("fit", graph, *GCN, "--out", out)
        assert done.code == 2 and message in done.err and done.err.splitlines()[-1].startswith("agssl: error: ")
    assert sorted(path.name for path in Path("full").iterdir()) == ["thesis.txt"]
    assert Path("file").read_text() == "mine"


def test_an_earlier_run_survives_a_failure_and_goes_with_a_success(agssl: Callable[..., Any], graph: Path) -> None:
    assert agssl("fit", graph, *GCN, "--seeds", 2, "--out", "out").code == 0
    Path("out/notes.txt").write_text("mine")
    before = Path("out/run.json").read_text()
    words = ("--out", "out", "--overwrite")
    done = agssl("fit", graph, *GCN, "--lr", 1e38, "--epochs", 50, "--dropout", 0, *words)
    assert done.code == 2 and "not finite" in done.err
    assert Path("out/run.json").read_text() == before and Run.open("out").fitted(1)
    assert agssl("fit", graph, *GCN, "--seed", 4, *words).code == 0
    assert sorted(path.name for path in Path("out").iterdir()) == [
        *("MODEL_CARD.md", "config.toml", "metrics.json", "notes.txt", "predictions.csv", "run.json", "seed-4")
    ]


def test_missing_features_name_the_file(agssl: Callable[..., Any], data_root: Path) -> None:
    if not (data_root / "ogbn_arxiv/arxiv_nofeat.npz").is_file():
        pytest.skip("needs the graph without features")
    done = agssl("fit", "ogbn-arxiv")
    assert done.code == 2 and "arxiv.zip" in done.err and not Path("runs").exists()


def test_a_table_becomes_a_graph(agssl: Callable[..., Any], graph: Path) -> None:
    done = agssl("fit", graph / "nodes.csv", "--knn", 3, "--knn-metric", "euclidean", *GCN, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["run"] == "runs/nodes-gcn"
    assert Run.open("runs/nodes-gcn").source.knn == 3


def test_python_gives_the_bits_of_the_command_line(agssl: Callable[..., Any]) -> None:
    _compare("digits", agssl, shipped=False)


def test_python_gives_the_bits_of_the_command_line_with_a_shipped_config(
    agssl: Callable[..., Any], data_root: Path
) -> None:
    _compare("cora", agssl, shipped=True)


def _compare(name: str, agssl: Callable[..., Any], shipped: bool) -> None:
    words = ("--epochs", 3, "--tasks", "clu,pairdis", "--integration", "ts")
    done = agssl("fit", name, *words, "--out", "run")
    assert done.code == 0, done.err
    assert (f"settings from {name}.toml" in done.err) == shipped
    theirs = Run.open("run").fitted(0)
    changes = {"epochs": 3, "tasks": ("clu", "pairdis"), "integration": "ts"}
    model = AGSSL.for_dataset(name, **changes).fit(load_dataset(name))
    assert model.settings() == theirs.settings.replace(batch="auto")  # the command line chose whether in parts
    ours = model.fitted_
    for part in ("logits", "teacher_logits", "weights"):
        assert getattr(ours, part).tobytes() == getattr(theirs, part).tobytes(), part
    for mine, other in zip(ours.model.parameters(), theirs.model.parameters(), strict=True):
        assert mine.equal(other)


def test_names_of_runs_are_safe_file_names() -> None:
    from agssl.config import Settings

    assert command._run_name("my graph/../x", Settings(method="gcn")) == "my-graph-..-x-gcn"


def test_training_can_be_followed_in_tensorboard(
    agssl: Callable[..., Any], graph: Path, quick: tuple[str, ...]
) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra track")
    done = agssl("fit", graph, *quick, "--seeds", 2, "--out", "runs/mine", "--track", "tensorboard")
    assert done.code == 0, done.err
    assert sorted(p.parent.name for p in Path("runs/tensorboard/mine").rglob("events*")) == ["seed-0", "seed-1"]
    done = agssl("fit", graph, *quick, "--seeds", 2, "--out", "runs/mine", "--track", "tensorboard", "--jobs", 2)
    assert done.code == 2 and "--track follows one seed at a time" in done.err
    assert agssl("fit", graph, "--track", "wandb").code == 2


def test_a_finished_run_is_replaced_only_when_that_is_asked_for(agssl: Callable[..., Any], graph: Path) -> None:
    assert agssl("fit", graph, *GCN, "--out", "out").code == 0
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    done = agssl("fit", graph, *GCN, "--hidden", 6, "--seeds", 2, "--out", "out")
    assert done.code == 2 and done.err.count("\n") == 1 and done.out == ""
    assert "out holds a finished run with hidden = 8, not 6; seeds = [0], not [0, 1]; " in done.err
    assert done.err.endswith("name another folder with --out, or replace it with --overwrite\n")
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before
    assert agssl("fit", graph, *GCN, "--hidden", 6, "--out", "out", "--overwrite").code == 0
    assert Run.open("out").settings.hidden == 6


def test_the_same_command_shows_the_result_of_the_finished_run(
    agssl: Callable[..., Any], graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = agssl("fit", graph, *GCN, "--json")
    monkeypatch.setattr("agssl.fitting.seeds.fit_seeds", lambda *args, **kwargs: pytest.fail("it trained again"))
    again = agssl("fit", graph, *GCN, "--json")
    assert again.code == 0 and json.loads(again.out) == json.loads(first.out)
    assert again.err.startswith("runs/small-gcn is finished already")
    assert agssl("fit", graph, *GCN).out.endswith("the run is in runs/small-gcn\n")


def test_without_a_folder_each_fit_has_its_own(agssl: Callable[..., Any], graph: Path) -> None:
    runs = [json.loads(agssl("fit", graph, *GCN, "--hidden", h, "--json").out)["run"] for h in (4, 6, 4, 8)]
    assert runs == ["runs/small-gcn", "runs/small-gcn-2", "runs/small-gcn", "runs/small-gcn-3"]
    done = agssl("fit", graph, *GCN, "--hidden", 6, "--overwrite", "--json")
    assert json.loads(done.out)["run"] == "runs/small-gcn" and Run.open("runs/small-gcn").settings.hidden == 6


def test_the_last_lines_tell_labels_interval_and_baselines(agssl: Callable[..., Any], graph: Path) -> None:
    words = ("fit", graph, *GCN, "--split", "benchmark")
    done = agssl(*words)
    assert "±" not in done.out
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert lines[-3] == "labels: 24 trained, 8 chose, 8 measured"
    assert re.fullmatch(r"test accuracy: [\d.]+%; 95% interval [\d.]+% to [\d.]+%", lines[-2])
    assert [line.rpartition("  ")[0].strip() for line in lines[3:5]] == ["majority class", "logistic regression"]
    assert "WARNING: only 8 nodes measured it" in done.err
    result = json.loads(agssl(*words, "--json").out)
    assert result["labels"] == {"train": 24, "choose": 8, "measure": 8}
    estimate = result["estimate"]
    assert estimate["value"] == result["test_accuracy"]["mean"] and estimate["measured_on"] == "test"
    assert 0 <= estimate["low"] < estimate["value"] <= estimate["high"] <= 1
    assert result["baselines"]["majority"] == 0.5 and result["baselines"]["logistic_regression"] > 0.5


def test_without_a_split_every_label_trains_and_every_label_measures(agssl: Callable[..., Any], graph: Path) -> None:
    done = agssl("fit", graph, *GCN)
    assert done.code == 0 and "±" not in done.out and "WARNING: only" not in done.err
    assert done.err.startswith("seed 0: held-out ")
    lines = [line.rstrip() for line in done.out.splitlines()]
    assert lines[1].split()[:3] == ["method", "held-out", "%"]
    assert lines[-3] == "labels: 40 trained, 40 chose, 40 measured, each while it was held out"
    assert re.fullmatch(r"held-out accuracy: [\d.]+%; 95% interval [\d.]+% to [\d.]+%", lines[-2])
    result = json.loads(agssl("fit", graph, *GCN, "--json").out)
    assert result["labels"] == {"train": 40, "choose": 40, "measure": 40}
    estimate = result["estimate"]
    assert estimate["value"] == result["val_accuracy"]["mean"] and estimate["measured_on"] == "heldout"
    assert estimate["low"] < estimate["value"] < estimate["high"]
    run = Run.open(result["run"])
    assert run.split(0).origin == "cv:5 (seed 0)" and len(run.fitted(0).heldout) == 40
    assert estimate["value"] == pytest.approx((run.fitted(0).heldout.argmax(1) == np.arange(40) % 2).mean())


def test_of_45_labelled_bottles_all_train_and_all_measure(agssl: Callable[..., Any]) -> None:
    wine = load_wine()
    rows = [
        ",".join([f"bottle{i}", *map(str, x), wine.target_names[y] if i % 4 == 0 else ""])
        for i, (x, y) in enumerate(zip(wine.data, wine.target, strict=True))
    ]
    header = ",".join(["id", *(name.replace("/", " ") for name in wine.feature_names), "label"])
    Path("wine.csv").write_text("\n".join([header, *rows]))
    words = ("fit", "wine.csv", "--knn", 10, *GCN, "--epochs", 40, "--out", "run")
    done = agssl(*words)
    assert done.code == 0 and "±" not in done.out and "nodes measured it" not in done.err
    assert "labels: 45 trained, 45 chose, 45 measured, each while it was held out" in done.out
    estimate = json.loads(agssl(*words, "--json").out)["estimate"]
    assert estimate["low"] < estimate["value"] and estimate["high"] - estimate["low"] > 0.05
    unseen = np.arange(178) % 4 > 0
    right = Run.open("run").fitted(0).logits.argmax(1) == wine.target
    assert estimate["low"] <= right[unseen].mean() <= estimate["high"]


def test_a_model_that_is_no_better_than_guessing_is_warned_of(agssl: Callable[..., Any], graph: Path) -> None:
    done = agssl("fit", graph, *GCN, "--epochs", 1, "--lr", 1e-9, "--seed", 1, "--split", "benchmark", "--json")
    warnings = json.loads(done.out)["warnings"]
    assert [line.removeprefix("WARNING: ") for line in done.err.splitlines()[1:]] == warnings
    simple = json.loads(done.out)["baselines"]["logistic_regression"]
    assert any(f"is below the {simple:.1%} of logistic regression on the features" in text for text in warnings)
    assert any(text.startswith("it predicts one class only") for text in warnings)


def test_words_for_missing_labels_are_said_once(agssl: Callable[..., Any], graph: Path) -> None:
    count = iter(range(100))
    _labels(lambda label: "?" if next(count) % 5 == 0 else label)(graph)
    done = agssl("fit", graph, *GCN, "--json")
    assert done.code == 0, done.err
    assert done.err.count("8 labels look missing: '?' (8); taken as unlabelled") == 1
    assert json.loads(done.out)["labels"] == {"train": 32, "choose": 32, "measure": 32}


@pytest.mark.parametrize(
    ("label", "message"),
    [(lambda i: f"{i * 1.37:.2f}", "40 different numbers"), (lambda i: ["A", "B", "A|B"][i % 3], "several labels")],
    ids=["regression", "several"],
)
def test_labels_that_are_no_classes_are_refused(
    agssl: Callable[..., Any], graph: Path, label: Callable[[int], str], message: str
) -> None:
    count = iter(range(100))
    _labels(lambda _: label(next(count)))(graph)
    done = agssl("fit", graph, *GCN)
    assert done.code == 2 and done.err.count("\n") == 1
    assert message in done.err and "supported is one label per node" in done.err


def test_an_automatic_pool_goes_on_where_a_scout_is_refused(agssl: Callable[..., Any], graph: Path) -> None:
    """Features on disk can't be scaled to unit norm, so other processes refuse some scouts."""
    write_packed(read_graph(graph), "packed")
    done = agssl("fit", "packed", "--epochs", 2, "--hidden", 4, "--jobs", 2, "--json", "--out", "runs/two")
    assert done.code == 0, done.err
    tried = [one["name"] for one in json.loads(done.out)["teachers"]]
    assert "labels@gcn" in tried and "labels@gcn:feature_norm=l2" not in tried
    alone = agssl("fit", "packed", "--epochs", 2, "--hidden", 4, "--jobs", 1, "--json", "--out", "runs/one")
    assert json.loads(alone.out)["val_accuracy"] == json.loads(done.out)["val_accuracy"]
