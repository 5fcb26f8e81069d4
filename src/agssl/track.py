"""Every epoch's figures to TensorBoard or MLflow (extra `track`), as they come.

A tracker is a watcher, so it goes wherever one does:

    with Tracker("tensorboard", "logs") as tracker:
        AGSSL().fit(graph, watch=tracker)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from agssl.base.errors import unknown_name
from agssl.base.install import missing_extra

KINDS = ("tensorboard", "mlflow")
_BATCH = 500  # figures that go to MLflow in one request


class _Writer(Protocol):
    """Where figures go."""

    def figure(self, name: str, value: float, step: int) -> None: ...

    def settings(self, values: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class Tracker:
    """Calls of `tracker(stage, record)` become figures `stage/name`, one step an epoch; close it, or use `with`.

    A stage that begins again, as a teacher does for each loss weight that it is tried with, goes on as `stage try 2`.

    Args:
        kind: `tensorboard` or `mlflow`.
        where: for TensorBoard the folder to write to (default `runs/tensorboard`); for MLflow the tracking URI
            (default: what MLflow is set up with, as by MLFLOW_TRACKING_URI).
        name: what to call the run.
        settings: what was run, to be noted with it.
    """

    def __init__(
        self, kind: str, where: str | Path | None = None, name: str = "agssl", settings: Mapping[str, Any] | None = None
    ) -> None:
        check_tracking(kind)
        self._writer: _Writer = (_TensorBoard if kind == "tensorboard" else _Mlflow)(where, name)
        self._tries: dict[str, tuple[int, int]] = {}  # by stage: which try it is, and its last epoch
        if settings:
            self._writer.settings(settings)

    def __call__(self, stage: str, record: Mapping[str, float]) -> None:
        """Note the figures of one epoch."""
        step = int(record["epoch"])
        number, last = self._tries.get(stage, (1, -1))
        number += step <= last
        self._tries[stage] = (number, step)
        stage = stage if number == 1 else f"{stage} try {number}"
        for name, value in record.items():
            if name != "epoch":
                self._writer.figure(_clean(f"{stage}/{name}"), float(value), step)

    def result(self, metrics: Mapping[str, Any]) -> None:
        """Note the results of a seed, as `agssl.fitting.job.measure` gives them."""
        for part in ("val", "test"):
            for name, value in (metrics.get(part) or {}).items():
                self._writer.figure(f"result/{part}_{name}", float(value), 0)

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()

    def __enter__(self) -> Tracker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_tracking(kind: str) -> None:
    """Find out before training whether a tracker can be used."""
    if kind not in KINDS:
        raise unknown_name("tracker", kind, KINDS)
    try:
        if kind == "tensorboard":
            import torch.utils.tensorboard  # noqa: F401
        else:
            import mlflow  # noqa: F401
    except ImportError as error:
        raise missing_extra(f"tracking needs {kind}", "track") from error


class _TensorBoard:
    def __init__(self, where: str | Path | None, name: str) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(str(Path("runs/tensorboard" if where is None else where) / name))

    def figure(self, name: str, value: float, step: int) -> None:
        self.writer.add_scalar(name, value, step)

    def settings(self, values: Mapping[str, Any]) -> None:
        lines = (f"    {name} = {value}" for name, value in values.items())  # indented: a block of code in Markdown
        self.writer.add_text("settings", "\n".join(lines))

    def close(self) -> None:
        self.writer.close()


class _Mlflow:
    def __init__(self, where: str | Path | None, name: str) -> None:
        from mlflow import MlflowClient

        self.client = MlflowClient(None if where is None else str(where))
        found = self.client.get_experiment_by_name("agssl")
        experiment = self.client.create_experiment("agssl") if found is None else found.experiment_id
        self.run = self.client.create_run(experiment, run_name=name).info.run_id
        self.waiting: list[Any] = []

    def figure(self, name: str, value: float, step: int) -> None:
        import time

        from mlflow.entities import Metric

        self.waiting.append(Metric(name, value, int(1000 * time.time()), step))
        if len(self.waiting) >= _BATCH:
            self._send()

    def settings(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            self.client.log_param(self.run, name, value)

    def close(self) -> None:
        self._send()
        self.client.set_terminated(self.run)

    def _send(self) -> None:
        self.client.log_batch(self.run, metrics=self.waiting)
        self.waiting = []


def _clean(name: str) -> str:
    """A name that both take: a task's settings bring signs that MLflow refuses."""
    return re.sub(r"[^\w. /-]", "-", name)
