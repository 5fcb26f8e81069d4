"""From edges in any order to a symmetric CSR adjacency, within a bounded working set."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

BUCKET = 1 << 22  # directed edges that are sorted at a time


class AdjacencyBuilder:
    """Drops self-loops and duplicates, gives every edge its reverse, sorts.

    Each edge goes, both ways, into the bucket of its source's range of nodes; a bucket is sorted on its own. So time is
    linear in the edges, and with a folder to keep the buckets in, memory is that of one bucket.
    """

    def __init__(self, num_nodes: int, expected_edges: int, folder: Path | None = None) -> None:
        self.num_nodes = num_nodes
        buckets = max(1, round(2 * expected_edges / BUCKET))
        self._span = -(-num_nodes // buckets)  # nodes in a bucket
        self._folder = folder
        self._pieces: list[list[np.ndarray]] = [[] for _ in range(-(-num_nodes // self._span))]

    def add(self, source: np.ndarray, target: np.ndarray) -> None:
        """Take edges, int64 [n] each; one direction is enough."""
        keep = source != target
        source, target = source[keep], target[keep]
        keys = np.concatenate([source << 32 | target, target << 32 | source])
        keys.sort()
        first = np.arange(len(self._pieces) + 1, dtype=np.int64) * self._span
        cuts = np.searchsorted(keys, first << 32)
        for bucket, (start, stop) in enumerate(pairwise(cuts)):
            if start == stop:
                continue
            if self._folder is None:
                self._pieces[bucket].append(keys[start:stop])
            else:
                with open(self._path(bucket), "ab") as file:
                    file.write(keys[start:stop].data)

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Range by range of nodes: how many neighbours each has (int64), and these (int32, sorted in each row)."""
        for bucket in range(len(self._pieces)):
            keys = self._take(bucket)
            keys.sort()
            new = np.ones(len(keys), dtype=bool)
            np.not_equal(keys[1:], keys[:-1], out=new[1:])
            keys = keys[new]
            first = bucket * self._span
            span = min(self._span, self.num_nodes - first)
            yield np.bincount((keys >> 32) - first, minlength=span), (keys & 0xFFFFFFFF).astype(np.int32)

    def _take(self, bucket: int) -> np.ndarray:
        if self._folder is None:
            pieces, self._pieces[bucket] = self._pieces[bucket], []
            return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)
        path = self._path(bucket)
        if not path.exists():
            return np.empty(0, dtype=np.int64)
        keys = np.fromfile(path, dtype=np.int64)
        path.unlink()
        return keys

    def _path(self, bucket: int) -> Path:
        assert self._folder is not None
        return self._folder / f"bucket-{bucket}"
