"""Temperatures and class shifts: against a grid, against a general optimiser, and where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from agssl.integrate import Knowledge
from agssl.integrate.calibration import best_shift, best_temperature


def normal(seed: int, *shape: int) -> Tensor:
    return 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def knowledge(logits: Tensor, labels: Tensor) -> Knowledge:
    """Teachers, held-out labels being those of the first nodes."""
    return Knowledge(logits, torch.arange(len(labels)), labels, logits[:, : len(labels)])


def grid_temperature(logits: Tensor, labels: Tensor) -> float:
    grid = np.exp(np.linspace(np.log(0.05), np.log(20), 2000))
    return min(grid, key=lambda t: F.cross_entropy(logits / t, labels).item())


@pytest.mark.parametrize("scale", [0.05, 1.0, 7.0])
def test_the_best_temperature_is_that_of_a_fine_grid(scale: float) -> None:
    labels = torch.arange(40) % 4
    logits = scale * (normal(5, 40, 4) + 2 * torch.eye(4, dtype=torch.float64)[labels])
    assert best_temperature(logits, labels) == pytest.approx(grid_temperature(logits, labels), rel=0.01)


def test_temperatures_scale_each_teacher_as_a_whole_and_change_no_opinion() -> None:
    labels = torch.arange(40) % 4
    logits = torch.tensor([0.1, 1.0, 10.0])[:, None, None] * (normal(5, 3, 60, 4).float() + 1)
    logits[:, torch.arange(40), labels] *= 1.5
    known = knowledge(logits, labels)
    found = known.calibrated("temperature")
    for k in range(3):
        ratio = found.logits[k] / logits[k]
        torch.testing.assert_close(ratio, ratio[0, 0].expand_as(ratio))
        torch.testing.assert_close(found.heldout[k], known.heldout[k] * ratio[0, 0])
        before, after = (F.cross_entropy(x.heldout[k], labels).item() for x in (known, found))
        assert after <= before + 1e-5
    assert torch.equal(found.logits.argmax(2), logits.argmax(2))


@pytest.mark.parametrize("how", ["temperature", "classes"])
def test_teachers_of_the_same_skill_become_equally_confident(how: str) -> None:
    labels = torch.arange(40) % 4
    one = (normal(5, 40, 4) + 2 * torch.eye(4)[labels]).float()
    known = knowledge(torch.stack([one, 4 * one]), labels).calibrated(how)
    torch.testing.assert_close(known.logits[0], known.logits[1], rtol=0.01, atol=0.02)


def test_none_leaves_the_teachers_as_they_are() -> None:
    known = knowledge(normal(0, 2, 12, 3), torch.arange(6) % 3)
    assert known.calibrated("none") is known


def slow_shift(logits: Tensor, labels: Tensor) -> tuple[float, Tensor]:
    """The same by plain gradient descent on the loss as written, T by its logarithm."""
    log_t, shift = torch.zeros(1, dtype=torch.float64), torch.zeros(logits.shape[1], dtype=torch.float64)
    values = [log_t.requires_grad_(), shift.requires_grad_()]
    descent = torch.optim.Adam(values, lr=0.02)
    for _ in range(3000):
        descent.zero_grad()
        loss = F.cross_entropy(logits / log_t.exp() + shift, labels, reduction="sum") + shift.square().sum() / 2
        loss.backward()
        descent.step()
    return log_t.exp().item(), shift.detach()


@pytest.mark.parametrize("seed", range(3))
def test_shifts_are_those_of_plain_gradient_descent(seed: int) -> None:
    labels = torch.tensor([0] * 30 + [1] * 8 + [2] * 2)
    logits = normal(seed, 40, 4) + 2 * torch.eye(4, dtype=torch.float64)[labels]
    (t, shift), (slow_t, slow) = best_shift(logits, labels), slow_shift(logits, labels)
    assert t == pytest.approx(slow_t, rel=0.01)
    torch.testing.assert_close(shift.double(), slow, rtol=0.02, atol=0.02)


def test_shifts_make_up_for_classes_that_are_rarer_than_in_training() -> None:
    # Logits of the exact posterior where classes are equally frequent; in the sample they are not.
    frequency = torch.tensor([0.7, 0.2, 0.1], dtype=torch.float64)
    labels = torch.multinomial(frequency, 4000, replacement=True, generator=torch.Generator().manual_seed(0))
    x = torch.eye(3, dtype=torch.float64)[labels] * 1.5 + normal(1, 4000, 3) / 2
    logits = 1.5 * x  # log p(x | class) of unit normals around 1.5 e_c, up to a constant
    t, shift = best_shift(logits, labels)
    assert t == pytest.approx(1, abs=0.1)
    expected = frequency.log() - frequency.log().mean()
    torch.testing.assert_close(shift.double() - shift.double().mean(), expected, rtol=0, atol=0.15)


def test_a_class_without_judges_is_not_shut_out() -> None:
    labels = torch.arange(30) % 2
    logits = normal(3, 30, 3) + 2 * torch.eye(3, dtype=torch.float64)[labels]
    _, shift = best_shift(logits, labels)
    assert -5 < shift[2] < shift[:2].min()
