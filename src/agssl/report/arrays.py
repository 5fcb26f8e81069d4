"""Numbers of all nodes, packed: small integers, compressed together, as text that stands in a page."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

SHARE = 10_000  # a probability or weight p is kept as round(p * SHARE), more digits than the page shows
PLACE = 65_535  # a coordinate of the map, from edge to edge


def shares(values: np.ndarray) -> np.ndarray:
    """Numbers in 0..1 as uint16."""
    return np.rint(np.clip(values, 0, 1) * SHARE).astype(np.uint16)


def places(points: np.ndarray) -> np.ndarray:
    """Positions [N, 2] as uint16, the longer side filling the range and the shape kept."""
    low, high = points.min(0), points.max(0)
    side = float((high - low).max()) or 1.0
    return np.rint((points - (low + high) / 2) / side * (PLACE - 1) + PLACE / 2).clip(0, PLACE).astype(np.uint16)


def small(values: np.ndarray, count: int) -> np.ndarray:
    """Whole numbers from -1 to count - 1 in the smallest signed type that holds them."""
    return values.astype(np.min_scalar_type(-max(count, 1) - 1))


def top(probabilities: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """The most probable classes of each node and their probabilities, most probable first; [N, keep] both."""
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :keep]
    return order, np.take_along_axis(probabilities, order, 1)


def half_edges(indptr: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each undirected edge once: how many later neighbours a node has, [N], and the steps from one to the next."""
    source = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    later = indices > source
    counts = np.bincount(source[later], minlength=len(indptr) - 1)
    target = indices[later].astype(np.int64)
    # sorted within a node, so steps are small and pack well
    before = np.concatenate([[0], target[:-1]])
    first = np.concatenate([[True], np.diff(source[later]) != 0]) if len(target) else np.zeros(0, bool)
    before = np.where(first, source[later], before)[: len(target)]
    return counts.astype(np.uint32), (target - before).astype(np.uint32)


def pack(arrays: Mapping[str, np.ndarray]) -> tuple[list[dict[str, Any]], str]:
    """Where each array is (name, type, start, shape), and all of them: little-endian, zlib, base64."""
    where, parts, at = [], [], 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        where.append({"name": name, "type": array.dtype.name, "start": at, "shape": list(array.shape)})
        parts += [data, b"\0" * (-len(data) % 8)]  # typed arrays must start at a multiple of their width
        at += len(data) + len(parts[-1])
    return where, base64.b64encode(zlib.compress(b"".join(parts), 6)).decode("ascii")
