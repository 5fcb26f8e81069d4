"""A graph from features alone: each node and the k nodes most like it."""

from __future__ import annotations

from typing import Any

import numpy as np

from agssl.base.errors import SettingsError, unknown_name

METRICS = ("cosine", "euclidean")
_WORKING_MB = 64  # distances are computed for as many rows at a time as fit into this, so never N x N


def knn_edges(x: Any, k: int, metric: str = "cosine") -> np.ndarray:
    """Edges from every node to its k nearest others, int64 [2, N * k].

    Args:
        x: features [N, d], dense or SciPy sparse.
        k: neighbours of each node, 1 <= k < N.
        metric: "cosine" or "euclidean".
    """
    if metric not in METRICS:
        raise unknown_name("knn metric", metric, METRICS)
    nodes = x.shape[0]
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise SettingsError(f"knn is {k}; it is the number of neighbours of each node, at least 1 (10 is a good start)")
    if k >= nodes:
        raise SettingsError(
            f"knn is {k}, but there are {nodes} nodes, so at most {nodes - 1} others; choose a smaller number"
        )

    from sklearn import config_context
    from sklearn.neighbors import NearestNeighbors
    from threadpoolctl import threadpool_limits

    # One thread: equally near nodes would otherwise be taken in an order that depends on the number of threads.
    with config_context(working_memory=_WORKING_MB), threadpool_limits(1):
        # without an argument, kneighbors leaves out each node itself, duplicates of it notwithstanding
        nearest = NearestNeighbors(n_neighbors=int(k), metric=metric).fit(x).kneighbors(return_distance=False)
    return np.vstack([np.repeat(np.arange(nodes, dtype=np.int64), k), nearest.ravel().astype(np.int64)])


def knn_to(x: Any, rows: Any, k: int, metric: str = "cosine") -> tuple[np.ndarray, np.ndarray]:
    """Edges from each of these rows to the k nearest others, of `x` or among themselves, and how far these are.

    Args:
        x: features of nodes that are there, [N, d].
        rows: of further ones, numbered after them, [m, d].
        k: how many; fewer where there are fewer.
        metric: "cosine" or "euclidean".

    Returns:
        Edges int64 [2, m * k] and distances [m * k].
    """
    import scipy.sparse as sp
    from sklearn.neighbors import NearestNeighbors

    old, new = x.shape[0], rows.shape[0]
    every = sp.vstack([x, sp.csr_matrix(rows)], format="csr") if sp.issparse(x) else np.vstack([x, _dense(rows)])
    k = min(k, old + new - 1)
    source = np.arange(old, old + new)
    far, near = NearestNeighbors(n_neighbors=k + 1, metric=metric).fit(every).kneighbors(every[source])
    own = near == source[:, None]
    own[~own.any(1), -1] = True  # more than k others are at the same place: one of them makes room
    ends = np.vstack([np.repeat(source, k), near[~own]]).astype(np.int64)
    return ends, far[~own]


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())
