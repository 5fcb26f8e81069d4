"""Pairs of nodes with alike and unlike features."""

from __future__ import annotations

import numpy as np

from agssl.base.rng import Rng
from agssl.data.feature_norm import unit_rows
from agssl.data.graph import Features

ANCHORS = 4000  # nodes whose nearest and farthest ones are looked for
CANDIDATES = 4000  # nodes among which they are looked for
KEPT = 3  # nearest, and as many farthest, ones kept of each
CHUNK = 256  # anchors compared at a time


def similarity_pool(x: Features, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Pairs int64 [2, n] of nodes with their nearest and farthest ones by cosine, and the similarities, float32 [n].

    Anchors and candidates are samples of the nodes, so the cost does not grow with the graph.
    """
    draw, n = rng.numpy(), x.shape[0]
    anchors, candidates = (draw.permutation(n)[: min(n, most)] for most in (ANCHORS, CANDIDATES))
    table = unit_rows(x[candidates]).T
    pairs, values = [], []
    for start in range(0, len(anchors), CHUNK):
        some = anchors[start : start + CHUNK]
        block = unit_rows(x[some]) @ table
        similarity = np.asarray(
            block if isinstance(block, np.ndarray) else block.todense()
        )  # [CHUNK, CANDIDATES] at most
        itself = some[:, None] == candidates[None, :]
        kept = min(KEPT, similarity.shape[1] - 1)
        if kept < 1:
            continue
        nearest = np.argpartition(np.where(itself, -np.inf, similarity), -kept, axis=1)[:, -kept:]
        farthest = np.argpartition(np.where(itself, np.inf, similarity), kept - 1, axis=1)[:, :kept]
        for chosen in (nearest, farthest):
            pairs.append(np.stack([np.repeat(some, kept), candidates[chosen].ravel()]))
            values.append(np.take_along_axis(similarity, chosen, axis=1).ravel())
    if not pairs:
        return np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.float32)
    return np.concatenate(pairs, axis=1), np.concatenate(values).astype(np.float32)
