"""Teacher weights of groups of nodes: means by degree and by predicted class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agssl.base.errors import SettingsError
from agssl.store.fitted import FittedModel
from agssl.train.distill import BUCKETS, degree_buckets


@dataclass(frozen=True)
class Group:
    """Nodes that have something in common."""

    name: str
    nodes: int
    weights: dict[str, float]  # mean lambda by task

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def by_degree(fitted: FittedModel, degree: np.ndarray) -> list[Group]:
    """Mean task weights by degree bucket; empty buckets are left out.

    Args:
        fitted: a model with teachers.
        degree: neighbours of each node, [N].
    """
    return _groups(fitted, degree_buckets(degree), bucket_names())


def by_class(fitted: FittedModel) -> list[Group]:
    """Mean task weights by the class that the model predicts; classes that it never predicts are left out."""
    return _groups(fitted, fitted.decide(fitted.confidence(fitted.logits)), fitted.classes)


def bucket_names() -> list[str]:
    """What to call the degree buckets.

    >>> bucket_names()[:2], bucket_names()[-1][-1]
    (['0', '1'], '+')
    """
    names = []
    for low, after in zip(BUCKETS, (*BUCKETS[1:], None), strict=True):
        if after is None:
            names.append(f"{low}+")
        else:
            names.append(str(low) if after == low + 1 else f"{low}-{after - 1}")
    return names


def _groups(fitted: FittedModel, which: np.ndarray, names: Sequence[str]) -> list[Group]:
    if fitted.weights is None:
        raise SettingsError(
            f"method {fitted.settings.method} has no task weights to explain; fit with --method agssl or autossl"
        )
    if len(which) != len(fitted.weights):
        raise SettingsError(f"the model knows {len(fitted.weights)} nodes, but the graph has {len(which)}; fit again")
    groups = []
    for number, name in enumerate(names):
        members = fitted.weights[which == number]
        if len(members):
            means = members.mean(0, dtype=np.float64).tolist()
            groups.append(Group(name, len(members), dict(zip(fitted.task_names, means, strict=True))))
    return groups
