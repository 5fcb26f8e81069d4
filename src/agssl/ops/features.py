"""Node features as the first layer reads them: sparse or dense, with dropout, times a weight matrix."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops.adjacency import take_rows
from agssl.ops.csr import Csr, from_scipy, multiply, product
from agssl.ops.dropout import keep_mask

_ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Inputs:
    """Features of some nodes, [n, d]: a `Csr` where sparse, a tensor where dense.

    Dense features carry their dropout along unapplied, since it is cheapest block by block inside the product.
    """

    matrix: Csr | Tensor
    pending: tuple[float, Rng] | None = None  # dropout of dense features: p and the stream of its masks
    # Weak, since a task that masks edges makes a new matrix every step, and each would keep an [N, d] aggregate alive.
    _aggregates: MutableMapping[Csr, Tensor] = field(default_factory=WeakKeyDictionary, repr=False)

    @classmethod
    def of(cls, graph: Graph, device: str = "cpu", rows: np.ndarray | slice = _ALL) -> Inputs:
        """The features of a graph, or of some of its rows."""
        x = graph.x if rows is _ALL else graph.x[rows]
        return cls(from_scipy(x).to(device) if sp.issparse(x) else torch.from_numpy(x).to(device))

    @property
    def rows(self) -> int:
        """n."""
        return self.matrix.rows if isinstance(self.matrix, Csr) else len(self.matrix)

    def take(self, rows: np.ndarray | None) -> Inputs:
        """The features of these rows (None: all)."""
        if rows is None:
            return self
        if isinstance(self.matrix, Csr):
            return Inputs(take_rows(self.matrix, rows))
        return Inputs(self.matrix.index_select(0, torch.from_numpy(rows).to(self.matrix.device)))

    def dropout(self, p: float, rng: Rng) -> Inputs:
        """Inverted dropout; on sparse features it acts on the stored values, as zeros stay zero anyway."""
        if p == 0:
            return self
        if not isinstance(self.matrix, Csr):
            return Inputs(self.matrix, (p, rng))
        values = self.matrix.values
        dropped = values * keep_mask(values.shape, p, rng).to(values.device)
        return Inputs(self.matrix.with_values(dropped.mul_(1 / (1 - p))))

    def times(self, weights: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """X W for each W of the list (the column tiles of one matrix), differentiable in them."""
        if isinstance(self.matrix, Csr):
            return tuple(multiply(self.matrix, weight) for weight in weights)
        if self.pending is None:
            return tuple(self.matrix @ weight for weight in weights)
        return _DropoutProduct.apply(self.matrix, *self.pending, *weights)

    def aggregates_first(self, width: int) -> bool:
        """Whether (Â X) W is cheaper than Â (X W): dense features that never change, or are much narrower than W."""
        return isinstance(self.matrix, Tensor) and (self.pending is None or 2 * self.matrix.shape[1] <= width)

    def aggregated(self, block: Csr) -> Tensor:
        """Â X for dense X, remembered where X never changes."""
        assert isinstance(self.matrix, Tensor)
        if self.pending is not None:
            return product(block, torch.cat([_dropped(self.matrix, *self.pending, i) for i in _blocks(self.rows)]))
        if block not in self._aggregates:
            self._aggregates[block] = product(block, self.matrix)
        return self._aggregates[block]


BLOCK = 1024  # rows of dense features that are masked and multiplied at a time, to stay in cache


def _blocks(rows: int) -> range:
    return range(0, rows, BLOCK)


def _dropped(x: Tensor, p: float, rng: Rng, start: int) -> Tensor:
    """One block of rows of x after dropout; the same mask whenever it is asked for."""
    rows = x[start : start + BLOCK]
    return torch.mul(rows, keep_mask(rows.shape, p, rng.child(start)).to(x.device)).mul_(1 / (1 - p))


class _DropoutProduct(torch.autograd.Function):
    """dropout(X) W for dense X without ever storing dropout(X): the backward pass draws the masks again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float, rng: Rng, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.x, ctx.p, ctx.rng = x, p, rng
        outputs = tuple(w.new_empty(len(x), w.shape[1]) for w in weights)
        for start in _blocks(len(x)):
            rows = _dropped(x, p, rng, start)
            for weight, out in zip(weights, outputs, strict=True):
                torch.mm(rows, weight, out=out[start : start + BLOCK])
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        sums = [g.new_zeros(ctx.x.shape[1], g.shape[1]) for g in grads]
        for start in _blocks(len(ctx.x)):
            turned = _dropped(ctx.x, ctx.p, ctx.rng, start).t()
            for total, grad in zip(sums, grads, strict=True):
                total.addmm_(turned, grad[start : start + BLOCK])
        return None, None, None, *sums
