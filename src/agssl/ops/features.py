"""Node features as the first layer reads them: sparse or dense, dropped or edited, times a weight matrix.

A view of the graph may change the features: columns left out, rows masked, shuffled, scaled or pooled. All of these are
linear, so they are applied to the narrow product X W and never to X itself.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.data.graph import Features, Graph
from agssl.ops.adjacency import take_rows
from agssl.ops.csr import Csr, from_scipy, multiply, product
from agssl.ops.dropout import keep_mask
from agssl.ops.tiles import permute_rows

_ALL = slice(None)
DENSE = 0.15  # share of values that are not zero, above which a dense product is faster than a sparse one
MOST_NUMBERS = 1 << 26  # of a matrix that is made dense
WIDE = 128  # dense features, from which on dropout comes after Â, and is the same for blocks of rows
BLOCK = (
    512  # rows of wide dense features that lose the same ones by dropout, so that their product needs but the others
)
Edit = Callable[[Tensor, Tensor], Tensor]  # X W [n, F] after the edit, from X W before it and from W [d, F]
Products = dict[tuple[int, int, int], tuple[object, tuple[Tensor, ...]]]  # X W of one step, see `Inputs.sharing`


@dataclass(frozen=True, eq=False)
class Inputs:
    """Features of some nodes, [n, d]: a `Csr` where sparse, a tensor where dense.

    Dense features carry their dropout along unapplied, since it is cheapest inside the product. Where they are many, it
    comes after propagation, which then is done once, and the rows of a block lose the same features.
    """

    matrix: Csr | Tensor
    pending: tuple[float, Rng] | None = None  # dropout of dense features: p and the stream of its masks
    columns: np.ndarray | None = None  # bool [d]: the features that are kept; None: all
    edits: tuple[Edit, ...] = ()  # of rows, in this order
    products: Products | None = None  # those that passes of one step share
    # Weak, since each keeps an [N, d] aggregate alive, which is of no use without its matrix.
    aggregates: MutableMapping[Csr, Inputs] = field(default_factory=WeakKeyDictionary, repr=False)
    turned: list[Tensor] = field(default_factory=list, repr=False)  # [d, n] of each block, made by the first product

    @classmethod
    def of(cls, graph: Graph, device: str = "cpu", rows: np.ndarray | slice = _ALL) -> Inputs:
        """The features of a graph, or of some of its rows."""
        return cls.over(graph.x if rows is _ALL else graph.x[rows], device)

    @classmethod
    def over(cls, x: Features, device: str = "cpu") -> Inputs:
        """A matrix of features, or of what was made of them; a sparse one with few zeros becomes dense."""
        if not isinstance(x, np.ndarray):
            numbers = x.shape[0] * x.shape[1]
            if x.nnz <= DENSE * numbers or numbers > MOST_NUMBERS:
                return cls(from_scipy(x).to(device))
            x = x.toarray()
        return cls(torch.from_numpy(x).to(device))

    @property
    def rows(self) -> int:
        """n, before any edit."""
        return self.matrix.rows if isinstance(self.matrix, Csr) else len(self.matrix)

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return self.matrix.values.device if isinstance(self.matrix, Csr) else self.matrix.device

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
            return replace(self, pending=(p, rng))  # which shares what is made of the matrix
        values = self.matrix.values
        mask = keep_mask(values.shape, p, rng, values.dtype).to(values.device)
        return Inputs(self.matrix.with_values(mask.mul_(values)))

    def sharing(self, products: Products) -> Inputs:
        """The same features for several passes of a step: a product that one of them has made serves all."""
        return replace(self, products=products)

    def keeping(self, columns: np.ndarray) -> Inputs:
        """Zeros in the columns that are not kept (bool [d])."""
        return replace(self, columns=columns)

    def masked(self, nodes: np.ndarray, token: Tensor | None) -> Inputs:
        """The rows of these nodes (bool [n]) replaced by a token [d], or by zeros."""
        at = torch.from_numpy(nodes).to(self.device)[:, None]
        if token is None:
            return self._edited(lambda xw, weight: xw.masked_fill(at, 0))
        return self._edited(lambda xw, weight: torch.where(at, token @ weight, xw))

    def permuted(self, order: Tensor, inverse: Tensor) -> Inputs:
        """The rows in another order."""
        return self._edited(lambda xw, weight: permute_rows(xw, order, inverse))

    def scaled(self, factors: np.ndarray) -> Inputs:
        """Each row times a number, float32 [n]."""
        scale = torch.from_numpy(factors).to(self.device)[:, None]
        return self._edited(lambda xw, weight: xw * scale)

    def pooled(self, pool: Csr) -> Inputs:
        """Weighted sums of rows, [m, d] by a matrix [m, n]."""
        return self._edited(lambda xw, weight: multiply(pool, xw))

    def _edited(self, edit: Edit) -> Inputs:
        return replace(self, edits=(*self.edits, edit))

    def times(self, weights: Sequence[Tensor], key: object = None) -> tuple[Tensor, ...]:
        """X W for each W of the list (the column tiles of one matrix), differentiable in them.

        Passes that share their products find them again by the `key`, the layer that the weights belong to.
        """
        found = self._times(weights, key)
        for edit in self.edits:
            found = tuple(edit(xw, weight) for xw, weight in zip(found, weights, strict=True))
        return found

    def _times(self, weights: Sequence[Tensor], key: object) -> tuple[Tensor, ...]:
        """The product before the edits of rows."""
        name = (id(key), id(self.columns), weights[0].shape[1])
        if self.products is not None and name in self.products:
            return self.products[name][1]
        if self.columns is not None:
            kept = torch.from_numpy(self.columns).to(self.device)[:, None]
            weights = [weight * kept for weight in weights]
        if isinstance(self.matrix, Csr):
            found = tuple(multiply(self.matrix, weight) for weight in weights)
        elif self.pending is None or not self.wide:
            dropped = self._dropped().to(weights[0].dtype)
            found = tuple(dropped @ weight for weight in weights)
        else:
            found = _DropoutProduct.apply(self._by_columns(), *self.pending, *weights)
        if self.products is not None:
            self.products[name] = (self.columns, found)  # holding the columns, so that their id stays theirs
        return found

    @property
    def wide(self) -> bool:
        """Whether there are so many dense features that a step can't afford a mask of them all."""
        return isinstance(self.matrix, Tensor) and self.matrix.shape[1] >= WIDE

    def aggregates_first(self, block: Csr, width: int) -> bool:
        """Whether (Â X) W is cheaper than Â (X W): dense features whose Â X is made once, or much narrower than W."""
        if not isinstance(self.matrix, Tensor) or self.products is not None or self.edits or self.columns is not None:
            return False
        return self._lasts(block) or 2 * self.matrix.shape[1] <= width

    def aggregated(self, block: Csr) -> Inputs:
        """Â X for dense X, remembered where both last; dropout of wide features is still to come."""
        assert isinstance(self.matrix, Tensor)
        if not self._lasts(block):
            return Inputs(product(block, self._dropped()))
        if block not in self.aggregates:
            self.aggregates[block] = Inputs(product(block, self.matrix))
        return replace(self.aggregates[block], pending=self.pending)

    def _lasts(self, block: Csr) -> bool:
        """Whether Â X is the same in every step."""
        return block.lasting and (self.pending is None or self.wide)

    def _dropped(self) -> Tensor:
        """Dense features after dropout, a mask for each of their values."""
        assert isinstance(self.matrix, Tensor)
        if self.pending is None:
            return self.matrix
        return self.matrix * keep_mask(self.matrix.shape, *self.pending, self.matrix.dtype).to(self.device)

    def _by_columns(self) -> list[Tensor]:
        """Blocks of rows of a dense matrix, each transposed: taking some of its columns is copying rows."""
        if not self.turned:
            assert isinstance(self.matrix, Tensor)
            self.turned.extend(part.t().contiguous() for part in self.matrix.split(BLOCK))
        return self.turned


def kept_columns(blocks: int, columns: int, p: float, rng: Rng) -> list[np.ndarray]:
    """The features that dropout leaves to the rows of each block."""
    return [np.flatnonzero(row) for row in keep_mask((blocks, columns), p, rng).numpy()]


class _DropoutProduct(torch.autograd.Function):
    """dropout(X) W for dense X, of which the rows of a block lose the same features: without these, block by block."""

    @staticmethod
    def forward(ctx: Any, turned: list[Tensor], p: float, rng: Rng, *weights: Tensor) -> tuple[Tensor, ...]:
        kept = kept_columns(len(turned), len(weights[0]), p, rng)
        ctx.turned, ctx.p = turned, p
        ctx.kept = [torch.from_numpy(columns).to(weights[0].device) for columns in kept]
        rows = sum(block.shape[1] for block in turned)
        outputs = tuple(w.new_empty(rows, w.shape[1]) for w in weights)
        for number, (block, columns) in enumerate(zip(turned, ctx.kept, strict=True)):
            at, part = slice(number * BLOCK, (number + 1) * BLOCK), block.index_select(0, columns).t()
            for weight, out in zip(weights, outputs, strict=True):
                torch.mm(part, weight.index_select(0, columns), out=out[at])
        for out in outputs:
            out.mul_(1 / (1 - p))
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        sums = [g.new_zeros(len(ctx.turned[0]), g.shape[1]) for g in grads]
        for number, (block, columns) in enumerate(zip(ctx.turned, ctx.kept, strict=True)):
            at, part = slice(number * BLOCK, (number + 1) * BLOCK), block.index_select(0, columns)
            for total, grad in zip(sums, grads, strict=True):
                total.index_add_(0, columns, part @ grad[at])
        return None, None, None, *(total.mul_(1 / (1 - ctx.p)) for total in sums)
