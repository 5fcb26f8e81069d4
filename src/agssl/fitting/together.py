"""Several processes that train one network together (see `agssl.base.world`), as workers of Ray Train.

If one is lost, all are begun again, elsewhere if need be, and go on from the checkpoint that the first has written.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agssl.base import errors
from agssl.base.atomic import write_json
from agssl.base.errors import AgsslError
from agssl.scale.cluster import RETRIES, Origin

if TYPE_CHECKING:
    from agssl.fitting.job import Job, Metrics

T = TypeVar("T")

FOLDER = "ray"  # below the job's folder; Ray Train insists on one
PATIENCE = 24 * 3600  # seconds that one waits for another; a lost one shows at once
# Ray's own 60 seconds are not enough for a busy machine to import torch
STARTING = {"RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "600"}


def fit_together(job: Job, seed: int) -> Metrics:
    """`fit_seed` in `job.workers` processes of the Ray cluster that this one is connected to."""
    import ray
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    assert job.out is not None
    for name, value in STARTING.items():
        os.environ.setdefault(name, value)
    folder = job.out.absolute() / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    note = folder / "error.json"
    trainer = TorchTrainer(
        _work,
        train_loop_config={"job": ray.put(job), "seed": seed, "note": note, "origin": Origin.of_this_process()},
        torch_config=TorchConfig(backend="gloo", timeout_s=PATIENCE),
        scaling_config=ScalingConfig(num_workers=job.workers, use_gpu=False, resources_per_worker={"CPU": job.threads}),
        run_config=RunConfig(
            name=f"seed-{seed}",
            storage_path=str(folder),
            failure_config=FailureConfig(max_failures=RETRIES, controller_failure_limit=RETRIES),
        ),
    )
    try:
        _aside(trainer.fit)
        if note.exists():
            about = json.loads(note.read_text(encoding="utf-8"))
            raise getattr(errors, about["kind"], AgsslError)(about["text"])
    except ray.train.TrainingFailedError as error:
        raise AgsslError(
            f"seed {seed}: the processes that train together were lost more than {RETRIES} times, at last by: {error}"
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return dict(json.loads((job.out / f"seed-{seed}" / "metrics.json").read_text(encoding="utf-8")))


def _work(config: dict[str, Any]) -> None:
    """What each worker does."""
    import ray

    from agssl.fitting.job import do_elsewhere
    from agssl.fitting.schedule import Unit

    note: Path = config["note"]
    if note.exists():  # begun again after an error that would only come again: all are to end in peace
        return
    try:
        config["origin"].settle()
        do_elsewhere(ray.get(config["job"]), Unit(config["seed"]))
    except AgsslError as error:
        write_json(note, {"kind": type(error).__name__, "text": str(error)})
        raise  # the others may wait for this one, so all have to be ended


def _aside(call: Callable[[], T]) -> T:
    """Call in a thread: in the main one, Ray Train would take Ctrl-C for itself."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result()
