"""Alphas by successive halving: what is trained, what is chosen, and that an interruption changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from agssl.config import Settings, effective
from agssl.ops.adam import Adam
from agssl.store.checkpoints import CheckpointStore, Choice
from agssl.train.halving import best_of
from agssl.train.methods import train_method
from agssl.train.network import Epochs
from reference.graphs import blocks_graph
from reference.settings import quick


class Runs:
    """Trainings whose validation accuracy is given epoch by epoch."""

    def __init__(self, *curves: list[float]) -> None:
        self.curves, self.trained = curves, [0] * len(curves)

    def start(self, number: int) -> Epochs:
        for accuracy in self.curves[number]:
            self.trained[number] += 1
            yield {"pretrain": 0.0, "val_accuracy": accuracy, "val_loss": 1.0}
        return type("Ended", (), {"best": {"val_accuracy": max(self.curves[number])}, "number": number})()

    def best(self, rung: int | None, note: Choice | None = None) -> int:
        starts = [lambda number=number: self.start(number) for number in range(len(self.curves))]
        number, trained = best_of(starts, lambda record: (record["val_accuracy"], 0.0), rung, note)
        found: Any = trained
        assert found.number == number
        return number


def test_the_worse_of_two_stops_at_the_first_comparison() -> None:
    runs = Runs([0.5] * 20, [0.4, 0.6] * 10)
    assert runs.best(rung=4) == 1
    assert runs.trained == [4, 20]


def test_half_of_many_goes_on_for_twice_as_long() -> None:
    runs = Runs(*([0.1 * k] * 20 for k in (3, 1, 5, 2)))
    assert runs.best(rung=3) == 2
    assert runs.trained == [6, 3, 20, 3]


def test_of_equals_the_first_is_taken() -> None:
    assert Runs([0.5] * 9, [0.5] * 9).best(rung=4) == 0


def test_without_a_rung_all_train_to_the_end_and_a_late_one_may_win() -> None:
    runs = Runs([0.5] * 9, [0.1] * 8 + [0.6])
    assert runs.best(rung=None) == 1
    assert runs.trained == [9, 9]


def test_a_choice_that_was_noted_is_not_made_again(tmp_path: Path) -> None:
    note = Choice(tmp_path / "note.json")
    assert note.load() is None
    assert Runs([0.5] * 9, [0.6] * 9).best(4, note) == 1
    again = Runs([0.9] * 9, [0.6] * 9)
    assert again.best(4, note) == 1 and again.trained == [0, 9]
    note.path.write_text("{")
    assert note.load() is None


ALPHAS = quick(method="single", tasks=("clu",), alpha="auto", epochs=12, alpha_epochs=3)


@pytest.mark.parametrize("strategy", ["jt", "pf"])
def test_the_chosen_alpha_is_trained_as_if_it_were_the_only_one(strategy: str) -> None:
    graph, settings = blocks_graph(seed=2), ALPHAS.replace(strategy=strategy)
    halved = train_method(graph, settings)
    alone = train_method(graph, settings.replace(alpha=halved.teachers[0].alpha))
    assert torch.equal(halved.logits, alone.logits)
    assert len(halved.history["teacher clu"]) == len(alone.history["teacher clu"])


@pytest.mark.parametrize("stop", [2, 8, 20, 30])
def test_after_an_interruption_the_same_is_chosen_and_trained(
    stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, original, taken = blocks_graph(seed=2), Adam.step, []
    whole = train_method(graph, ALPHAS)

    def step(self: Adam) -> None:
        taken.append(1)
        if len(taken) == stop:
            raise KeyboardInterrupt
        original(self)

    monkeypatch.setattr(Adam, "step", step)
    store = CheckpointStore(tmp_path, every=0, min_seconds=0)
    with pytest.raises(KeyboardInterrupt):
        train_method(graph, ALPHAS, checkpoints=store)
    resumed = train_method(graph, ALPHAS, checkpoints=store)
    assert resumed.teachers[0].alpha == whole.teachers[0].alpha
    assert torch.equal(resumed.logits, whole.logits)
    steps = len(taken)
    found = train_method(graph, ALPHAS, checkpoints=store)
    assert len(taken) == steps and torch.equal(found.logits, whole.logits)


def test_results_say_whether_alphas_were_halved() -> None:
    assert effective(Settings())["alpha_epochs"] == Settings().alpha_epochs
    for same in (Settings(alpha_epochs=None), Settings(alpha=1.0), Settings(method="gcn")):
        assert "alpha_epochs" not in effective(same)
    assert Settings.from_dict({"method": "single", "tasks": ["clu"]}).alpha_epochs is None  # of an older model
