"""Which of two is better on the nodes that choose."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.splits import make_split
from agssl.data.synthetic import Synthetic, generate
from agssl.train.problem import Problem
from agssl.train.setup import problem_of
from agssl.train.worse import clearly_better


@pytest.fixture
def problem() -> Problem:
    graph = generate(Synthetic(nodes=400, edges=1600, classes=3))
    return problem_of(graph.with_split(make_split("random:20/100/100", graph, Rng(0))), Settings(), "cpu", None)


def said(problem: Problem, right: np.ndarray, sure: float = 2.0) -> torch.Tensor:
    """Logits of the validation nodes, with the true class ahead at some of them, and the next one at others."""
    truth = problem.labels[torch.from_numpy(problem.val_nodes)]
    answer = torch.where(torch.from_numpy(right), truth, (truth + 1) % problem.shape.classes)
    return sure * torch.nn.functional.one_hot(answer, problem.shape.classes).float()


def test_nodes_are_paired(problem: Problem) -> None:
    n = len(problem.val_nodes)
    half = np.arange(n) < n // 2
    more = np.arange(n) < n // 2 + n // 5
    assert "validation accuracy" in clearly_better(problem, said(problem, more), said(problem, half))
    assert not clearly_better(problem, said(problem, half), said(problem, more))
    # as many more are right, but they are others: the difference may be chance
    others = np.arange(n) >= n - (n // 2 + 1)
    assert not clearly_better(problem, said(problem, others), said(problem, half))


def test_likelihood_counts_where_the_metric_agrees(problem: Problem) -> None:
    n = len(problem.val_nodes)
    truth = problem.labels[torch.from_numpy(problem.val_nodes)]
    hidden = np.random.default_rng(0).normal(size=(n, problem.shape.classes)).astype(np.float32)
    vague = torch.from_numpy(hidden)
    sharp = vague.clone()
    wrong = vague.argmax(1) != truth
    sharp[wrong, truth[wrong]] += 0.98 * (vague.max(1).values - vague[torch.arange(n), truth])[wrong]  # nearly right
    first = torch.nonzero(wrong)[0, 0]
    sharp[first, truth[first]] += 1.0  # and one more is
    assert "validation log-loss" in clearly_better(problem, sharp, vague)
    assert not clearly_better(problem, vague, sharp)


def test_equal_ones_are_not_better(problem: Problem) -> None:
    logits = said(problem, np.arange(len(problem.val_nodes)) % 3 > 0)
    assert not clearly_better(problem, logits, logits)
