"""The training loop: which epoch is kept, when it stops, how it breaks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from agssl.base.errors import TrainingError
from agssl.base.rng import Rng
from agssl.store.checkpoints import Best, Record
from agssl.train.loop import Objective, Plateau, Schedule, by_loss, by_validation, train


def run(
    scores: Iterable[tuple[float, float]],
    patience: int | None = None,
    objective: Callable[[nn.Linear, int], torch.Tensor] | None = None,
    lr: float = 0.1,
    least: int = 0,
) -> tuple[list[Record], Best, list[torch.Tensor]]:
    """Train a tiny module on prescribed validation results; also the weights it had after every epoch."""
    scores = list(scores)
    module = nn.Linear(2, 1)
    nn.init.ones_(module.weight)
    states: list[torch.Tensor] = []

    def losses(epoch: int, rng: Rng) -> list[dict[str, torch.Tensor]]:
        loss = module.weight.square().sum() if objective is None else objective(module, epoch)
        return [{"part": loss.detach() * 2, "loss": loss}]

    def evaluate(record: Record) -> Record:
        states.append(module.weight.detach().clone())
        accuracy, loss = scores[int(record["epoch"])]
        return {"val_accuracy": accuracy, "val_loss": loss}

    best = Best()
    schedule = Schedule(lr, 0.0, len(scores), patience, least)
    records = list(
        train(module, list(module.parameters()), Objective(losses, by_validation, evaluate), schedule, Rng(0), best)
    )
    return records, best, states


def test_one_record_an_epoch_with_losses_and_figures() -> None:
    records, *_ = run([(0.1, 1.0), (0.2, 0.9)])
    assert [r["epoch"] for r in records] == [0, 1]
    assert all({"part", "loss", "val_accuracy", "val_loss"} <= r.keys() for r in records)
    assert records[0]["part"] == 2 * records[0]["loss"]


def test_the_best_validation_epoch_is_kept_with_its_weights() -> None:
    records, best, states = run([(0.1, 1.0), (0.7, 0.9), (0.5, 0.1), (0.6, 0.2)])
    assert best.epoch == 1
    assert best.record == records[1]
    assert torch.equal(best.state["weight"], states[1])
    assert not torch.equal(best.state["weight"], states[3])


def test_ties_go_to_the_lower_loss_and_then_to_the_earlier_epoch() -> None:
    assert run([(0.5, 0.9), (0.5, 0.7), (0.5, 0.8)])[1].epoch == 1
    assert run([(0.5, 0.7), (0.5, 0.7), (0.5, 0.7)])[1].epoch == 0
    assert run([(0.5, 0.1), (0.6, 9.9)])[1].epoch == 1


def test_patience_stops_after_that_many_epochs_without_a_better_one() -> None:
    scores = [(0.1, 1.0), (0.5, 1.0)] + [(0.2, 1.0)] * 20
    records, best, _ = run(scores, patience=3)
    assert len(records) == 5  # means of up to three: 0.1, 0.3, 0.27, 0.3, 0.2
    assert best.epoch == 1


def test_one_lucky_epoch_does_not_end_a_training_that_gets_better() -> None:
    scores = [(0.2 if epoch == 3 else 0.01 * epoch, 1.0) for epoch in range(60)]
    records, best, _ = run(scores, patience=10)
    assert len(records) == 60 and best.epoch == 59


@given(st.lists(st.floats(0, 1), min_size=1, max_size=80), st.integers(1, 30), st.integers(0, 20))
def test_a_plateau_is_where_the_mean_of_the_last_epochs_does_not_rise(
    values: list[float], patience: int, least: int
) -> None:
    plateau, over = Plateau(patience), min(20, patience)
    means = [sum(part := values[max(0, end - over) : end]) / len(part) for end in range(1, len(values) + 1)]
    for epoch, value in enumerate(values):
        plateau.hear((value, 0.0))
        top = means.index(max(means[: epoch + 1]))
        assert plateau.reached(least) == (epoch + 1 - max(top, least) > patience)


def test_no_epoch_is_the_best_before_the_least_and_patience_counts_from_there() -> None:
    records, best, states = run([(0.9, 0.1), (0.1, 1.0), (0.3, 0.9), (0.2, 0.9), (0.2, 0.9)], patience=1, least=2)
    assert best.epoch == 2 and len(records) == 4
    assert torch.equal(best.state["weight"], states[2])
    assert run([(0.9, 0.1), (0.1, 1.0)], least=7)[1].epoch == 1  # fewer epochs than that: the last


def test_a_tie_with_lower_loss_renews_patience() -> None:
    records, *_ = run([(0.5, 1.0 - 0.01 * epoch) for epoch in range(12)], patience=2)
    assert len(records) == 12


def test_without_patience_every_epoch_runs() -> None:
    assert len(run([(0.5, 1.0)] * 9)[0]) == 9


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_is_named_with_its_epoch(value: float) -> None:
    def breaks(module: nn.Linear, epoch: int) -> torch.Tensor:
        return module.weight.sum() * (value if epoch == 3 else 1.0)

    with pytest.raises(TrainingError, match=r"loss are not finite at epoch 3") as error:
        run([(0.5, 1.0)] * 9, objective=breaks)
    assert "part" in str(error.value)


def test_training_moves_down() -> None:
    records, *_ = run([(0.5, 1.0)] * 20, lr=0.05)
    losses = [r["loss"] for r in records]
    assert losses == sorted(losses, reverse=True)


def test_each_epoch_draws_from_its_own_child() -> None:
    seen = []
    module = nn.Linear(1, 1)

    def losses(epoch: int, rng: Rng) -> list[dict[str, torch.Tensor]]:
        seen.append(rng)
        return [{"loss": module.weight.sum()}]

    best = Best()
    list(train(module, list(module.parameters()), Objective(losses, by_loss), Schedule(epochs=3), Rng(4), best))
    assert seen == [Rng(4).child(epoch) for epoch in range(3)]


def test_an_epoch_may_have_several_steps_and_each_is_taken_before_the_next_is_asked_for() -> None:
    module = nn.Linear(1, 1, bias=False)
    nn.init.ones_(module.weight)
    seen: list[float] = []

    def losses(epoch: int, rng: Rng) -> Iterator[dict[str, torch.Tensor]]:
        for _ in range(3):
            seen.append(module.weight.item())
            yield {"loss": module.weight.sum()}

    schedule, best = Schedule(lr=0.1, weight_decay=0.0, epochs=2), Best()
    records = list(train(module, list(module.parameters()), Objective(losses, by_loss), schedule, Rng(0), best))
    np.testing.assert_allclose(seen, 1 - 0.1 * np.arange(6), atol=1e-6)
    assert [record["loss"] for record in records] == pytest.approx([0.9, 0.6])


def test_without_labels_the_lowest_loss_is_kept() -> None:
    assert by_loss({"loss": 1.0}) > by_loss({"loss": 2.0})
