"""A log-linear pool of teachers: one probability vector for each node from those of all teachers, fitted to labels.

    log q_i = a log p_i + sum_k t_k d_ik + M_0 m_i + sum_k M_k d_ik + e r_i + g sum_k (c_ik - c_i) d_ik + const,

p_i is the mean of the teachers' probabilities, m_i the mean of their logarithms, and d_ik how far teacher k's are from
it. r_i is what labelled nodes near i have shown of the mean's mistakes, c_ik the chance that teacher k is right, by
what they have shown of it, and c_i the mean of these (`agssl.integrate.evidence`). The start, a = 1 and all else 0, is
the mean; penalties hold everything near it, so that few labels change little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp
from threadpoolctl import threadpool_limits

from agssl.integrate.evidence import Evidence, Witnesses
from agssl.simple.base import stratified_folds

TINY = 1e-30
LEAST = math.log(1e-4)  # of logarithms: a teacher that is sure and wrong is not infinitely wrong
SCALE, TEACHER, CLASSES, MISTAKES, CHANCES = 2.0, 40.0, 60.0, 0.2, 2.0  # penalties of a, t, M, e and g
ENOUGH = 4000  # labelled nodes to fit by
STEPS = 200  # of L-BFGS, at most


@dataclass(frozen=True, eq=False)
class LogLinear:
    """A fitted pool."""

    weights: np.ndarray  # [K + 3]: a, t, e, g
    maps: np.ndarray  # [K + 1, C, C]: M, rows multiplied from the left

    @classmethod
    def mean(cls, teachers: int, classes: int) -> LogLinear:
        """The mean of the teachers."""
        return cls(np.eye(1, teachers + 3)[0], np.zeros((teachers + 1, classes, classes)))

    def __call__(self, logs: np.ndarray, evidence: Evidence) -> np.ndarray:
        """log q [n, C], from log-probabilities of the teachers [K, n, C]."""
        terms, apart = _terms(logs, evidence)
        z = np.tensordot(self.weights, terms, 1) + np.einsum("knc,kcd->nd", apart, self.maps, optimize=True)
        return np.asarray(log_softmax(z, axis=1))


def _terms(logs: np.ndarray, evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """What a, t, e and g weigh, [K + 3, n, C], and what M maps, [K + 1, n, C]."""
    centre = logs.mean(0)
    apart = np.concatenate([centre[None], logs - centre])
    mean = logsumexp(logs, axis=0) - math.log(len(logs))
    better = evidence.chances - evidence.chances.mean(1, keepdims=True)
    trusted = np.einsum("nk,knc->nc", better, apart[1:])
    return np.concatenate([mean[None], apart[1:], evidence.residuals[None], trusted[None]]), apart


def log_probabilities(logits: np.ndarray) -> np.ndarray:
    """Logarithms of the teachers' probabilities, [K, n, C], none below `LEAST`."""
    return np.maximum(log_softmax(logits.astype(np.float64), axis=-1), LEAST)


def fit(logs: np.ndarray, evidence: Evidence, labels: np.ndarray) -> LogLinear:
    """The likeliest pool, under the penalties.

    Args:
        logs: log-probabilities [K, n, C] of labelled nodes by teachers that have not seen their labels.
        evidence: what is known of these nodes, not by their own labels.
        labels: [n].
    """
    teachers, _, classes = logs.shape
    start = LogLinear.mean(teachers, classes)
    terms, apart = _terms(logs, evidence)
    rows = apart.transpose(1, 0, 2).reshape(len(labels), -1)
    truth = np.eye(classes)[labels]
    penalty = np.array([SCALE, *[TEACHER] * teachers, MISTAKES, CHANCES])
    count = teachers + 3

    def cost(values: np.ndarray) -> tuple[float, np.ndarray]:
        weights, maps = values[:count], values[count:].reshape(-1, classes)
        logs_q = log_softmax(np.tensordot(weights, terms, 1) + rows @ maps, axis=1)
        wrong, off = np.exp(logs_q) - truth, weights - start.weights
        loss = -(logs_q * truth).sum() + (penalty * off**2).sum() / 2 + CLASSES * (maps**2).sum() / 2
        slope = np.einsum("tnc,nc->t", terms, wrong) + penalty * off
        return loss, np.concatenate([slope, (rows.T @ wrong + CLASSES * maps).ravel()])

    begin = np.concatenate([start.weights, start.maps.ravel()])
    with threadpool_limits(1):  # the last bits of products may depend on it
        found = minimize(cost, begin, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    return LogLinear(found[:count], found[count:].reshape(teachers + 1, classes, classes))


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """A pool, and for labelled nodes one that was fitted without their labels."""

    whole: LogLinear
    parts: tuple[LogLinear, ...]  # of each fold, and last the mean, for nodes that are in none
    part: np.ndarray  # [n]: which is for each labelled node, -1 where the whole one was fitted without it


def cross_fit(near: sp.csr_matrix, known: Witnesses) -> CrossFitted:
    """The pool of all labels; but the mean where pools of some labels make the others clearly less likely than it does.

    Clearly, since the mean has an advantage: teachers were calibrated, and maybe chosen, by these very labels. The pool
    of a fold is not told its labels, neither to be fitted by nor as evidence.

    Args:
        near: how near the labelled nodes are to each other, [n, n].
        known: the labelled nodes.
    """
    teachers, count, classes = known.probabilities.shape
    logs, labels = log_probabilities(np.log(np.maximum(known.probabilities, TINY))), known.labels
    mean, fold = LogLinear.mean(teachers, classes), np.full(count, -1)
    used = np.zeros(count, dtype=bool)
    used[:: max(1, -(-count // ENOUGH))] = True
    fold[used] = stratified_folds(labels[used])

    def pool(told: np.ndarray) -> tuple[LogLinear, Evidence]:
        evidence = Evidence.of(near[:, told], known.nodes, known.probabilities, known.only(told))
        learnt = used & told
        return fit(logs[:, learnt], evidence.only(learnt), labels[learnt]), evidence

    parts, gains = [], np.zeros(count)
    for number in range(fold.max(initial=-1) + 1):
        out = fold == number
        part, evidence = pool(~out)
        parts.append(part)
        likelier = part(logs[:, out], evidence.only(out)) - mean(logs[:, out], evidence.only(out))
        gains[out] = likelier[np.arange(out.sum()), labels[out]]
    if not parts or gains.sum() < -np.sqrt((gains**2).sum()):  # by more than its standard error
        return CrossFitted(mean, (), np.full(count, -1))
    whole, _ = pool(np.ones(count, dtype=bool))
    return CrossFitted(whole, (*parts, mean), np.where(used & (fold < 0), len(parts), fold))
