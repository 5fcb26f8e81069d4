"""One fit a seed, one after the other or side by side in processes, and what came out over all seeds."""

from __future__ import annotations

import functools
import platform
import shutil
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from agssl.base.errors import DataError, SettingsError
from agssl.base.processes import work
from agssl.base.world import World
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.fitting.fit import Resources, fit, split_for
from agssl.integrate import INTEGRATORS
from agssl.metrics import accuracy, evaluate, softmax
from agssl.pretext.prepare import check_tasks, make_task, prepared
from agssl.store.checkpoints import CheckpointStore
from agssl.store.fitted import FittedModel
from agssl.store.run_writer import write_seed
from agssl.train.evolution import check_evolution
from agssl.train.network import Watch, ignore
from agssl.train.setup import batches_of

if TYPE_CHECKING:
    from agssl.scale.cluster import Cluster

Metrics = dict[str, Any]
MEASURES = ("accuracy", "macro_f1", "log_loss", "ece")


@dataclass(frozen=True, eq=False)
class Job:
    """What all seeds share."""

    graph: Graph  # without a split, or with its public one
    settings: Settings
    split: str = "auto"
    out: Path | None = None  # each seed writes its folder below
    cache: Path | None = None  # for prepared targets
    device: str = "cpu"
    threads: int = 1
    checkpoint: float = 10.0  # seconds of training between checkpoints
    workers: int = 1  # processes that train one network together, on a cluster


def check(settings: Settings, device: str = "cpu", threads: int = 1) -> None:
    """Find every mistake that can be found without a graph."""
    if threads < 1:
        raise SettingsError(f"threads = {threads}, but at least one is needed")
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise SettingsError(f"device {device!r} is not understood; give cpu, cuda or cuda:0") from error
    if kind == "cuda" and not torch.cuda.is_available():
        raise SettingsError(f"device {device!r} is not available on this machine; leave --device out to use the CPU")
    if settings.method == "gcn":
        return
    check_tasks(settings)
    if settings.method == "agssl":
        _ = INTEGRATORS[settings.integration]
    if settings.method == "autossl" and settings.autossl_search == "es":
        check_evolution(len(settings.tasks))


def fit_seed(job: Job, seed: int, watch: Watch = ignore) -> Metrics:
    """Split, fit, measure and (where the job has a folder) write one seed; gives back its metrics.

    In the folder it also keeps what is trained until the seed is finished, and goes on from what is there. Of several
    processes that train together, the first one writes.
    """
    graph, where = split_for(job.graph, job.split, seed), _resources(job, seed, min_seconds=job.checkpoint / 20)
    result = fit(graph, job.settings, seed, where, watch)
    metrics = measure(result.fitted, graph)
    metrics |= {"best": result.fitted.best, "epochs": result.epochs, "seconds": result.seconds}
    checkpoints = where.checkpoints
    if job.out is not None and checkpoints is not None and checkpoints.writes:
        write_seed(job.out / f"seed-{seed}", graph, result.fitted, result.history, metrics)
        shutil.rmtree(checkpoints.folder, ignore_errors=True)
    return metrics


def fit_teacher(job: Job, seed: int, task: str) -> None:
    """Train the teacher of one task, so that `fit_seed` finds it among what it keeps in the job's folder."""
    where = _resources(job, seed, min_seconds=0)  # however quick: another process will want it
    fit(split_for(job.graph, job.split, seed), job.settings.of_teacher(task), seed, where)


def _resources(job: Job, seed: int, min_seconds: float) -> Resources:
    checkpoints = None
    if job.out is not None:
        folder = job.out / "stages" / f"seed-{seed}"
        checkpoints = CheckpointStore(folder, job.checkpoint, min_seconds, writes=World.current().first)
    return Resources(job.cache, checkpoints, job.device, job.threads)


def measure(fitted: FittedModel, graph: Graph) -> Metrics:
    """The metrics of a fitted model and its teachers; the only reader of test labels."""
    split = graph.split
    assert split is not None
    probabilities = softmax(fitted.logits)
    metrics: Metrics = {"seed": fitted.seed, "split": {"origin": split.origin} | split.sizes()}
    for part, nodes in (("val", split.val), ("test", split.test)):
        metrics[part] = evaluate(graph.y[nodes], probabilities[nodes]) if len(nodes) else None
    means = None if fitted.weights is None else fitted.weights.mean(0, dtype="float64").tolist()
    metrics["task_weights"] = None if means is None else dict(zip(fitted.task_names, means, strict=True))
    metrics["alphas"] = dict(zip(fitted.task_names, fitted.alphas, strict=True))
    metrics["teachers"] = []
    for k, task in enumerate(fitted.task_names[: len(fitted.teacher_logits)]):
        teacher: Metrics = {"task": task, "alpha": fitted.alphas[k]}
        for part, nodes in (("val", split.val), ("test", split.test)):
            logits = fitted.teacher_logits[k, nodes]
            teacher[f"{part}_accuracy"] = accuracy(graph.y[nodes], logits) if len(nodes) else None
        teacher["weight"] = None if means is None else means[k]
        metrics["teachers"].append(teacher)
    return metrics


def fit_seeds(
    job: Job,
    seeds: Sequence[int],
    jobs: int = 1,
    watch: Callable[[int], Watch] = lambda seed: ignore,
    done: Callable[[Metrics], None] = lambda metrics: None,
    finished: Mapping[int, Metrics] | None = None,
    cluster: Cluster | None = None,
    taught: Callable[[int, str], None] = lambda seed, task: None,
) -> list[Metrics]:
    """The metrics of each seed, in the order of `seeds`; the same whatever `jobs` and `cluster` are.

    Where more can be done side by side than there are seeds left, the teachers of all seeds are trained first.

    Args:
        job: what they share.
        seeds: each makes its own split, where the split is drawn, and its own fit.
        jobs: processes; with more than one, or on a cluster, `watch` hears nothing.
        watch: gives the watcher of a seed.
        done: called with the metrics of each seed when it is ready.
        finished: the metrics of seeds that are ready already.
        cluster: where to run them instead of here.
        taught: called with seed and task of each teacher that was trained before the seeds.
    """
    if jobs < 1:
        raise SettingsError(f"jobs = {jobs}, but at least one is needed")
    found = dict(finished or {})
    left = [seed for seed in seeds if seed not in found]
    teachers = teachers_first(job, left, jobs)
    jobs, most = max(1, min(jobs, len(left))), jobs
    elsewhere = jobs > 1 or cluster is not None
    if (elsewhere and left) or teachers:
        prepare(job)
    if teachers:
        asked = iter(teachers)
        train = functools.partial(_teach_elsewhere, job)
        most = min(most, len(teachers))
        work(train, lambda: next(asked, None), lambda item, _: taught(*item), most, cluster=cluster)

    def finish(seed: int, metrics: Metrics) -> None:
        found[seed] = metrics
        done(metrics)

    waiting = iter(left)
    call = functools.partial(fit_elsewhere, job) if elsewhere else lambda seed: fit_seed(job, seed, watch(seed))
    if job.workers > 1:
        from agssl.fitting.together import fit_together

        call, jobs, cluster = functools.partial(fit_together, job), 1, None  # Ray is asked from here
    work(call, lambda: next(waiting, None), finish, jobs, cluster=cluster)
    return [found[seed] for seed in seeds]


def teachers_first(job: Job, seeds: Sequence[int], jobs: int) -> list[tuple[int, str]]:
    """The teachers (seed and task) to train before the seeds, since so many jobs would not all have a seed to do."""
    settings = job.settings
    if settings.method != "agssl" or len(settings.tasks) < 2 or job.out is None:
        return []
    if jobs <= len(seeds) or job.workers > 1:
        return []
    return [(seed, task) for seed in seeds for task in settings.tasks]


def fit_elsewhere(job: Job, seed: int) -> Metrics:
    """`fit_seed` in another process, maybe of another machine."""
    _check_seen(job)
    return fit_seed(job, seed)


def _teach_elsewhere(job: Job, teacher: tuple[int, str]) -> None:
    _check_seen(job)
    fit_teacher(job, *teacher)


def _check_seen(job: Job) -> None:
    """What another machine writes must be seen here."""
    if job.out is not None and not job.out.is_dir():
        raise DataError(f"{platform.node()} does not see {job.out}; with --out, name a folder that all machines share")


def prepare(job: Job) -> None:
    """Compute targets and the parts of mini-batches once, into the cache, before several processes would each do it."""
    if job.cache is None:
        return
    batches = batches_of(job.graph, job.settings, job.cache)
    if batches is not None and batches.mode == "partition" and batches.steps > 1:
        _ = batches.parts
    for text in job.settings.all_tasks:
        task = make_task(text)
        if batches is None or task.needs_whole:
            prepared(task, job.graph, job.cache)


def summarise(name: str, settings: Settings, results: Sequence[Metrics]) -> Metrics:
    """The results over all seeds, with the keys of `agssl fit --json`; figures without test nodes are None."""
    tested = [metrics["test"] for metrics in results if metrics["test"] is not None]
    summary: Metrics = {
        "dataset": name,
        "method": settings.method,
        "integration": settings.integration if settings.method == "agssl" else None,
        "tasks": [] if settings.method == "gcn" else list(settings.tasks),
        "strategy": None if settings.method == "gcn" else settings.strategy,
        "seeds": [metrics["seed"] for metrics in results],
        "test_accuracy": spread([test["accuracy"] for test in tested]),
        "val_accuracy": spread([metrics["val"]["accuracy"] for metrics in results]),
    }
    for measure_ in MEASURES[1:]:
        summary[measure_] = _mean([test[measure_] for test in tested])
    weights = [metrics["task_weights"] for metrics in results]
    summary["task_weights"] = (
        None if None in weights else {task: statistics.fmean(w[task] for w in weights) for task in weights[0]}
    )
    summary["teachers"] = [
        {
            "task": group[0]["task"],
            "alpha": [teacher["alpha"] for teacher in group],
            "val_accuracy": spread([teacher["val_accuracy"] for teacher in group]),
            "test_accuracy": spread([teacher["test_accuracy"] for teacher in group]),
            "weight": _mean([teacher["weight"] for teacher in group]),
        }
        for group in zip(*(metrics["teachers"] for metrics in results), strict=True)
    ]
    return summary


def spread(values: Sequence[float | None]) -> dict[str, Any]:
    """Mean, sample standard deviation (0 for one value) and the values; mean and deviation None where there are none.

    >>> spread([0.5, 0.7])["mean"]
    0.6
    """
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "std": None, "values": []}
    deviation = statistics.stdev(known) if len(known) > 1 else 0.0
    return {"mean": statistics.fmean(known), "std": deviation, "values": known}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def peak_mb() -> float | None:
    """The largest memory that this process or one of its finished children ever had; None where it is not known."""
    try:
        import resource
        import sys
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(w).ru_maxrss for w in who) * unit / 2**20
