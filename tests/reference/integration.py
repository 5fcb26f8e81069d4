"""Eqs. 4, 7, 8 and L_W as loops over nodes, teachers and classes."""

from __future__ import annotations

import math

import numpy as np

from reference.losses import softmax


def latent_factor(z: np.ndarray, mu: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """zeta(k, i) = sum_c nu_c mu_kc z_ic, [N, K]."""
    (nodes, classes), teachers = z.shape, len(mu)
    return np.array(
        [[sum(nu[c] * mu[k, c] * z[i, c] for c in range(classes)) for k in range(teachers)] for i in range(nodes)]
    )


def teacher_student(z: np.ndarray, h: np.ndarray, w: np.ndarray) -> np.ndarray:
    """zeta(k, i) = (W z_i) . (W h_i^k), [N, K]."""
    nodes, teachers = len(z), len(h)

    def turned(v: np.ndarray) -> list[float]:
        return [sum(w[a, b] * v[b] for b in range(len(v))) for a in range(len(w))]

    return np.array(
        [
            [sum(a * b for a, b in zip(turned(z[i]), turned(h[k, i]), strict=True)) for k in range(teachers)]
            for i in range(nodes)
        ]
    )


def integrated(weights: np.ndarray, h: np.ndarray, tau: float) -> np.ndarray:
    """p_i = sum_k lambda(k, i) softmax(h_i^k / tau), [N, C]."""
    teachers, nodes, classes = h.shape
    p = np.zeros((nodes, classes))
    for i in range(nodes):
        for k in range(teachers):
            said = softmax([value / tau for value in h[k, i]])
            for c in range(classes):
                p[i, c] += weights[i, k] * said[c]
    return p


def weight_loss(weights: np.ndarray, h: np.ndarray, labels: np.ndarray, tau: float) -> float:
    """-1/n sum_i log p_i[y_i]."""
    p = integrated(weights, h, tau)
    return -sum(math.log(p[i, y]) for i, y in enumerate(labels)) / len(labels)


def distill_kl(z: np.ndarray, p: np.ndarray, tau: float) -> float:
    """tau^2/N sum_i sum_c p_ic log(p_ic / softmax(z_i/tau)_c): from the teacher to the student."""
    total = 0.0
    for i in range(len(z)):
        q = softmax([value / tau for value in z[i]])
        total += sum(p[i, c] * math.log(p[i, c] / q[c]) for c in range(len(q)) if p[i, c] > 0)
    return tau**2 * total / len(z)
