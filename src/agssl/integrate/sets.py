"""Prediction sets: for each node the classes that hold the true one with a given chance (conformal prediction).

How little a class fits a node is its adaptive score (APS: Romano et al. 2020), smoothed over the graph (DAPS:
Zargarbashi et al. 2023):

    s_i(c) = sum of p_i(d) over likelier classes d, plus u_i p_i(c),
    s~_i   = (1 - w) s_i + w (mean of s_j over neighbours j).

u_i is uniform, drawn by the node's number. A set has the classes with s~_i(c) <= t, and t is the quantile of held-out
nodes' scores of their true classes. Where held-out nodes are like the others, sets hold the truth with that chance,
however good or bad the probabilities are. Where a model is right more often than is asked
for, some sets are empty: no class fits well enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.packed import row_blocks

SMOOTH = (0.0, 0.25, 0.5)  # w that are tried; the one with the smallest sets is taken
USUAL = 0.9  # coverage that is reported
BLOCK = 4_000_000  # edges at a time


def adaptive_scores(probabilities: np.ndarray, u: np.ndarray) -> np.ndarray:
    """s [n, C] from probabilities [n, C] and u [n].

    >>> adaptive_scores(np.array([[0.2, 0.7, 0.1]]), np.array([0.5])).round(2).tolist()
    [[0.8, 0.35, 0.95]]
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    ranked = np.take_along_axis(probabilities, order, axis=1)
    scores = np.empty_like(probabilities)
    np.put_along_axis(scores, order, np.cumsum(ranked, axis=1) - ranked + u[:, None] * ranked, axis=1)
    return scores


def smoothed(scores: np.ndarray, graph: Graph, weight: float) -> np.ndarray:
    """s~ [N, C]; nodes without neighbours keep their own."""
    if weight == 0:
        return scores
    found = scores.copy()
    for start, stop in row_blocks(graph.indptr, BLOCK):  # a graph may lie on disk
        begin, end = int(graph.indptr[start]), int(graph.indptr[stop])
        rows = np.asarray(graph.indptr[start : stop + 1]) - begin
        ones = np.ones(end - begin, dtype=scores.dtype)
        block = sp.csr_matrix((ones, np.asarray(graph.indices[begin:end]), rows), (stop - start, len(scores)))
        degree = np.diff(rows)[:, None]
        mixed = (1 - weight) * scores[start:stop] + weight * (block @ scores) / np.maximum(degree, 1)
        found[start:stop] = np.where(degree > 0, mixed, scores[start:stop])
    return found


def uniform(nodes: int, *stream: str) -> np.ndarray:
    """u of as many nodes, by their numbers; of other nodes than those of a graph from a stream of their own."""
    return Rng(0).child("prediction sets", *stream).numpy().random(nodes)


def node_scores(probabilities: np.ndarray, graph: Graph, weight: float, u: np.ndarray | None = None) -> np.ndarray:
    """s~ [N, C] of all nodes; u is that of their numbers where it is not given."""
    u = uniform(len(probabilities)) if u is None else u
    return smoothed(adaptive_scores(probabilities, u).astype(np.float32), graph, weight)


def quantile(scores: np.ndarray, coverage: float) -> float:
    """The smallest t that covers so much of these and one more; infinite where they are too few.

    >>> quantile(np.arange(1.0, 20.0), 0.9), quantile(np.arange(5.0), 0.9)
    (18.0, inf)
    """
    rank = int(np.ceil(coverage * (len(scores) + 1) - 1e-9))
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else float("inf")


@dataclass(frozen=True, eq=False)
class Conformal:
    """The scores of held-out nodes."""

    scores: np.ndarray  # [n], of their true classes
    labels: np.ndarray  # [n]
    weight: float  # w

    @classmethod
    def fitted(cls, probabilities: np.ndarray, graph: Graph, nodes: np.ndarray, own: np.ndarray) -> Conformal:
        """By held-out nodes of a graph.

        Args:
            probabilities: of all nodes, [N, C].
            graph: with labels of `nodes`.
            nodes: held out, [n].
            own: their probabilities by networks that have not seen their labels, [n, C].
        """
        known = probabilities.copy()
        known[nodes] = own
        labels = graph.y[nodes]
        every = {weight: node_scores(known, graph, weight)[nodes] for weight in SMOOTH}
        true = {weight: scores[np.arange(len(nodes)), labels] for weight, scores in every.items()}
        sizes = {w: (every[w] <= quantile(true[w], USUAL)).sum(1).mean() if len(nodes) else 0.0 for w in SMOOTH}
        weight = min(SMOOTH, key=lambda w: sizes[w])
        return cls(true[weight], labels.astype(np.int64), weight)

    def thresholds(self, coverage: float, classes: int, by_class: bool = False) -> np.ndarray:
        """t of each class, [C]: one for all, or such that each class is covered for itself."""
        if not 0 < coverage < 1:
            raise SettingsError(f"coverage = {coverage:g}, but it is a chance between 0 and 1; 0.9 is usual")
        if not by_class:
            return np.full(classes, quantile(self.scores, coverage))
        return np.array([quantile(self.scores[self.labels == c], coverage) for c in range(classes)])

    def sets(
        self,
        probabilities: np.ndarray,
        graph: Graph,
        coverage: float = USUAL,
        by_class: bool = False,
        u: np.ndarray | None = None,
    ) -> np.ndarray:
        """Which classes are in the set of each node of a graph, bool [N, C]; u as for `node_scores`."""
        limits = self.thresholds(coverage, probabilities.shape[1], by_class)
        found: np.ndarray = node_scores(probabilities, graph, self.weight, u) <= limits
        return found


def measure_sets(members: np.ndarray, truth: np.ndarray, coverage: float) -> dict[str, float]:
    """What came of sets [n, C]: how many hold the truth, how large they are, how many have several classes."""
    size = members.sum(1)
    held = members[np.arange(len(truth)), truth]
    return {
        "asked": coverage,
        "coverage": float(held.mean()),
        "coverage_se": float(held.std() / np.sqrt(len(held))),
        "mean_size": float(size.mean()),
        "unsure": float((size > 1).mean()),
        "empty": float((size == 0).mean()),
    }
