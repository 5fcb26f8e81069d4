"""A pretext task as another package would bring it: guess whether a node has many neighbours."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.pretext import Task, TaskSample, Views


class Degree(Task):
    """Above or below the median degree."""

    name: ClassVar[str] = "degree"

    def prepare(self, graph, rng):  # type: ignore[no-untyped-def]
        return {"labels": (graph.degree > np.median(graph.degree)).astype(np.int64)}

    def head(self, width, targets, rng):  # type: ignore[no-untyped-def]
        torch.manual_seed(rng.key() & 0xFFFF)
        return nn.Linear(width, 2)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets) -> Tensor:  # type: ignore[no-untyped-def]
        return F.cross_entropy(head(views.hidden()), torch.from_numpy(targets["labels"]))
