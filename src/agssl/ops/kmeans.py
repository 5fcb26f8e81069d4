"""k-means of dense or sparse rows: Lloyd's steps from centres drawn by k-means++, without a second of imports."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.data.graph import Features
from agssl.ops.csr import Csr, product
from agssl.ops.features import Inputs

STEPS = 30  # at most; later ones move few rows
STILL = 1e-4  # of the rows may change their cluster in the last step


def kmeans(x: Features, clusters: int, rng: Rng) -> np.ndarray:
    """Centres, float32 [k, d].

    Args:
        x: rows [n, d], at least one.
        clusters: k; centres that no row is nearest to stay where they are.
        rng: of the first centres.
    """
    rows = Inputs.over(x).matrix
    squares = _squares(rows)
    centres = _first_centres(rows, squares, clusters, rng)
    before = torch.full((len(squares),), -1)
    for _ in range(STEPS):
        nearest = _distances(rows, squares, centres).argmin(1)
        if int((nearest != before).sum()) <= STILL * len(nearest):
            break
        before = nearest
        members = torch.nn.functional.one_hot(nearest, clusters).float()
        sums = rows.transposed_product(members).t() if isinstance(rows, Csr) else members.t() @ rows  # [k, d]
        count = members.sum(0)[:, None]
        centres = torch.where(count > 0, sums / count.clamp_min(1), centres)
    return centres.numpy()


def nearest_centre(x: Features, centres: np.ndarray) -> np.ndarray:
    """The number of the nearest centre of each row, int64 [n]; of equal ones the first."""
    rows = Inputs.over(x).matrix
    return _distances(rows, _squares(rows), torch.from_numpy(centres)).argmin(1).numpy()


def _squares(rows: Csr | Tensor) -> Tensor:
    """Squared norms, [n]."""
    return rows.row_sums(rows.values.square()[:, None])[:, 0] if isinstance(rows, Csr) else rows.square().sum(1)


def _distances(rows: Csr | Tensor, squares: Tensor, centres: Tensor) -> Tensor:
    """Squared distances of all rows to some centres, [n, k]."""
    both = product(rows, centres.t().contiguous()) if isinstance(rows, Csr) else rows @ centres.t()
    return (squares[:, None] - 2 * both + centres.square().sum(1)).clamp_min(0)


def _first_centres(rows: Csr | Tensor, squares: Tensor, clusters: int, rng: Rng) -> Tensor:
    """k-means++ (Arthur & Vassilvitskii 2007): rows, drawn by their distance to those drawn before.

    Each is the best of a few draws, by what it leaves of all distances.
    """
    draw, trials = rng.numpy(), 2 + int(np.log(clusters))
    centres = _rows(rows, draw.integers(len(squares), size=1))
    left = _distances(rows, squares, centres)[:, 0]
    while len(centres) < clusters:
        total = left.double().cumsum(0).numpy()
        at = np.minimum(np.searchsorted(total, draw.random(trials) * total[-1]), len(left) - 1)
        tried = _rows(rows, at)
        then = torch.minimum(_distances(rows, squares, tried), left[:, None])
        best = int(then.sum(0).argmin())
        centres, left = torch.cat([centres, tried[best : best + 1]]), then[:, best]
    return centres


def _rows(rows: Csr | Tensor, at: np.ndarray) -> Tensor:
    """Some rows, dense [m, d]."""
    if not isinstance(rows, Csr):
        return rows[torch.from_numpy(at)]
    found = torch.zeros(len(at), rows.columns)
    for row, place in zip(found, at, strict=True):
        entries = slice(int(rows.indptr[place]), int(rows.indptr[place + 1]))
        row[rows.indices[entries].long()] = rows.values[entries]
    return found
