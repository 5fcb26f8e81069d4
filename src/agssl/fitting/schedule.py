"""What a fit of several seeds can do side by side, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agssl.config import LABELS, Settings, TeacherSpec
from agssl.pretext.prepare import alphas_of
from agssl.simple import is_simple


@dataclass(frozen=True)
class Unit:
    """A piece of work for one process: a seed, or one of its teachers, which the seed then finds."""

    seed: int
    task: str | None = None  # the teacher, as settings name it; None: the seed itself
    before: float = field(default=0.0, compare=False)  # seconds that the seed's teachers took, as units of their own


def teacher_units(settings: Settings, seeds: Sequence[int]) -> list[Unit]:
    """The teachers of these seeds that are trained. (None of an automatic pool: which come next depends on others.)"""
    if settings.automatic:
        return []
    found = [Unit(seed, text) for seed in seeds for text in teacher_alphas(settings)]
    return found if len(found) > len(seeds) else []  # one teacher per seed has nothing beside it


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

    Args:
        seeds: in this order.
        settings: of all.
        jobs: how many units are done at a time.
        apart: whether teachers can be handed from one process to another.
    """

    def __init__(self, seeds: Sequence[int], settings: Settings, jobs: int, apart: bool = True) -> None:
        over = len(seeds) % jobs if apart else 0
        self.teachers = teacher_units(settings, seeds[len(seeds) - over :])
        over = over if self.teachers else 0
        self.whole = [Unit(seed) for seed in seeds[: len(seeds) - over]]
        self.after = [Unit(seed) for seed in seeds[len(seeds) - over :]]  # the seeds whose teachers are trained first
        self.jobs = max(1, min(jobs, max(len(self.whole), len(self.teachers))))
        self.begun: list[Unit] = []
        self.ended: set[Unit] = set()

    @property
    def units(self) -> list[Unit]:
        """All of them, those that are wanted first first."""
        return [*self.whole, *self.teachers, *self.after]

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

    def end(self, unit: Unit) -> None:
        """Note that a unit is done."""
        self.ended.add(unit)

    def teachers_of(self, unit: Unit) -> list[Unit]:
        """The units that a seed waits for."""
        return [one for one in self.teachers if one.seed == unit.seed]
