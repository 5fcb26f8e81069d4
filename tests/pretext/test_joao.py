"""JOAO: the distribution over views against a search on the simplex, the loss against loops over nodes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.rng import Rng
from agssl.encoders import Network
from agssl.pretext.joao import KINDS, PAIRS, Chooser, Joao, onto_simplex, toward_the_hardest
from agssl.train.context import Context
from agssl.train.loop import Training
from agssl.train.methods import train_method
from agssl.train.network import WeightedTask, forward, make_heads
from reference.graphs import blocks_graph
from reference.settings import quick


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6))
def test_the_projection_is_the_nearest_point_of_the_simplex(values: list[float]) -> None:
    found = onto_simplex(torch.tensor(values, dtype=torch.float64)).numpy()
    assert found.min() >= 0 and found.sum() == pytest.approx(1)
    low, high = min(values) - 1, max(values)  # the naive way: bisection for the shift
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(max(v - middle, 0) for v in values) > 1 else (low, middle)
    np.testing.assert_allclose(found, [max(v - low, 0) for v in values], atol=1e-9)


def test_the_distribution_turns_to_high_losses_and_settles_at_the_best_response() -> None:
    losses, gamma = torch.tensor([0.1, 0.3, 0.2, 0.0]), 2.0
    p = torch.full((4,), 0.25)
    for _ in range(400):
        p = toward_the_hardest(p, losses, 0.1, gamma)
    # of sum p L - gamma/2 |p - 1/n|^2 the maximum over the simplex, by a fine grid
    steps = 20
    grid = [np.array(q) / steps for q in np.ndindex((steps + 1,) * 4) if sum(q) == steps]
    value = lambda q: q @ losses.numpy() - gamma / 2 * ((q - 0.25) ** 2).sum()  # noqa: E731
    assert value(p.numpy()) >= max(map(value, grid)) - 1e-6
    assert p.argsort().tolist() == losses.argsort().tolist()


def a_step(steps: int = 0) -> tuple[Joao, Chooser, list[np.ndarray], float, torch.Tensor]:
    """A task with its head, the projections of all its views by node, the number drawn, and the loss."""
    graph = blocks_graph()
    context = Context.of(graph, quick(tasks=("joao",), dropout=0.0), Training(), Rng(0))
    task, targets = context.targets("joao")
    weighted = [WeightedTask("joao", task, targets, 1.0)]
    model = Network(context.problem.shape, Rng(0))
    (head,) = make_heads(context.problem, model, weighted, Rng(1))
    assert isinstance(task, Joao) and isinstance(head, Chooser)
    head.steps.fill_(steps)
    _, views, (sample,) = forward(context.problem, model, weighted, False, Rng(2))
    with torch.no_grad():
        rows = [head.project(views.encode(view)).numpy() for view in sample.views]
    return task, head, rows, float(sample.data["chance"]), task.loss(head, views, sample, targets)


def naive(first: np.ndarray, second: np.ndarray, tau: float) -> float:
    """GRACE's loss, node by node."""
    u, v = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in (first, second))
    total, n = 0.0, len(u)
    for a, b in ((u, v), (v, u)):
        for i in range(n):
            others = [math.exp(a[i] @ b[k] / tau) for k in range(n)]
            others += [math.exp(a[i] @ a[k] / tau) for k in range(n) if k != i]
            total -= math.log(math.exp(a[i] @ b[i] / tau) / sum(others))
    return total / (2 * n)


def test_all_pairs_are_measured_and_one_is_drawn() -> None:
    task, head, rows, chance, loss = a_step()
    firsts, seconds = rows[: len(KINDS)], rows[len(KINDS) :]
    expected = [naive(a, b, task.temperature) for a in firsts for b in seconds]
    np.testing.assert_allclose(head.losses.numpy(), expected, rtol=1e-4)
    assert loss.item() == pytest.approx(expected[int(chance * PAIRS)], rel=1e-4)  # all are alike at first
    before = head.probabilities.clone()
    task.after_step(head, None)  # type: ignore[arg-type]
    torch.testing.assert_close(head.probabilities, toward_the_hardest(before, head.losses, task.rate, task.gamma))
    assert head.probabilities[int(np.argmax(expected))] > 1 / PAIRS and int(head.steps) == 1
    again = head.probabilities.clone()
    task.after_step(head, None)  # type: ignore[arg-type]
    assert torch.equal(head.probabilities, again)  # until `every` steps have passed


def test_between_its_moves_nothing_is_measured() -> None:
    _, head, *_ = a_step(steps=3)
    assert not head.losses.any()


def test_it_trains_a_network_the_same_each_time() -> None:
    how = quick(method="single", tasks=("joao:every=2:nodes=20",), epochs=5)
    first, second = (train_method(blocks_graph(), how).logits for _ in range(2))
    assert torch.equal(first, second)
