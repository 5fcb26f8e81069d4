"""What a fit of several seeds can do side by side, and in which order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from agssl.config import LABELS, Settings, TeacherSpec
from agssl.pretext.prepare import alphas_of
from agssl.simple import is_simple
from agssl.train.pool import next_round, round_sizes


@dataclass(frozen=True)
class Unit:
    """A piece of work for one process: a seed, or one of its teachers, which the seed then finds."""

    seed: int
    task: str | None = None  # the teacher, as settings name it; None: the seed itself
    before: float = field(default=0.0, compare=False)  # seconds that the seed's teachers took, as units of their own


def teacher_units(settings: Settings, seeds: Sequence[int]) -> list[Unit]:
    """The teachers of these seeds that are trained; of an automatic pool those of the first round."""
    if settings.automatic:  # quick ones are over before another process is up
        return [unit for seed in seeds for unit in _round(settings, seed, {})] if settings.effort != "quick" else []
    found = [Unit(seed, text) for seed in seeds for text in teacher_alphas(settings)]
    return found if len(found) > len(seeds) else []  # one teacher per seed has nothing beside it


def most_at_once(settings: Settings, seeds: Sequence[int]) -> int:
    """How many units of these seeds can be done side by side."""
    if settings.automatic and settings.effort != "quick":
        return max(round_sizes(settings)) * len(seeds)
    return max(len(seeds), len(teacher_units(settings, seeds)))


def _round(settings: Settings, seed: int, found: dict[str, float]) -> list[Unit]:
    """The next trainings of an automatic pool; classifiers without training are left to the seed itself."""
    texts = next_round(settings, found)
    found |= {text: math.inf for text in texts if is_simple(TeacherSpec.parse(text).encoder)}
    return [Unit(seed, text) for text in texts if text not in found]


def teacher_alphas(settings: Settings) -> dict[str, tuple[float, ...]]:
    """The teachers that are trained, and the loss weights that each is trained with; 0 for labels alone.

    >>> teacher_alphas(Settings(teachers=("par@gcn", "labels@mlp", "labels@lp"), alpha=5.0))
    {'par@gcn': (5.0,), 'labels@mlp': (0.0,)}
    """
    if settings.method not in ("agssl", "single"):
        return {}
    pool = {text: TeacherSpec.parse(text) for text in (settings.pool if settings.method == "agssl" else settings.tasks)}
    return {
        text: (0.0,) if spec.task == LABELS else alphas_of(settings, spec.task)
        for text, spec in pool.items()
        if not is_simple(spec.encoder)
    }


class Schedule:
    """Which unit is next, for `jobs` processes.

    As many seeds as fill all processes, again and again, are done whole: that takes least. The teachers of those that
    are over are trained one by one, by whichever process is free, and each such seed follows when it has its teachers.
    Those of an automatic pool come in rounds: when one has ended, what its teachers scored decides on the next.

    Args:
        seeds: in this order.
        settings: of all.
        jobs: how many units are done at a time.
        apart: whether teachers can be handed from one process to another.
    """

    def __init__(self, seeds: Sequence[int], settings: Settings, jobs: int, apart: bool = True) -> None:
        over = len(seeds) % jobs if apart else 0
        self.settings = settings
        self.found: dict[int, dict[str, float]] = {seed: {} for seed in seeds}  # log-losses in an automatic pool
        self.teachers = teacher_units(settings, seeds[len(seeds) - over :])
        over = over if self.teachers else 0
        self.whole = [Unit(seed) for seed in seeds[: len(seeds) - over]]
        self.after = [Unit(seed) for seed in seeds[len(seeds) - over :]]  # the seeds whose teachers are trained first
        most = most_at_once(settings, seeds[len(seeds) - over :]) if over else 0
        self.jobs = max(1, min(jobs, max(len(self.whole), most)))
        self.begun: list[Unit] = []
        self.ended: set[Unit] = set()

    @property
    def units(self) -> list[Unit]:
        """All of them, those that are wanted first first; some of an automatic pool are only counted so far."""
        later = []
        if self.settings.automatic:
            for unit in self.after:
                known = len(self.teachers_of(unit))
                later += [
                    Unit(unit.seed, f"of a later round, {k}") for k in range(known, sum(round_sizes(self.settings)))
                ]
        return [*self.whole, *self.teachers, *later, *self.after]

    def next(self, other: bool = False) -> Unit | None:
        """Begin a unit; None while there is none that can be begun.

        Where only one seed has its teachers trained first, it is not for an `other` process than that of the command:
        this one is idle by then, and can tell how far it is.
        """
        ready = [unit for unit in self.after if all(one in self.ended for one in self.teachers_of(unit))]
        ready = [] if other and len(self.after) == 1 else ready
        for unit in (*self.whole, *ready, *self.teachers):
            if unit not in self.begun:
                self.begun.append(unit)
                return unit
        return None

    def end(self, unit: Unit, log_loss: float = math.inf) -> None:
        """Note that a unit is done, and what a teacher of an automatic pool scored."""
        self.ended.add(unit)
        if unit.task is not None and self.settings.automatic:
            found = self.found[unit.seed]
            found[unit.task] = log_loss
            if all(one in self.ended for one in self.teachers if one.seed == unit.seed):
                self.teachers += _round(self.settings, unit.seed, found)

    def teachers_of(self, unit: Unit) -> list[Unit]:
        """The units that a seed waits for."""
        return [one for one in self.teachers if one.seed == unit.seed]
