"""What holds of knowledge integration for any logits."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agssl.base.rng import Rng
from agssl.integrate import INTEGRATORS, Knowledge
from agssl.integrate.base import integrated, mixed, shrinkage, weight_loss
from agssl.integrate.calibration import best_temperature
from agssl.train.distill import distill_kl

seeds, counts = st.integers(0, 10_000), st.integers(1, 5)


def logits(*shape: int, seed: int = 0, scale: float = 1.0) -> torch.Tensor:
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def knowledge(teachers: int, nodes: int, classes: int, seed: int, scale: float = 1.0) -> Knowledge:
    all_of = logits(teachers, nodes, classes, seed=seed, scale=scale).float()
    at = torch.arange(max(1, nodes // 2))
    return Knowledge(all_of, at, at % classes, all_of[:, at])


@pytest.mark.parametrize("name", ["lf", "ts", "average", "random", "weighted"])
@given(teachers=counts, nodes=st.integers(1, 9), seed=seeds, scale=st.sampled_from([0.0, 1.0, 100.0, 1e4]))
def test_weights_are_shares(name: str, teachers: int, nodes: int, seed: int, scale: float) -> None:
    known = knowledge(teachers, nodes, 3, seed, scale)
    weights = INTEGRATORS[name](known, Rng(seed))(logits(nodes, 3, seed=seed + 1, scale=scale).float(), known.logits)
    assert weights.shape == (nodes, teachers)
    assert ((weights >= 0) & (weights <= 1)).all()
    torch.testing.assert_close(weights.sum(1), torch.ones(nodes))


@pytest.mark.parametrize("name", ["ts", "average", "weighted"])
@given(teachers=st.integers(2, 5), seed=seeds)
def test_the_order_of_the_teachers_does_not_matter(name: str, teachers: int, seed: int) -> None:
    known, z = knowledge(teachers, 6, 3, seed), logits(6, 3, seed=seed + 1).float()
    order = torch.randperm(teachers, generator=torch.Generator().manual_seed(seed))
    turned = Knowledge(known.logits[order], known.nodes, known.labels, known.heldout[order])
    weights = INTEGRATORS[name](known, Rng(0))(z, known.logits)
    torch.testing.assert_close(INTEGRATORS[name](turned, Rng(0))(z, turned.logits), weights[:, order])


@given(teachers=counts, nodes=st.integers(1, 9), seed=seeds, tau=st.floats(0.2, 5))
def test_what_is_mixed_lies_between_the_teachers(teachers: int, nodes: int, seed: int, tau: float) -> None:
    known, weights = logits(teachers, nodes, 4, seed=seed), torch.softmax(logits(nodes, teachers, seed=seed), 1)
    mixture, each = integrated(weights, known, tau), torch.softmax(known / tau, -1)
    torch.testing.assert_close(mixture.sum(1), torch.ones(nodes, dtype=torch.float64))
    assert (mixture <= each.amax(0) + 1e-12).all() and (mixture >= each.amin(0) - 1e-12).all()


@given(nodes=st.integers(1, 9), classes=st.integers(2, 6), seed=seeds, tau=st.floats(0.2, 5))
def test_distillation_costs_nothing_only_between_equals(nodes: int, classes: int, seed: int, tau: float) -> None:
    z, h = logits(nodes, classes, seed=seed), logits(nodes, classes, seed=seed + 1)
    assert distill_kl(z, torch.softmax(h / tau, 1), tau) >= 0
    assert abs(distill_kl(z, torch.softmax(z / tau, 1), tau).item()) < 1e-9
    shifted = z + logits(nodes, 1, seed=seed + 2)  # a shift of all logits of a node says nothing
    torch.testing.assert_close(distill_kl(shifted, torch.softmax(h, 1), tau), distill_kl(z, torch.softmax(h, 1), tau))


@given(seed=seeds, factor=st.floats(0.5, 2))
def test_the_best_temperature_grows_with_the_logits(seed: int, factor: float) -> None:
    z = logits(40, 3, seed=seed)
    labels = torch.multinomial(torch.softmax(z, 1), 1, generator=torch.Generator().manual_seed(seed)).squeeze(1)
    once, more = best_temperature(z, labels), best_temperature(factor * z, labels)
    if 0.2 < once < 5:  # away from the ends of the range
        assert more == pytest.approx(factor * once, rel=1e-3)


@given(teachers=st.integers(2, 5), seed=seeds, tau=st.floats(0.3, 4))
def test_no_mixture_beats_the_best_teacher_of_a_node(teachers: int, seed: int, tau: float) -> None:
    known, label = logits(teachers, 1, 3, seed=seed), torch.tensor([seed % 3])
    mixture = weight_loss(torch.softmax(logits(1, teachers, seed=seed), 1), known, label, tau)
    alone = [weight_loss(row[None], known, label, tau) for row in torch.eye(teachers, dtype=torch.float64)]
    assert min(alone) - 1e-9 <= mixture <= max(alone) + 1e-9
    assert mixture >= 0


@given(nodes=st.integers(1, 9), teachers=st.integers(1, 5), seed=seeds)
def test_shrinkage_is_zero_for_equal_weights_and_above_it_otherwise(nodes: int, teachers: int, seed: int) -> None:
    equal = torch.full((nodes, teachers), 1 / teachers, dtype=torch.float64)
    assert abs(shrinkage(equal).item()) < 1e-9
    assert shrinkage(torch.softmax(logits(nodes, teachers, seed=seed), 1)) >= -1e-9


@given(teachers=counts, seed=seeds)
def test_all_weight_on_one_teacher_gives_that_teacher(teachers: int, seed: int) -> None:
    each = torch.softmax(logits(teachers, 5, 3, seed=seed), -1)
    chosen = seed % teachers
    weights = torch.eye(teachers, dtype=torch.float64)[chosen].expand(5, -1)
    torch.testing.assert_close(mixed(weights, each), each[chosen])


@given(seed=seeds, teachers=counts)
def test_temperatures_change_no_prediction(seed: int, teachers: int) -> None:
    known = knowledge(teachers, 12, 3, seed, 3.0)
    assert torch.equal(known.calibrated("temperature").logits.argmax(-1), known.logits.argmax(-1))
