"""Dropout masks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agssl.base.rng import Rng
from agssl.ops.dropout import dropout, keep_mask


@pytest.mark.parametrize("p", [0.5, 0.1, 0.37, 0.9])
def test_the_share_of_zeros_is_p(p: float) -> None:
    mask = keep_mask((400, 500), p, Rng(0))
    assert set(mask.unique().tolist()) == {0, torch.tensor(1 / (1 - p)).item()}
    spread = (p * (1 - p) / mask.numel()) ** 0.5
    assert abs((mask == 0).double().mean().item() - p) < 5 * spread


@pytest.mark.parametrize("p", [0.5, 0.3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_masks_come_in_the_type_that_is_wanted_with_the_same_draws(p: float, dtype: torch.dtype) -> None:
    mask = keep_mask((100, 3), p, Rng(0), dtype)
    assert mask.dtype == dtype and mask.max().item() == torch.tensor(1 / (1 - p), dtype=dtype).item()
    assert torch.equal(mask != 0, keep_mask((100, 3), p, Rng(0)) != 0)


def test_of_one_half_bits_are_taken_in_their_order() -> None:
    packed = np.frombuffer(Rng(3).numpy().bytes(5), dtype=np.uint8)
    assert keep_mask((37,), 0.5, Rng(3)).tolist() == (2.0 * np.unpackbits(packed, count=37)).tolist()


@pytest.mark.parametrize("p", [0.5, 0.3])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (0, 4)])
def test_any_shape_is_filled(p: float, shape: tuple[int, ...]) -> None:
    assert keep_mask(shape, p, Rng(0)).shape == shape


@pytest.mark.parametrize("p", [0.5, 0.3])
def test_masks_follow_the_stream(p: float) -> None:
    assert torch.equal(keep_mask((100,), p, Rng(1)), keep_mask((100,), p, Rng(1)))
    assert not torch.equal(keep_mask((100,), p, Rng(1)), keep_mask((100,), p, Rng(2)))


@pytest.mark.parametrize("p", [0.5, 0.3])
def test_rows_and_columns_are_dropped_independently(p: float) -> None:
    mask = (keep_mask((2000, 16), p, Rng(0)) != 0).double() - (1 - p)
    correlation = mask.t() @ mask / 2000 / (p * (1 - p))
    assert (correlation - torch.eye(16)).abs().max() < 0.15


def test_the_gradient_passes_where_the_value_did() -> None:
    h = torch.randn(20, 30, dtype=torch.float64, requires_grad=True)
    out = dropout(h, 0.25, Rng(0))
    out.sum().backward()
    kept = out != 0
    torch.testing.assert_close(out[kept], h[kept] / 0.75)
    torch.testing.assert_close(h.grad, kept.double() / 0.75)


def test_zero_drops_nothing() -> None:
    h = torch.randn(3, 3)
    assert dropout(h, 0, Rng(0)) is h
