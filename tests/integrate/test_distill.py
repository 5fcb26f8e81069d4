"""The student's loss and what its gradients reach."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.rng import Rng
from agssl.encoders import Shape
from agssl.integrate import INTEGRATORS, Integrator, Knowledge
from agssl.train.distill import Distillation, Lesson, degree_buckets, distill_kl, train_student
from agssl.train.loop import Schedule, Training
from agssl.train.problem import Problem
from reference import integration
from reference.graphs import blocks_graph


def problem_and_knowledge(teachers: int = 3) -> tuple[Problem, Knowledge]:
    graph = blocks_graph()
    problem = Problem.of(graph, Shape(8, 8, 3))
    logits = torch.randn(teachers, 60, 3, generator=torch.Generator().manual_seed(0))
    nodes = torch.from_numpy(problem.train_nodes)
    return problem, Knowledge(logits, nodes, problem.train_labels, logits[:, nodes])


@given(seed=st.integers(0, 999), nodes=st.integers(1, 6), classes=st.integers(2, 5), tau=st.floats(0.3, 5))
@settings(max_examples=40, deadline=None)
def test_kl_runs_from_the_teacher_to_the_student(seed: int, nodes: int, classes: int, tau: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(nodes, classes, generator=generator, dtype=torch.float64)
    p = torch.softmax(2 * torch.randn(nodes, classes, generator=generator, dtype=torch.float64), dim=1)
    expected = integration.distill_kl(z.numpy(), p.numpy(), tau)
    assert distill_kl(z, p, tau).item() == pytest.approx(expected, rel=1e-8, abs=1e-10)


def test_kl_by_hand_tells_the_directions_apart() -> None:
    z, p = torch.zeros(1, 2, dtype=torch.float64), torch.tensor([[0.9, 0.1]], dtype=torch.float64)
    forward = 0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5)
    backward = 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    assert distill_kl(z, p, 1.0).item() == pytest.approx(forward, rel=1e-12)
    assert abs(forward - backward) > 0.1


@pytest.mark.parametrize("tau", [0.5, 1.0, 3.0])
def test_kl_is_zero_if_and_only_if_the_two_agree(tau: float) -> None:
    z = torch.randn(5, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    p = torch.softmax(z / tau, dim=1)
    assert distill_kl(z, p, tau).item() == pytest.approx(0, abs=1e-12)
    assert distill_kl(z + 7, p, tau).item() == pytest.approx(0, abs=1e-12)
    for other in (z * 1.1, z.roll(1, 0), z.roll(1, 1)):
        assert distill_kl(other, p, tau).item() > 1e-4


def test_kl_is_finite_where_the_teacher_rules_a_class_out() -> None:
    p = torch.tensor([[1.0, 0.0]])
    assert distill_kl(torch.zeros(1, 2), p, 1.0).item() == pytest.approx(math.log(2))


def test_the_gradient_of_kl_does_not_shrink_with_the_temperature() -> None:
    def gradient(tau: float) -> torch.Tensor:
        z = torch.tensor([[1.0, -1.0, 0.0]], dtype=torch.float64, requires_grad=True)
        p = torch.softmax(torch.tensor([[0.0, 1.0, 2.0]], dtype=torch.float64) / tau, dim=1)
        distill_kl(z, p, tau).backward()
        return z.grad

    ratio = gradient(100.0).abs().sum() / gradient(10.0).abs().sum()
    assert ratio.item() == pytest.approx(1, abs=0.1)


def student_run(integrator: Integrator, problem: Problem, knowledge: Knowledge, epochs: int = 3, **how: object):  # type: ignore[no-untyped-def]
    schedule = Schedule(epochs=epochs)
    lesson = Lesson(problem, knowledge, integrator)
    return train_student([lesson], Distillation(**how), Training(schedule), Rng(0))  # type: ignore[arg-type]


def integrator_gradients(name: str, **how: object) -> list[torch.Tensor]:
    """The gradients that reach an integrator in the first epoch."""
    problem, knowledge = problem_and_knowledge()
    integrator = INTEGRATORS[name](knowledge, Rng(0))
    caught: list[torch.Tensor] = []
    for parameter in integrator.parameters():
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(6))
        parameter.register_hook(lambda gradient: caught.append(gradient.clone()))
    student_run(integrator, problem, knowledge, epochs=1, **how)
    return caught


@pytest.mark.parametrize("name", ["lf", "ts"])
def test_the_distillation_target_sends_no_gradient_to_the_integrator(name: str) -> None:
    without, with_much = (integrator_gradients(name, beta=beta) for beta in (0.0, 100.0))
    assert len(without) == len(with_much) > 0
    for a, b in zip(without, with_much, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("name", ["lf", "ts"])
def test_lambda_learns_from_l_w(name: str) -> None:
    problem, knowledge = problem_and_knowledge()
    integrator = INTEGRATORS[name](knowledge, Rng(0))
    before = [p.detach().clone() for p in integrator.parameters()]
    student = student_run(integrator, problem, knowledge, epochs=60)
    assert any(not torch.equal(a, b) for a, b in zip(before, integrator.parameters(), strict=True))
    losses = [record["weights"] for record in student.network.history]
    assert np.mean(losses[-5:]) < np.mean(losses[:5])


class Spy(INTEGRATORS["ts"]):  # type: ignore[misc]
    """TS that remembers whether the student's logits it is given could carry a gradient back."""

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        self.asked: list[bool] = []

    def forward(self, student: torch.Tensor, teachers: torch.Tensor, nodes: torch.Tensor | None = None) -> torch.Tensor:
        self.asked.append(student.requires_grad)
        return super().forward(student, teachers)


def test_the_gradient_of_l_w_reaches_the_student_only_on_request() -> None:
    problem, knowledge = problem_and_knowledge()
    for wanted in (False, True):
        spy = Spy(knowledge, Rng(0))
        student_run(spy, problem, knowledge, student_gradient=wanted)
        assert any(spy.asked) == wanted


@pytest.mark.parametrize("name", ["average", "random", "weighted"])
def test_settled_schemes_train_without_l_w(name: str) -> None:
    problem, knowledge = problem_and_knowledge()
    student = student_run(INTEGRATORS[name](knowledge, Rng(0)), problem, knowledge)
    assert all("weights" not in record for record in student.network.history)
    torch.testing.assert_close(student.weights.sum(1), torch.ones(60))


def test_teachers_stay_frozen() -> None:
    problem, knowledge = problem_and_knowledge()
    before = knowledge.logits.clone()
    student_run(INTEGRATORS["ts"](knowledge, Rng(0)), problem, knowledge)
    assert torch.equal(knowledge.logits, before)
    assert not knowledge.logits.requires_grad


def test_degree_buckets_by_hand() -> None:
    degrees = np.array([0, 1, 2, 3, 4, 6, 7, 10, 11, 20, 21, 500])
    assert degree_buckets(degrees).tolist() == [0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 7]
