"""ParetoGNN: tasks weighed at every step by the minimum-norm point of their gradients (Ju et al., ICLR 2023).

With unit gradients u_k of the task losses by the encoder, the weights of a step solve (MGDA, Desideri 2012)

    min over lambda of |sum_k lambda_k u_k|^2,   lambda_k >= 0,   sum_k lambda_k = 1

The vector found is a direction in which no task's loss rises, or zero: then no such direction is left (a Pareto
stationary point). The labels' loss counts in full beside it, as in `joint`, where lambda_k = 1/K.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from agssl.train.mixing import ByGradients, unit


def minimum_norm(gram: np.ndarray) -> np.ndarray:
    """lambda [K] in the simplex that minimises lambda^T G lambda, for the Gram matrix G [K, K] of some vectors.

    With u = s lambda, s >= 0, minimising |sum_k u_k v_k|^2 + (sum_k u_k - 1)^2 over u >= 0 gives the same lambda: for a
    given lambda the best s leaves n / (1 + n) of n = lambda^T G lambda. That is non-negative least squares, which an
    active-set method solves exactly.

    >>> minimum_norm(np.array([[1.0, 0.0], [0.0, 3.0]])).round(2).tolist()
    [0.75, 0.25]
    """
    from scipy.optimize import nnls

    count = len(gram)
    values, vectors = np.linalg.eigh(gram.astype(np.float64))
    highest = values.max(initial=0.0)
    if not highest > 0:
        return np.full(count, 1 / count)
    root = np.sqrt(np.clip(values / highest, 0, None))[:, None] * vectors.T  # root^T root = G / highest
    found, _ = nnls(np.vstack([root, np.ones((1, count))]), np.append(np.zeros(count), 1.0))
    return np.asarray(found / found.sum())


class MinimumNorm(ByGradients):
    """lambda of a step by the minimum-norm point of the tasks' unit gradients."""

    def shares(self, tasks: Tensor, labels: Tensor | None) -> Tensor:
        """lambda [K]; the labels have no say.

        Args:
            tasks: gradients of the tasks' losses, [K, P].
            labels: that of the labels' loss.
        """
        vectors = unit(tasks)
        gram = (vectors @ vectors.t()).double().cpu().numpy()
        # Where training has broken down, the loop says so.
        found = minimum_norm(gram) if np.isfinite(gram).all() else np.full(len(gram), np.nan)
        return torch.from_numpy(found).to(vectors)
