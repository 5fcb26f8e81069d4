"""How long a fit will still take, told from what its trainings have taken so far.

What is known: which trainings there are, the seconds of an epoch, how many epochs finished trainings had, and that a
running one has at least `patience` epochs after its best. Until a first one has ended, a guess takes its place.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import fmean, median

from agssl.config import Settings
from agssl.fitting.schedule import Schedule, Unit, teacher_alphas
from agssl.pretext.prepare import alphas_of
from agssl.store.checkpoints import Record
from agssl.train.loop import Plateau, by_loss, by_metric
from agssl.train.loop import Schedule as Epochs
from agssl.train.pool import round_sizes

GUESS, WAITED = 100, 1.5  # epochs of a training before one has ended: so many, and so many times its patience
REPLAYED = 2e-4  # seconds of an epoch, below which it was found and not trained
STUDENT = 1.2  # a student's seconds an epoch, in units of a teacher's
BETTER = 0.3  # more epochs than those that are sure to come, since a better one may be among them
LEAST = 0.05  # of what a unit was expected to take, is left of one that takes longer


_NETWORKS = {"gcn": ("gcn",), "grand": ("grand",), "cpf": ("teacher", "cpf")}  # of methods with one choice of alphas


def stages(settings: Settings, again: bool = False) -> list[str]:
    """The trainings of a fit, by the names of their stages: one per network, fold of crossfit and generation.

    And one per alpha, where all of them are trained to the end; else the short ones are part of the one that goes on.

    With `again`, one more, with all labels. (Networks of the folds of a split train side by side, as one.)

    >>> stages(Settings(method="gcn"), again=True)
    ['gcn', 'gcn, all labels']
    >>> stages(Settings(tasks=("par", "clu"), generations=1))
    ['teacher par', 'teacher clu', 'student']
    """
    method, last = settings.method, "student" if settings.method == "agssl" else settings.method
    found: list[str] = []
    if settings.automatic:  # names are not known yet
        found = [f"teacher {number}" for number in range(sum(round_sizes(settings)))]
    elif method in ("agssl", "single"):
        for text in teacher_alphas(settings):
            last = last if method == "agssl" else f"teacher {text}"
            found += teacher_stages(text, settings)
    elif method in _NETWORKS:
        found = list(_NETWORKS[method])
    else:
        searched = ["search"] if method == "autossl" else []
        count = max(len(alphas_of(settings, text)) for text in settings.tasks)
        halved = settings.alpha_epochs is not None and settings.strategy == "jt" and not searched
        found = [*searched, *_network(method, settings)] * (1 if halved else count)
    if method == "agssl":
        if settings.weights_from == "crossfit":
            names = [f"fold {fold + 1} of {text}" for text in settings.pool for fold in range(settings.folds)]
            found += [stage for name in names for stage in _network(name, settings)]
        found += ["student" if number == 1 else f"student {number}" for number in range(1, settings.generations + 1)]
    return [*found, f"{last}, all labels"] if again else found


def teacher_stages(text: str, settings: Settings) -> list[str]:
    """The trainings of a teacher."""
    whole = settings.alpha_epochs is None or settings.strategy == "pf"
    return _network(f"teacher {text}", settings) * (len(teacher_alphas(settings)[text]) if whole else 1)


def _network(stage: str, settings: Settings) -> list[str]:
    return [f"{stage} pre-train", stage] if settings.strategy == "pf" else [stage]


@dataclass
class Running:
    """A training in this process."""

    stage: str
    begun: float  # when its first epoch ended
    now: float  # when its last one did
    epochs: int = 0
    plateau: Plateau = field(default_factory=lambda: Plateau(None))
    score: tuple[float, float] = (float("-inf"), 0.0)
    accuracy: float | None = None  # the best so far

    @property
    def seconds(self) -> float:
        """What all its epochs took."""
        return (self.rate or 0.0) * self.epochs

    @property
    def rate(self) -> float | None:
        """Seconds of an epoch; None where it can't be told yet."""
        return (self.now - self.begun) / (self.epochs - 1) if self.epochs > 1 else None


class TimeLeft:
    """The seconds that are left of the units of a schedule.

    Args:
        settings: of the fit.
        epochs: most epochs of a training, and its patience.
        schedule: what there is to do.
        again: whether a network of all labels follows in each seed.
        clock: the time in seconds.
    """

    def __init__(
        self,
        settings: Settings,
        epochs: Epochs,
        schedule: Schedule,
        again: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.epochs, self.schedule, self.clock = epochs, schedule, clock
        self.stages, self.score = stages(settings, again), by_metric(settings.metric)
        self.own = [stage for stage in self.stages if not stage.startswith("teacher ")]  # after teachers were trained
        self.settings = settings
        self.took: dict[str, list[float]] = {}  # seconds of finished trainings, by stage
        self.rates: dict[str, float] = {}  # seconds of an epoch, by stage
        self.counts: list[int] = []  # epochs of finished trainings
        self.wholes: list[float] = []  # seconds of finished whole seeds
        self.began: dict[Unit, float] = {}
        self.here: dict[Unit, list[str]] = {}  # what is left of the units that are done in this process
        self.running: Running | None = None

    def begin(self, unit: Unit) -> None:
        """Note that a unit is begun."""
        self.began[unit] = self.clock()

    def hear(self, unit: Unit, stage: str, record: Record) -> Running | None:
        """Note an epoch of a unit that is done in this process; gives the training that ended before it, if one did."""
        now, run, closed = self.clock(), self.running, None
        if unit.task is not None:  # alone, a teacher has the name of its method or its task
            stage = f"teacher {unit.task}" + (" pre-train" if stage.endswith(" pre-train") else "")
        if unit not in self.here:
            self.here[unit] = self._stages(unit)
        again = record["epoch"] == 0 and self.settings.alpha_epochs is None
        if run is None or run.stage != stage or again:
            closed = self._close()
            left = self.here[unit]
            if stage in left:
                del left[: left.index(stage)]  # what is before it was left out
            elif closed is not None:  # a teacher of an automatic pool, whose name was not known before
                del left[:1]
            run = self.running = Running(stage, now, now, plateau=Plateau(self.epochs.patience))
        run.now, run.epochs = now, run.epochs + 1
        score = self.score(record) if "val_loss" in record else by_loss(record)
        run.plateau.hear(score)
        if score > run.score:
            run.score, run.accuracy = score, record.get("val_accuracy")
        if run.rate is not None and run.rate > REPLAYED:
            self.rates[stage] = run.rate
        return closed

    def end(self, unit: Unit, seconds: float, epochs: int) -> Running | None:
        """Note that a unit is done, and how many epochs it had; gives the training that ended in this process."""
        closed = None
        if unit in self.here:
            closed = self._close()
            del self.here[unit]
        elif unit.task is not None:
            stage, trainings = f"teacher {unit.task}", len(self._stages(unit))
            self.took.setdefault(stage, []).append(seconds / trainings)
            if epochs:  # none where a teacher of an automatic pool refused the graph
                self.rates.setdefault(stage, seconds / trainings / epochs)
                self.counts.append(epochs)
        if unit in self.schedule.whole:
            self.wholes.append(seconds)
        return closed

    def seconds(self) -> float | None:
        """How many are left; None before the first epochs have shown how long one takes."""
        if not self.rates and not self.wholes:
            return None
        begun, ended = set(self.schedule.begun), self.schedule.ended
        free = {unit: self._left(unit) for unit in begun - ended}
        lanes = [*free.values(), *[0.0] * (self.schedule.jobs - len(free))]
        heapq.heapify(lanes)
        ready: dict[int, float] = {}  # when the last teacher of a seed is trained
        for unit, left in free.items():
            ready[unit.seed] = max(ready.get(unit.seed, 0.0), left)
        latest = max(lanes)
        for unit in self.schedule.units:
            if unit in begun:
                continue
            start = heapq.heappop(lanes)
            end = (start if unit.task else max(start, ready.get(unit.seed, 0.0))) + self._whole(unit)
            ready[unit.seed] = max(ready.get(unit.seed, 0.0), end)
            heapq.heappush(lanes, end)
            latest = max(latest, end)
        return latest

    def _close(self) -> Running | None:
        """End the training in this process; gives it, unless it was only found."""
        run, self.running = self.running, None
        if run is None or run.rate is None or run.rate <= REPLAYED:
            return None
        self.took.setdefault(run.stage, []).append(run.seconds)
        self.counts.append(run.epochs)
        return run

    def _stages(self, unit: Unit) -> list[str]:
        if unit.task is not None:
            return teacher_stages(unit.task, self.settings)
        return list(self.own if unit in self.schedule.after else self.stages)

    def _left(self, unit: Unit) -> float:
        """Seconds that are left of a unit that is begun."""
        if unit not in self.here:
            expected = self._whole(unit)
            return max(expected - (self.clock() - self.began[unit]), LEAST * expected)
        later, run = self.here[unit][1:], self.running
        if run is None:
            return self._sum(self.here[unit])
        rate, patience = self._rate(run.stage), self.epochs.patience
        surely = 0 if patience is None else run.plateau.top + patience + 2
        more = BETTER * max(0, surely - run.epochs)
        epochs = min(self.epochs.epochs, max(self._count(), surely + more))
        return rate * max(0.0, epochs - run.epochs) + self._sum(later)

    def _whole(self, unit: Unit) -> float:
        """Seconds that a unit takes from its beginning to its end."""
        if unit in self.schedule.whole and self.wholes:
            return fmean(self.wholes)
        return self._sum(self._stages(unit))

    def _sum(self, stages: Iterable[str]) -> float:
        return sum(self._training(stage) for stage in stages)

    def _training(self, stage: str) -> float:
        return fmean(self.took[stage]) if stage in self.took else self._rate(stage) * self._count()

    def _rate(self, stage: str) -> float:
        """Seconds of an epoch of a stage: its own, those of another student, or the typical ones of all."""
        student = stage.startswith("student")
        for name in (stage, *(name for name in self.rates if student and name.startswith("student"))):
            if name in self.rates:
                return self.rates[name]
        known = [*self.rates.values()] or [fmean(self.wholes) / len(self.stages) / self._count()]
        return median(known) * (STUDENT if student else 1.0)

    def _count(self) -> float:
        """Epochs of a training: those of the ones that have ended and, as one more, what was guessed before."""
        most, patience = self.epochs.epochs, self.epochs.patience
        guess = most if patience is None else min(most, GUESS + WAITED * patience)
        return min(most, fmean([guess, *self.counts]))
