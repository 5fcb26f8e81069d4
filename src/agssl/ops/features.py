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
import scipy.sparse as sp
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.data.graph import Features, Graph
from agssl.ops.adjacency import take_rows
from agssl.ops.csr import Csr, from_scipy, multiply, product
from agssl.ops.dropout import keep_mask
from agssl.ops.tiles import permute_rows

_ALL = slice(None)
Edit = Callable[[Tensor, Tensor], Tensor]  # X W [n, F] after the edit, from X W before it and from W [d, F]
Products = dict[tuple[int, int, int], tuple[object, tuple[Tensor, ...]]]  # X W of one step, see `Inputs.sharing`


@dataclass(frozen=True, eq=False)
class Inputs:
    """Features of some nodes, [n, d]: a `Csr` where sparse, a tensor where dense.

    Dense features carry their dropout along unapplied, since it is cheapest block by block inside the product.
    """

    matrix: Csr | Tensor
    pending: tuple[float, Rng] | None = None  # dropout of dense features: p and the stream of its masks
    columns: np.ndarray | None = None  # bool [d]: the features that are kept; None: all
    edits: tuple[Edit, ...] = ()  # of rows, in this order
    products: Products | None = None  # those that passes of one step share
    # Weak, since a task that masks edges makes a new matrix every step, and each would keep an [N, d] aggregate alive.
    _aggregates: MutableMapping[Csr, Tensor] = field(default_factory=WeakKeyDictionary, repr=False)

    @classmethod
    def of(cls, graph: Graph, device: str = "cpu", rows: np.ndarray | slice = _ALL) -> Inputs:
        """The features of a graph, or of some of its rows."""
        return cls.over(graph.x if rows is _ALL else graph.x[rows], device)

    @classmethod
    def over(cls, x: Features, device: str = "cpu") -> Inputs:
        """A matrix of features, or of what was made of them."""
        return cls(from_scipy(x).to(device) if sp.issparse(x) else torch.from_numpy(x).to(device))

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
            return Inputs(self.matrix, (p, rng))
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
        elif self.pending is None:
            found = tuple(self.matrix @ weight for weight in weights)
        else:
            found = _DropoutProduct.apply(self.matrix, *self.pending, *weights)
        if self.products is not None:
            self.products[name] = (self.columns, found)  # holding the columns, so that their id stays theirs
        return found

    def aggregates_first(self, width: int) -> bool:
        """Whether (Â X) W is cheaper than Â (X W): dense features that never change, or are much narrower than W."""
        if not isinstance(self.matrix, Tensor) or self.products is not None or self.edits or self.columns is not None:
            return False
        return self.pending is None or 2 * self.matrix.shape[1] <= width

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
    return keep_mask(rows.shape, p, rng.child(start), x.dtype).to(x.device).mul_(rows)


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
