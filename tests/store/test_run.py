"""Run directories."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from agssl.base.errors import DataError, SettingsError
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.fitting.job import Job
from agssl.fitting.seeds import fit_seeds
from agssl.fitting.summary import summarise
from agssl.store.run import GraphSource, Run, describe
from agssl.store.run_writer import RunWriter

SETTINGS = Settings(method="gcn", hidden=4, epochs=3, patience=None)


@pytest.fixture
def run(tmp_path: Path, tiny_graph: Graph) -> Run:
    """A run of two seeds on the tiny graph."""
    path = tmp_path / "runs" / "tiny"
    with RunWriter(path) as writer:
        results = fit_seeds(Job(tiny_graph, SETTINGS, "public", writer.staging), (0, 3))
        about = describe(GraphSource.of(tiny_graph, "tiny", None, "cosine", "label"), (0, 3), command="agssl fit tiny")
        writer.commit(about, SETTINGS, "public", summarise("tiny", SETTINGS, results))
    return Run.open(path)


def test_everything_comes_back(run: Run, tiny_graph: Graph) -> None:
    assert run.seeds == (0, 3) and run.settings == SETTINGS
    assert run.about["command"] == "agssl fit tiny" and set(run.about["versions"]) >= {"agssl", "torch", "numpy"}
    assert run.metrics["test_accuracy"]["values"] == [run.seed_metrics(s)["test"]["accuracy"] for s in (0, 3)]
    assert tiny_graph.split is not None
    for part, nodes in run.split(3).to_arrays().items():
        np.testing.assert_array_equal(nodes, getattr(tiny_graph.split, part))
    assert run.split().origin == "public"
    assert run.history(3)["gcn"]["epoch"] == [0, 1, 2]
    fitted = run.fitted(3)
    assert fitted.seed == 3 and fitted.settings == SETTINGS and fitted.classes == ("a", "b", "c")
    rows = run.predictions(3)
    assert [row["prediction"] for row in rows] == [fitted.classes[k] for k in fitted.logits.argmax(1)]
    assert [row["part"] for row in rows][:3] == ["train", "val", "test"]
    assert rows[11]["label"] == "" and rows[11]["part"] == ""


def test_the_files_are_those_of_the_documentation(run: Run) -> None:
    files = sorted(str(path.relative_to(run.path)) for path in run.path.rglob("*") if path.is_file())
    assert [name for name in files if "seed-3" not in name] == [
        "MODEL_CARD.md",
        "config.toml",
        "metrics.json",
        "run.json",
        *(f"seed-0/{n}" for n in ("history.json", "metrics.json", "model.safetensors", "predictions.csv", "split.npz")),
    ]


def test_an_unknown_seed_names_the_known_ones(run: Run) -> None:
    with pytest.raises(SettingsError, match="no seed 1; it has 0, 3"):
        run.fitted(1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "damaged"),
        ("[" * 100_000, "damaged"),
        ("[]", "not a run"),
        ('{"format": "other"}', "not a run"),
        ('{"format": "agssl-run"}', "damaged"),
        ('{"format": "agssl-run", "schema": 99}', "upgrade agssl"),
        ('{"format": "agssl-run", "schema": 1, "seeds": []}', "damaged"),
        ('{"format": "agssl-run", "schema": 1, "seeds": [0], "graph": {}}', "damaged"),
    ],
)
def test_a_damaged_or_newer_run_is_refused(run: Run, text: str, message: str) -> None:
    (run.path / "run.json").write_text(text)
    with pytest.raises(DataError, match=message):
        Run.open(run.path)


def test_damaged_parts_are_named(run: Run) -> None:
    folder = run.path / "seed-0"
    for name, read in (
        ("split.npz", run.split),
        ("history.json", run.history),
        ("metrics.json", run.seed_metrics),
        ("predictions.csv", run.predictions),
        ("model.safetensors", run.fitted),
    ):
        whole = (folder / name).read_bytes()
        for broken in (b"", whole[: len(whole) // 2]):
            (folder / name).write_bytes(broken)
            with pytest.raises(DataError, match=name):
                read(0)
        (folder / name).unlink()
        with pytest.raises(DataError, match=name):
            read(0)
        (folder / name).write_bytes(whole)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(DataError, match="agssl fit"):
            Run.open(path)


def test_the_graph_is_opened_again_with_its_split(tmp_path: Path) -> None:
    from agssl.data.resolve import open_graph

    table = "id,f,g,label\n" + "\n".join(f"n{i},{i},{i % 3},{'ab'[i % 2]}" for i in range(12))
    (tmp_path / "t.csv").write_text(table)
    graph = open_graph(str(tmp_path / "t.csv"), split=None, knn=2)
    with RunWriter(tmp_path / "run") as writer:
        results = fit_seeds(Job(graph, SETTINGS, "auto", writer.staging), (1,))
        source = GraphSource.of(graph, str(tmp_path / "t.csv"), 2, "cosine", "label")
        writer.commit(describe(source, (1,)), SETTINGS, "auto", summarise("t", SETTINGS, results))
    run = Run.open(tmp_path / "run")
    again = run.graph(1)
    assert again.fingerprint == graph.fingerprint and again.split is not None
    np.testing.assert_array_equal(again.split.train, run.split(1).train)
    (tmp_path / "t.csv").write_text(table.replace("n3,3", "n3,4"))
    with pytest.raises(DataError, match="has changed"):
        run.graph()
    (tmp_path / "t.csv").unlink()
    with pytest.raises(DataError, match="can't open the graph"):
        run.graph()


def test_a_run_of_before_knn_metric_had_its_name_is_read(run: Run) -> None:
    about = json.loads((run.path / "run.json").read_text())
    about["graph"]["metric"] = "euclidean"
    del about["graph"]["knn_metric"]
    (run.path / "run.json").write_text(json.dumps(about))
    assert Run.open(run.path).source.knn_metric == "euclidean"


def test_nothing_stays_of_a_run_that_fails(tmp_path: Path) -> None:
    def fail(writer: RunWriter) -> None:
        (writer.staging / "seed-0").mkdir()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), RunWriter(tmp_path / "a" / "b") as writer:
        fail(writer)
    assert not (tmp_path / "a").exists()


def test_what_a_killed_run_left_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "run" / ".agssl" / "stages").mkdir(parents=True)
    with RunWriter(tmp_path / "run"):
        pass
    (tmp_path / "run" / "thesis.txt").touch()
    with pytest.raises(DataError, match="left alone"), RunWriter(tmp_path / "run"):
        pass


def test_metrics_of_seeds_are_summed_up(run: Run) -> None:
    text = (run.path / "metrics.json").read_text()
    summary = json.loads(text)
    values = summary["val_accuracy"]["values"]
    assert summary["val_accuracy"]["mean"] == pytest.approx(np.mean(values))
    assert summary["val_accuracy"]["std"] == pytest.approx(np.std(values, ddof=1))
