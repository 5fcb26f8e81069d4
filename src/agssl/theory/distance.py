"""How near weighted teachers can come to a probability vector, node by node (Theorem 1's Delta, exactly).

Each function takes teachers [K, n, C] and targets [n, C] and gives the least |sum_k lambda_k h^(k)_i - p_i|_2 [n] over
the weights that it allows.
"""

from __future__ import annotations

import numpy as np

_ANCHOR = 1e4  # weight of the equation sum_k lambda_k = 1 against the others


def on_simplex(teachers: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """lambda >= 0 with sum 1: what a softmax over teachers can reach, in the limit. An active-set solution a node."""
    weights = simplex_weights(teachers, targets)
    return np.linalg.norm(np.einsum("nk,knc->nc", weights, teachers) - targets, axis=1)


def simplex_weights(teachers: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The weights [n, K] of `on_simplex`."""
    from scipy.optimize import nnls

    systems = np.concatenate([teachers.transpose(1, 2, 0), np.full((len(targets), 1, len(teachers)), _ANCHOR)], axis=1)
    sides = np.concatenate([targets, np.full((len(targets), 1), _ANCHOR)], axis=1)
    weights = np.stack([nnls(system, side)[0] for system, side in zip(systems, sides, strict=True)])
    return weights / weights.sum(1, keepdims=True)


def summing_to_one(teachers: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Any lambda with sum 1, negative ones too: projection on the affine hull of the teachers."""
    return unconstrained(teachers[1:] - teachers[0], targets - teachers[0])


def unconstrained(teachers: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Any lambda: projection on the linear span of the teachers, as in the proof of Theorem 1."""
    if not len(teachers):
        return np.linalg.norm(targets, axis=1)
    span = teachers.transpose(1, 2, 0)  # [n, C, K]
    weights = linear_weights(teachers, targets)
    return np.linalg.norm(np.einsum("nck,nk->nc", span, weights) - targets, axis=1)


def linear_weights(teachers: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The shortest weights [n, K] of `unconstrained`."""
    return np.einsum("nkc,nc->nk", np.linalg.pinv(teachers.transpose(1, 2, 0), rcond=1e-10), targets)


def shared_weights(teachers: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """One lambda [K] on the simplex for all nodes, with the least mean squared distance."""
    count = len(teachers)
    stacked = teachers.reshape(count, 1, -1) / np.sqrt(len(targets))
    return simplex_weights(stacked, targets.reshape(1, -1) / np.sqrt(len(targets)))[0]


KINDS = {"simplex": on_simplex, "sum to one": summing_to_one, "free": unconstrained}
