"""Per-node teacher weights: the schemes against loops and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.integrate import INTEGRATORS, Knowledge
from agssl.integrate.base import integrated, shrinkage, weight_loss
from agssl.integrate.latent_factor import latent_factor_scores
from agssl.integrate.teacher_student import matching_scores
from reference import integration

EVERY = tuple(INTEGRATORS)


def normal(seed: int, *shape: int) -> torch.Tensor:
    return 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def knowledge(teachers: int = 3, nodes: int = 8, classes: int = 4, train: tuple[int, ...] = (0, 3, 5)) -> Knowledge:
    logits, at = normal(0, teachers, nodes, classes).float(), torch.tensor(train)
    return Knowledge(logits, at, at % classes, logits[:, at])


shapes = st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(2, 4), st.integers(0, 999))


@given(shape=shapes)
@settings(max_examples=30, deadline=None)
def test_lf_scores_are_eq_7(shape: tuple[int, int, int, int]) -> None:
    teachers, nodes, classes, seed = shape
    z, mu, nu = normal(seed, nodes, classes), normal(seed + 1, teachers, classes), normal(seed + 2, classes)
    expected = integration.latent_factor(z.numpy(), mu.numpy(), nu.numpy())
    np.testing.assert_allclose(latent_factor_scores(z, mu, nu), expected, atol=1e-10)


def test_lf_scores_by_hand() -> None:
    z = torch.tensor([[1.0, 2.0]])
    mu, nu = torch.tensor([[3.0, 5.0], [-1.0, 0.5]]), torch.tensor([10.0, 100.0])
    # 10*3*1 + 100*5*2 and 10*(-1)*1 + 100*0.5*2
    assert latent_factor_scores(z, mu, nu).tolist() == [[1030.0, 90.0]]


@given(shape=shapes)
@settings(max_examples=30, deadline=None)
def test_ts_scores_are_eq_8(shape: tuple[int, int, int, int]) -> None:
    teachers, nodes, classes, seed = shape
    z, h, w = normal(seed, nodes, classes), normal(seed + 1, teachers, nodes, classes), normal(seed, classes, classes)
    expected = integration.teacher_student(z.numpy(), h.numpy(), w.numpy())
    np.testing.assert_allclose(matching_scores(z, h, w), expected, atol=1e-9)


def test_ts_scores_by_hand() -> None:
    z = torch.tensor([[1.0, 2.0]])
    h = torch.tensor([[[3.0, 1.0]], [[0.0, 1.0]]])
    w = torch.tensor([[1.0, 1.0], [0.0, 2.0]])
    # W z = (3, 4); W h = (4, 2) and (1, 2)
    assert matching_scores(z, h, w).tolist() == [[20.0, 11.0]]


@given(shape=shapes, tau=st.floats(0.3, 5))
@settings(max_examples=30, deadline=None)
def test_integrated_knowledge_and_l_w_are_the_formula(shape: tuple[int, int, int, int], tau: float) -> None:
    teachers, nodes, classes, seed = shape
    weights = torch.softmax(normal(seed, nodes, teachers), dim=1)
    h = normal(seed + 1, teachers, nodes, classes)
    labels = torch.arange(nodes) % classes
    p = integrated(weights, h, tau)
    np.testing.assert_allclose(p, integration.integrated(weights.numpy(), h.numpy(), tau), atol=1e-10)
    np.testing.assert_allclose(p.sum(1), np.ones(nodes))
    expected = integration.weight_loss(weights.numpy(), h.numpy(), labels.numpy(), tau)
    assert weight_loss(weights, h, labels, tau).item() == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_l_w_by_hand() -> None:
    h = torch.tensor([[[math.log(3.0), 0.0]], [[0.0, 0.0]]])  # 3:1 and 1:1
    weights = torch.tensor([[0.4, 0.6]])
    # p[0] = 0.4 * 0.75 + 0.6 * 0.5
    assert weight_loss(weights, h, torch.tensor([0]), 1.0).item() == pytest.approx(-math.log(0.6), rel=1e-6)
    # at temperature 0.5 the odds are squared, 9:1
    assert weight_loss(weights, h, torch.tensor([0]), 0.5).item() == pytest.approx(-math.log(0.66), rel=1e-6)


def test_l_w_is_finite_where_every_teacher_is_sure_and_wrong() -> None:
    h = torch.tensor([[[500.0, -500.0]]])
    assert torch.isfinite(weight_loss(torch.ones(1, 1), h, torch.tensor([1]), 1.0))


@pytest.mark.parametrize("teachers", [1, 3])
@pytest.mark.parametrize("name", EVERY)
def test_lambda_sums_to_one_for_every_node(name: str, teachers: int) -> None:
    known = knowledge(teachers)
    scheme = INTEGRATORS[name](known, Rng(0))
    for parameter in scheme.parameters():
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(3))
    weights = scheme(normal(9, 8, 4).float(), known.logits)
    assert weights.shape == (8, teachers)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(1), torch.ones(8))


def test_average_trusts_all_alike() -> None:
    known = knowledge(5)
    weights = INTEGRATORS["average"](known, Rng(0))(normal(1, 8, 4).float(), known.logits)
    torch.testing.assert_close(weights, torch.full((8, 5), 0.2))


@pytest.mark.parametrize("name", ["lf", "ts"])
def test_learned_weights_start_near_equal(name: str) -> None:
    known = knowledge(4)
    known = Knowledge(known.logits / 10, known.nodes, known.labels, known.heldout / 10)
    weights = INTEGRATORS[name](known, Rng(0))(normal(1, 8, 4).float(), known.logits)
    torch.testing.assert_close(weights, torch.full((8, 4), 0.25), atol=0.05, rtol=0)


def test_random_weights_are_the_softmax_of_uniform_draws() -> None:
    known = knowledge(3, nodes=4000)
    z = torch.zeros(4000, 4)
    one, two = (INTEGRATORS["random"](known, Rng(seed))(z, known.logits) for seed in range(2))
    assert not torch.equal(one, two)
    assert torch.equal(one, INTEGRATORS["random"](known, Rng(0))(z, known.logits))
    scores = one.log()
    spread = scores.max(1).values - scores.min(1).values
    assert spread.max() <= 1 + 1e-5
    torch.testing.assert_close(one.mean(0), torch.full((3,), 1 / 3), atol=0.02, rtol=0)


def test_weighted_is_the_softmax_of_minus_the_cross_entropy_on_labelled_nodes() -> None:
    known = knowledge(3)
    weights = INTEGRATORS["weighted"](known, Rng(0))(torch.zeros(8, 4), known.logits)
    expected = []
    for node, label in zip(known.nodes.tolist(), known.labels.tolist(), strict=True):
        right = []
        for k in range(3):
            row = known.logits[k, node].double()
            right.append((row[label] - row.logsumexp(0)).exp().item())  # exp(-cross-entropy)
        expected.append([r / sum(right) for r in right])
    np.testing.assert_allclose(weights[known.nodes], expected, rtol=1e-4)


def test_weighted_prefers_the_smaller_loss() -> None:
    logits = torch.zeros(2, 4, 3)
    logits[0, 1, 2] = 4.0  # teacher 0 is right about node 1
    known = Knowledge(logits, torch.tensor([1]), torch.tensor([2]), logits[:, [1]])
    weights = INTEGRATORS["weighted"](known, Rng(0))(torch.zeros(4, 3), logits)
    assert weights[1, 0] > weights[1, 1]


def test_weighted_gives_unlabelled_nodes_the_average() -> None:
    known = knowledge(3)
    weights = INTEGRATORS["weighted"](known, Rng(0))(torch.zeros(8, 4), known.logits)
    rest = np.setdiff1d(np.arange(8), known.nodes)
    torch.testing.assert_close(weights[rest], weights[known.nodes].mean(0).expand(len(rest), -1))


@pytest.mark.parametrize("name", ["lf", "ts"])
def test_relabelling_the_nodes_permutes_lambda(name: str) -> None:
    known = knowledge(3)
    scheme = INTEGRATORS[name](known, Rng(0))
    for parameter in scheme.parameters():
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(3))
    z, order = normal(1, 8, 4).float(), torch.randperm(8, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(scheme(z, known.logits)[order], scheme(z[order], known.logits[:, order]))


@pytest.mark.parametrize("name", ["lf", "ts"])
def test_l_w_moves_every_learned_parameter_and_lowers_itself(name: str) -> None:
    known = knowledge(3)
    scheme, z = INTEGRATORS[name](known, Rng(0)), normal(1, 3, 4).float()
    optimizer = torch.optim.Adam(scheme.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = weight_loss(scheme(z, known.heldout), known.heldout, known.labels, 1.0)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    for parameter in scheme.parameters():
        assert parameter.grad is not None
        assert parameter.grad.abs().sum() > 0


@pytest.mark.parametrize("name", EVERY)
def test_schemes_say_truly_whether_they_learn(name: str) -> None:
    scheme = INTEGRATORS[name](knowledge(), Rng(0))
    assert scheme.learns == bool(list(scheme.parameters()))


def test_shrinkage_is_least_where_all_teachers_are_trusted_alike() -> None:
    even = shrinkage(torch.full((6, 3), 1 / 3))
    assert even.item() == pytest.approx(0, abs=1e-6)
    assert shrinkage(torch.tensor([[0.9, 0.1]])).item() == pytest.approx(-math.log(4 * 0.9 * 0.1) / 2, rel=1e-5)
    for seed in range(5):
        assert shrinkage(torch.softmax(normal(seed, 6, 3), dim=1)) > even


def test_an_unknown_scheme_gives_the_nearest_names() -> None:
    with pytest.raises(SettingsError, match=r"unknown integration 'averge'; did you mean 'average'"):
        INTEGRATORS["averge"]
