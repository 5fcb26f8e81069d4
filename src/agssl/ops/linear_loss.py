"""Cross-entropy of a linear head, without storing its logits."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

BLOCK = 2048  # rows at a time: their logits and gradients stay in cache


class _LinearCrossEntropy(torch.autograd.Function):
    """The gradients fall out of the forward pass (softmax minus one-hot), so they are kept and the logits are not."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, labels: Tensor) -> Tensor:
        n = len(hidden)
        total = hidden.new_zeros(())
        d_hidden, d_weight, d_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        for start in range(0, n, BLOCK):
            rows, truth = hidden[start : start + BLOCK], labels[start : start + BLOCK, None]
            scores = torch.addmm(bias, rows, weight.t())
            scores.sub_(scores.amax(1, keepdim=True))
            total -= scores.gather(1, truth).sum()
            sums = scores.exp_().sum(1, keepdim=True)
            total += sums.log().sum()
            scores.div_(sums * n)  # softmax / n; it becomes the gradient of the logits
            scores.scatter_add_(1, truth, scores.new_full((len(rows), 1), -1 / n))
            torch.mm(scores, weight, out=d_hidden[start : start + BLOCK])
            d_weight.addmm_(scores.t(), rows)
            d_bias += scores.sum(0)
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        return total / n

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        return d_hidden.mul_(grad), d_weight.mul_(grad), d_bias.mul_(grad), None


def linear_cross_entropy(head: torch.nn.Linear, hidden: Tensor, labels: Tensor) -> Tensor:
    """`cross_entropy(head(hidden), labels)` for [n, F] representations; to be differentiated at most once."""
    return _LinearCrossEntropy.apply(hidden, head.weight, head.bias, labels)
