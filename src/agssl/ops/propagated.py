"""Features propagated ahead of training, block by block, of graphs that may lie on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.data.graph import Features
from agssl.data.packed import row_blocks
from agssl.ops import subgraph
from agssl.ops.adjacency import relabel_columns
from agssl.ops.csr import TILE, Csr, multiply, product
from agssl.ops.subgraph import StoredAdjacency

DENSE_SHARE = 0.25  # of the entries: from here on, training is faster and smaller with a dense matrix than a sparse one
ROWS = 256  # that are put side by side at a time, within the cache
SAMPLE = 200  # nodes by which the size of a sparse result is guessed

Check = Callable[[int], None]  # told how many bytes a result takes, raises an error where these are too many


def propagated(adjacency: StoredAdjacency, x: Features, check: Check) -> Features:
    """The propagation times X; a sparse X gives a sparse result, unless a quarter of its entries is stored.

    Args:
        adjacency: what to propagate with, only ever read in blocks.
        x: [N, d].
        check: asked before the memory is taken.
    """
    whole = 4 * adjacency.rows * x.shape[1]
    made = None if sp.issparse(x) else _room(x, whole, check)
    parts: list[sp.csr_matrix] = []  # as long as nothing dense is made
    stored = 0
    for start, stop in row_blocks(adjacency.graph.indptr, subgraph.BLOCK_ENTRIES):
        block = adjacency.take(np.arange(start, stop))
        if isinstance(x, np.ndarray):
            assert made is not None
            columns = np.unique(block.indices.numpy())
            rows = torch.from_numpy(np.ascontiguousarray(x[columns]))
            made[start:stop] = product(relabel_columns(block, columns), rows).numpy()
            continue
        part = _scipy(block) @ x
        if made is not None:
            made[start:stop] = part.toarray()
            continue
        parts.append(part)
        stored += part.nnz
        if stored < DENSE_SHARE * adjacency.rows * x.shape[1]:
            check(8 * stored)
            continue
        made = _room(x, whole, check)
        ends = np.cumsum([part.shape[0] for part in parts])
        for part, end in zip(parts, ends, strict=True):
            made[end - part.shape[0] : end] = part.toarray()
        parts.clear()
    return made if made is not None else sp.vstack(parts, format="csr", dtype=np.float32)


def _room(x: Features, size: int, check: Check) -> np.ndarray:
    check(size)
    return np.empty(x.shape, dtype=np.float32)


def _scipy(block: Csr) -> sp.csr_matrix:
    """The same for SciPy, without the entries that are zero."""
    arrays = (block.values.numpy(), block.indices.numpy(), block.indptr.numpy())
    matrix = sp.csr_matrix(arrays, (block.rows, block.columns))
    matrix.eliminate_zeros()
    return matrix


def beside(parts: Sequence[Features], check: Check) -> Features:
    """The columns of all these matrices, side by side; sparse where every one of them is."""
    if all(sp.issparse(part) for part in parts):
        return sp.hstack(parts, format="csr", dtype=np.float32)
    rows, widths = parts[0].shape[0], [part.shape[1] for part in parts]
    check(4 * rows * sum(widths))
    made = np.empty((rows, sum(widths)), dtype=np.float32)
    ends = np.cumsum(widths)
    for start in range(0, rows, ROWS):
        for part, end in zip(parts, ends, strict=True):
            some = part[start : start + ROWS]
            made[start : start + ROWS, end - part.shape[1] : end] = _dense(some)
    return made


def _dense(x: Features) -> np.ndarray:
    return x if isinstance(x, np.ndarray) else x.toarray()


def stored_after(adjacency: StoredAdjacency, x: sp.csr_matrix, hops: int) -> list[float]:
    """About how many values each of P X, ..., P^hops X stores for a sparse X, guessed by some of its rows."""
    n = adjacency.rows
    nodes = np.sort(Rng(0).child("memory").numpy().choice(n, min(n, SAMPLE), replace=False))
    reached = sp.csr_matrix((np.ones(len(nodes)), nodes, np.arange(len(nodes) + 1)), (len(nodes), n))
    found = []
    for _ in range(hops):
        columns = np.unique(reached.indices)
        reached = reached[:, columns] @ _scipy(adjacency.take(columns))
        found.append((reached @ x).nnz * n / len(nodes))
    return found


def by_columns(x: Features, spread: Callable[[Tensor], Tensor]) -> np.ndarray:
    """What a function of columns makes of X, float32 [N, d]; some columns at a time, which stay in cache."""
    made = np.empty(x.shape, dtype=np.float32)
    by_column = x if isinstance(x, np.ndarray) else x.tocsc()
    for start in range(0, x.shape[1], TILE):
        tile = by_column[:, start : start + TILE]
        made[:, start : start + TILE] = spread(torch.from_numpy(np.ascontiguousarray(_dense(tile)))).numpy()
    return made


def personalised_pagerank(adjacency: Csr, x: Features, teleport: float, steps: int) -> np.ndarray:
    """sum_k a (1 - a)^k Â^k X, k = 0, ..., steps, float32 [N, d]."""

    def spread(tile: Tensor) -> Tensor:
        own = total = tile * teleport
        for _ in range(steps):
            total = own + (1 - teleport) * product(adjacency, total)
        return total

    return by_columns(x, spread)


def mean_of_powers(adjacency: Csr, rows: Tensor, steps: int) -> Tensor:
    """1/(K+1) sum_k Â^k R, k = 0, ..., K, of rows R [N, F]; differentiable in them."""
    own = total = rows / (steps + 1)
    for _ in range(steps):
        total = own + multiply(adjacency, total)
    return total
