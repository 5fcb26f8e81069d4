"""What labelled nodes near a node have shown: of each teacher, and of the mistakes that all of them make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

OWN = 0.2  # what a teacher's own confidence counts, beside labelled nodes near by, which count 1 in the mean
FAR = 0.1  # what all labelled nodes together count, wherever they are
DOUBT = 0.2  # what the mean prediction counts against the mistakes near by
BLOCK = 1 << 20  # pairs of nodes at a time


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Labelled nodes, and what teachers that have not seen their labels say of them."""

    nodes: np.ndarray  # [n]
    probabilities: np.ndarray  # [K, n, C]
    labels: np.ndarray  # [n]

    @property
    def right(self) -> np.ndarray:
        """Whether each teacher is right, float [K, n]."""
        return (self.probabilities.argmax(-1) == self.labels).astype(np.float64)

    def only(self, which: np.ndarray) -> Witnesses:
        """Some of them."""
        return Witnesses(self.nodes[which], self.probabilities[:, which], self.labels[which])


def competence(near: sp.csr_matrix, here: np.ndarray, there: np.ndarray, right: np.ndarray) -> np.ndarray:
    """How much was right, and how much there was, near each node: [2, m, K].

    sum_j s_ij <p_k(i), p_k(j)> [k is right on j], and the same without the bracket.

    Args:
        near: s, [m, n].
        here: probabilities of the teachers, [K, m, C].
        there: theirs of the labelled nodes, [K, n, C].
        right: whether a teacher is right there, [K, n].
    """
    teachers, nodes, _ = here.shape
    found = np.zeros((2, nodes, teachers))
    rows = np.repeat(np.arange(nodes), np.diff(near.indptr))
    for start in range(0, near.nnz, BLOCK):
        some = slice(start, start + BLOCK)
        at, which = rows[some], near.indices[some]
        for k in range(teachers):
            alike = near.data[some] * np.einsum("ec,ec->e", here[k, at], there[k, which])
            found[0, :, k] += np.bincount(at, alike * right[k, which], nodes)
            found[1, :, k] += np.bincount(at, alike, nodes)
    return found


def seen_near(near: sp.csr_matrix, nodes: np.ndarray, here: np.ndarray, known: Witnesses) -> np.ndarray:
    """`competence` of some nodes, and for labelled ones less what they themselves add to `seen_far`: [2, m, K].

    Args:
        near: [m, n], none of the labelled nodes to itself.
        nodes: which these are, [m].
        here: probabilities of the teachers, [K, m, C].
        known: the labelled nodes.
    """
    found = competence(near, here, known.probabilities, known.right)
    _, at, own = np.intersect1d(nodes, known.nodes, return_indices=True)
    itself = FAR / max(1, len(known.nodes)) * np.einsum("knc,knc->nk", here[:, at], known.probabilities[:, own])
    found[0, at] -= itself * known.right.T[own]
    found[1, at] -= itself
    return found


def seen_far(known: Witnesses) -> np.ndarray:
    """The same over all labelled nodes, wherever they are: to be multiplied by p_k(i), [2, K, C]."""
    both = np.stack([np.einsum("kn,knc->kc", known.right, known.probabilities), known.probabilities.sum(1)])
    return FAR / max(1, len(known.nodes)) * both


def chances(near: Tensor | None, far: Tensor, says: Tensor) -> Tensor:
    """The chance that a teacher is right, [m, K].

    Args:
        near: what `seen_near` found; None where nothing is near.
        far: what `seen_far` found.
        says: probabilities of the teachers, [K, m, C].
    """
    sure, answer = says.max(-1)
    prior = (sure + says.mean(0).expand_as(says).gather(-1, answer[..., None]).squeeze(-1)).t() / 2
    good, seen = torch.einsum("knc,tkc->tnk", says, far)
    if near is not None:
        good, seen = good + near[0], seen + near[1]
    return (good.clamp_min(0) + OWN * prior) / (seen.clamp_min(0) + OWN)


def residuals(near: sp.csr_matrix, known: Witnesses) -> np.ndarray:
    """sum_j s_ij (1[y_j = c] - p_jc) / (sum_j s_ij + `DOUBT`), p the teachers' mean, [m, C]."""
    wrong = np.eye(known.probabilities.shape[2])[known.labels] - known.probabilities.mean(0)
    mass = np.asarray(near.sum(1), dtype=np.float64).ravel() + DOUBT
    return np.asarray((near @ wrong) / mass[:, None])


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of some nodes beside what teachers say of them."""

    residuals: np.ndarray  # [m, C]
    chances: np.ndarray  # [m, K]

    @classmethod
    def none(cls, shape: tuple[int, ...]) -> Evidence:
        """Nothing, of teachers' logits [K, m, C]."""
        teachers, nodes, classes = shape
        return cls(np.zeros((nodes, classes)), np.ones((nodes, teachers)))

    @classmethod
    def of(cls, near: sp.csr_matrix, nodes: np.ndarray, here: np.ndarray, known: Witnesses) -> Evidence:
        """All there is; see `seen_near`."""
        arrays = seen_near(near, nodes, here, known), seen_far(known), here
        found = chances(*(torch.from_numpy(array) for array in arrays))
        return cls(residuals(near, known), found.numpy())

    def only(self, which: np.ndarray | slice) -> Evidence:
        """Of some of the nodes."""
        return Evidence(self.residuals[which], self.chances[which])
