"""A batch of nodes that between them stand for what a model does not know.

Facility location, weighted: with S what is labelled or chosen already, candidate j adds

    gain_j = sum_i w_i max(0, s_ij - max_{k in S} s_ik)

where s_ij is how alike nodes i and j are and w_i how unsure the model is of node i. So a node counts for much where
many unsure nodes are like it (density) and none of them is covered yet (spread), and for little where it is alone: an
outlier that the model can't place teaches it nothing of others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agssl.base.rng import Rng

BLOCK = 512  # labelled nodes that are compared with all targets at a time


@dataclass(frozen=True, eq=False)
class Batch:
    """Chosen candidates, the best first."""

    chosen: np.ndarray  # int64 [n], places among the candidates
    covered: np.ndarray  # float64 [n], the share of all the model's doubt that each covers and those before do not


def alike(rows: np.ndarray, others: np.ndarray, sharpness: int) -> np.ndarray:
    """The cosine of unit rows, none below 0, to a power: [n, m]."""
    return np.maximum(rows @ others.T, 0) ** sharpness


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows with unit L2 norm, float32; those of zeros stay."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(norms > 0, norms, 1)).astype(np.float32)


def coverage(targets: np.ndarray, known: np.ndarray, sharpness: int) -> np.ndarray:
    """How like the most similar of the known rows each target is, [n]; 0 where none is known."""
    best = np.zeros(len(targets), dtype=np.float32)
    for start in range(0, len(known), BLOCK):
        np.maximum(best, alike(targets, known[start : start + BLOCK], sharpness).max(1), out=best)
    return best


def choose_batch(
    similarity: np.ndarray, weights: np.ndarray, covered: np.ndarray, favour: np.ndarray, groups: np.ndarray, count: int
) -> Batch:
    """Choose candidates one by one, each the one with the largest gain given those before it.

    Args:
        similarity: of targets (rows) and candidates (columns), [T, M].
        weights: of the targets, [T].
        covered: how like the most similar labelled node each target is, [T].
        favour: factor of each candidate's gain, [M].
        groups: the class that each candidate looks like, by number, [M]; a class that has been asked about often in
            this batch counts for less, by one over the root of how often.
        count: how many, at most as many as there are candidates.
    """
    covered, free = covered.copy(), np.ones(similarity.shape[1], dtype=bool)
    asked = np.ones(int(groups.max(initial=0)) + 1)
    chosen, shares = [], []
    total = max(float(weights.sum(dtype=np.float64)), 1e-12)
    for _ in range(min(count, len(free))):
        gain = weights @ np.maximum(similarity - covered[:, None], 0)
        score = np.where(free, gain * favour / np.sqrt(asked[groups]), -np.inf)
        best = int(score.argmax())
        chosen.append(best)
        shares.append(float(gain[best]) / total)
        free[best] = False
        asked[groups[best]] += 1
        np.maximum(covered, similarity[:, best], out=covered)
    return Batch(np.array(chosen, dtype=np.int64), np.array(shares))


def drawn(nodes: np.ndarray, weights: np.ndarray, most: int, rng: Rng) -> np.ndarray:
    """At most so many of the nodes, without replacement, with chances by weight; sorted."""
    if len(nodes) <= most:
        return nodes
    keys = rng.numpy().exponential(size=len(nodes)) / np.maximum(weights[nodes], 1e-12)  # Efraimidis and Spirakis
    return np.sort(nodes[np.argpartition(keys, most)[:most]])
