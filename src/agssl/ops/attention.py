"""Attention along the edges: what a node gathers is weighed by how well both ends of each edge fit.

Memory is linear in edges times heads, never in edges times columns: products run head by head, and the gradient of the
weights is made for a block of edges at a time.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from agssl.ops.csr import Csr, product

BLOCK = 1024  # edges whose rows are gathered at a time, to stay in cache


def attend(a: Csr, rows: Tensor, source: Tensor, target: Tensor, slope: float = 0.2) -> Tensor:
    """Weighted sums of rows, each head with weights of its own; differentiable in all three tensors.

    Head h of node i gathers with weights proportional to a_ij exp(leaky_relu(target_ih + source_jh)), which sum to 1:
    where all scores are alike, these are the rows of `a` scaled to sum 1. An entry with value 0 is no edge; a row
    without entries gathers nothing.

    Args:
        a: [n, m], no entry negative.
        rows: [m, heads * width].
        source: [m, heads], scores of the rows that are gathered.
        target: [n, heads], scores of the nodes that gather.
        slope: of leaky ReLU below 0.

    Returns:
        [n, heads * width].
    """
    return _Attend.apply(rows, source, target, a, slope)


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, source: Tensor, target: Tensor, a: Csr, slope: float) -> Tensor:
        scores = target.index_select(0, a.row_of).add_(source.index_select(0, a.indices))  # [nnz, heads]
        ctx.rises = scores > 0
        share = _softmax(a, F.leaky_relu_(scores, slope))
        ctx.save_for_backward(rows, share)  # and not the sums, which may be changed in place
        ctx.a, ctx.slope = a, slope
        return _by_head(share, rows, lambda weights, part: product(a.with_values(weights), part))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        rows, share = ctx.saved_tensors
        a, grad = ctx.a, grad.contiguous()
        slopes = _dots(a, grad, rows, share.shape[1]).mul_(share)
        mean = a.row_sums(slopes)  # the derivative of a softmax: share * (slope - their mean)
        slopes.addcmul_(mean.index_select(0, a.row_of), share, value=-1)
        slopes.mul_(torch.where(ctx.rises, 1.0, ctx.slope))
        back = _by_head(share, grad, lambda weights, part: a.with_values(weights).transposed_product(part))
        return back, a.column_sums(slopes), a.row_sums(slopes), None, None


def _softmax(a: Csr, scores: Tensor) -> Tensor:
    """a_ij exp(score_ij), scaled so that rows sum to 1, in place; [nnz, heads]."""
    values = a.values.to(scores.dtype)[:, None]
    scores.masked_fill_(values == 0, -torch.inf)
    highest = a.row_highest(scores).nan_to_num_(neginf=0.0)  # of rows without edges: there is nothing to scale
    share = scores.sub_(highest.index_select(0, a.row_of)).exp_().mul_(values)
    sums = a.row_sums(share)
    sums[sums == 0] = 1
    return share.div_(sums.index_select(0, a.row_of))


def _by_head(share: Tensor, rows: Tensor, multiply: Any) -> Tensor:
    """Products of each head's weights with its columns, side by side."""
    parts = rows.chunk(share.shape[1], dim=1)
    weights = share.t().contiguous()
    return torch.cat([multiply(own, part.contiguous()) for own, part in zip(weights, parts, strict=True)], dim=1)


def _dots(a: Csr, left: Tensor, right: Tensor, heads: int) -> Tensor:
    """left_i . right_j of each stored entry (i, j), head by head: [nnz, heads]."""
    # A product with zeros and ones adds up the columns of each head, faster than a sum over a short axis.
    adds = torch.eye(heads, dtype=left.dtype, device=left.device).repeat_interleave(left.shape[1] // heads, dim=0)
    dots = left.new_empty(a.nnz, heads)
    for start in range(0, a.nnz, BLOCK):
        at = slice(start, start + BLOCK)
        pairs = left.index_select(0, a.row_of[at]).mul_(right.index_select(0, a.indices[at]))
        torch.mm(pairs, adds, out=dots[at])
    return dots
