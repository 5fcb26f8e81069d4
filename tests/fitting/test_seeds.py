"""Seeds and teachers, one after the other or side by side."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load

import agssl.train.network as network
from agssl.config import Settings
from agssl.fitting import seeds
from agssl.fitting.job import Job, fit_teacher
from agssl.fitting.schedule import Schedule, Unit, teacher_units
from agssl.fitting.seeds import Observer, fit_seeds
from reference.graphs import blocks_graph
from reference.settings import quick

TEACHERS = quick(tasks=("clu:clusters=3", "pairdis"), alpha={"clu": 2.0, "pairdis": 0.5})


def files(folder: Path) -> dict[str, Any]:
    """What a seed has written, but for what it took."""
    found: dict[str, Any] = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "metrics.json"}
    # safetensors puts the facts before the tensors in any order
    found["model"] = {name: array.tobytes() for name, array in load(found.pop("model.safetensors")).items()}
    assert len(found) > 3 and len(found["model"]) > 3
    return found


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The stage and the number of each epoch that was trained and not found."""
    seen: list[tuple[str, int]] = []
    real = network.train

    def train(module: Any, parameters: Any, objective: Any, *words: Any, **options: Any) -> Any:
        def spy(epoch: int, rng: Any) -> Any:
            seen.append((options["stage"], epoch))
            return objective.losses(epoch, rng)

        return real(module, parameters, replace(objective, losses=spy), *words, **options)

    monkeypatch.setattr(network, "train", train)
    return seen


@pytest.mark.parametrize(
    "settings",
    [
        TEACHERS,
        TEACHERS.replace(strategy="pf", alpha="auto"),
        TEACHERS.replace(batch="partition", batch_nodes=24, weights_from="val"),
    ],
    ids=["jt", "pf", "parts"],
)
def test_a_seed_finds_the_teachers_that_were_trained_before_it(
    tmp_path: Path, trained: list[tuple[str, int]], settings: Settings
) -> None:
    alone, after = (Job(blocks_graph(), settings, "public", tmp_path / name) for name in ("alone", "after"))
    fit_seeds(alone, [3])
    teaching = [one for one in trained if one[0].startswith("teacher")]
    assert len(teaching) > 5
    trained.clear()
    for unit in teacher_units(settings, [3]):
        fit_teacher(after, unit)
    assert sorted(trained) == sorted(teaching)
    trained.clear()
    fit_seeds(after, [3])
    assert not [one for one in trained if one[0].startswith("teacher")]
    assert files(tmp_path / "alone" / "seed-3") == files(tmp_path / "after" / "seed-3")


def test_a_seed_finds_what_its_automatic_pool_tried(tmp_path: Path, trained: list[tuple[str, int]]) -> None:
    settings = quick(teachers=("auto",), alpha=None)
    job = Job(blocks_graph(), settings, "public", tmp_path / "after")
    schedule = Schedule([3], settings, 2)
    while (unit := schedule.next()) is not None and unit.task is not None:
        schedule.end(unit, fit_teacher(job, unit).get("log_loss", math.inf))
    before = [one for one in trained if one[0].startswith("teacher")]
    assert len(before) > 15
    trained.clear()
    fit_seeds(job, [3])
    assert not [one for one in trained if one[0].startswith("teacher")]


class Told(Observer):
    """Remembers what it heard."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.seeds: list[int] = []

    def ended(self, unit: Unit, seconds: float, metrics: Any) -> None:
        assert seconds > 0 and metrics["epochs"]
        self.units.append(unit)

    def done(self, metrics: Any) -> None:
        self.seeds.append(metrics["seed"])


@pytest.mark.parametrize(("jobs", "asked"), [(2, [0]), (3, [0, 1, 2, 3])])
def test_bits_do_not_depend_on_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, asked: list[int]
) -> None:
    settings = TEACHERS.replace(alpha="auto")
    one, many = (Job(blocks_graph(), settings, "public", tmp_path / name) for name in ("one", "many"))
    for job in (one, many):
        assert job.out is not None
        job.out.mkdir()
    fit_seeds(one, asked)
    told, real = Told(), seeds.do_unit

    def patient(*words: Any) -> Any:
        """What this process does, as soon as another has done something."""
        until = time.monotonic() + 100
        while not told.units and time.monotonic() < until:
            time.sleep(0.05)
        return real(*words)

    monkeypatch.setattr(seeds, "do_unit", patient)
    fit_seeds(many, asked, jobs, observer=told)
    apart = asked[-1:]  # the seed that is over, when all processes have had a whole one
    assert {unit for unit in told.units if unit.task} == set(teacher_units(settings, apart))
    assert sorted(told.seeds) == asked
    for seed in asked:
        assert files(tmp_path / "one" / f"seed-{seed}") == files(tmp_path / "many" / f"seed-{seed}")
