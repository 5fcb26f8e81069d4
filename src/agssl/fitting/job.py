"""The fits of one command: what all its seeds share, and one of them from the split to its folder."""

from __future__ import annotations

import logging
import platform
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agssl import metrics as measures
from agssl.base.errors import DataError, SettingsError
from agssl.base.rng import Rng
from agssl.base.world import World
from agssl.config import LABELS, Settings, TeacherSpec, parse_network
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape
from agssl.fitting.fit import Resources, fit, split_for, use_threads
from agssl.fitting.schedule import Unit
from agssl.integrate import INTEGRATORS
from agssl.integrate.sets import USUAL, measure_sets
from agssl.integrate.trust import measure_trust
from agssl.metrics import accuracy, evaluate, per_class, softmax
from agssl.ops.graph_views import viewed
from agssl.pretext.prepare import check_tasks, make_task, prepared
from agssl.store.checkpoints import CheckpointStore
from agssl.store.fitted import FittedModel, Judged, judged
from agssl.store.run_writer import write_seed
from agssl.train.context import Context
from agssl.train.evolution import check_evolution
from agssl.train.loop import Training, Watch, ignore
from agssl.train.pool import try_teacher
from agssl.train.setup import batches_of
from agssl.train.teachers import check_teacher

Metrics = dict[str, Any]
KEPT = 64 << 20  # bytes that the teachers' networks may add to the model of a run

log = logging.getLogger("agssl")


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
    Network(Shape(1, settings.hidden, 2, encoder=settings.encoder), Rng(0))  # its name and settings
    if settings.student and settings.method in ("agssl", "cpf"):
        encoder, changes = parse_network(settings.student)
        check_teacher(LABELS, settings.of_network(encoder, changes))
    if not settings.trains_tasks:
        return
    check_tasks(settings)
    if settings.method == "agssl":
        _ = INTEGRATORS[settings.integration]
        for text in () if settings.automatic else settings.pool:  # it leaves out what these settings can't be for
            check_teacher(text, settings)
    if settings.method == "autossl" and settings.autossl_search == "es":
        check_evolution(len(settings.tasks))


def fit_seed(job: Job, seed: int, watch: Watch = ignore, before: float = 0.0) -> Metrics:
    """Split, fit, measure and (where the job has a folder) write one seed; gives back its metrics.

    What it took has `before` added, the seconds of its teachers where these were trained already.

    In the folder it also keeps what is trained until the seed is finished, and goes on from what is there. Of several
    processes that train together, the first one writes.
    """
    graph, where = split_for(job.graph, job.split, seed), resources(job, seed)
    result = fit(graph, job.settings, seed, where, watch)
    metrics = measure(result.fitted, graph)
    metrics |= {"best": result.fitted.best, "epochs": result.epochs, "seconds": before + result.seconds}
    if result.tried:
        metrics["tried"] = [asdict(one) | described_teacher(one.name, job.settings) for one in result.tried]
    fitted = result.fitted
    if fitted.teachers is not None:
        metrics["teachers_kept"] = fitted.teachers.nbytes <= KEPT or fitted.student_logits is not None
        if not metrics["teachers_kept"] and job.out is not None:
            taken, most = fitted.teachers.nbytes / 2**20, KEPT >> 20
            log.warning(
                f"seed {seed}: the teachers' networks take {taken:.0f} MB, more than {most}, and are not kept: the run "
                "has teacher weights for the nodes of its own graph alone"
            )
    checkpoints = where.checkpoints
    if job.out is not None and checkpoints is not None and checkpoints.writes:
        kept = fitted if metrics.get("teachers_kept") else replace(fitted, teachers=None)
        write_seed(job.out / f"seed-{seed}", graph, kept, result.history, metrics)
        shutil.rmtree(checkpoints.folder, ignore_errors=True)
    return metrics


def fit_teacher(job: Job, unit: Unit, watch: Watch = ignore) -> Metrics:
    """Train a teacher, so that `fit_seed` finds it among what it keeps in the job's folder.

    What one of an automatic pool scored decides on others.
    """
    assert unit.task is not None
    where = resources(job, unit.seed, keep_all=True)  # however quick: another process will want it
    if job.settings.automatic:
        return fit_candidate(job, unit, where, watch)
    settings = job.settings.of_teacher(unit.task)
    result = fit(split_for(job.graph, job.split, unit.seed), settings, unit.seed, where, watch, folds_only=True)
    return {"best": result.fitted.best, "epochs": result.epochs}


def fit_candidate(job: Job, unit: Unit, where: Resources, watch: Watch = ignore) -> Metrics:
    """Try a teacher of an automatic pool."""
    assert unit.task is not None
    graph, settings = split_for(job.graph, job.split, unit.seed).hide_test(), job.settings.within_budget()
    training = Training(watch=watch, checkpoints=where.checkpoints)
    with use_threads(where.threads):
        context = Context.of(graph, settings, training, Rng(unit.seed), where.cache, where.device)
        tried = try_teacher(context, unit.task)
    if tried is None:
        return {"best": {}, "epochs": {}}
    network, stage = tried.teacher.network, f"teacher {unit.task}"
    return {"best": network.best, "epochs": {stage: len(network.history)}, "log_loss": tried.about.log_loss}


def do_unit(job: Job, unit: Unit, watch: Watch = ignore) -> Metrics:
    """Fit a seed, or train a teacher of one."""
    return fit_seed(job, unit.seed, watch, unit.before) if unit.task is None else fit_teacher(job, unit, watch)


def resources(job: Job, seed: int, keep_all: bool = False) -> Resources:
    """What a seed works with; it keeps trainings that took long, or all."""
    checkpoints, min_seconds = None, 0 if keep_all else job.checkpoint / 20
    if job.out is not None:
        folder = job.out / "stages" / f"seed-{seed}"
        checkpoints = CheckpointStore(folder, job.checkpoint, min_seconds, writes=World.current().first)
    return Resources(job.cache, checkpoints, job.device, job.threads)


def measure(fitted: FittedModel, graph: Graph) -> Metrics:
    """The metrics of a fitted model and its teachers; the only reader of test labels."""
    split = graph.split
    assert split is not None
    metrics: Metrics = {"seed": fitted.seed, "split": {"origin": split.origin} | split.sizes()}
    metrics["split"] |= {} if split.fold is None else {"folds": len(split.folds())}
    found = {part: judged(fitted, split, part) for part in ("val", "test")}
    for part, said in found.items():
        known = len(said.nodes) > 0
        metrics[part] = evaluate(graph.y[said.nodes], said.probabilities, fitted.decision) if known else None
    measured = found["test" if len(split.test) else "val"]
    predicted = fitted.decide(measured.probabilities)
    metrics["predicted_classes"] = len(set(predicted.tolist()))
    table = per_class(graph.y[measured.nodes], predicted, len(fitted.classes))
    figures = [{name: values[k].item() for name, values in table.items()} for k in range(len(fitted.classes))]
    metrics["per_class"] = [{"class": name} | row for name, row in zip(fitted.classes, figures, strict=True)]
    if fitted.decision is not None:
        metrics["decision"] = asdict(fitted.decision) | {"positive": fitted.classes[fitted.decision.positive]}
    metrics["network"] = fitted.shape.text
    if fitted.settings.automatic:
        metrics["answers"] = "student" if fitted.student_logits is None else "teachers"
    means = None if fitted.weights is None else fitted.weights.mean(0, dtype="float64").tolist()
    metrics["task_weights"] = None if means is None else dict(zip(fitted.task_names, means, strict=True))
    metrics["alphas"] = dict(zip(fitted.task_names, fitted.alphas, strict=True))
    metrics["teachers"] = []
    metric, positive = fitted.settings.metric, fitted.decision and replace(fitted.decision, threshold=None)
    for k, task in enumerate(fitted.task_names[: len(fitted.teacher_logits)]):
        teacher: Metrics = described_teacher(task, fitted.settings) | {"task": task, "alpha": fitted.alphas[k]}
        for part, said in found.items():
            known, truth = len(said.nodes) > 0, graph.y[said.nodes]
            teacher[f"{part}_accuracy"] = accuracy(truth, said.teachers[k]) if known else None
            if metric != "accuracy":
                value = measures.measure(metric, truth, softmax(said.teachers[k]), positive) if known else None
                teacher[f"{part}_{metric}"] = value
        teacher["weight"] = None if means is None else means[k]
        metrics["teachers"].append(teacher)
    metrics["temperature"] = fitted.confidence.temperature
    metrics["trust"] = trust_of(measured, found["val"], graph)
    metrics["sets"] = sets_of(fitted, measured, graph)
    return metrics


def sets_of(fitted: FittedModel, measured: Judged, graph: Graph) -> Metrics | None:
    """Whether prediction sets hold the truth as often as they should, on the nodes that measure.

    Where these are the nodes that sets go by, every other one judges by those between them.
    """
    split, conformal = graph.split, fitted.conformal
    known = graph.y[measured.nodes] >= 0
    assert split is not None
    if conformal is None or known.sum() < 2:
        return None
    probabilities = fitted.confidence(fitted.logits)
    probabilities[measured.nodes] = fitted.confidence(measured.logits)
    half = np.zeros(len(known), dtype=bool)
    if measured.nodes is split.val:
        half[::2] = True
        conformal = replace(conformal, scores=conformal.scores[half], labels=conformal.labels[half])
    judges = known & ~half
    members = conformal.sets(probabilities, graph)[measured.nodes[judges]]
    return measure_sets(members, graph.y[measured.nodes[judges]], USUAL)


def trust_of(measured: Judged, held: Judged, graph: Graph) -> Metrics | None:
    """Whether the weights of the teachers were right on the nodes that measure; None where there are none to weigh."""
    known, chosen = graph.y[measured.nodes] >= 0, graph.y[held.nodes]
    if measured.weights is None or len(measured.teachers) < 2 or not known.any():
        return None
    best = int(np.argmax([(one == chosen).mean() for one in held.answers])) if len(chosen) else 0
    return measure_trust(measured.weights[known], measured.answers[:, known], graph.y[measured.nodes[known]], best)


def described_teacher(text: str, settings: Settings) -> Metrics:
    """Name, encoder and view of a teacher."""
    spec = TeacherSpec.parse(text)
    view = spec.settings.get("view", settings.view)
    return {"name": text, "task": spec.task, "encoder": spec.encoder or settings.encoder, "view": view}


def do_elsewhere(job: Job, unit: Unit) -> Metrics:
    """`do_unit` in another process, maybe of another machine."""
    _check_seen(job)
    return do_unit(job, unit)


def _check_seen(job: Job) -> None:
    """What another machine writes must be seen here."""
    if job.out is not None and not job.out.is_dir():
        raise DataError(f"{platform.node()} does not see {job.out}; with --out, name a folder that all machines share")


def prepare(job: Job, tasks: bool = True) -> None:
    """Compute parts of mini-batches, views and the targets of `tasks`, before several processes would each do it."""
    if job.cache is None:
        return
    batches = batches_of(job.graph, job.settings, job.cache)
    if batches is not None and batches.mode == "partition" and batches.steps > 1:
        _ = batches.parts
    for text in job.settings.pool if job.settings.method == "agssl" else job.settings.all_tasks:
        spec = TeacherSpec.parse(text)
        graph = viewed(job.graph, spec.settings.get("view", job.settings.view), job.cache)
        if tasks and spec.task != LABELS and (batches is None or make_task(spec.task).needs_whole):
            prepared(make_task(spec.task), graph, job.cache)
