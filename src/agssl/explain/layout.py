"""A flat map of an embedding: nodes that the model holds alike lie close together."""

from __future__ import annotations

import numpy as np

from agssl.base.errors import unknown_name

LAYOUTS = ("tsne", "pca")
LANDMARKS = 1500
_NEAREST = 5
_DIMENSIONS = 30


def flat_map(hidden: np.ndarray, layout: str = "tsne", landmarks: int = LANDMARKS) -> np.ndarray:
    """Positions [N, 2] of nodes by their embedding; always the same for the same embedding.

    Args:
        hidden: embedding of the nodes, [N, F].
        layout: `pca` shows the two directions of most variance, at once; `tsne` keeps neighbourhoods, and tells
            classes apart where there are more than two or three of them.
        landmarks: t-SNE places this many nodes, drawn at random, and every other node goes where its nearest
            landmarks are, so that the time hardly grows with N.
    """
    if layout not in LAYOUTS:
        raise unknown_name("map", layout, LAYOUTS)
    from sklearn.decomposition import PCA

    nodes = len(hidden)
    keep = min(_DIMENSIONS if layout == "tsne" else 2, *hidden.shape)
    if hidden.std() == 0 or keep < 2:  # nothing tells the nodes apart
        return np.zeros((nodes, 2))
    reduced = PCA(keep, random_state=0).fit_transform(hidden.astype(np.float64))
    if layout == "pca" or nodes < 10:  # too few for neighbourhoods
        return reduced[:, :2]
    from sklearn.manifold import TSNE

    chosen = np.arange(nodes)
    if nodes > landmarks:
        chosen = np.random.default_rng(0).choice(nodes, landmarks, replace=False)
    model = TSNE(2, init="pca", perplexity=min(30, len(chosen) / 4), max_iter=600, random_state=0)
    placed = model.fit_transform(reduced[chosen]).astype(np.float64)
    return placed if len(chosen) == nodes else _near(reduced, reduced[chosen], placed)


def _near(points: np.ndarray, landmarks: np.ndarray, placed: np.ndarray) -> np.ndarray:
    """Each point between its nearest landmarks, the nearer the closer; a landmark stays in its own place."""
    from sklearn.neighbors import NearestNeighbors

    distance, near = NearestNeighbors(n_neighbors=_NEAREST).fit(landmarks).kneighbors(points)
    weight = 1 / np.maximum(distance, 1e-9) ** 2
    weight /= weight.sum(1, keepdims=True)
    return np.einsum("nk,nkd->nd", weight, placed[near])
