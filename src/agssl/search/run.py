"""One search from a graph to what was found: what `agssl tune` and `agssl.tune` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agssl.base.errors import GraphError, SettingsError
from agssl.base.lock import Lock
from agssl.base.system import duration
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.fitting.job import check
from agssl.search.objective import without_test
from agssl.search.outcome import best_of, gain_of, importances, trial_rows
from agssl.search.space import Space
from agssl.search.study import Event, Search, check_tuning, count, open_study, run_study, train_teachers

if TYPE_CHECKING:
    from agssl.scale.cluster import Cluster

FIRST_SEED = 100  # reported seeds are 0, 1, 2, ...

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Found:
    """What a search has found."""

    trial: int
    score: float  # of it: the mean metric, greater being better
    settings: Settings
    counts: dict[str, int]  # trials that are complete, pruned and failed
    rows: list[dict[str, Any]]  # see `trial_rows`
    gain: dict[str, float] | None  # see `gain_of`
    importances: dict[str, float]


def searched(settings: Settings) -> Settings:
    """What a search begins with: an automatic pool finds out by itself what suits a graph, so it is the paper's."""
    return settings.replace(teachers=("paper",)) if settings.automatic else settings


def check_search(
    base: Settings, trials: int, seeds: Sequence[int], threads: int = 1, seconds: float | None = None
) -> None:
    """Find every mistake that can be found without a graph."""
    if trials < 1:
        raise SettingsError(f"trials = {trials}, but at least one is needed")
    if seconds is not None and not seconds > 0:
        raise SettingsError(f"seconds = {seconds}, but a search needs some time; leave it out for no limit")
    if min(seeds) < FIRST_SEED:
        raise SettingsError(
            f"tuning seed {min(seeds)} is below {FIRST_SEED}, but results are reported on such; "
            f"take seeds from {FIRST_SEED} on"
        )
    check_tuning()
    check(base, "cpu", threads)


def make_search(
    graph: Graph, base: Settings, space: Space, split: str, seeds: Sequence[int], storage: Path, **more: Any
) -> Search:
    """The search on a graph; it has no test label.

    Args:
        graph: with all its labels.
        base: what is not searched, and where it begins.
        space: what to choose from.
        split: see `agssl.data.splits`; every seed draws its own.
        seeds: that each trial is scored by, from `FIRST_SEED` on.
        storage: the file that trials are kept in.
        more: as `Search` has it.
    """
    if graph.missing is not None:
        raise GraphError(graph.missing)
    graphs = {seed: without_test(graph, split, seed) for seed in seeds}
    return Search(graph.name, base, space, graphs, storage, **more)


def run_search(
    search: Search,
    trials: int,
    jobs: int = 1,
    *,
    seconds: float | None = None,
    say: Say = lambda line: None,
    cluster: Cluster | None = None,
) -> Found:
    """Go on with a search until so many trials are complete, or the time is up; two can't share a study.

    Args:
        search: see `make_search`.
        trials: complete ones in all, those of earlier runs included.
        jobs: trials side by side.
        seconds: after so many, no further trial begins.
        say: hears a line about every trial that ends.
        cluster: where to score them instead of here.
    """
    search.storage.parent.mkdir(parents=True, exist_ok=True)
    lock = Lock(search.storage.with_name(f".{search.storage.name}.lock"))
    lock.take(str(search.storage))
    try:
        study = open_study(search, jobs)
        before = count(study)["complete"]
        trials = min(trials, len(search.all or range(trials)))
        say(f"{before} trials complete before, {max(0, trials - before)} to go; they are kept in {search.storage}")
        if jobs > 1 and before < trials:
            train_teachers(search, jobs, say, cluster)
        run_study(search, study, trials, jobs, _Teller(say, trials, jobs), cluster, seconds)
        trial, score, settings = best_of(search, study)
        rows, gain = trial_rows(search, study), gain_of(search, study)
        return Found(trial, score, settings, count(study), rows, gain, importances(study))
    finally:
        lock.release()


class _Teller:
    """A line for every trial that ends, with the best so far and the time left."""

    def __init__(self, say: Say, trials: int, jobs: int) -> None:
        self.say, self.trials, self.jobs = say, trials, jobs
        self.seconds, self.complete = 0.0, 0

    def __call__(self, event: Event) -> None:
        line = f"[{event.complete}/{self.trials}] trial {event.number} {event.state}"
        seeds = f"{event.seeds} seed{'s' * (event.seeds != 1)}"
        line += "" if event.score is None else f" at {event.score:.4f} after {seeds}"
        line += f": {event.why}" if event.why else ""
        if event.best is not None:
            number, value = event.best
            line += f"; best {value:.4f} (trial {number})"
        self.seconds += event.seconds
        self.complete += event.state == "complete"
        if event.complete < self.trials and self.complete:
            # pruned trials cost too, so a complete one is taken to cost what all did, over the complete ones
            left = self.seconds / self.complete * (self.trials - event.complete) / self.jobs
            line += f"; about {duration(left)} left"
        self.say(line)
