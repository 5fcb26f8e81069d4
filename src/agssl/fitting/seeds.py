"""One fit per seed, one after the other or side by side in processes."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agssl.base.errors import SettingsError
from agssl.base.processes import work, work_along
from agssl.base.registry import Registry
from agssl.base.spec import Spec
from agssl.base.system import cores
from agssl.config import Settings, TeacherSpec
from agssl.data.graph import Graph
from agssl.encoders import ENCODERS
from agssl.fitting.fit import FitResult, fit, split_for
from agssl.fitting.job import Job, Metrics, do_elsewhere, do_unit, fit_teacher, prepare, resources
from agssl.fitting.schedule import Schedule, Unit, most_at_once
from agssl.fitting.together import fit_together
from agssl.integrate import INTEGRATORS
from agssl.pretext.base import TASKS
from agssl.simple import is_simple
from agssl.store.checkpoints import Record
from agssl.train.loop import Watch, ignore
from agssl.train.memory import batch_mode, jobs_that_fit

if TYPE_CHECKING:
    from agssl.scale.cluster import Cluster


class Observer:
    """Hears how far the seeds are; this one does nothing with it. Calls may come from threads, one at a time."""

    def planned(self, schedule: Schedule) -> None:
        """What there is to do."""

    def began(self, unit: Unit) -> None:
        """A unit is begun, here or in another process."""

    def watch(self, unit: Unit) -> Watch:
        """What is to hear of the epochs of a unit that is done in this process."""
        return ignore

    def ended(self, unit: Unit, seconds: float, metrics: Metrics) -> None:
        """A unit is done; the seconds are those since it was begun. Of a teacher there is `best` and `epochs`."""

    def done(self, metrics: Metrics) -> None:
        """A seed is ready."""


def fit_seeds(
    job: Job,
    seeds: Sequence[int],
    jobs: int = 1,
    *,
    observer: Observer | None = None,
    finished: Mapping[int, Metrics] | None = None,
    cluster: Cluster | None = None,
) -> list[Metrics]:
    """The metrics of each seed, in the order of `seeds`; the same whatever `jobs` and `cluster` are.

    Seeds are done side by side, and the teachers of seeds that would leave a process idle; see `Schedule`.

    Args:
        job: what they share.
        seeds: each makes its own split, where the split is drawn, and its own fit.
        jobs: processes, this one among them.
        observer: hears how far it is.
        finished: the metrics of seeds that are ready already.
        cluster: where to run them instead of here.
    """
    if jobs < 1:
        raise SettingsError(f"jobs = {jobs}, but at least one is needed")
    found, hears = dict(finished or {}), observer or Observer()
    left = [seed for seed in seeds if seed not in found]
    if not left:
        return [found[seed] for seed in seeds]
    together = job.workers > 1
    schedule = Schedule(left, job.settings, 1 if together else jobs, apart=job.out is not None)

    def done(unit: Unit, metrics: Metrics) -> None:
        if unit.task is None:
            found[unit.seed] = metrics
            hears.done(metrics)

    if together:  # Ray is asked from here
        run_units(schedule, lambda unit: fit_together(job, unit.seed), hears, done)
    else:
        if cluster is not None or schedule.jobs > 1:
            prepare(job, tasks=bool(schedule.whole) or cluster is not None)
        elsewhere = functools.partial(do_elsewhere, job)
        run_units(schedule, lambda unit: do_unit(job, unit, hears.watch(unit)), hears, done, elsewhere, cluster)
    return [found[seed] for seed in seeds]


def jobs_for(graph: Graph, settings: Settings, asked: int | None, threads: int = 1) -> int:
    """What `n_jobs` of an estimator comes to for one fit: None is 1, -1 all cores that there is memory for.

    One where another process would not know a task, an encoder or an integration of the settings, or where memory does
    not suffice for the whole graph (`batch`: auto).
    """
    if asked is not None and asked != -1 and asked < 1:
        raise SettingsError(f"n_jobs = {asked}, but it is 1 or more, -1 for all cores, or None for 1")
    wanted: list[tuple[Registry[Any], str]]
    specs = [TeacherSpec.parse(text) for text in settings.pool] if settings.method == "agssl" else []
    encoders = {settings.encoder, *(spec.encoder for spec in specs if spec.encoder and not is_simple(spec.encoder))}
    wanted = [*((TASKS, text) for text in settings.all_tasks), *((ENCODERS, text) for text in encoders)]
    wanted += [(INTEGRATORS, settings.integration)] if settings.method == "agssl" else []
    if asked in (None, 1) or not all(registry.known_elsewhere(Spec.parse(text).name) for registry, text in wanted):
        return 1
    if settings.batch == "auto" and batch_mode(graph, settings) != "full":
        return 1
    most = most_at_once(settings, [0])
    if asked == -1:
        asked = jobs_that_fit(graph, settings, max(1, cores() // threads))
    return max(1, min(asked or 1, most))


def fit_one(job: Job, seed: int, jobs: int = 1, observer: Observer | None = None, watch: Watch = ignore) -> FitResult:
    """One seed, its teachers side by side where there are several jobs; nothing is written but to exchange them.

    Args:
        job: what to fit; with several jobs, `out` is a folder for the exchange.
        seed: of the split, where it is drawn, and of the fit.
        jobs: processes, this one among them.
        observer: hears how far it is.
        watch: hears of every epoch once, in the order of one process.
    """
    hears, found = observer or Observer(), []
    schedule = Schedule([seed], job.settings, jobs, apart=job.out is not None)
    taught = job
    if schedule.teachers and job.settings.batch == "auto":  # decided once, and not by what memory each process finds
        taught = replace(job, settings=job.settings.replace(batch="full"))

    def here(unit: Unit) -> Metrics:
        if unit.task is not None:
            return fit_teacher(taught, unit, hears.watch(unit))
        shown = hears.watch(unit)

        def both(stage: str, record: Record) -> None:
            shown(stage, record)
            watch(stage, record)

        result = fit(split_for(job.graph, job.split, seed), job.settings, seed, resources(job, seed), both)
        found.append(result)
        return {"epochs": result.epochs}

    run_units(schedule, here, hears, lambda unit, metrics: None, functools.partial(do_elsewhere, taught))
    return found[0]


def run_units(
    schedule: Schedule,
    here: Callable[[Unit], Metrics],
    hears: Observer,
    done: Callable[[Unit, Metrics], None],
    elsewhere: Callable[[Unit], Metrics] | None = None,
    cluster: Cluster | None = None,
) -> None:
    """Do all units, and tell of them as they begin and end."""
    began: dict[Unit, float] = {}
    taken: dict[int, float] = {}  # by the teachers of a seed

    def feed(other: bool = False) -> Unit | None:
        unit = schedule.next(other)
        if unit is not None:
            began[unit] = time.perf_counter()
            hears.began(unit)
            return replace(unit, before=taken.get(unit.seed, 0.0))
        return None

    def end(unit: Unit, metrics: Metrics) -> None:
        seconds = time.perf_counter() - began[unit]
        taken[unit.seed] = taken.get(unit.seed, 0.0) + seconds
        schedule.end(unit, metrics.get("log_loss", math.inf))
        hears.ended(unit, seconds, metrics)
        done(unit, metrics)

    hears.planned(schedule)
    if cluster is not None and elsewhere is not None:
        work(elsewhere, feed, end, schedule.jobs, cluster=cluster)
    else:
        work_along(elsewhere or here, here, feed, end, schedule.jobs)
