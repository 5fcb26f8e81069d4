"""Dropout masks that cost little: torch's CPU generator would dominate a training step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng


def keep_mask(shape: Sequence[int], p: float, rng: Rng) -> Tensor:
    """A mask of zeros (with probability p) and ones of this shape, uint8, on the CPU.

    p = 0.5 takes one random bit per element, other values 16 (so p is met to 1/65536).
    """
    size = math.prod(shape)
    generator = rng.numpy()
    if p == 0.5:
        packed = np.frombuffer(generator.bytes((size + 7) // 8), dtype=np.uint8)
        kept = np.unpackbits(packed, count=size)
    else:
        draws = np.frombuffer(generator.bytes(2 * size), dtype=np.uint16)
        kept = (draws >= round(p * 65536)).view(np.uint8)
    return torch.from_numpy(kept).reshape(tuple(shape))


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h: Tensor, mask: Tensor, scale: float) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(mask)
        ctx.scale = scale
        return torch.mul(h, mask).mul_(scale)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[no-untyped-def]
        (mask,) = ctx.saved_tensors
        return torch.mul(grad, mask).mul_(ctx.scale), None, None


def dropout(h: Tensor, p: float, rng: Rng) -> Tensor:
    """Inverted dropout of a dense tensor, drawn from `rng`."""
    if p == 0:
        return h
    mask = keep_mask(h.shape, p, rng).to(h.device)
    return _Dropout.apply(h, mask, 1 / (1 - p))
