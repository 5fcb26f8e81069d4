"""What hidden rows are worth without a class head: clusters that k-means finds in them, and links that they tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.fitting.fit import Resources, fit
from agssl.train.infer import infer

SHARE = 0.1  # of the edges that are held out
STARTS = 10  # of k-means, of which the tightest clustering counts


class Links(NamedTuple):
    """Held-out edges and as many pairs that are none."""

    graph: Graph  # without these edges
    edges: np.ndarray  # [2, n]
    others: np.ndarray  # [2, n], of no edge of the whole graph


def embeddings_record(graph: Graph, settings: Settings, seed: int, where: Resources) -> dict[str, Any]:
    """Fit twice, to the whole graph and to one without the held-out edges, and measure the hidden rows of each.

    Args:
        graph: with its split.
        settings: the method, whose last network has the rows.
        seed: of everything random but the split; held-out edges are the same for all methods.
        where: to compute.
    """
    rng = Rng(seed).child("embeddings")
    links = hold_out(graph, rng.child("links"))
    whole, part = (_rows(one, settings, seed, where) for one in (graph, links.graph))
    return {
        "width": whole.shape[1],
        "clusters": clusters(whole, graph, rng.child("k-means")),
        "links": link_figures(part, links),
        "held_out": links.edges.shape[1],
    }


def _rows(graph: Graph, settings: Settings, seed: int, where: Resources) -> np.ndarray:
    """Hidden rows [N, F] of the network that a method ends with."""
    return infer(fit(graph, settings, seed, where).fitted.model, graph).hidden


def clusters(rows: np.ndarray, graph: Graph, rng: Rng) -> dict[str, float]:
    """NMI and ARI of k-means on the rows of all nodes against classes, at nodes whose labels no method was told."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    assert graph.split is not None
    state = int(rng.numpy().integers(2**31))
    found = KMeans(graph.num_classes, n_init=STARTS, random_state=state).fit_predict(rows)
    unseen = graph.y >= 0
    unseen[np.concatenate([graph.split.train, graph.split.val])] = False
    truth, said = graph.y[unseen], found[unseen]
    return {
        "nmi": float(normalized_mutual_info_score(truth, said)),
        "ari": float(adjusted_rand_score(truth, said)),
    }


def hold_out(graph: Graph, rng: Rng, share: float = SHARE) -> Links:
    """Take a share of the edges out of a graph, and draw as many pairs of nodes that are not linked in it.

    Args:
        graph: undirected, both directions of an edge listed.
        rng: of the draw.
        share: of the edges; at least one.
    """
    nodes, draw = graph.num_nodes, rng.numpy()
    rows = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(graph.indptr))
    codes = np.minimum(rows, graph.indices) * nodes + np.maximum(rows, graph.indices)  # of an edge, both ways alike
    every = np.unique(codes)
    count = min(max(1, round(share * len(every))), nodes * (nodes - 1) // 2 - len(every))
    held = np.sort(draw.choice(every, count, replace=False))
    keep = ~np.isin(codes, held)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[keep], minlength=nodes))]).astype(graph.indptr.dtype)
    weights = None if graph.weights is None else graph.weights[keep]
    left = replace(graph, indptr=indptr, indices=graph.indices[keep], weights=weights)
    others: np.ndarray = np.empty(0, dtype=np.int64)
    while len(others) < count:
        a, b = draw.integers(0, nodes, (2, 2 * count))
        drawn = (np.minimum(a, b) * nodes + np.maximum(a, b))[a != b]
        found = np.concatenate([others, drawn[~np.isin(drawn, every)]])
        others = found[np.sort(np.unique(found, return_index=True)[1])][:count]
    return Links(left, np.stack([held // nodes, held % nodes]), np.stack([others // nodes, others % nodes]))


def link_figures(rows: np.ndarray, links: Links) -> dict[str, float]:
    """AUC and average precision of the cosine of two rows, held-out edges against pairs that are none."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    scores = np.concatenate([cosine(rows, links.edges), cosine(rows, links.others)])
    truth = np.repeat([1, 0], [links.edges.shape[1], links.others.shape[1]])
    return {"auc": float(roc_auc_score(truth, scores)), "ap": float(average_precision_score(truth, scores))}


def cosine(rows: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The cosine of the rows of each pair [2, n]; 0 where one has length 0.

    >>> cosine(np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0], [0.0, 0.0]]), np.array([[0, 0, 0], [1, 2, 3]])).tolist()
    [1.0, 0.0, 0.0]
    """
    rows = rows.astype(np.float64)
    length = np.linalg.norm(rows, axis=1)
    product = length[pairs[0]] * length[pairs[1]]
    dots = (rows[pairs[0]] * rows[pairs[1]]).sum(1)
    found: np.ndarray = np.divide(dots, product, out=np.zeros_like(product), where=product > 0)
    return found
