"""What the tasks that predict one pseudo-label a node share."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops.linear_loss import BLOCK, linear_cross_entropy
from agssl.pretext.base import Part, Targets, Task, TaskSample, Views, linear
from agssl.pretext.needs import Needs


class PseudoLabels(Task):
    """Cross-entropy over all nodes on `labels` (int64 [N], every class occurs), which `prepare` gives."""

    @property
    def needs_whole(self) -> bool:
        """Labels come from the whole graph."""
        return True

    def restrict(self, targets: Targets, part: Part, rng: Rng) -> Targets:
        """The labels of its nodes."""
        return {"labels": targets["labels"][part.nodes]}

    def count(self, graph: Graph) -> int:
        """How many labels there are at most."""
        raise NotImplementedError

    def needs(self, graph: Graph, width: int) -> Needs:
        """Every node, and the scores of a block of them."""
        count = self.count(graph)
        return Needs(scores=min(graph.num_nodes, BLOCK) * count, parameters=(width + 1) * count)

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """One score per class."""
        return linear(width, int(targets["labels"].max()) + 1, rng)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """1/N sum_i CE(g(h_i), label of i)."""
        assert isinstance(head, nn.Linear)
        hidden = views.hidden()
        return linear_cross_entropy(head, hidden, torch.from_numpy(targets["labels"]).to(hidden.device))
