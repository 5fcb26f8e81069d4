"""How central each node is: by degree, PageRank, or the leading eigenvector; by weight, where edges have one."""

from __future__ import annotations

import numpy as np

from agssl.data.graph import Graph

TOLERANCE = 1e-10  # of an iteration, in the sum of absolute changes


def pagerank(graph: Graph, damping: float = 0.85, rounds: int = 200) -> np.ndarray:
    """PageRank by power iteration, summing to one; isolated nodes jump anywhere. Float64 [N]."""
    n, a = graph.num_nodes, graph.adjacency().astype(np.float64)
    isolated = graph.degree == 0
    scale = 1 / np.where(isolated, 1, graph.weighted_degree)
    rank = np.full(n, 1 / n)
    for _ in range(rounds):
        spread = a @ (rank * scale) + rank[isolated].sum() / n
        new = damping * spread + (1 - damping) / n
        if np.abs(new - rank).sum() < TOLERANCE:
            return new
        rank = new
    return rank


def eigenvector(graph: Graph, rounds: int = 1000) -> np.ndarray:
    """The leading eigenvector of A with unit L2 norm, by power iteration on A + I, which does not swing; [N]."""
    a = graph.adjacency().astype(np.float64)
    if graph.weights is not None:
        a.data /= a.data.mean()  # whatever their unit, A should not drown I, nor I drown A
    vector = np.full(graph.num_nodes, graph.num_nodes**-0.5)
    for _ in range(rounds):
        new = a @ vector + vector
        new /= np.linalg.norm(new)
        if np.abs(new - vector).sum() < TOLERANCE * graph.num_nodes:
            return new
        vector = new
    return vector


def degree(graph: Graph) -> np.ndarray:
    """Neighbours of each node, or the sum of the weights of its edges. Float64 [N]."""
    return graph.weighted_degree.astype(np.float64)


CENTRALITIES = {"degree": degree, "pagerank": pagerank, "eigenvector": eigenvector}
