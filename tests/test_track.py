from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agssl import AGSSL
from agssl.base.errors import MissingExtraError, SettingsError
from agssl.data.graph import Graph
from agssl.track import Tracker, check_tracking

QUICK = {"alpha": 1.0, "tasks": ("clu:clusters=3",), "epochs": 4, "hidden": 8, "folds": 2, "generations": 1}


def test_tensorboard_has_every_figure_of_every_epoch(tiny_graph: Graph, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra track")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with Tracker("tensorboard", tmp_path, "mine", {"tau": 1.0}) as tracker:
        model = AGSSL(**QUICK).fit(tiny_graph, watch=tracker)
    events = EventAccumulator(str(tmp_path / "mine"))
    events.Reload()
    for stage, tag in (("student", "student"), ("teacher clu:clusters=3", "teacher clu-clusters-3")):
        found = events.Scalars(f"{tag}/val_accuracy")
        expected = [(r["epoch"], r["val_accuracy"]) for r in model.history_[stage]]
        assert [(e.step, pytest.approx(e.value)) for e in found] == expected
    assert len(events.Scalars("student/loss")) == 4
    assert "student/lambda0" in events.Tags()["scalars"]


def test_mlflow_has_every_figure_of_every_epoch(
    tiny_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow", reason="needs the extra track")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions ask for a database otherwise
    where = (tmp_path / "mlruns").as_uri()
    with Tracker("mlflow", where, "mine", {"tau": 1.0}) as tracker:
        model = AGSSL(**QUICK).fit(tiny_graph, watch=tracker)
        tracker.result({"val": {"accuracy": 0.5}, "test": None})
    client = mlflow.MlflowClient(where)
    runs = client.search_runs([client.get_experiment_by_name("agssl").experiment_id])
    assert [run.info.run_name for run in runs] == ["mine"]
    assert runs[0].data.params == {"tau": "1.0"} and runs[0].info.status == "FINISHED"
    assert runs[0].data.metrics["result/val_accuracy"] == 0.5
    found = client.get_metric_history(runs[0].info.run_id, "student/val_accuracy")
    assert [m.value for m in sorted(found, key=lambda m: m.step)] == [
        r["val_accuracy"] for r in model.history_["student"]
    ]


def test_a_stage_that_begins_again_has_a_name_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra track")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with Tracker("tensorboard", tmp_path, "tries") as tracker:
        for epoch in (0, 1, 0, 1, 2):
            tracker("teacher par", {"epoch": epoch, "loss": 1.0})
    events = EventAccumulator(str(tmp_path / "tries"))
    events.Reload()
    assert [e.step for e in events.Scalars("teacher par/loss")] == [0, 1]
    assert [e.step for e in events.Scalars("teacher par try 2/loss")] == [0, 1, 2]


def test_trackers_that_are_unknown_or_missing_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="unknown tracker 'wandb'"):
        check_tracking("wandb")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"pip install -e .*\[track\]"):
        check_tracking("mlflow")
