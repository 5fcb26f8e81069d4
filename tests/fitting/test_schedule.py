"""Which unit is next."""

from __future__ import annotations

from agssl.config import PAPER_TASKS, Settings
from agssl.fitting.schedule import Schedule, Unit, teacher_units

POOL = Settings(tasks=("par", "clu"), alpha="auto")


def order(schedule: Schedule) -> list[Unit]:
    """All units, one after the other."""
    found = []
    while (unit := schedule.next()) is not None:
        schedule.end(unit)
        found.append(unit)
    return found


def test_seeds_that_fill_all_processes_are_done_whole() -> None:
    assert order(Schedule([4, 7], POOL, 2)) == [Unit(4), Unit(7)] == order(Schedule([4, 7], POOL, 1))


def test_the_teachers_of_a_seed_that_is_over_are_trained_one_by_one() -> None:
    found = order(Schedule([4, 7, 9], POOL, 2))
    assert found[:2] == [Unit(4), Unit(7)] and found[-1] == Unit(9)
    assert found[2:-1] == teacher_units(POOL, [9])
    assert [unit.task for unit in found[2:-1]] == ["par", "clu"]


def test_a_seed_waits_for_all_of_its_teachers() -> None:
    schedule = Schedule([0], POOL, 2)
    teachers = [schedule.next() for _ in schedule.teachers]
    for unit in teachers:
        assert schedule.next() is None
        schedule.end(unit)
    assert schedule.next(other=True) is None  # it is for the process of the command
    assert schedule.next() == Unit(0)


def test_there_are_no_more_jobs_than_units() -> None:
    assert Schedule([0], POOL.replace(alpha=1.0), 8).jobs == 2
    assert Schedule([0], Settings(method="gcn"), 8).jobs == 1
    assert Schedule([0, 1], Settings(method="gcn"), 8).jobs == 2


def test_teachers_stay_with_their_seed_where_they_cannot_be_handed_over() -> None:
    assert order(Schedule([0, 1, 2], POOL, 2, apart=False)) == [Unit(0), Unit(1), Unit(2)]
    for alone in (Settings(method="gcn"), Settings(method="joint"), Settings(tasks=("par",), alpha=1.0)):
        assert order(Schedule([0], alone, 2)) == [Unit(0)]


def test_an_automatic_pool_comes_in_rounds() -> None:
    schedule = Schedule([0], Settings(), 2)
    assert [unit.task for unit in schedule.teachers][:2] == ["labels@mlp", "labels@gcn"]
    first = [schedule.next() for _ in schedule.teachers]
    assert schedule.next() is None  # what follows depends on what these score
    found = []
    for unit in first:
        assert unit is not None
        schedule.end(unit, 0.5)
    while (unit := schedule.next()) is not None:
        schedule.end(unit, 0.4 if unit.task == "labels@sage" else 0.6)
        found.append(unit)
    assert found[-1] == Unit(0) and [unit.task for unit in found[-6:-1]] == [f"{task}@sage" for task in PAPER_TASKS]
    assert not any(unit.task in ("labels@linear", "labels@lp") for unit in found)
    assert len(schedule.units) == len(first) + len(found)


def test_a_quick_pool_stays_in_one_process() -> None:
    assert order(Schedule([0], Settings(effort="quick"), 2)) == [Unit(0)]
