"""Calibration: each teacher's logits brought in line with labels that it has not seen.

Teachers differ in confidence far more than in skill, and a likelihood rewards confidence: hence a temperature for each.
And they are trained on as many labels of each class as could be had (in the usual splits, 20), while the graph may have
ten times as many nodes of one class as of another: hence a shift of each class's logit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from scipy.optimize import minimize
from scipy.special import log_softmax
from torch import Tensor

from agssl.metrics import softmax

LOW, HIGH = 0.05, 20.0  # of temperatures
PARTS = 5  # of held-out nodes, each judged by a temperature of the others


@dataclass(frozen=True, eq=False)
class Calibration:
    """What is done to the logits of K teachers."""

    temperatures: Tensor  # [K]
    shifts: Tensor  # [K, C]

    def __call__(self, logits: Tensor) -> Tensor:
        """Teachers' logits [K, n, C], calibrated."""
        # In place after the first step: on a large graph each copy is of hundreds of megabytes.
        return (logits / self.temperatures.to(logits)[:, None, None]).add_(self.shifts.to(logits)[:, None, :])


def calibration(how: str, heldout: Tensor, labels: Tensor) -> Calibration | None:
    """The calibration of K teachers to held-out labels.

    Args:
        how: `classes` (temperatures and shifts), `temperature` (no shifts), or `none`.
        heldout: logits [K, n, C] of nodes whose labels the teachers have not seen.
        labels: of these nodes, [n].
    """
    if how == "none":
        return None
    if how == "temperature":
        temperatures = [best_temperature(logits, labels) for logits in heldout]
        return Calibration(torch.tensor(temperatures), torch.zeros(heldout.shape[0], heldout.shape[2]))
    fitted = [best_shift(logits, labels) for logits in heldout]
    return Calibration(torch.tensor([t for t, _ in fitted]), torch.stack([shift for _, shift in fitted]))


@dataclass(frozen=True)
class Confidence:
    """How sure a model may be: the temperature of its logits, fitted to held-out labels.

    Held-out nodes themselves are judged by a temperature that was fitted without their labels: node number i of them
    by part i modulo the number of parts.
    """

    temperature: float = 1.0
    parts: tuple[float, ...] = ()  # where other nodes than the fitted ones judge, there are none

    @classmethod
    def fitted(cls, logits: np.ndarray, labels: np.ndarray, cross: bool = True) -> Confidence:
        """Of a model's held-out logits [n, C] and their labels; `cross` where the same nodes are to judge it."""
        z, y = torch.from_numpy(logits), torch.from_numpy(labels.astype(np.int64))
        if len(y) < 2:
            return cls()
        part = torch.arange(len(y)) % PARTS
        some = [part != number for number in range(PARTS if cross else 0)]
        return cls(_held(z, y), tuple(_held(z[at], y[at]) for at in some))

    def __call__(self, logits: np.ndarray) -> np.ndarray:
        """Probabilities of any nodes, float64 [..., C]."""
        return softmax(logits.astype(np.float64) / self.temperature)

    def heldout(self, logits: np.ndarray) -> np.ndarray:
        """Probabilities of the held-out nodes, all of them, in order."""
        if not self.parts:
            return self(logits)
        temperatures = np.array(self.parts)[np.arange(len(logits)) % len(self.parts)]
        return softmax(logits.astype(np.float64) / temperatures[:, None])


def _held(logits: Tensor, labels: Tensor) -> float:
    """The best temperature under a normal prior of log T around 0: a few labels that are all right prove little."""
    return best_temperature(logits, labels, pull=0.5 / len(labels))


def best_temperature(logits: Tensor, labels: Tensor, steps: int = 40, pull: float = 0.0) -> float:
    """The T with the least cross-entropy of logits / T plus pull (log T)^2, by golden-section search on log T."""
    ratio = (5**0.5 - 1) / 2
    left, right = math.log(LOW), math.log(HIGH)

    def cost(log_t: float) -> float:
        return F.cross_entropy(logits / math.exp(log_t), labels).item() + pull * log_t**2

    a, b = right - ratio * (right - left), left + ratio * (right - left)
    cost_a, cost_b = cost(a), cost(b)
    for _ in range(steps):  # the loss has one minimum in log T
        if cost_a <= cost_b:
            right, b, cost_b = b, a, cost_a
            a = right - ratio * (right - left)
            cost_a = cost(a)
        else:
            left, a, cost_a = a, b, cost_b
            b = left + ratio * (right - left)
            cost_b = cost(b)
    return math.exp((left + right) / 2)


def best_shift(logits: Tensor, labels: Tensor) -> tuple[float, Tensor]:
    """T and b [C] with the least sum of cross-entropies of logits / T + b, plus |b|^2 / 2: a standard normal prior.

    The prior keeps b from following the chance of few labels: a class that none of them has is not shut out.
    """
    z, y = logits.double().cpu().numpy(), labels.cpu().numpy()
    truth = np.zeros_like(z)
    truth[np.arange(len(y)), y] = 1

    def cost(values: np.ndarray) -> tuple[float, np.ndarray]:
        scale, shift = values[0], values[1:]
        log_p = log_softmax(scale * z + shift, axis=1)
        wrong = np.exp(log_p) - truth
        slope = np.concatenate([[(wrong * z).sum()], wrong.sum(0) + shift])
        return -(truth * log_p).sum() + shift @ shift / 2, slope

    # In 1 / T and b it is convex.
    bounds = [(1 / HIGH, 1 / LOW)] + [(None, None)] * z.shape[1]
    start = np.concatenate([[1 / best_temperature(logits, labels)], np.zeros(z.shape[1])])
    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return 1 / float(found[0]), torch.from_numpy(found[1:]).float()
