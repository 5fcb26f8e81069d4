"""WAS: who is selected, how the selected are weighed, and what learns."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from agssl.base.rng import Rng
from agssl.encoders import Shape
from agssl.integrate import INTEGRATORS, Knowledge
from agssl.integrate.was import MOMENTUM, WeighAndSelect, selected_softmax, selection_probabilities, straight_through
from agssl.train.distill import Distillation, Lesson, train_student
from agssl.train.loop import Schedule, Training
from agssl.train.problem import Problem
from reference.graphs import blocks_graph


def scheme(teachers: int = 3, classes: int = 2, nodes: int = 5) -> WeighAndSelect:
    logits = torch.randn(teachers, nodes, classes, generator=torch.Generator().manual_seed(0))
    at = torch.arange(2)
    made = INTEGRATORS["was"](Knowledge(logits, at, at % classes, logits[:, at]), Rng(0))
    assert isinstance(made, WeighAndSelect)
    return made


def test_selection_probabilities_by_hand() -> None:
    scores = torch.log(torch.tensor([[1.0, 2.0, 4.0], [3.0, 3.0, 1.5]]))
    # softmax is (1, 2, 4) / 7 and (3, 3, 1.5) / 7.5; the largest becomes 1
    expected = torch.tensor([[0.25, 0.5, 1.0], [1.0, 1.0, 0.5]])
    torch.testing.assert_close(selection_probabilities(scores), expected)
    softmax = torch.softmax(scores, dim=1)
    torch.testing.assert_close(softmax / softmax.amax(1, keepdim=True), expected)


def test_the_softmax_is_over_the_selected_ones() -> None:
    scores = torch.log(torch.tensor([[1.0, 2.0, 5.0], [1.0, 3.0, 4.0]]))
    mask = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    torch.testing.assert_close(selected_softmax(scores, mask), torch.tensor([[1 / 3, 2 / 3, 0.0], [0.0, 0.0, 1.0]]))


@pytest.mark.parametrize("far", [-1e4, 1e4])
def test_scores_far_apart_stay_finite_with_finite_gradients(far: float) -> None:
    scores = torch.tensor([[0.0, far]], requires_grad=True)
    mask = torch.tensor([[1.0, 0.0]], requires_grad=True)
    weights = selected_softmax(scores, mask)
    weights[0, 0].backward()
    assert weights.tolist() == [[1.0, 0.0]]
    assert torch.isfinite(scores.grad).all() and torch.isfinite(mask.grad).all()


def test_masks_have_the_gradient_of_their_probabilities() -> None:
    kappa = torch.tensor([[0.3, 1.0]], requires_grad=True)
    mask = straight_through(torch.tensor([[0.0, 1.0]]), kappa)
    assert mask.tolist() == [[0.0, 1.0]]
    (mask * torch.tensor([[5.0, 7.0]])).sum().backward()
    assert kappa.grad.tolist() == [[5.0, 7.0]]
    # of lambda_0 = m_0 e^0 / (m_0 e^0 + m_1 e^z) at m = (0, 1): d / dm_0 = e^-z
    m = torch.tensor([[0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    selected_softmax(torch.tensor([[0.0, 0.7]], dtype=torch.float64), m)[0, 0].backward()
    assert m.grad[0].tolist() == pytest.approx([math.exp(-0.7), 0.0])


def test_lambda_by_hand_after_training() -> None:
    was = scheme()
    with torch.no_grad():
        was.mu.copy_(torch.log(torch.tensor([[2.0, 1.0], [3.0, 1.0], [5.0, 1.0]])))
        was.slow_mu.copy_(torch.log(torch.tensor([[1.0, 1.0], [4.0, 1.0], [1.0, 1.0]])))
        was.projection.copy_(torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.75, 0.0]]))
    weights = was.eval()(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.zeros(3, 2, 2))
    # Node 0: selection scores log 1, log 4, 0.75 log 4, so kappa = 1/4, 1, 4^-0.25 = 0.71: teachers 1 and 2, 3 to 5.
    # Node 1: all scores are 0, so all three are selected, and weigh alike.
    torch.testing.assert_close(weights, torch.tensor([[0.0, 3 / 8, 5 / 8], [1 / 3, 1 / 3, 1 / 3]]))


def test_no_node_is_left_without_a_teacher_and_draws_follow_kappa() -> None:
    was = scheme(nodes=4000)
    with torch.no_grad():
        was.slow_mu.copy_(torch.log(torch.tensor([[1.0, 1.0], [2.0, 1.0], [10.0, 1.0]])))
    student = torch.tensor([[1.0, 0.0]]).expand(4000, -1)
    weights = was(student, torch.zeros(3, 4000, 2))
    np.testing.assert_allclose((weights > 0).float().mean(0), [0.1, 0.2, 1.0], atol=0.02)
    torch.testing.assert_close(weights.sum(1), torch.ones(4000))
    assert torch.equal(weights, was(student, torch.zeros(3, 4000, 2))), "the same step draws the same"
    was.step(Rng(0).child(1))
    assert not torch.equal(weights, was(student, torch.zeros(3, 4000, 2)))


def test_the_copy_follows_slowly_and_is_part_of_the_state() -> None:
    was = scheme()
    with torch.no_grad():
        was.mu.fill_(1.0)
    was.step(Rng(0))
    was.step(Rng(1))
    torch.testing.assert_close(was.slow_mu, torch.full((3, 2), 1 - MOMENTUM**2))
    assert not was.slow_mu.requires_grad
    other = scheme()
    other.load_state_dict(was.state_dict())
    assert torch.equal(other.slow_mu, was.slow_mu)


def test_weights_and_selection_both_learn_in_training() -> None:
    problem = Problem.of(blocks_graph(), Shape(8, 8, 3))
    logits = 2 * torch.randn(3, 60, 3, generator=torch.Generator().manual_seed(0))
    logits[1] += 3 * torch.eye(3)[torch.arange(60) % 3]  # one teacher knows the labels
    nodes = torch.from_numpy(problem.val_nodes)
    known = Knowledge(logits, nodes, problem.labels[nodes], logits[:, nodes])
    was = INTEGRATORS["was"](known, Rng(0))
    student = train_student([Lesson(problem, known, was)], Distillation(), Training(Schedule(epochs=60)), Rng(0))
    assert not torch.equal(was.projection, torch.eye(3))
    assert was.slow_mu.abs().sum() > 0
    assert student.weights.argmax(1).bincount(minlength=3).argmax() == 1
    torch.testing.assert_close(student.weights.sum(1), torch.ones(60))
