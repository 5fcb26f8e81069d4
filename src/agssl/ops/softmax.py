"""Softmax over few columns.

torch works along rows, which is slow where these are short, as with classes and teachers: with columns laid out one
after the other, all nodes are done at once.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

FEW = 64  # columns, up to which the other layout pays


def softmax(x: Tensor) -> Tensor:
    """Softmax over the last dimension, differentiable; its result may be laid out by columns."""
    if not 1 < x.shape[-1] <= FEW:
        return torch.softmax(x, -1)
    return torch.softmax(x.movedim(-1, 0).contiguous(), 0).movedim(0, -1)


class _Divergence(torch.autograd.Function):
    """The gradient falls out of the forward pass, so it is kept and nothing else is."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor) -> Tensor:
        z, p = logits.t().contiguous(), target.t().contiguous()  # [C, n]
        log_q = torch.log_softmax(z, 0)
        total = torch.special.xlogy(p, p).sum() - (p * log_q).sum()
        ctx.save_for_backward(log_q.exp_().mul_(p.sum(0)).sub_(p).t())
        return total

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (difference,) = ctx.saved_tensors
        return (difference * grad).contiguous(), None


def kl_divergence(logits: Tensor, target: Tensor) -> Tensor:
    """sum_i KL(p_i || softmax(z_i)), differentiable in the logits z [n, C]; p [n, C] are constants."""
    return _Divergence.apply(logits, target)
