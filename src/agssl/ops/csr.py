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

TILE = 64  # columns of the dense operand that are worked on at a time (see `agssl.ops.tiles`)
BLOCK_ROWS = 4096  # rows of a block of a tall matrix whose transpose is stored in blocks
BLOCK_BYTES = 8 << 20  # the most that the blocks' results may take for one tile


@dataclass(frozen=True, eq=False)
class Csr:
    """A sparse matrix as three tensors.

    Args:
        indptr: int32 [rows + 1].
        indices: int32 [nnz], column of each stored value.
        values: float [nnz].
        columns: number of columns.
        symmetric: the matrix equals its transpose, values included, so no transpose need be built.
        pattern: a matrix with the same entries but other values; what is known of its transpose serves this one too.
        lasting: it serves many steps, so that what is made of it is worth keeping.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    columns: int
    symmetric: bool = False
    pattern: Csr | None = None
    lasting: bool = False

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """Number of stored values."""
        return len(self.indices)

    @cached_property
    def blocks(self) -> int:
        """In how many pieces, by rows, the transpose is stored.

        A tall matrix is turned block by block: the rows that one block gathers from then stay in cache, and the sum
        over blocks costs less than the cache misses would.
        """
        room = BLOCK_BYTES // (4 * TILE * max(1, self.columns))
        return max(1, min(self.rows // BLOCK_ROWS, room))

    @cached_property
    def _transpose(self) -> tuple[Tensor, Tensor, Tensor]:
        """indptr and indices of the stacked transposes of the row blocks, and the order of their values in `values`."""
        if self.pattern is not None:
            return self.pattern._transpose
        indptr, columns = self.indptr.cpu().numpy(), self.indices.cpu().numpy()
        if self.blocks > 1:
            block = np.arange(self.rows) * self.blocks // self.rows
            columns = columns + np.repeat(block * self.columns, np.diff(indptr))
        order = np.arange(self.nnz, dtype=np.int32)
        turned = sp.csr_matrix((order, columns, indptr), (self.rows, self.blocks * self.columns)).tocsc()
        # int64 for the order: index_select is half as fast with int32.
        arrays = (turned.indptr.astype(np.int32), turned.indices.astype(np.int32), turned.data.astype(np.int64))
        turned_indptr, turned_indices, order_t = (torch.from_numpy(part).to(self.values.device) for part in arrays)
        return turned_indptr, turned_indices, order_t

    @cached_property
    def _turned(self) -> Csr:
        """The stacked transposes, [blocks * columns, rows]."""
        indptr, indices, order = self._transpose
        return Csr(indptr, indices, self.values.index_select(0, order), self.rows)

    def transposed_product(self, dense: Tensor) -> Tensor:
        """The transpose times dense: [columns, F] from [rows, F], without gradients."""
        if self.symmetric:
            return product(self, dense)
        sums = product(self._turned, dense)
        return sums if self.blocks == 1 else sums.view(self.blocks, self.columns, -1).sum(0)

    @cached_property
    def row_of(self) -> Tensor:
        """The row of every stored entry, int32 [nnz]."""
        if self.pattern is not None:
            return self.pattern.row_of
        counts = self.indptr.diff()
        return torch.repeat_interleave(torch.arange(self.rows, dtype=torch.int32, device=counts.device), counts)

    def row_highest(self, entries: Tensor) -> Tensor:
        """The highest of [nnz, k] numbers, one of which belongs to each stored entry: [rows, k]; -inf of no entry."""
        return torch.segment_reduce(entries, "max", offsets=self.indptr.long(), axis=0)

    def row_sums(self, entries: Tensor) -> Tensor:
        """Sums of [nnz, k] numbers, one of which belongs to each stored entry, over each row: [rows, k]."""
        every = torch.arange(self.nnz, dtype=torch.int32, device=entries.device)
        return segment_sums(entries, every, self.indptr)

    def column_sums(self, entries: Tensor) -> Tensor:
        """The same over each column: [columns, k]."""
        indptr, _, order = self._transpose
        sums = segment_sums(entries, order.int(), indptr)
        return sums if self.blocks == 1 else sums.view(self.blocks, self.columns, -1).sum(0)

    def with_values(self, values: Tensor, symmetric: bool = False) -> Csr:
        """The same pattern with other values."""
        return Csr(self.indptr, self.indices, values, self.columns, symmetric, pattern=self.pattern or self)

    def to(self, device: torch.device | str, dtype: torch.dtype | None = None) -> Csr:
        """The same matrix on another device or with values of another type."""
        if torch.device(device) == self.values.device and dtype in (None, self.values.dtype):
            return self
        parts = (self.indptr.to(device), self.indices.to(device), self.values.to(device, dtype))
        return Csr(*parts, self.columns, self.symmetric, lasting=self.lasting)


def from_scipy(matrix: sp.csr_matrix, symmetric: bool = False) -> Csr:
    """A SciPy CSR matrix as tensors (values become float32)."""
    arrays = (matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), matrix.data.astype(np.float32))
    indptr, indices, values = (torch.from_numpy(a) for a in arrays)
    return Csr(indptr, indices, values, matrix.shape[1], symmetric)


def segment_sums(entries: Tensor, order: Tensor, indptr: Tensor) -> Tensor:
    """Sums of [nnz, k] numbers, taken in an order, over the segments that indptr marks: [segments, k]."""
    if not len(entries):  # embedding_bag refuses an empty table
        return entries.new_zeros(len(indptr) - 1, entries.shape[1])
    return F.embedding_bag(order, entries, indptr, mode="sum", include_last_offset=True)


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
        return ctx.a.transposed_product(grad.contiguous()), None


def multiply(a: Csr, dense: Tensor) -> Tensor:
    """`a @ dense`, differentiable in `dense`."""
    return _Multiply.apply(dense, a) if torch.is_grad_enabled() else product(a, dense)
