"""A sparse matrix for training, and its product with a dense one.

A CSR product is an embedding bag: `embedding_bag(indices, H, indptr, weights)` sums weighted rows of H, vectorised,
prefetched and threaded, and beats `torch.sparse` 1.5 to 3 times on a CPU. It is fastest while the dense operand stays
in cache, so wide operands are worked on in column tiles (see `agssl.ops.tiles`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Csr:
    """A sparse matrix as three tensors.

    Args:
        indptr: int32 [rows + 1].
        indices: int32 [nnz], column of each stored value.
        values: float [nnz].
        columns: number of columns.
        symmetric: the matrix equals its transpose, values included, so no transpose need be built.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    columns: int
    symmetric: bool = False

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return len(self.indices)

    @cached_property
    def _transpose(self) -> tuple[Tensor, Tensor, Tensor]:
        """indptr and indices of the transpose, and the order in which its values stand in `values`."""
        order = np.arange(self.nnz, dtype=np.int32)
        matrix = sp.csr_matrix(
            (order, self.indices.cpu().numpy(), self.indptr.cpu().numpy()), (self.rows, self.columns)
        )
        turned = matrix.tocsc()
        # int64 for the order: index_select is half as fast with int32.
        arrays = (turned.indptr.astype(np.int32), turned.indices.astype(np.int32), turned.data.astype(np.int64))
        indptr, indices, order_t = (torch.from_numpy(a).to(self.values.device) for a in arrays)
        return indptr, indices, order_t

    @cached_property
    def t(self) -> Csr:
        """The transpose."""
        if self.symmetric:
            return self
        indptr, indices, order = self._transpose
        return Csr(indptr, indices, self.values.index_select(0, order), self.rows)

    def with_values(self, values: Tensor, symmetric: bool = False) -> Csr:
        """The same pattern with other values; what is known of the transpose is kept."""
        other = Csr(self.indptr, self.indices, values, self.columns, symmetric)
        if not symmetric and "_transpose" in self.__dict__:
            other.__dict__["_transpose"] = self.__dict__["_transpose"]
        return other

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Csr:
        """The same matrix on another device or with values of another type."""
        parts = (self.indptr.to(device), self.indices.to(device), self.values.to(device, dtype))
        return Csr(*parts, self.columns, self.symmetric)


def from_scipy(matrix: sp.csr_matrix, symmetric: bool = False) -> Csr:
    """A SciPy CSR matrix as tensors (values become float32)."""
    arrays = (matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(np.float32))
    indptr, indices, values = (torch.from_numpy(a) for a in arrays)
    return Csr(indptr, indices, values, matrix.shape[1], symmetric)


def identity(size: int, device: torch.device | str = "cpu") -> Csr:
    """I, as a propagation that leaves every node alone."""
    return Csr(
        torch.arange(size + 1, dtype=torch.int32, device=device),
        torch.arange(size, dtype=torch.int32, device=device),
        torch.ones(size, device=device),
        size,
        symmetric=True,
    )


def product(a: Csr, dense: Tensor) -> Tensor:
    """`a @ dense` without gradients: [rows, F] from [columns, F]."""
    if not dense.is_cpu:
        return product_plain(a, dense)
    if dense.shape[0] == 0 or a.nnz == 0:  # embedding_bag refuses an empty table
        return dense.new_zeros(a.rows, dense.shape[1])
    return F.embedding_bag(
        a.indices, dense, a.indptr, mode="sum", per_sample_weights=a.values.to(dense.dtype), include_last_offset=True
    )


def product_plain(a: Csr, dense: Tensor) -> Tensor:
    """`a @ dense` by torch's own sparse type: the path for other devices."""
    matrix = torch.sparse_csr_tensor(a.indptr, a.indices, a.values.to(dense.dtype), (a.rows, a.columns))
    return matrix @ dense


class _Multiply(torch.autograd.Function):
    """`a @ dense` with the gradient of `dense`; values of `a` are constants."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, a: Csr) -> Tensor:
        ctx.a = a
        return product(a, dense)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return product(ctx.a.t, grad.contiguous()), None


def multiply(a: Csr, dense: Tensor) -> Tensor:
    """`a @ dense`, differentiable in `dense`."""
    return _Multiply.apply(dense, a)
