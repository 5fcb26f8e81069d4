"""What the teachers of a fit are worth together: how often they agree, and how often any of them is right."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from agssl.data.graph import Graph
from agssl.fitting.fit import FitResult


class FirstStudent:
    """Hears of epochs, and knows how long it took to the first one of a student (for ever, where there is none)."""

    def __init__(self) -> None:
        self.start, self.at = time.perf_counter(), float("inf")

    def __call__(self, stage: str, record: Mapping[str, float]) -> None:
        """Note the time of the first such epoch."""
        if stage.startswith("student") and self.at == float("inf"):
            self.at = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Until then."""
        return self.at - self.start


def pool_record(result: FitResult, graph: Graph, seconds: float) -> dict[str, Any]:
    """The teachers of a fit, on its test nodes, and its student.

    Args:
        result: the fit.
        graph: with its split and test labels.
        seconds: that passed before the first student was trained.
    """
    fitted, split = result.fitted, graph.split
    assert split is not None
    nodes = split.test[graph.y[split.test] >= 0]
    said = fitted.teacher_logits[:, nodes].argmax(2)
    return {
        "teachers": list(fitted.task_names),
        **together(said, graph.y[nodes]),
        "student": fitted.shape.text,
        "seconds": round(seconds, 3),
        "tried": [asdict(one) for one in result.tried],
    }


def together(said: np.ndarray, truth: np.ndarray) -> dict[str, float | None]:
    """Mean agreement of two teachers, where all agree, any (the oracle) is right, and how good they are one by one.

    >>> together(np.array([[0, 1, 1], [0, 0, 1]]), np.array([0, 1, 0]))["agreement"]
    0.6666666666666666

    Args:
        said: classes [K, n].
        truth: [n].
    """
    if not said.size:
        return dict.fromkeys(("agreement", "unanimous", "oracle", "best_teacher", "mean_teacher"))
    right = said == truth
    pairs = [float((a == b).mean()) for a, b in combinations(said, 2)]
    return {
        "agreement": float(np.mean(pairs)) if pairs else None,  # one teacher has nobody to agree with
        "unanimous": float((said == said[0]).all(0).mean()),
        "oracle": float(right.any(0).mean()),
        "best_teacher": float(right.mean(1).max()),
        "mean_teacher": float(right.mean()),
    }
