"""What features of the fitted graph look like, as plain data, and rows that are unlike any of them.

Two numbers say how far a row is from what was seen: how far its direction is from the nearest of some reference rows
(one minus their cosine), and its length. A row is unlike what was seen where one of them is larger than for all but a
few of the graph's own nodes. Rows of zeros have no direction: they are unlike, unless some of the graph's own are such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.data.feature_norm import unit_rows
from agssl.data.graph import Features, Graph

REFERENCES = 512  # rows that are kept, fewer where they are wide
BYTES = 4 << 20  # that dense ones may take
SAMPLE = 2000  # nodes by which the limits are found
SHARE = 0.995  # of the graph's own nodes that lie within each limit
PREFIX = "seen."


@dataclass(frozen=True, eq=False)
class Seen:
    """Reference rows of a graph, and limits for others.

    Args:
        reference: rows of unit length, float32 [r, d].
        far: the largest distance to the nearest reference that is usual.
        long: the largest length that is usual.
    """

    reference: Features
    far: float
    long: float

    @classmethod
    def of(cls, graph: Graph) -> Seen | None:
        """Of a graph's nodes, or of some of them; None where there is nothing to compare."""
        if graph.num_nodes < 2 or not graph.num_features:
            return None
        wide = 1 if sp.issparse(graph.x) else 4 * graph.num_features * REFERENCES / BYTES
        count = min(graph.num_nodes, max(16, int(REFERENCES / max(1.0, wide))))
        nodes = Rng(0).child("seen").numpy().permutation(graph.num_nodes)[: count + SAMPLE]
        reference, rest = graph.x[np.sort(nodes[:count])], graph.x[np.sort(nodes[count:])]
        unit = unit_rows(reference)
        limits = (
            np.concatenate([_nearest(unit.T, reference, own=True), _nearest(unit.T, rest)]),
            np.concatenate([_lengths(reference), _lengths(rest)]),
        )
        return cls(unit, *(float(np.quantile(one, SHARE, method="higher")) for one in limits))

    @cached_property
    def _turned(self) -> Features:
        """The reference rows as columns, [d, r]; dense where that takes little, since products are sooner made then."""
        turned = self.reference.T
        if isinstance(turned, np.ndarray):
            return turned
        return turned.toarray(order="C") if 4 * turned.shape[0] * turned.shape[1] <= BYTES else turned.tocsr()

    def unlike(self, x: Features) -> list[str]:
        """Of each row what is unusual about it, in words; empty where nothing is."""
        long, far = _lengths(x) > self.long * (1 + 1e-6), _nearest(self._turned, x) > self.far + 1e-6
        said = (("a mix of values far from all that was seen", far), ("values larger than were seen", long))
        return [", ".join(words for words, which in said if which[row]) for row in range(x.shape[0])]

    def tensors(self) -> dict[str, Tensor]:
        """All tensors, by their names in a file."""
        if isinstance(self.reference, np.ndarray):
            return {f"{PREFIX}rows": torch.from_numpy(np.ascontiguousarray(self.reference))}
        parts = ("data", "indices", "indptr")
        return {f"{PREFIX}{part}": torch.from_numpy(getattr(self.reference, part)) for part in parts}

    def about(self) -> dict[str, Any]:
        """All that is no tensor, as plain values."""
        return {"far": self.far, "long": self.long, "width": int(self.reference.shape[1])}

    @classmethod
    def read(cls, about: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Seen:
        """The inverse of `about` and `tensors`; what does not fit together is a `ValueError`."""
        width, limits = int(about["width"]), [float(about[name]) for name in ("far", "long")]
        ours = {name.removeprefix(PREFIX): one.numpy() for name, one in tensors.items() if name.startswith(PREFIX)}
        rows: Features
        if "rows" in ours:
            rows = ours["rows"]
        else:
            arrays = (ours["data"], ours["indices"], ours["indptr"])
            rows = sp.csr_matrix(arrays, shape=(len(ours["indptr"]) - 1, width))
            rows.check_format()
        if rows.ndim != 2 or rows.shape[1] != width or rows.dtype != np.float32 or not np.isfinite(limits).all():
            raise ValueError("the reference rows do not fit")
        return cls(rows, *limits)


def _lengths(x: Features) -> np.ndarray:
    if isinstance(x, np.ndarray):
        return np.sqrt(np.einsum("ij,ij->i", x, x).astype(np.float64))
    return np.sqrt(np.bincount(np.repeat(np.arange(x.shape[0]), np.diff(x.indptr)), x.data * x.data, x.shape[0]))


def _nearest(turned: Features, x: Features, own: bool = False) -> np.ndarray:
    """One minus the cosine to the nearest reference, [n], of which `turned` has a column each.

    `own` says that these are the references themselves.
    """
    if not x.shape[0]:
        return np.empty(0)
    both: Any = unit_rows(x) @ turned
    cosine = np.asarray(both.toarray() if sp.issparse(both) else both)
    if own:
        np.fill_diagonal(cosine, -1)
    return np.asarray(1 - cosine.max(1), dtype=np.float64)
