"""One fit per seed, one after the other or side by side in processes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from agssl.base.errors import SettingsError
from agssl.base.processes import work
from agssl.config import TeacherSpec
from agssl.fitting.job import Job, Metrics, fit_elsewhere, fit_seed, prepare, teach_elsewhere
from agssl.fitting.together import fit_together
from agssl.simple import is_simple
from agssl.train.loop import Watch, ignore

if TYPE_CHECKING:
    from agssl.scale.cluster import Cluster


def fit_seeds(
    job: Job,
    seeds: Sequence[int],
    jobs: int = 1,
    *,
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
        train = functools.partial(teach_elsewhere, job)
        most = min(most, len(teachers))
        work(train, lambda: next(asked, None), lambda item, _: taught(*item), most, cluster=cluster)

    def finish(seed: int, metrics: Metrics) -> None:
        found[seed] = metrics
        done(metrics)

    waiting = iter(left)
    call = functools.partial(fit_elsewhere, job) if elsewhere else lambda seed: fit_seed(job, seed, watch(seed))
    if job.workers > 1:
        call, jobs, cluster = functools.partial(fit_together, job), 1, None  # Ray is asked from here
    work(call, lambda: next(waiting, None), finish, jobs, cluster=cluster)
    return [found[seed] for seed in seeds]


def teachers_first(job: Job, seeds: Sequence[int], jobs: int) -> list[tuple[int, str]]:
    """The teachers (seed and task) to train before the seeds, since so many jobs would not all have a seed to do."""
    settings = job.settings
    if settings.method != "agssl" or len(settings.pool) < 2 or job.out is None:
        return []
    if jobs <= len(seeds) or job.workers > 1:
        return []
    return [(seed, task) for seed in seeds for task in settings.pool if not is_simple(TeacherSpec.parse(task).encoder)]
