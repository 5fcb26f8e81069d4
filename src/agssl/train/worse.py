"""Whether a student is clearly worse than the one before it, by the metric that chooses."""

from __future__ import annotations

import math

from agssl.metrics import gain, metric_text
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
