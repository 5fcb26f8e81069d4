"""Softmax over few columns, and the divergence from it, against torch and a naive loop."""

from __future__ import annotations

import math

import pytest
import torch

from agssl.ops.softmax import FEW, kl_divergence, softmax


@pytest.mark.parametrize("shape", [(6, 5), (3, 6, 4), (6, 1), (4, FEW), (4, FEW + 1), (2, 2)])
def test_it_is_the_softmax_of_torch_and_so_is_its_gradient(shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    weight = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    ours, theirs = softmax(x), torch.softmax(x, -1)
    torch.testing.assert_close(ours, theirs)
    (ours_grad,) = torch.autograd.grad((ours * weight).sum(), x)
    (theirs_grad,) = torch.autograd.grad((theirs * weight).sum(), x)
    torch.testing.assert_close(ours_grad, theirs_grad)


def test_the_divergence_is_that_of_a_loop_and_its_gradient_that_of_autograd() -> None:
    z = torch.randn(7, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2), requires_grad=True)
    p = torch.rand(7, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    p[2, 1] = 0.0  # 0 log 0 is 0
    q = torch.softmax(z.detach(), 1)
    expected = sum(
        p[i, c].item() * (math.log(p[i, c]) - math.log(q[i, c])) for i in range(7) for c in range(4) if p[i, c] > 0
    )
    found = kl_divergence(z, p)  # rows of p need not sum to one
    assert found.item() == pytest.approx(expected, rel=1e-12)
    (ours,) = torch.autograd.grad(3 * found, z)
    other = (torch.special.xlogy(p, p) - p * torch.log_softmax(z, 1)).sum()
    (theirs,) = torch.autograd.grad(3 * other, z)
    torch.testing.assert_close(ours, theirs)
    assert torch.autograd.gradcheck(lambda x: kl_divergence(x, p), (z,))
