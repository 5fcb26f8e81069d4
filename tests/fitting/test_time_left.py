"""The time that is left, by a clock that replays fits of the paper's pool."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agssl.config import Settings
from agssl.fitting.schedule import Schedule, Unit
from agssl.fitting.time_left import TimeLeft, stages
from agssl.train.setup import schedule_of

POOL = Settings(teachers=("paper",), alpha_epochs=None, patience=100)
# epochs and milliseconds an epoch of each training, of fits of the shipped settings with one thread
FITS = {
    "cora 0": "183 9.4, 325 10.1, 148 4.8, 316 5.2, 151 6.9, 451 9.1, 178 5.9, 199 6.6, 147 8.1, 185 7.6, "
    "312 10.5, 180 10",
    "cora 1": "172 12.4, 324 12.6, 153 5.9, 228 6.5, 154 8.1, 259 8.2, 189 6.9, 222 6.3, 299 7.5, 255 7.5, "
    "337 10.5, 429 10.8",
    "cora 2": "149 11.1, 196 11.5, 144 6.3, 297 5.9, 359 8.1, 490 8, 145 6.5, 175 7, 148 9, 302 8.6, 251 10.1, 215 10",
    "citeseer 0": "239 32.9, 213 25.5, 373 6.2, 160 7.4, 204 8.7, 377 9.3, 236 8.2, 178 8.4, 336 9.4, 162 9.2, "
    "195 14.3, 325 14.4",
    "citeseer 1": "239 31, 138 32, 408 9.1, 152 9.2, 201 10.2, 245 10, 231 8.3, 172 8.2, 127 9, 309 8.9, "
    "178 12.8, 302 12.5",
}


class Clock:
    """A time that is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def trainings(fit: str) -> list[tuple[str, int, float]]:
    """Stage, epochs and seconds an epoch of each training."""
    found = [(int(epochs), float(ms) / 1000) for epochs, ms in (part.split() for part in FITS[fit].split(","))]
    return [(stage, *one) for stage, one in zip(stages(POOL), found, strict=True)]


def epochs_of(stage: str, epochs: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Records of a training that was best as late as its patience allows."""
    best = epochs - 1 - (POOL.patience or 0)
    for epoch in range(epochs):
        yield stage, {"epoch": epoch, "loss": 1.0, "val_loss": 1.0, "val_accuracy": min(epoch, best) / 500}


@pytest.mark.parametrize("fit", FITS)
def test_from_half_way_the_time_of_a_fit_is_known_within_30_percent(fit: str) -> None:
    clock, schedule = Clock(), Schedule([0], POOL, 1)
    left, unit = TimeLeft(POOL, schedule_of(POOL), schedule, clock=clock), schedule.next()
    assert unit is not None
    left.begin(unit)
    whole = sum(epochs * seconds for _, epochs, seconds in trainings(fit))
    checked = 0
    for stage, epochs, seconds in trainings(fit):
        for heard in epochs_of(stage, epochs):
            clock.now += seconds
            left.hear(unit, *heard)
            expected = left.seconds()
            assert expected is not None or clock.now < 0.05  # from the second epoch on
            if clock.now > whole / 2 and expected is not None:
                checked += 1
                assert 0.7 < (clock.now + expected) / whole < 1.3
    assert checked > 500


@pytest.mark.parametrize("fit", FITS)
def test_so_it_is_with_several_processes(fit: str) -> None:
    """Two processes; of the teachers in the other one nothing is heard but that they began and ended."""
    schedule, clock = Schedule([0], POOL, 2), Clock()
    left = TimeLeft(POOL, schedule_of(POOL), schedule, clock=clock)
    durations: dict[Unit, list[tuple[int, float]]] = {
        unit: [(epochs, seconds) for stage, epochs, seconds in trainings(fit) if stage == f"teacher {unit.task}"]
        for unit in schedule.teachers
    }
    took = {unit: sum(epochs * seconds for epochs, seconds in both) for unit, both in durations.items()}
    told: list[tuple[float, float]] = []
    free = {False: 0.0, True: 0.0}  # when this process and the other are free
    flying: dict[Unit, tuple[bool, float]] = {}
    while len(schedule.ended) < len(schedule.teachers):
        for other in free:
            if not any(who == other for who, _ in flying.values()) and (unit := schedule.next(other)) is not None:
                left.begin(unit)
                flying[unit] = (other, clock.now + took[unit])
        unit, (other, end) = min(flying.items(), key=lambda item: item[1][1])
        for mine, (elsewhere, _) in flying.items():
            if not elsewhere:  # its epochs up to then
                _replay(left, clock, mine, durations[mine], end)
        clock.now = end
        schedule.end(unit)
        left.end(unit, took[unit], max(epochs for epochs, _ in durations[unit]))
        del flying[unit]
        expected = left.seconds()
        assert expected is not None
        told.append((clock.now, expected))
    whole = clock.now + sum(
        epochs * seconds for stage, epochs, seconds in trainings(fit) if stage.startswith("student")
    )
    late = [(now + expected) / whole for now, expected in told if now > whole / 2]
    assert late and all(0.7 < share < 1.3 for share in late)


def _replay(left: TimeLeft, clock: Clock, unit: Unit, both: list[tuple[int, float]], end: float) -> None:
    """Let the epochs of a teacher in this process, alpha by alpha, be heard until some time."""
    at = left.began[unit]
    for epochs, seconds in both:
        for stage, record in epochs_of(f"teacher {unit.task}", epochs):
            at += seconds
            if clock.now < at <= end + 1e-9:
                clock.now = at
                left.hear(unit, stage, record)


def test_a_teacher_that_refused_the_graph_tells_nothing_of_epochs() -> None:
    clock, schedule = Clock(), Schedule([0], POOL, 2)
    left = TimeLeft(POOL, schedule_of(POOL), schedule, clock=clock)
    first, second = schedule.next(), schedule.next(other=True)
    assert first is not None and second is not None
    left.begin(first)
    left.begin(second)
    assert left.end(second, 0.1, 0) is None
    assert left.seconds() is None and not left.counts


def test_epochs_that_were_found_tell_nothing_of_speed() -> None:
    clock, schedule = Clock(), Schedule([0], POOL, 1)
    left, unit = TimeLeft(POOL, schedule_of(POOL), schedule, clock=clock), schedule.next()
    assert unit is not None
    for heard in epochs_of("teacher par", 200):
        clock.now += 1e-6
        assert left.hear(unit, *heard) is None
    assert left.seconds() is None
