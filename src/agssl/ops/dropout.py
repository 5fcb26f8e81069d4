"""Dropout masks that cost little: torch's CPU generator would dominate a training step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng


def keep_mask(shape: Sequence[int], p: float, rng: Rng, dtype: torch.dtype = torch.float32) -> Tensor:
    """What inverted dropout multiplies by: zeros (with probability p) and 1 / (1 - p), of this shape, on the CPU.

    p = 0.5 takes one random bit per element, other values 16 (so p is met to 1/65536).
    """
    size, kind = math.prod(shape), torch.empty(0, dtype=dtype).numpy().dtype
    generator = rng.numpy()
    if p == 0.5:
        packed = np.frombuffer(generator.bytes((size + 7) // 8), dtype=np.uint8)
        factors = _bytes_spread(kind).take(packed, axis=0).reshape(-1)[:size]
    else:
        draws = np.frombuffer(generator.bytes(2 * size), dtype=np.uint16)
        factors = (draws >= round(p * 65536)).astype(kind)
        factors *= kind.type(1 / (1 - p))
    return torch.from_numpy(factors).reshape(tuple(shape))


@lru_cache
def _bytes_spread(kind: np.dtype) -> np.ndarray:
    """The eight bits of each byte as factors 0 and 2, [256, 8]: looking up is quicker than unpacking and converting."""
    return np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(kind) * 2


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h: Tensor, mask: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(mask)
        return torch.mul(h, mask)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[no-untyped-def]
        (mask,) = ctx.saved_tensors
        return torch.mul(grad, mask), None


def dropout(h: Tensor, p: float, rng: Rng) -> Tensor:
    """Inverted dropout of a dense tensor, drawn from `rng`."""
    if p == 0:
        return h
    return _Dropout.apply(h, keep_mask(h.shape, p, rng, h.dtype).to(h.device))
