"""A training that was cut short goes on to the same result, bit by bit; one that is done is not done again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agssl.base.errors import DataError, TrainingError
from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.integrate import INTEGRATORS
from agssl.integrate.base import Integrator, Knowledge
from agssl.ops.adam import Adam
from agssl.pretext import TASKS as EVERY_TASK
from agssl.store.checkpoints import Best, CheckpointStore, all_finite, fingerprint, read_checkpoint
from agssl.train.loop import Objective, Schedule, by_epoch, train
from agssl.train.methods import MethodResult, train_method
from reference.graphs import blocks_graph
from reference.settings import quick

TASKS = ("par", "dgi", "pairdis", "pairsim")
METHODS: dict[str, dict[str, Any]] = {
    "gcn": {"method": "gcn", "norm": "batch"},
    "single pf": {"method": "single", "tasks": ("clu",), "strategy": "pf"},
    "joint": {"method": "joint", "tasks": tuple(EVERY_TASK), "alpha": 1.0},
    "pareto": {"method": "pareto", "tasks": ("clu", "joao:every=2"), "alpha": 1.0, "patience": 3},
    "auxts pf": {"method": "auxts", "tasks": ("clu", "bgrl"), "strategy": "pf", "patience": 3},
    "grand": {"method": "grand", "tasks": (), "encoder": "mixed:k=2"},
    "cpf": {"method": "cpf"},
    "autossl": {"method": "autossl", "tasks": ("clu", "bgrl"), "alpha": 1.0, "patience": 3},
    "autossl homophily": {
        "method": "autossl",
        "tasks": ("clu", "par"),
        "autossl_objective": "homophily",
        "strategy": "pf",
    },
    "autossl es": {
        "method": "autossl",
        "tasks": ("clu", "par"),
        "autossl_search": "es",
        "autossl_budget": 3,
        "alpha": 1.0,
    },
    "was": {"tasks": ("clu", "par"), "integration": "was", "alpha": 1.0},
    "agssl": {"tasks": TASKS, "weights_from": "crossfit"},
    "agssl lf pf": {"tasks": ("clu", "pairdis"), "integration": "lf", "strategy": "pf", "patience": 2, "norm": "batch"},
}


class Cut(Exception):
    """The power fails."""


class Meter:
    """A watcher that counts epochs and cuts the power after some."""

    def __init__(self, last: int | None = None) -> None:
        self.epochs, self.last = 0, last

    def __call__(self, stage: str, record: dict[str, float]) -> None:
        self.epochs += 1
        if self.epochs == self.last:
            raise Cut


def same(one: MethodResult, two: MethodResult) -> None:
    assert one.logits.numpy().tobytes() == two.logits.numpy().tobytes()
    assert one.history == two.history and one.best == two.best
    assert [t.alpha for t in one.teachers] == [t.alpha for t in two.teachers]
    for name, tensor in one.model.state_dict().items():
        assert torch.equal(tensor, two.model.state_dict()[name]), name
    if one.weights is not None:
        assert two.weights is not None and one.weights.numpy().tobytes() == two.weights.numpy().tobytes()


def resumed(graph: Graph, chosen: Settings, checkpoints: CheckpointStore, step: int = 7) -> tuple[MethodResult, int]:
    """A fit that is cut again and again until it ends, and how often that was."""
    cuts = 0
    while True:
        try:
            return train_method(graph, chosen, 1, watch=Meter(step * (cuts + 1)), checkpoints=checkpoints), cuts
        except Cut:
            cuts += 1


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each step of an optimiser."""
    taken: list[int] = []
    original = Adam.step

    def step(self, *rest):  # type: ignore[no-untyped-def]
        taken.append(1)
        return original(self, *rest)

    monkeypatch.setattr(Adam, "step", step)
    return taken


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_cut_short_many_times_ends_as_one_that_was_not(method: str, tmp_path: Path) -> None:
    graph, chosen = blocks_graph(), quick(**{"epochs": 5, "alpha": None, **METHODS[method]})
    step = 17 if method.startswith("agssl") else 2
    result, cuts = resumed(graph, chosen, CheckpointStore(tmp_path, every=0, min_seconds=0), step)
    assert cuts > 1
    same(result, train_method(graph, chosen, 1))


def test_no_epoch_is_trained_twice(tmp_path: Path, steps: list[int]) -> None:
    graph, chosen, whole = blocks_graph(), quick(tasks=("par", "clu"), epochs=5), Meter()
    train_method(graph, chosen, 1, watch=whole)
    assert len(steps) == whole.epochs
    steps.clear()
    resumed(graph, chosen, CheckpointStore(tmp_path, every=0, min_seconds=0))
    assert len(steps) == whole.epochs


def test_teachers_serve_every_fit_that_only_distils_differently(tmp_path: Path, steps: list[int]) -> None:
    graph, checkpoints = blocks_graph(), CheckpointStore(tmp_path, min_seconds=0)
    chosen = quick(tasks=("par", "clu"), epochs=4, patience=None, generations=1)
    train_method(graph, chosen, 1, checkpoints=checkpoints)
    assert len(steps) == 4 * 3
    own = {"student_tasks": {"clu": 2.0}}
    for changes in ({"beta": 1.0}, {"tau": 2.0}, {"integration": "lf"}, {"student_dropout": 0.3}, own):
        steps.clear()
        other = chosen.replace(**changes)
        result = train_method(graph, other, 1, checkpoints=checkpoints)
        assert len(steps) == 4, changes
        same(result, train_method(graph, other, 1))
    steps.clear()
    train_method(graph, chosen, 1, checkpoints=checkpoints)
    assert not steps


def test_whatever_changes_the_result_changes_the_key(tmp_path: Path) -> None:
    graph, checkpoints = blocks_graph(), CheckpointStore(tmp_path, min_seconds=0)
    chosen = quick(method="single", tasks=("clu",), epochs=2)
    assert graph.split is not None
    x, y = graph.x.copy(), graph.y.copy()
    x[0, 0] += 1
    y[graph.split.train[0]] = (y[graph.split.train[0]] + 1) % 3
    smaller = replace(graph.split, train=graph.split.train[1:])
    # the cluster labels are left as they are, so that the change itself must be seen
    fits = [(graph, chosen, 1), (graph, chosen, 2), (replace(graph, y=y), chosen, 1), (replace(graph, x=x), chosen, 1)]
    fits += [(graph.with_split(smaller), chosen, 1)]
    for changes in ({"lr": 0.02}, {"alpha": 2.0}, {"weight_decay": 0.0}, {"hidden": 9}, {"dropout": 0.1}):
        fits.append((graph, chosen.replace(**changes), 1))
    for changes in ({"epochs": 3}, {"patience": 1}, {"tasks": ("clu:clusters=3",)}, {"class_weight": "balanced"}):
        fits.append((graph, chosen.replace(**changes), 1))
    for number, (one, how, seed) in enumerate(fits, 1):
        train_method(one, how, seed, checkpoints=checkpoints)
        assert len(list(tmp_path.iterdir())) == number, how
    garbage = graph.y.copy()
    garbage[graph.split.test] = 0
    train_method(replace(graph, y=garbage), chosen, 1, checkpoints=checkpoints)
    assert len(list(tmp_path.iterdir())) == len(fits), "test labels are no part of it"


class Momentum(Integrator):
    """Scores follow a slow copy of the weight, which no gradient moves."""

    name = "momentum-for-tests"

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        self.weight = torch.nn.Parameter(torch.zeros(len(knowledge.logits)))
        self.register_buffer("slow", torch.zeros(len(knowledge.logits)))
        self.slow: torch.Tensor

    def scores(self, student: torch.Tensor, teachers: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            self.slow.mul_(0.9).add_(self.weight + 0.1)
        return (self.weight + self.slow).expand(len(student), -1)


def test_state_that_is_not_learnt_goes_on_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(INTEGRATORS._items, "momentum", Momentum)
    graph, chosen = blocks_graph(), quick(tasks=("par", "clu"), integration="momentum", epochs=6)
    result, _ = resumed(graph, chosen, CheckpointStore(tmp_path, every=0, min_seconds=0), step=5)
    same(result, train_method(graph, chosen, 1))


def test_a_damaged_file_is_trained_again_and_a_newer_one_refused(tmp_path: Path) -> None:
    graph, chosen, checkpoints = blocks_graph(), quick(method="gcn"), CheckpointStore(tmp_path, min_seconds=0)
    result = train_method(graph, chosen, 1, checkpoints=checkpoints)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    lacking = whole.replace(b'\\"done\\"', b'\\"dune\\"')
    assert lacking != whole
    for broken in (b"", lacking, whole[:50], whole[: len(whole) // 2], b"\xff" * 200):
        path.write_bytes(broken)
        same(train_method(graph, chosen, 1, checkpoints=checkpoints), result)
        assert read_checkpoint(path) is not None, "the result is kept again"
    path.write_bytes(whole.replace(b'"schema":"1"', b'"schema":"9"'))
    with pytest.raises(DataError, match="upgrade"):
        train_method(graph, chosen, 1, checkpoints=checkpoints)


def test_no_checkpoint_of_a_training_that_breaks_down_has_a_nan(tmp_path: Path) -> None:
    def breaks(weight: torch.Tensor, epoch: int) -> torch.Tensor:
        # the gradient of sqrt at 0 is infinite though the loss itself is finite
        return weight.square().sum() if epoch < 3 else (weight * 0).sum().sqrt()

    module = torch.nn.Linear(2, 1)
    checkpoint = CheckpointStore(tmp_path, every=0, min_seconds=0).checkpoint(module)
    epochs = train(
        module,
        list(module.parameters()),
        Objective(lambda epoch, rng: [{"loss": breaks(module.weight, epoch)}], by_epoch),
        Schedule(epochs=9),
        Rng(0),
        Best(),
        checkpoint=checkpoint,
        stage="teacher dgi",
    )
    with pytest.raises(TrainingError, match=r"teacher dgi: loss is not finite at epoch 4; .*--lr"):
        list(epochs)
    found = read_checkpoint(checkpoint.path)
    assert found is not None and all_finite(found[0].values())
    assert [record["epoch"] for record in found[1]["history"]] == [0, 1, 2]


def test_weights_that_break_in_the_very_last_step_are_an_error() -> None:
    module = torch.nn.Linear(2, 1)
    best = Best()
    epochs = train(
        module,
        list(module.parameters()),
        Objective(lambda epoch, rng: [{"loss": (module.weight * 0).sum().sqrt()}], by_epoch),
        Schedule(epochs=1),
        Rng(0),
        best,
    )
    with pytest.raises(TrainingError, match="the weights are not finite"):
        list(epochs)


def test_fingerprints_tell_values_apart() -> None:
    values: list[Any] = [1, 1.0, "1", None, True, (1,), ((1,),), (1, ()), {"a": 1}, {"b": 1}, np.zeros(2), np.zeros(3)]
    values += [
        np.zeros(2, np.float32),
        np.zeros((2, 1)),
        Rng(0),
        Rng(1),
        Rng(0).child("a"),
        "(1,)",
        ("a", "b"),
        ("ab",),
    ]
    assert len({fingerprint(value) for value in values}) == len(values)
    assert fingerprint(torch.ones(2)) == fingerprint(np.ones(2, np.float32))
    assert fingerprint(np.float64(0.5)) == fingerprint(0.5)
