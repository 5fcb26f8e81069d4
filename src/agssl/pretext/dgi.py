"""DGI: tell the nodes of the graph from those of a shuffled one by a graph summary (Velickovic et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders.layer import glorot
from agssl.ops.adjacency import Adjacency
from agssl.pretext.base import TASKS, Targets, Task, TaskSample, Views
from agssl.pretext.heads import mean_length
from agssl.pretext.needs import Needs

ESTIMATORS = ("jsd", "infonce")


class Bilinear(nn.Module):
    """score(h, s) = h^T W s, computed as (H W) s."""

    def __init__(self, width: int, rng: Rng) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))
        glorot(self.weight, rng)

    def forward(self, hidden: Tensor, summary: Tensor) -> Tensor:
        """[n] scores of [n, F] representations against one [F] summary."""
        return hidden @ (self.weight @ summary)


def jsd_loss(clean: Tensor, corrupted: Tensor) -> Tensor:
    """Binary cross-entropy of "is this node from the real graph", the original's estimator."""
    return 0.5 * (F.softplus(-clean).mean() + F.softplus(corrupted).mean())


def infonce_loss(clean: Tensor) -> Tensor:
    """-1/n sum_i log softmax_i(score(h_i, summary)), the negatives of node i being all other nodes (paper, App. H)."""
    return -torch.log_softmax(clean, dim=0).mean()


class GraphInfomax(Task):
    """Mutual information between nodes and the whole graph.

    `jsd` (default) contrasts real nodes with shuffled ones against the mean of the real ones, as the original does.
    `infonce` is the paper's text to the letter: the summary is that of the shuffled graph, the negatives of a node are
    the others. That loss is least where all nodes score alike, so it teaches less.

    Args:
        estimator: `jsd` or `infonce`.
        samples: above `whole` nodes, this many are contrasted, drawn anew every epoch.
        whole: graphs up to this size are contrasted whole.
    """

    name: ClassVar[str] = "dgi"
    alphas: ClassVar[tuple[float, ...]] = (0.5, 20.0)
    space: ClassVar[Mapping[str, tuple]] = {"estimator": ESTIMATORS}

    def __init__(self, estimator: str = "jsd", samples: int = 2000, whole: int = 5000) -> None:
        if estimator not in ESTIMATORS:
            raise SettingsError(f"dgi: unknown estimator {estimator!r}; choose one of {', '.join(ESTIMATORS)}")
        if samples < 1:
            raise SettingsError(f"dgi: samples = {samples}, but at least 1 node must be contrasted")
        if whole < 0:
            raise SettingsError(f"dgi: whole = {whole}, but it is a number of nodes, 0 or more")
        self.estimator, self.samples, self.whole = estimator, samples, whole

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """Nothing is known beforehand."""
        return {}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """The bilinear score."""
        return Bilinear(width, rng)

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """A shuffle of the feature rows, and the nodes to contrast."""
        draw, n = rng.numpy(), adjacency.num_nodes
        chosen = np.arange(n) if n <= self.whole else np.sort(draw.choice(n, min(self.samples, n), replace=False))
        return TaskSample(permutation=draw.permutation(n), data={"chosen": torch.from_numpy(chosen)})

    def needs(self, graph: Graph, width: int) -> Needs:
        """Every node, and every node of the shuffled graph."""
        return Needs(shuffles=True, parameters=width**2)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """The chosen estimator; the summary is a mean over all nodes."""
        hidden, corrupted = views.hidden(), views.corrupted()
        length = mean_length(hidden)
        hidden, corrupted = hidden / length, corrupted / length
        chosen = sample.data["chosen"].to(hidden.device)
        if self.estimator == "infonce":
            return infonce_loss(head(hidden, corrupted.mean(0)).index_select(0, chosen))
        vector = torch.sigmoid(hidden.mean(0))
        scores, negatives = head(hidden, vector), head(corrupted, vector)
        return jsd_loss(scores.index_select(0, chosen), negatives.index_select(0, chosen))


TASKS.add("dgi", GraphInfomax)
