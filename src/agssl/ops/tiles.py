"""Column tiles: wide operands are worked on 64 columns at a time, while they fit the cache."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from agssl.ops.csr import TILE

CACHED_BYTES = 1 << 19  # an operand up to this size, that of a core's cache, is as fast in one piece


def tile_width(rows: int, width: int) -> int:
    """How many columns of a float32 [rows, width] operand to take at a time.

    >>> tile_width(500, 256), tile_width(34493, 256)
    (256, 64)
    """
    return width if rows * width * 4 <= CACHED_BYTES or width % TILE else TILE


class _PermuteRows(torch.autograd.Function):
    """Rows in another order; the gradient is a gather by the inverse, where autograd would scatter."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
        ctx.inverse = inverse
        return h.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return grad.index_select(0, ctx.inverse), None, None


def permute_rows(h: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
    """`h[order]`, given the inverse of the permutation."""
    return _PermuteRows.apply(h, order, inverse)
