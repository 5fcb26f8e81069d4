"""Contextual stochastic block models, where the Bayes probability p*(x_i) = P(y_i | X, A) can be had.

y_i is uniform on the classes; x_i is Gaussian around mu_{y_i}; two nodes are linked with probability `inside` if they
are of one class and `outside` if not, independently. With known parameters,

    log P(y | X, A) = sum_i u_i(y_i) + sum_{i<j} [y_i = y_j] (a A_ij + b) + const,    u_i(c) = -|x_i - mu_c|^2 / 2,
    b = log((1 - inside) / (1 - outside)),    a = log(inside / outside) - b.

Its marginals are computed twice, independently: by Gibbs sampling, which converges to them exactly, and by belief
propagation, which is fast and nearly exact on sparse graphs. Tests compare both with the sum over all C^N labellings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.metrics import softmax


@dataclass(frozen=True)
class Csbm:
    """The model and its known parameters."""

    nodes: int = 1000
    classes: int = 4
    degree: float = 4.0  # on average
    homophily: float = 0.65  # share of the edges within a class
    features: int = 16
    signal: float = 1.4  # length of the class means, which are orthogonal; noise has deviation 1

    @property
    def inside(self) -> float:
        """Probability of an edge within a class."""
        return self.degree * self.homophily * self.classes / self.nodes

    @property
    def outside(self) -> float:
        """Probability of an edge between two given classes."""
        return self.degree * (1 - self.homophily) * self.classes / (self.nodes * (self.classes - 1))

    @property
    def couplings(self) -> tuple[float, float]:
        """a, what an edge adds to the log-probability of two nodes being of one class, and b, what any pair adds."""
        b = math.log1p(-self.inside) - math.log1p(-self.outside)
        return math.log(self.inside / self.outside) - b, b

    @property
    def means(self) -> np.ndarray:
        """mu [C, d]."""
        return self.signal * np.eye(self.classes, self.features)

    def draw(self, rng: Rng) -> Graph:
        """A graph of this model."""
        generator = rng.numpy()
        y = generator.integers(0, self.classes, self.nodes)
        x = (self.means[y] + generator.standard_normal((self.nodes, self.features))).astype(np.float32)
        source, target = np.triu_indices(self.nodes, 1)
        linked = generator.random(len(source)) < np.where(y[source] == y[target], self.inside, self.outside)
        names = [str(c) for c in range(self.classes)]
        both = np.concatenate([[source[linked], target[linked]], [target[linked], source[linked]]], axis=1)
        return Graph.from_arrays(both, x, y, classes=names, name="csbm", notify=False)

    def evidence(self, graph: Graph) -> np.ndarray:
        """u [N, C], up to a constant a node."""
        x = np.asarray(graph.x, dtype=np.float64)
        return x @ self.means.T - (self.means**2).sum(1) / 2


@dataclass(frozen=True, eq=False)
class Posterior:
    """Gibbs estimates of p* by two independent halves of the chains."""

    halves: np.ndarray  # [2, N, C]

    @property
    def mean(self) -> np.ndarray:
        """The estimate, [N, C]."""
        return self.halves.mean(0)

    @property
    def error(self) -> float:
        """Its expected distance to the truth in a node, from the distance between the halves."""
        return float(np.linalg.norm(self.halves[0] - self.halves[1], axis=1).mean() / 2)


def gibbs(model: Csbm, graph: Graph, rng: Rng, chains: int = 192, sweeps: int = 60, burn: int = 20) -> Posterior:
    """P(y_i | X, A) of every node, by the mean of its conditional probabilities along many chains.

    Half of the chains start from the true labels, which are themselves a draw of the posterior, and half from labels
    drawn by the features alone. That the halves agree shows that the chains have forgotten where they began.
    """
    a, b = model.couplings
    u, generator = model.evidence(graph)[:, :, None], rng.numpy()
    classes = np.arange(model.classes)
    start = np.concatenate(
        [
            np.repeat(graph.y[:, None], chains // 2, axis=1),
            _choose(softmax(np.repeat(u, chains - chains // 2, axis=2), axis=1), generator),
        ],
        axis=1,
    )  # [N, chains]
    state = (start[:, None, :] == classes[:, None]).astype(np.float64)  # one-hot, [N, C, chains]
    count, total = state.sum(0), np.zeros((model.nodes, model.classes, 2))
    neighbours = [graph.neighbours(node) for node in range(model.nodes)]
    for sweep in range(burn + sweeps):
        points = generator.random((model.nodes, chains))
        for node in range(model.nodes):
            count -= state[node]
            p = softmax(u[node] + a * state[neighbours[node]].sum(0) + b * count, axis=0)
            new = (p.cumsum(0) < points[node]).sum(0)
            np.equal(new, classes[:, None], out=state[node], casting="unsafe")
            count += state[node]
            if sweep >= burn:
                total[node, :, 0] += p[:, : chains // 2].mean(1)
                total[node, :, 1] += p[:, chains // 2 :].mean(1)
    return Posterior(np.moveaxis(total / sweeps, 2, 0))


def _choose(p: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draws [N, chains] from probabilities [N, C, chains]."""
    return (p.cumsum(1) < generator.random((p.shape[0], 1, p.shape[2]))).sum(1)


def propagate_beliefs(model: Csbm, graph: Graph, rounds: int = 100, tolerance: float = 1e-6) -> np.ndarray:
    """P(y_i | X, A) [N, C] by the sum-product algorithm on the edges; other pairs act by their mean field."""
    a, b = model.couplings
    u = model.evidence(graph)
    source = np.repeat(np.arange(model.nodes), graph.degree)  # message e goes from source[e] to target[e]
    target = graph.indices.astype(np.int64)
    reverse = np.lexsort((source, target))  # position of the message the other way, as rows are sorted
    message, belief = softmax(u[source], axis=1), softmax(u, axis=1)
    for _ in range(rounds):
        gain = np.log1p(math.expm1(a) * message)
        inbox = np.stack([np.bincount(target, column, model.nodes) for column in gain.T], axis=1)
        field = u + inbox + b * (belief.sum(0) - belief)
        belief = softmax(field, axis=1)
        new = softmax(field[source] - gain[reverse], axis=1)
        change = np.abs(new - message).max(initial=0.0)
        message = (new + message) / 2  # damped: on loopy graphs the plain iteration may swing
        if change < tolerance:
            break
    return belief
