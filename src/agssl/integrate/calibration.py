"""Calibration: each teacher's logits brought in line with labels that it has not seen.

Teachers differ in confidence far more than in skill, and a likelihood rewards confidence: hence a temperature for each.
And they are trained on as many labels of each class as could be had (in the usual splits, 20), while the graph may have
ten times as many nodes of one class as of another: hence a shift of each class's logit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    """How sure a model may be: the temperature of its logits, fitted to held-out labels, and shifts where asked for.

    Held-out nodes themselves are judged by a temperature that was fitted without their labels: node number i of them
    by part i modulo the number of parts.
    """

    temperature: float = 1.0
    parts: tuple[float, ...] = ()  # where other nodes than the fitted ones judge, there are none
    shifts: tuple[float, ...] = ()  # [C], added after the division; none: as zeros
    part_shifts: tuple[tuple[float, ...], ...] = ()  # of each part

    @classmethod
    def fitted(cls, logits: np.ndarray, labels: np.ndarray, cross: bool = True, shifts: bool = False) -> Confidence:
        """Of a model's held-out logits and their labels.

        Args:
            logits: [n, C], by networks that have not seen the labels.
            labels: [n].
            cross: whether the same nodes are to judge the model.
            shifts: whether each class gets one.
        """
        z, y = torch.from_numpy(logits), torch.from_numpy(labels.astype(np.int64))
        if len(y) < 2:
            return cls()
        part = torch.arange(len(y)) % PARTS
        some = [part != number for number in range(PARTS if cross else 0)]
        if not shifts:
            return cls(_held(z, y), tuple(_held(z[at], y[at]) for at in some))
        (heat, shift), each = _shifted(z, y), [_shifted(z[at], y[at]) for at in some]
        return cls(heat, tuple(t for t, _ in each), shift, tuple(b for _, b in each))

    def __call__(self, logits: np.ndarray) -> np.ndarray:
        """Probabilities of any nodes, float64 [..., C]."""
        scaled = logits.astype(np.float64) / self.temperature
        return softmax(scaled + np.array(self.shifts) if self.shifts else scaled)

    def heldout(self, logits: np.ndarray) -> np.ndarray:
        """Probabilities of the held-out nodes, all of them, in order."""
        if not self.parts:
            return self(logits)
        part = np.arange(len(logits)) % len(self.parts)
        scaled = logits.astype(np.float64) / np.array(self.parts)[part][:, None]
        return softmax(scaled + np.array(self.part_shifts)[part] if self.part_shifts else scaled)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a file; shifts where there are any."""
        about: dict[str, Any] = {"temperature": self.temperature, "parts": list(self.parts)}
        return about | ({"shifts": self.shifts, "part_shifts": self.part_shifts} if self.shifts else {})

    @classmethod
    def from_dict(cls, about: Mapping[str, Any], classes: int) -> Confidence:
        """Checked; versions that did not calibrate have stored nothing."""
        parts, shifts = tuple(map(float, about.get("parts", ()))), tuple(map(float, about.get("shifts", ())))
        each = tuple(tuple(map(float, some)) for some in about.get("part_shifts", ()))
        found = cls(float(about.get("temperature", 1.0)), parts, shifts, each)
        if not all(0 < one < math.inf for one in (found.temperature, *parts)):
            raise ValueError("a temperature is not positive")
        every = [shifts, *each] if shifts or each else []
        if any(len(some) != classes or not np.isfinite(some).all() for some in every) or (
            shifts and len(each) != len(parts)
        ):
            raise ValueError("the shifts do not fit the classes")
        return found


def _held(logits: Tensor, labels: Tensor) -> float:
    """The best temperature under a normal prior of log T around 0: a few labels that are all right prove little."""
    return best_temperature(logits, labels, pull=0.5 / len(labels))


def _shifted(logits: Tensor, labels: Tensor) -> tuple[float, tuple[float, ...]]:
    """T and b of logits / T + b: those of `best_shift`, and of what these give the temperature under that prior."""
    first, shift = best_shift(logits, labels)
    second = _held(logits / first + shift, labels)
    return first * second, tuple((shift.double() / second).tolist())


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
