"""Seeds and teachers, one after the other or side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load

import agssl.train.network as network
from agssl.config import Settings
from agssl.fitting.job import Job, fit_teacher
from agssl.fitting.seeds import fit_seeds, teachers_first
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
    for task in settings.tasks:
        fit_teacher(after, 3, task)
    assert trained == teaching
    trained.clear()
    fit_seeds(after, [3])
    assert not [one for one in trained if one[0].startswith("teacher")]
    assert files(tmp_path / "alone" / "seed-3") == files(tmp_path / "after" / "seed-3")


def test_teachers_side_by_side_give_the_same_bits(tmp_path: Path) -> None:
    one, two = (Job(blocks_graph(), TEACHERS, "public", tmp_path / name) for name in ("one", "two"))
    for job in (one, two):
        assert job.out is not None
        job.out.mkdir()
    told: list[tuple[int, str]] = []
    fit_seeds(one, [0])
    fit_seeds(two, [0], jobs=2, taught=lambda seed, task: told.append((seed, task)))
    assert sorted(told) == [(0, task) for task in TEACHERS.tasks]
    assert files(tmp_path / "one" / "seed-0") == files(tmp_path / "two" / "seed-0")


def test_teachers_come_first_only_where_it_helps(tmp_path: Path) -> None:
    job = Job(blocks_graph(), TEACHERS, "public", tmp_path)
    assert teachers_first(job, [4, 7], 3) == [(seed, task) for seed in (4, 7) for task in TEACHERS.tasks]
    assert teachers_first(job, [4, 7], 2) == [] == teachers_first(Job(job.graph, TEACHERS), [4], 2)
    for how in (quick(method="joint", tasks=("clu", "par")), quick(tasks=("clu",)), quick(method="gcn")):
        assert teachers_first(Job(job.graph, how, "public", tmp_path), [4], 5) == []
