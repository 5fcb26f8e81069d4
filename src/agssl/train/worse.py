"""Whether one is clearly worse than another on the nodes that choose."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from agssl.integrate.calibration import best_temperature
from agssl.metrics import gain, metric_text
from agssl.train.evaluate import validation
from agssl.train.network import Trained
from agssl.train.problem import Problem


def worse_than(problem: Problem, student: Trained, before: Trained) -> str:
    """In words, how a student is worse than the one before by two standard errors; nothing where it is not."""
    metric = problem.metric
    now, then = (one.best[f"val_{metric}"] for one in (student, before))
    if metric == "accuracy":
        worse = clearly_worse(now, then, len(problem.val_nodes))
    else:
        worse = gain(metric, then) - gain(metric, now) > 2 * problem.metric_error(before.heldout)
    return f"validation {metric} {metric_text(metric, now)} after {metric_text(metric, then)}" if worse else ""


def clearly_worse(accuracy: float, before: float, nodes: int) -> bool:
    """Whether an accuracy on so many nodes is below another by two standard errors.

    >>> clearly_worse(0.82, 0.88, nodes=500), clearly_worse(0.87, 0.88, nodes=500)
    (True, False)
    """
    middle = (accuracy + before) / 2
    return before - accuracy > 2 * math.sqrt(middle * (1 - middle) / nodes)


def clearly_better(problem: Problem, one: Tensor, other: Tensor) -> str:
    """In words, how the other is worse than one: both said these logits [n, C] of the validation nodes.

    By two standard errors of the metric; or of the likelihood, each at its best temperature, and by the metric too.
    Nodes are paired, since those that are hard for one are hard for the other. Nothing where it is not worse.
    """
    truth, metric = problem.labels[torch.from_numpy(problem.val_nodes)], problem.metric
    then, now = (validation(problem, logits, truth)[f"val_{metric}"] for logits in (one, other))
    ahead = gain(metric, then) - gain(metric, now)
    if metric == "accuracy":
        hits = [(logits.argmax(1) == truth).double() for logits in (one, other)]
        clearly = _clearly_positive(hits[0] - hits[1])
    else:
        clearly = ahead > 2 * problem.metric_error(other)
    if clearly:
        return f"validation {metric} {metric_text(metric, now)} after {metric_text(metric, then)}"
    likely = [_log_likelihood(logits, truth) for logits in (one, other)]
    if ahead > 0 and _clearly_positive(likely[0] - likely[1]):
        return f"validation log-loss {-likely[1].mean().item():.3f} after {-likely[0].mean().item():.3f}"
    return ""


def _log_likelihood(logits: Tensor, truth: Tensor) -> Tensor:
    """Of each node's label, at the temperature that is best for all, [n]."""
    scaled = torch.log_softmax(logits.double() / best_temperature(logits, truth), dim=1)
    return scaled.gather(1, truth[:, None])[:, 0]


def _clearly_positive(values: Tensor) -> bool:
    """Whether the mean is above 0 by two standard errors.

    >>> _clearly_positive(torch.tensor([1.0, 1.1, 0.9])), _clearly_positive(torch.tensor([1.0, -1.1, 0.9]))
    (True, False)
    """
    return len(values) > 1 and values.mean().item() > 2 * values.std().item() / math.sqrt(len(values))
