"""Sparse products and their gradients against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.ops import csr
from agssl.ops.csr import Csr, from_scipy, identity, multiply, product, product_plain
from reference.graphs import sparse_matrices

TYPES = (torch.float32, torch.float64)


def dense_of(a: Csr) -> torch.Tensor:
    matrix = np.zeros((a.rows, a.columns))
    for row in range(a.rows):
        for at in range(int(a.indptr[row]), int(a.indptr[row + 1])):
            matrix[row, int(a.indices[at])] += float(a.values[at])
    return torch.from_numpy(matrix)


def operand(rows: int, width: int, seed: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("path", [product, product_plain])
@given(matrix=sparse_matrices(), width=st.integers(1, 20), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_a_product_is_the_dense_one(path, dtype, matrix: sp.csr_matrix, width: int, seed: int) -> None:
    a = from_scipy(matrix)
    h = operand(a.columns, width, seed, dtype)
    found = path(a, h)
    assert found.dtype == dtype
    torch.testing.assert_close(found, (dense_of(a) @ h.double()).to(dtype), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["cpu path", "path of other devices"])
@given(matrix=sparse_matrices(), width=st.integers(1, 20), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_the_gradient_is_that_of_dense_autograd(elsewhere, dtype, matrix, width: int, seed: int) -> None:
    a = from_scipy(matrix)
    ours, dense = (operand(a.columns, width, seed, dtype).requires_grad_() for _ in range(2))
    upstream = operand(a.rows, width, seed + 1, dtype)
    with pytest.MonkeyPatch.context() as patch:
        if elsewhere:
            patch.setattr(csr, "product", product_plain)
        (multiply(a, ours) * upstream).sum().backward()
    ((dense_of(a).to(dtype) @ dense) * upstream).sum().backward()
    torch.testing.assert_close(ours.grad, dense.grad, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_works_too(dtype: torch.dtype) -> None:
    a = from_scipy(sp.random(8, 6, 0.5, format="csr", random_state=np.random.default_rng(0)))
    h = operand(6, 4, 0, dtype)
    torch.testing.assert_close(product(a, h).double(), dense_of(a) @ h.double(), atol=0.05, rtol=0.05)


@pytest.mark.parametrize("make", [lambda h: h.t().contiguous().t(), lambda h: h[:, :1].expand(-1, 5)])
def test_the_layout_of_the_dense_operand_does_not_matter(make) -> None:
    a = from_scipy(sp.random(8, 6, 0.5, format="csr", random_state=np.random.default_rng(0)))
    h = make(operand(6, 4, 0, torch.float64))
    torch.testing.assert_close(product(a, h), dense_of(a) @ h)


@given(matrix=sparse_matrices())
@settings(max_examples=40, deadline=None)
def test_the_transpose_is_the_transpose(matrix: sp.csr_matrix) -> None:
    a = from_scipy(matrix)
    h = operand(a.rows, 3, 0, torch.float64)
    torch.testing.assert_close(a.transposed_product(h), dense_of(a).t() @ h)


def test_a_tall_matrix_is_turned_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csr, "BLOCK_ROWS", 5)
    a = from_scipy(sp.random(23, 7, 0.4, format="csr", random_state=np.random.default_rng(3)))
    assert a.blocks == 4
    h = operand(23, 6, 0, torch.float64)
    torch.testing.assert_close(a.transposed_product(h), dense_of(a).t() @ h)
    other = a.with_values(a.values * 2)
    torch.testing.assert_close(other.transposed_product(h), 2 * dense_of(a).t() @ h)


def test_other_values_share_the_transpose() -> None:
    a = from_scipy(sp.random(7, 5, 0.5, format="csr", random_state=np.random.default_rng(1)))
    other = a.with_values(a.values * -3).with_values(a.values * 2)
    h = torch.eye(7, dtype=torch.float64)
    torch.testing.assert_close(other.transposed_product(h), 2 * dense_of(a).t())
    assert "_transpose" in a.__dict__, "the transposed pattern is to be shared, not computed again"


def test_a_symmetric_matrix_is_its_own_transpose() -> None:
    a = identity(4)
    assert torch.equal(a.transposed_product(torch.eye(4)), torch.eye(4))
    assert "_transpose" not in a.__dict__
    assert not a.with_values(torch.arange(4.0)).symmetric


def test_identity_leaves_everything_alone() -> None:
    h = operand(5, 3, 0, torch.float32)
    assert torch.equal(product(identity(5), h), h)


def test_a_copy_of_another_type_has_the_same_values() -> None:
    a = from_scipy(sp.random(7, 5, 0.5, format="csr", random_state=np.random.default_rng(1)))
    double = a.to("cpu", torch.float64)
    assert double.values.dtype == torch.float64
    torch.testing.assert_close(dense_of(double), dense_of(a))
