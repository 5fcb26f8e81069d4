"""Multinomial logistic regression with an L2 penalty, fitted by L-BFGS; the penalty chosen by cross-validation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from agssl.base.rng import Rng
from agssl.simple.base import FLOOR, stratified_folds

STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)  # C, of rows whose mean square norm is 1
USUAL = 100.0  # C where there is nothing to choose it by
STEPS = 100  # of L-BFGS, at most
ENOUGH = 1000  # labels to choose C by; it is about the size of weights, so it does not grow with the labels


class Linear(NamedTuple):
    """A linear map and its intercepts."""

    weights: np.ndarray  # float64 [r, C]
    intercept: np.ndarray  # float64 [C]

    def log_probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Of the classes for each row, [n, C]."""
        return log_softmax(rows @ self.weights.astype(rows.dtype) + self.intercept, axis=1)


def fit_logistic(rows: np.ndarray, labels: np.ndarray, classes: int, c: float, start: Linear | None = None) -> Linear:
    """The minimum of sum_i -log p(labels_i) + |W|^2 / (2 c); intercepts are not penalised.

    Args:
        rows: [n, r], in the precision of the sums.
        labels: in 0 .. C - 1, [n].
        classes: C.
        c: how little the weights are penalised.
        start: where to begin.
    """
    count, width = rows.shape
    truth = np.eye(classes)[labels]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        at = Linear(flat[classes:].reshape(width, classes), flat[:classes])
        logs = at.log_probabilities(rows)
        slope = (np.exp(logs) - truth) / count
        penalty = at.weights / (c * count)
        value = -(logs * truth).sum() / count + 0.5 * float((at.weights * penalty).sum())
        return value, np.concatenate([slope.sum(axis=0), (rows.T @ slope.astype(rows.dtype) + penalty).ravel()])

    begin = np.zeros(classes * (width + 1))
    if start is not None:
        begin = np.concatenate([start.intercept, start.weights.ravel()])
    options = {"maxiter": STEPS, "gtol": 1e-5, "ftol": 1e-9}
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", options=options).x
    return Linear(found[classes:].reshape(width, classes), found[:classes])


def choose_strength(rows: np.ndarray, labels: np.ndarray, classes: int) -> float:
    """The C of `STRENGTHS` under which labels that are left out in turn are likeliest.

    `USUAL` where no class has two labels, so that none can be left out. Of more than `ENOUGH` labels, so many are
    drawn.
    """
    if len(labels) > ENOUGH:
        some = Rng(0).child("simple", "strength").numpy().permutation(len(labels))[:ENOUGH]
        few, labels = rows[some].astype(np.float64), labels[some]
        rows = principal(few @ few.T)[0] if few.shape[1] > ENOUGH else few
    folds = stratified_folds(labels)
    models: dict[int, Linear | None] = {fold: None for fold in np.unique(folds[folds >= 0]).tolist()}
    losses: list[float] = []
    for c in STRENGTHS if models else ():
        losses.append(0.0)
        for fold, before in models.items():
            out = folds == fold
            models[fold] = model = fit_logistic(rows[~out], labels[~out], classes, c, before)
            logs = model.log_probabilities(rows[out])[np.arange(out.sum()), labels[out]]
            losses[-1] -= float(np.maximum(logs, np.log(FLOOR)).sum())
        if len(losses) > 2 and min(losses[-2:]) > min(losses):
            break  # worse twice: larger ones take longest, and will not be better
    return STRENGTHS[int(np.argmin(losses))] if losses else USUAL


def principal(products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows Z in their principal directions, which keeps all lengths and angles, from Z Z^T [n, n].

    Returns:
        Z V of at most n columns, and T [n, r] with V = Z^T T.
    """
    squares, directions = np.linalg.eigh(products)
    kept = squares > 1e-9 * max(squares[-1], 1e-12)
    roots = np.sqrt(squares[kept])
    return directions[:, kept] * roots, directions[:, kept] / roots
