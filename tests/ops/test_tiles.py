"""Column tiles and row permutations."""

from __future__ import annotations

import torch

from agssl.ops.tiles import CACHED_BYTES, TILE, permute_rows, tile_width


def test_what_fits_the_cache_stays_in_one_piece() -> None:
    rows = CACHED_BYTES // (4 * 4 * TILE)
    assert tile_width(rows, 4 * TILE) == 4 * TILE
    assert tile_width(rows + 1, 4 * TILE) == TILE


def test_a_width_that_tiles_do_not_divide_stays_in_one_piece() -> None:
    assert tile_width(10**7, 4 * TILE + 1) == 4 * TILE + 1


def test_permuted_rows_have_the_gradient_of_indexing() -> None:
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    ours, theirs = (torch.arange(27.0).reshape(9, 3).requires_grad_() for _ in range(2))
    a, b = permute_rows(ours, order, torch.argsort(order)), theirs[order]
    assert torch.equal(a, b)
    upstream = torch.randn(9, 3, generator=torch.Generator().manual_seed(1))
    (a * upstream).sum().backward()
    (b * upstream).sum().backward()
    assert torch.equal(ours.grad, theirs.grad)
