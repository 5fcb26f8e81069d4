"""Small graphs to test on, made without the product's own cleaning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from agssl.data.graph import Graph
from agssl.data.splits import Split


def build(
    num_nodes: int,
    edges: Iterable[tuple[int, int]],
    *,
    classes: int = 3,
    features: int = 6,
    density: float = 1.0,
    seed: int = 0,
    name: str = "graph",
    weighted: bool = False,
) -> Graph:
    """A graph from a list of undirected edges, row by row; labels go round the classes.

    The first two nodes per class train, the next two validate, the rest test. Density below 1 gives sparse features.
    """
    draw = np.random.default_rng(seed)
    near: list[set[int]] = [set() for _ in range(num_nodes)]
    for i, j in edges:
        near[i].add(int(j))
        near[j].add(int(i))
    indptr = np.array([0, *np.cumsum([len(n) for n in near])], dtype=np.int64)
    indices = np.array([j for n in near for j in sorted(n)], dtype=np.int32)
    x = draw.random((num_nodes, features), dtype=np.float32) + 0.1
    if density < 1:
        x[draw.random(x.shape) >= density] = 0
    y = np.arange(num_nodes, dtype=np.int64) % classes
    order = np.arange(num_nodes)
    split = Split(order[: 2 * classes], order[2 * classes : 4 * classes], order[4 * classes :])
    names = tuple(f"c{c}" for c in range(classes))
    weights = None
    if weighted:
        pairs = [(i, j) for i, n in enumerate(near) for j in sorted(n)]
        weights = np.array([pair_weight(i, j) for i, j in pairs], dtype=np.float32)
    x = x if density == 1 else sp.csr_matrix(x)
    return Graph(indptr, indices, x, y, names, split, name, weights=weights)


def pair_weight(i: int, j: int) -> float:
    """A weight in 0.1 .. 5, the same for (i, j) and (j, i)."""
    return round(0.1 + 4.9 * ((31 * min(i, j) + 17 * max(i, j)) % 101 / 100) ** 2, 3)


def edge_weights(graph: Graph) -> dict[tuple[int, int], float]:
    """The weight of every undirected edge, smaller end first."""
    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    rows = np.repeat(np.arange(graph.num_nodes), graph.degree)
    found = zip(rows.tolist(), graph.indices.tolist(), weights.tolist(), strict=True)
    return {(i, j): value for i, j, value in found if i < j}


def random_edges(num_nodes: int, count: int, seed: int) -> list[tuple[int, int]]:
    """Distinct undirected edges without loops, at most `count`."""
    draw = np.random.default_rng(seed)
    pairs = draw.integers(num_nodes, size=(count, 2))
    return sorted({(int(min(i, j)), int(max(i, j))) for i, j in pairs if i != j})


def random_graph(num_nodes: int = 30, count: int = 45, seed: int = 0, **kwargs: object) -> Graph:
    """A random graph; some of its nodes are likely to be isolated."""
    return build(num_nodes, random_edges(num_nodes, count, seed), seed=seed, **kwargs)  # type: ignore[arg-type]


def blocks_graph(
    num_nodes: int = 60, classes: int = 3, seed: int = 0, density: float = 1.0, weighted: bool = False
) -> Graph:
    """A graph that can be learned: most edges stay in a class, and features tell the class with some noise."""
    draw = np.random.default_rng(seed)
    edges = []
    for i in range(num_nodes):
        same = i + classes * draw.integers(1, 4, size=3)
        edges += [(i, int(j)) for j in same if j < num_nodes]
        other = int(draw.integers(num_nodes))
        if draw.random() < 0.2 and other != i:
            edges.append((i, other))
    graph = build(num_nodes, edges, classes=classes, features=8, density=density, seed=seed, weighted=weighted)
    signal = np.eye(classes, 8, dtype=np.float32)[graph.y]
    x = graph.x + signal if density == 1 else sp.csr_matrix(graph.x.toarray() + signal)
    return replace(graph, x=x, name="blocks")


def edge_list(graph: Graph) -> list[tuple[int, int]]:
    """Every undirected edge once, smaller end first."""
    return [(i, int(j)) for i in range(graph.num_nodes) for j in graph.neighbours(i) if i < j]


def permuted(graph: Graph, order: np.ndarray) -> Graph:
    """The same graph with node `order[i]` renamed to i."""
    new = np.argsort(order)
    edges = [(int(new[i]), int(new[j])) for i, j in edge_list(graph)]
    plain = build(graph.num_nodes, edges, classes=graph.num_classes)
    weights = None
    if graph.weights is not None:
        matrix = graph.adjacency()[order][:, order]
        matrix.sort_indices()
        weights = matrix.data
    split = None
    if graph.split is not None:
        split = Split(*(np.sort(new[part]) for part in (graph.split.train, graph.split.val, graph.split.test)))
    about = {"indptr": plain.indptr, "indices": plain.indices, "weights": weights}
    return replace(graph, x=graph.x[order], y=graph.y[order], split=split, **about)


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 12, min_nodes: int = 1) -> Graph:
    """Any small graph: no edges, isolated nodes, several components, or complete; with and without edge weights."""
    nodes = draw(st.integers(min_nodes, max_nodes))
    pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    density = draw(st.sampled_from([1.0, 0.4]))
    return build(nodes, edges, density=density, seed=draw(st.integers(0, 1000)), weighted=draw(st.booleans()))


@st.composite
def sparse_matrices(draw: st.DrawFn, max_side: int = 9) -> sp.csr_matrix:
    """Any small sparse matrix, empty rows and no stored values included."""
    rows, columns = draw(st.integers(1, max_side)), draw(st.integers(1, max_side))
    density, seed = draw(st.sampled_from([0.0, 0.2, 0.6, 1.0])), draw(st.integers(0, 1000))
    generator = np.random.default_rng(seed)
    return sp.random(rows, columns, density, format="csr", dtype=np.float32, random_state=generator)


def rare_graph(nodes: int = 1500, positives: int = 71, seed: int = 0) -> Graph:
    """A few nodes `yes` among many `no`, told apart by features in part, and hardly by their edges."""
    draw = np.random.default_rng(seed)
    y = np.zeros(nodes, dtype=np.int64)
    y[draw.permutation(nodes)[:positives]] = 1
    x = draw.normal(size=(nodes, 16)) + 0.45 * y[:, None]
    source = np.repeat(np.arange(nodes), 3)
    target = draw.integers(nodes, size=len(source))
    near = (y[source] == 1) & (draw.random(len(source)) < 0.05)
    target[near] = draw.choice(np.flatnonzero(y), size=near.sum())
    ends = np.concatenate([np.stack([source, target]), np.stack([target, source])], axis=1)
    ends = np.unique(ends[:, ends[0] != ends[1]], axis=1)
    indptr = np.append(0, np.cumsum(np.bincount(ends[0], minlength=nodes)))
    return Graph(indptr, ends[1].astype(np.int32), x.astype(np.float32), y, ("no", "yes"), None, "rare")
