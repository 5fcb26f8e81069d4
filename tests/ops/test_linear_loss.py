"""The fused cross-entropy of a linear head against torch's."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from agssl.ops import linear_loss
from agssl.ops.linear_loss import info_nce, linear_cross_entropy


def problem(n: int, classes: int, dtype: torch.dtype, scale: float = 1.0) -> tuple[torch.nn.Linear, torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    head = torch.nn.Linear(6, classes).to(dtype)
    hidden = scale * torch.randn(n, 6, generator=generator).to(dtype)
    return head, hidden.requires_grad_(), torch.randint(classes, (n,), generator=generator)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
@pytest.mark.parametrize("block", [512, 7])
@pytest.mark.parametrize(("n", "classes"), [(1, 2), (50, 9), (7, 3)])
def test_value_and_gradients_are_those_of_torch(
    monkeypatch, dtype, tolerance, block: int, n: int, classes: int
) -> None:
    monkeypatch.setattr(linear_loss, "BLOCK", block)
    head, hidden, labels = problem(n, classes, dtype)
    found = linear_cross_entropy(head, hidden, labels)
    ours = torch.autograd.grad(3 * found, [hidden, head.weight, head.bias])
    expected = F.cross_entropy(head(hidden), labels)
    theirs = torch.autograd.grad(3 * expected, [hidden, head.weight, head.bias])
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, atol=tolerance, rtol=tolerance)


def test_large_scores_do_not_overflow() -> None:
    head, hidden, labels = problem(20, 4, torch.float32, scale=1e4)
    found = linear_cross_entropy(head, hidden, labels)
    torch.testing.assert_close(found, F.cross_entropy(head(hidden), labels))


@pytest.mark.parametrize("room", [1 << 22, 24, 5])
@pytest.mark.parametrize("others_only", [True, False])
def test_blocked_and_unblocked_contrast_agree(monkeypatch, room: int, others_only: bool) -> None:
    generator = torch.Generator().manual_seed(1)
    z = torch.randn(12, 6, generator=generator).double().requires_grad_()
    positive = torch.arange(12).roll(5)
    scores = z @ z.t() / 0.4
    if others_only:
        scores = scores.masked_fill(torch.eye(12, dtype=torch.bool), -torch.inf)
    expected = F.cross_entropy(scores, positive)
    monkeypatch.setattr(linear_loss, "ROOM", room)
    found = info_nce(z, z, positive, 0.4, others_only)
    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(torch.autograd.grad(2 * found, z), torch.autograd.grad(2 * expected, z), strict=True):
        torch.testing.assert_close(ours, theirs)
