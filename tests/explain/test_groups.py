"""Mean task weights of groups of nodes."""

from __future__ import annotations

import numpy as np
import pytest

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.base.spec import Spec
from agssl.config import Settings
from agssl.encoders import Network, Shape
from agssl.explain.groups import bucket_names, by_class, by_degree
from agssl.store.fitted import FittedModel

SHAPE = Shape(2, 3, 2)


def fitted(weights: np.ndarray | None, tasks: tuple[str, ...] = ("par", "clu")) -> FittedModel:
    names = tuple(Spec.parse(task).name for task in tasks)
    logits = np.array([[1, 0], [0, 1], [0, 2], [3, 0]], np.float32)
    teachers = np.zeros((2, 4, 2), np.float32)
    settings = Settings(tasks=tasks)
    return FittedModel(
        Network(SHAPE, Rng(0)), SHAPE, settings, 0, ("a", "b"), logits, {}, names, (1.0, 1.0), teachers, weights
    )


WEIGHTS = np.array([[1, 0], [0.5, 0.5], [0.25, 0.75], [0, 1]], np.float32)


def test_weights_by_predicted_class() -> None:
    first, second = by_class(fitted(WEIGHTS))
    assert (first.name, first.nodes, first.weights) == ("a", 2, {"par": 0.5, "clu": 0.5})
    assert (second.name, second.nodes, second.weights) == ("b", 2, {"par": 0.375, "clu": 0.625})


def test_weights_by_degree_leave_out_empty_buckets() -> None:
    groups = by_degree(fitted(WEIGHTS), np.array([0, 5, 6, 1000]))
    assert [(g.name, g.nodes) for g in groups] == [("0", 1), ("4-6", 2), ("21+", 1)]
    assert groups[1].weights == {"par": 0.375, "clu": 0.625}


def test_buckets_cover_every_degree() -> None:
    assert bucket_names() == ["0", "1", "2", "3", "4-6", "7-10", "11-20", "21+"]


def test_a_model_without_teachers_says_so() -> None:
    with pytest.raises(SettingsError, match="no task weights"):
        by_class(fitted(None))
