"""Cross-entropy of a linear head or of similarities (InfoNCE), without storing the scores."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

BLOCK = 2048  # rows at a time, at most: their logits and gradients stay in cache
ROOM = 1 << 22  # scores at a time, where there are more columns than a head has classes


class _LinearCrossEntropy(torch.autograd.Function):
    """The gradients fall out of the forward pass (softmax minus one-hot), so they are kept and the logits are not."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, labels: Tensor, others_only: bool = False
    ) -> Tensor:
        n = len(hidden)
        block = max(1, min(BLOCK, ROOM // len(weight)))
        total = hidden.new_zeros(())
        d_hidden, d_weight, d_bias = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
        for start in range(0, n, block):
            rows, truth = hidden[start : start + block], labels[start : start + block, None]
            scores = torch.addmm(bias, rows, weight.t())
            if others_only:
                scores.diagonal(start).fill_(-torch.inf)
            scores.sub_(scores.amax(1, keepdim=True))
            total -= scores.gather(1, truth).sum()
            sums = scores.exp_().sum(1, keepdim=True)
            total += sums.log().sum()
            scores.div_(sums * n)  # softmax / n; it becomes the gradient of the logits
            scores.scatter_add_(1, truth, scores.new_full((len(rows), 1), -1 / n))
            torch.mm(scores, weight, out=d_hidden[start : start + block])
            d_weight.addmm_(scores.t(), rows)
            d_bias += scores.sum(0)
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        return total / n

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        return d_hidden.mul_(grad), d_weight.mul_(grad), d_bias.mul_(grad), None, None


def linear_cross_entropy(head: torch.nn.Linear, hidden: Tensor, labels: Tensor) -> Tensor:
    """`cross_entropy(head(hidden), labels)` for [n, F] representations; to be differentiated at most once."""
    return _LinearCrossEntropy.apply(hidden, head.weight, head.bias, labels)


def info_nce(anchors: Tensor, candidates: Tensor, positive: Tensor, tau: float, others_only: bool = False) -> Tensor:
    """-1/n sum_i log ( exp(a_i . c_p(i) / tau) / sum_k exp(a_i . c_k / tau) ); to be differentiated at most once.

    Args:
        anchors: a, [n, F].
        candidates: c, [m, F].
        positive: p, int64 [n].
        tau: the temperature.
        others_only: candidate i is anchor i itself, and is left out of its sum.
    """
    bias = candidates.new_zeros(len(candidates))
    return _LinearCrossEntropy.apply(anchors / tau, candidates, bias, positive, others_only)


def two_view_loss(first: Tensor, second: Tensor, tau: float) -> Tensor:
    """GRACE's objective, with cosine similarity s (Zhu et al. 2020, Eqs. 1 and 2), [n, F] each.

    l(u_i, v_i) = -log ( e^{s(u_i, v_i)/tau} / (sum_k e^{s(u_i, v_k)/tau} + sum_{k != i} e^{s(u_i, u_k)/tau}) ), and the
    mean of l over nodes and both directions. With both views in one list, a row's candidates are all other rows.
    """
    both = torch.nn.functional.normalize(torch.cat([first, second]), dim=1)
    n = len(first)
    return info_nce(both, both, torch.arange(2 * n, device=both.device).roll(n), tau, others_only=True)
