"""STACK and BOTH: the teachers' answers become one, fitted to held-out labels; who says what it says is trusted."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from scipy.special import softmax
from torch import Tensor

from agssl.base.rng import Rng
from agssl.integrate.base import BLOCK, INTEGRATORS, Integrator, Knowledge
from agssl.integrate.evidence import Evidence, Witnesses
from agssl.integrate.local import witnesses
from agssl.integrate.log_linear import CrossFitted, LogLinear, cross_fit, log_probabilities

POWER = 2.0  # of the chance that a teacher is right, which makes it its weight
LEAST = 1e-6  # of chances


def trust(log_q: Tensor, teachers: Tensor) -> Tensor:
    """lambda [n, K]: it follows the square of the chance, by q, that a teacher's answer is right.

    Args:
        log_q: log-probabilities [n, C].
        teachers: their logits [K, n, C].
    """
    answers = teachers.argmax(-1)  # [K, n]
    chance = log_q.exp().gather(1, answers.t()).clamp_min(LEAST) ** POWER
    return chance / chance.sum(1, keepdim=True)


class Stack(Integrator):
    """A log-linear pool of the teachers (`agssl.integrate.log_linear`), fitted to held-out labels.

    Where it makes labels that it was not told clearly less likely than the mean of the teachers does, it is the mean.
    What it says of a labelled node is by a pool that was not told its label. The student learns from q itself;
    lambda says how likely, by q, a teacher is right.
    """

    name: ClassVar[str] = "stack"
    learns: ClassVar[bool] = False
    settled: ClassVar[bool] = True
    log_q: Tensor  # [N, C], of the nodes of the fitted graph
    weights: Tensor  # [K + 3], of the pool
    maps: Tensor  # [K + 1, C, C]

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        known, logits = witnesses(knowledge), knowledge.logits.cpu().numpy()
        near = knowledge.near
        if near is None or not self.reads_edges:
            near = sp.csr_matrix((logits.shape[1], len(known.nodes)))
        pool = cross_fit(near[known.nodes], known)
        log_q = _of_all(pool, logits, near, known)
        device = knowledge.logits.device
        for name, array in (("log_q", log_q), ("weights", pool.whole.weights), ("maps", pool.whole.maps)):
            self.register_buffer(name, torch.from_numpy(array).float().to(device))

    def forward(self, student: Tensor, teachers: Tensor, nodes: Tensor | None = None) -> Tensor:
        """lambda [n, K]."""
        return trust(self._elsewhere(teachers) if nodes is None else self.log_q[nodes], teachers)

    def answer(self, weights: Tensor, probabilities: Tensor, nodes: Tensor, tau: float) -> Tensor:
        """q [n, C], softened by tau."""
        return torch.softmax(self.log_q[nodes] / tau, dim=1)

    def _elsewhere(self, teachers: Tensor) -> Tensor:
        """log q of nodes of which nothing is known but what the teachers say, [n, C]."""
        pool = LogLinear(self.weights.double().cpu().numpy(), self.maps.double().cpu().numpy())
        logs = log_probabilities(teachers.cpu().numpy())
        return torch.from_numpy(pool(logs, Evidence.none(logs.shape))).to(teachers)


def _of_all(pool: CrossFitted, logits: np.ndarray, near: sp.csr_matrix, known: Witnesses) -> np.ndarray:
    """log q of all nodes, [N, C]; of labelled ones by pools that were not told their labels."""
    found = np.empty(logits.shape[1:], dtype=np.float32)

    def say(pool: LogLinear, at: np.ndarray) -> None:
        here = softmax(logits[:, at].astype(np.float64), axis=-1)
        found[at] = pool(log_probabilities(logits[:, at]), Evidence.of(near[at], at, here, known))

    for start in range(0, len(found), BLOCK):
        say(pool.whole, np.arange(start, min(start + BLOCK, len(found))))
    for number, part in enumerate(pool.parts):
        say(part, known.nodes[pool.part == number])
    return found


class Both(Stack):
    """A log-linear pool as in `stack`, and what labelled nodes near by have shown, as in `local`."""

    name: ClassVar[str] = "both"
    reads_edges: ClassVar[bool] = True


INTEGRATORS.add("stack", Stack)
INTEGRATORS.add("both", Both)
