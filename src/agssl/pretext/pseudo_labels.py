"""What the tasks that predict one pseudo-label a node share."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.ops.linear_loss import linear_cross_entropy
from agssl.pretext.base import Part, Targets, Task, TaskSample, Views, linear


class PseudoLabels(Task):
    """Cross-entropy over all nodes on `labels` (int64 [N], every class occurs), which `prepare` gives."""

    @property
    def needs_whole(self) -> bool:
        """Labels come from the whole graph."""
        return True

    def part(self, targets: Targets, part: Part, rng: Rng) -> Targets:
        """The labels of its nodes."""
        return {"labels": targets["labels"][part.nodes]}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """One score a class."""
        return linear(width, int(targets["labels"].max()) + 1, rng)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """1/N sum_i CE(g(h_i), label of i)."""
        assert isinstance(head, nn.Linear)
        hidden = views.hidden()
        return linear_cross_entropy(head, hidden, torch.from_numpy(targets["labels"]).to(hidden.device))
