"""A study that survives a kill: trials in SQLite, those left running are taken up again, N means N complete in all."""

from __future__ import annotations

import functools
import logging
import math
import random
import statistics
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agssl.base.errors import TrainingError
from agssl.base.install import missing_extra
from agssl.base.plugins import loaded_plugins
from agssl.base.processes import work
from agssl.config import DESCRIBED, Settings, effective
from agssl.data.graph import Graph
from agssl.search.objective import Common, TrialSeed, halved, score, trim
from agssl.search.space import Space, all_of, setting_of, settings_of, start
from agssl.store.checkpoints import CheckpointStore, fingerprint

if TYPE_CHECKING:
    import optuna

    from agssl.scale.cluster import Cluster

STARTUP = 5  # complete trials before any is pruned
SMALL = 32  # positions of a space that are all tried, in turn and with all seeds
RANDOM = 10  # trials before the sampler learns from those before
AGAIN = 2  # times that a trial goes back to the queue because its process died; it may itself be why

log = logging.getLogger("agssl")


def check_tuning() -> None:
    """Find out before anything is read whether there is a tuner."""
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        raise missing_extra("tuning needs Optuna", "tune") from error


@dataclass(frozen=True, eq=False)
class Search:
    """What is searched, for what, and where it is kept."""

    dataset: str
    base: Settings
    space: Space
    graphs: Mapping[int, Graph]  # by tuning seed, without test labels (`objective.without_test`)
    storage: Path
    cache: Path | None = None
    threads: int = 1

    @cached_property
    def name(self) -> str:
        """The study's name: another base, space, graph, split, seed or plug-in is another study, even in one file."""
        graph = next(iter(self.graphs.values()))  # of edges, features and classes, seeds have the same
        about: list[Any] = [self.dataset, effective(self.base), self.space, graph.fingerprint, graph.classes]
        for seed, graph in self.graphs.items():
            assert graph.split is not None
            about.append((seed, graph.y, graph.split.train, graph.split.val))
        about += [plugin.sha256 for plugin in loaded_plugins()]
        return fingerprint(*about)

    @cached_property
    def all(self) -> list[dict[str, int]] | None:
        """Every position of a small space; None: there are too many to try them all."""
        return all_of(self.space, SMALL)

    @property
    def checkpoints(self) -> CheckpointStore | None:
        """Where trials find each other's teachers: one that changes only beta or tau costs a student."""
        return None if self.cache is None else CheckpointStore(self.cache / "stages" / f"tune-{self.name}")


@dataclass
class Running:
    """A trial on its way from seed to seed."""

    trial: optuna.Trial
    settings: Settings
    scores: list[float] = field(default_factory=list)
    right: list[str] = field(
        default_factory=list
    )  # of each seed, which scored nodes, as bits in hexadecimal; accuracy's
    began: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Event:
    """A trial that has ended."""

    number: int
    state: str  # complete, pruned or failed
    score: float | None
    seeds: int
    seconds: float
    complete: int  # trials so far, in all runs of the study
    best: tuple[int, float] | None  # trial and score
    why: str = ""


def open_study(search: Search, jobs: int = 1) -> optuna.Study:
    """The study, new or as it was left; trials that were running when it stopped are queued again, at most twice."""
    check_tuning()
    import optuna
    from optuna.trial import TrialState

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    search.storage.parent.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{search.storage}"
    study = optuna.create_study(storage=url, study_name=search.name, direction="maximize", load_if_exists=True)
    past = study.get_trials(deepcopy=False)
    for trial in past:
        if trial.state == TrialState.RUNNING:  # its process is gone: the lock is ours
            study.tell(trial.number, state=TrialState.FAIL)
            deaths = trial.user_attrs.get("deaths", 0) + ("stopped" not in trial.user_attrs)
            if deaths <= AGAIN:
                study.enqueue_trial(trial.params, user_attrs={"deaths": deaths})
            else:
                log.warning("the process of trial %d died %d times; it is given up", trial.number, deaths)
    if not past:
        first = start(search.base, search.space)
        for positions in [first, *(other for other in search.all or () if other != first)]:
            study.enqueue_trial(positions)
    # Another seed after each restart, or the draws would begin again and repeat the trials there are.
    study.sampler = optuna.samplers.TPESampler(n_startup_trials=RANDOM, seed=len(past), constant_liar=jobs > 1)
    study.pruner = optuna.pruners.MedianPruner(STARTUP) if search.all is None else optuna.pruners.NopPruner()
    return study


def count(study: optuna.Study) -> dict[str, int]:
    """How many trials are complete, pruned and failed."""
    names = [trial.state.name for trial in study.get_trials(deepcopy=False) if "repeats" not in trial.user_attrs]
    return {"complete": names.count("COMPLETE"), "pruned": names.count("PRUNED"), "failed": names.count("FAIL")}


def ask_new(search: Search, study: optuna.Study, broken: Collection[tuple] = ()) -> optuna.Trial | None:
    """The next trial, at a position where none has been; None: there is no such position left.

    Near its best the sampler likes to ask for the same again, which would say nothing new and count as a trial. It gets
    a random other position instead. Positions in `broken` failed and would fail again.
    """
    from optuna.trial import TrialState

    past = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING))
    tried = {tuple(trial.params.get(name) for name in search.space) for trial in past}.union(broken)
    if len(tried) >= math.prod(map(len, search.space.values())):
        return None
    trial = study.ask()
    position = tuple(trial.suggest_int(name, 0, len(choices) - 1) for name, choices in search.space.items())
    if position not in tried:
        return trial
    trial.set_user_attr("repeats", True)
    study.tell(trial, state=TrialState.FAIL)
    draw = random.Random(trial.number)
    while position in tried:
        position = tuple(draw.randrange(len(choices)) for choices in search.space.values())
    study.enqueue_trial(dict(zip(search.space, position, strict=True)))
    return ask_new(search, study, broken)


def train_teachers(
    search: Search, jobs: int, say: Callable[[str], None] = lambda line: None, cluster: Cluster | None = None
) -> None:
    """Train the teachers that all trials share, if they do, side by side; the first trials would each train them all.

    Args:
        search: what is to be searched.
        jobs: teachers side by side.
        say: hears of every teacher.
        cluster: where to train them instead of here.
    """
    # what a teacher's own method reads makes other teachers
    differ = any(DESCRIBED[setting_of(name)].read_by("single") for name in search.space)
    if search.checkpoints is None or search.base.method != "agssl" or differ:
        return
    halves = {seed: halved(graph, seed) for seed, graph in search.graphs.items()}
    common = Common(halves, search.cache, search.checkpoints, search.threads)
    tasks = [(seed, text) for seed in halves for text in search.base.tasks]
    waiting = deque(TrialSeed(0, step, search.base.of_teacher(text), seed) for step, (seed, text) in enumerate(tasks))
    complete = 0

    def done(item: TrialSeed, result: np.ndarray | float | str) -> None:
        nonlocal complete
        complete += 1
        how = result if isinstance(result, str) else f"{np.mean(result):.4f}"  # or why it failed
        say(f"[{complete}/{len(tasks)}] teacher {item.settings.tasks[0]} of seed {item.seed}: {how}")

    work(functools.partial(score, common), lambda: waiting.popleft() if waiting else None, done, jobs, cluster=cluster)


def run_study(
    search: Search,
    study: optuna.Study,
    trials: int,
    jobs: int = 1,
    on_event: Callable[[Event], None] = lambda event: None,
    cluster: Cluster | None = None,
    seconds: float | None = None,
) -> None:
    """Go on until `trials` trials are complete in all; a trial's seeds run one by one, and bad trials end early.

    Args:
        search: what to search.
        study: see `open_study`.
        trials: complete ones, those of earlier runs included; at most as many as the space has positions.
        jobs: trials side by side.
        on_event: hears of every trial that ends.
        cluster: where to score them instead of here; what to try is decided here.
        seconds: after so many, no further trial begins; those that run are finished.
    """
    from optuna.trial import TrialState

    seeds, checkpoints = list(search.graphs), search.checkpoints
    halves = {seed: halved(graph, seed) for seed, graph in search.graphs.items()}
    common = Common(halves, search.cache, checkpoints, search.threads)
    flying: dict[int, Running] = {}
    ready: deque[TrialSeed] = deque()
    complete, began = count(study)["complete"], time.monotonic()
    broken: dict[tuple, str] = {}  # positions that failed in this run, and why; a later run tries them again

    def task(number: int) -> TrialSeed:
        running = flying[number]
        step = len(running.scores)
        return TrialSeed(number, step, running.settings, seeds[step])

    def feed() -> TrialSeed | None:
        if ready:
            return ready.popleft()
        late = seconds is not None and time.monotonic() - began >= seconds and complete + len(flying) > 0
        if late or complete + len(flying) >= trials or (trial := ask_new(search, study, broken)) is None:
            return None
        values = {name: search.space[name][position] for name, position in trial.params.items()}
        flying[trial.number] = Running(trial, settings_of(search.base, values))
        return task(trial.number)

    def done(item: TrialSeed, result: np.ndarray | float | str) -> None:
        nonlocal complete
        running = flying[item.trial]
        if isinstance(result, str):
            broken[tuple(running.trial.params[name] for name in search.space)] = result
            end(item.trial, TrialState.FAIL, None, result)
            if len(broken) > max(10, trials):
                raise TrainingError(f"{len(broken)} trials failed, the last one because: {result}")
            return
        running.scores.append(float(np.mean(result)))
        if isinstance(result, np.ndarray):
            running.right.append(np.packbits(result).tobytes().hex())
        mean = statistics.fmean(running.scores)
        running.trial.report(mean, item.step)
        if len(running.scores) == len(seeds):
            complete += 1
            end(item.trial, TrialState.COMPLETE, mean)
        elif running.trial.should_prune():
            end(item.trial, TrialState.PRUNED, mean)
        else:
            ready.append(task(item.trial))

    def end(number: int, state: TrialState, mean: float | None, why: str = "") -> None:
        running = flying.pop(number)
        running.trial.set_user_attr("scores", running.scores)
        running.trial.set_user_attr("right", running.right)
        study.tell(number, mean if state == TrialState.COMPLETE else None, state)
        words = {TrialState.COMPLETE: "complete", TrialState.PRUNED: "pruned", TrialState.FAIL: "failed"}
        taken = time.monotonic() - running.began
        if checkpoints is not None:
            trim(checkpoints.folder)
        best = (study.best_trial.number, study.best_value) if complete else None
        on_event(Event(number, words[state], mean, len(running.scores), taken, complete, best, why))

    try:
        work(functools.partial(score, common), feed, done, jobs, cluster=cluster)
    except KeyboardInterrupt:
        for running in flying.values():
            running.trial.set_user_attr("stopped", True)  # by the user, and not by the trial
        raise
    if checkpoints is not None:
        trim(checkpoints.folder, 0)
    if not complete and broken:
        raise TrainingError(f"all {len(broken)} trials failed, the last one because: {[*broken.values()][-1]}")
