"""LINEAR: logistic regression on a node's features and their means over its neighbourhoods, [X, PX, P^2 X].

P = D^-1 A. Only rows of training nodes are ever made. All nodes are predicted at the width of the classes, from the
outermost hop inwards: X W_0 + P (X W_1 + P (X W_2)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.feature_norm import unit_rows
from agssl.data.graph import Features, Graph
from agssl.ops.subgraph import entry_positions
from agssl.simple.base import SIMPLE, log_probabilities
from agssl.simple.regression import choose_strength, fit_logistic, principal

ENTRIES = 25_000_000  # numbers of training rows, zeros included, at most: of more nodes, some are drawn
WALKS = 1 << 22  # from training nodes, that are followed at a time
TINY = 1e-12


class LinearClassifier:
    """Logistic regression on each node's features and their means one, two, ... hops away.

    Features have unit norm at every node (dense ones are standardised by column before), and each hop's counts alike.

    Args:
        k: hops; 0 is features alone.
        c: how little weights are penalised, relative to rows of mean square norm 1; 0: chosen by cross-validation.
    """

    name: ClassVar[str] = "linear"

    def __init__(self, k: int = 2, c: float = 0.0) -> None:
        if k < 0:
            raise SettingsError(f"simple classifier 'linear': k = {k}, but it is a number of hops; 2 is usual")
        if c < 0:
            raise SettingsError(f"simple classifier 'linear': c = {c}, but it must be positive, or 0 to have it chosen")
        self.k, self.c = k, c

    def settings(self) -> dict[str, Any]:
        """The number of hops and the strength."""
        return {"k": self.k, "c": self.c}

    def fit_predict(self, graph: Graph, nodes: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
        """Log-probabilities [N, C]; see `SimpleClassifier`."""
        most = ENTRIES // max(1, (self.k + 1) * graph.num_features)
        if len(nodes) > most:
            some = np.sort(Rng(0).child("simple", self.name).numpy().permutation(len(nodes))[: max(1, most)])
            nodes, labels = nodes[some], labels[some]
        present, numbers = np.unique(labels, return_inverse=True)
        probabilities = np.zeros((graph.num_nodes, classes))
        with threadpool_limits(1):  # the last bits of products may depend on it
            x = unit_features(graph.x)
            reduced = Reduced.of(hop_rows(graph, x, nodes, self.k))
            c = self.c or choose_strength(reduced.rows, numbers, len(present))
            model = fit_logistic(reduced.rows, numbers, len(present), c)
            weights, offset = reduced.unfolded(model.weights)
            probabilities[:, present] = softmax(propagated(graph, x, weights) + offset + model.intercept, axis=1)
        return log_probabilities(probabilities)


def unit_features(x: Features, like: Features | None = None) -> Features:
    """Rows of unit norm; dense columns are standardised before, by their values in `like` (if not given, in x)."""
    if not isinstance(x, np.ndarray):
        return unit_rows(x)
    known = x if like is None else like
    mean, spread = known.mean(axis=0, dtype=np.float64), known.std(axis=0, dtype=np.float64)
    varies = spread > 1e-6 * np.abs(mean)  # what is below is rounding
    return unit_rows(np.where(varies, (x - mean) / np.where(varies, spread, 1), 0).astype(np.float32))


def hop_rows(graph: Graph, x: Features, nodes: np.ndarray, k: int) -> list[np.ndarray]:
    """X, PX, ..., P^k X of these nodes, float32 [n, d] each."""
    found = [np.zeros((len(nodes), x.shape[1]), dtype=np.float32) for _ in range(k + 1)]
    mean = mean_adjacency(graph)
    at, counts = entry_positions(graph, nodes)
    own = np.repeat(np.arange(len(nodes)), counts)
    walks = np.cumsum(np.bincount(own, graph.degree[graph.indices[at]], len(nodes)) + 1)  # of two steps
    for part in np.split(np.arange(len(nodes)), np.flatnonzero(np.diff(walks // WALKS)) + 1):
        ones = np.ones(len(part), dtype=np.float32)
        far = sp.csr_matrix((ones, (np.arange(len(part)), nodes[part])), shape=(len(part), graph.num_nodes))
        for hop in range(k + 1):
            far = far if hop == 0 else far @ mean
            rows = far @ x
            found[hop][part] = rows.toarray() if sp.issparse(rows) else rows
    return found


def propagated(graph: Graph, x: Features, weights: list[np.ndarray]) -> np.ndarray:
    """X W_0 + P (X W_1 + P (X W_2 + ...)) of all nodes, float32 [N, C]."""
    mean = mean_adjacency(graph)
    *inner, last = (part.astype(np.float32) for part in weights)
    found = x @ last
    for part in reversed(inner):
        found = x @ part + mean @ found
    return np.asarray(found)


def mean_adjacency(graph: Graph) -> sp.csr_matrix:
    """P = D^-1 A, float32; the row of a node without neighbours is empty."""
    matrix = graph.adjacency()
    matrix.data /= np.repeat(graph.weighted_degree, graph.degree)
    return matrix


@dataclass(frozen=True, eq=False)
class Reduced:
    """Rows of several blocks [Z_0, ..., Z_k], centred, each block scaled alike, in as few columns as they need.

    n rows of more than n columns are turned into their at most n principal directions. Since this keeps all lengths and
    angles, a penalised regression on them is the same regression.
    """

    rows: np.ndarray  # [n, r], float64 where they are turned, else float32; of mean square norm 1
    blocks: list[np.ndarray]  # float32 [n, d] each, centred and scaled
    factors: list[float]  # by which each was multiplied
    means: list[np.ndarray]  # [d] each, of the rows as given
    turned: np.ndarray | None  # float64 [n, r]: all columns are the blocks' transposes times this; None: as they are

    @classmethod
    def of(cls, blocks: list[np.ndarray]) -> Reduced:
        """The rows [n, d] of each block."""
        means = [block.mean(axis=0, dtype=np.float64) for block in blocks]
        alike = [1 / max(TINY, np.sqrt(_mean_square(block))) for block in blocks]
        centred = [(block - mean).astype(np.float32) for block, mean in zip(blocks, means, strict=True)]
        total = sum(_mean_square(block) * factor**2 for block, factor in zip(centred, alike, strict=True))
        factors = [factor / max(TINY, np.sqrt(total)) for factor in alike]
        scaled = [block * np.float32(factor) for block, factor in zip(centred, factors, strict=True)]
        count, width = len(blocks[0]), sum(block.shape[1] for block in blocks)
        if count >= width:
            return cls(np.hstack(scaled), scaled, factors, means, None)
        rows, turned = principal(sum(part @ part.T for part in (block.astype(np.float64) for block in scaled)))
        return cls(rows, scaled, factors, means, turned)

    def unfolded(self, weights: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """The same linear map of the rows as given: weights [d, C] of each block, and an offset [C].

        Args:
            weights: of `rows`, [r, C].
        """
        if self.turned is None:
            parts = np.split(weights, np.cumsum([block.shape[1] for block in self.blocks])[:-1])
        else:
            parts = [block.T @ (self.turned @ weights) for block in self.blocks]
        parts = [part * factor for part, factor in zip(parts, self.factors, strict=True)]
        return parts, -sum(mean @ part for mean, part in zip(self.means, parts, strict=True))


def _mean_square(rows: np.ndarray) -> float:
    return float(np.einsum("ij,ij->", rows, rows, dtype=np.float64)) / max(1, len(rows))


SIMPLE.add("linear", LinearClassifier)
