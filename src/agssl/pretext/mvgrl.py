"""MVGRL: tell the nodes of one view by the summary of another, the diffused graph (Hassani & Khasahmadi 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders.base import Encoder
from agssl.ops.adjacency import Adjacency
from agssl.ops.diffusion import diffusion
from agssl.pretext.base import TASKS, Targets, Task, TaskSample, Views
from agssl.pretext.dgi import Bilinear, jsd_loss
from agssl.pretext.heads import Matrices, check_choice, check_count, check_positive, check_share, mean_length
from agssl.pretext.needs import Needs
from agssl.pretext.views import View

VIEW_ENCODERS = ("own", "shared")


class TwoViews(nn.Module):
    """The discriminator and, unless the network's encoder serves both views, the encoder of the diffused one."""

    encoder: Encoder | None

    def __init__(self, width: int, rng: Rng) -> None:
        super().__init__()
        self.matrices = Matrices()
        self.score = Bilinear(width, rng.child("score"))
        self.register_module("encoder", None)  # until training starts

    def forward(self, hidden: Tensor, summary: Tensor) -> Tensor:
        """Scores of nodes, [n, F], against a summary, [F]."""
        return self.score(hidden, summary)


class Mvgrl(Task):
    """Mutual information between nodes of the graph and the whole diffused graph, and the other way round.

    Args:
        teleport: alpha of the personalised PageRank.
        kept: how many of the largest entries of each row stay.
        tolerance: how far entries may be off, times the degree of a node over the mean degree.
        encoder: `own` (the paper: one encoder per view) or `shared`.
    """

    name: ClassVar[str] = "mvgrl"
    alphas: ClassVar[tuple[float, ...]] = (0.3, 1.0)
    space: ClassVar[Mapping[str, tuple]] = {"teleport": (0.1, 0.2, 0.4), "kept": (16, 32, 64), "encoder": VIEW_ENCODERS}

    def __init__(self, teleport: float = 0.2, kept: int = 32, tolerance: float = 0.01, encoder: str = "own") -> None:
        check_share(self.name, teleport=teleport)
        check_positive(self.name, teleport=teleport, tolerance=tolerance)
        check_count(self.name, kept=kept)
        check_choice(self.name, VIEW_ENCODERS, encoder=encoder)
        self.teleport, self.kept, self.tolerance, self.encoder = teleport, kept, tolerance, encoder

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """The diffusion matrix, sparse."""
        s = diffusion(Adjacency.of(graph), self.teleport, self.kept, self.tolerance)
        return {"indptr": s.indptr, "indices": s.indices, "values": s.data}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """A bilinear score."""
        return TwoViews(width, rng)

    def start(self, head: nn.Module, encoder: Encoder, rng: Rng) -> None:
        """The second encoder is of the network's shape."""
        if self.encoder == "own":
            assert isinstance(head, TwoViews)
            head.encoder = encoder.sibling(rng.child("encoder"))

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """A shuffle of the feature rows, the same in both views."""
        return TaskSample(permutation=rng.numpy().permutation(adjacency.num_nodes))

    def needs(self, graph: Graph, width: int) -> Needs:
        """Both views of every node, each shuffled as well; the diffusion has entries of a row and of its column."""
        entries = 2 * min(self.kept, graph.num_nodes) * graph.num_nodes
        own = int(self.encoder == "own")
        return Needs(shuffles=True, views=2, entries=entries, parameters=width**2, encoders=own)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """JSD between the nodes of either view, real and shuffled, and the summary of the other (Eq. 7)."""
        assert isinstance(head, TwoViews)
        diffused = head.matrices.get(targets, "", len(targets["indptr"]) - 1, symmetric=True)
        real = [views.hidden(), views.encode(View(adjacency=diffused), head.encoder)]
        fake = [views.corrupted(), views.encode(View(adjacency=diffused, order=sample.permutation), head.encoder)]
        lengths = [mean_length(hidden) for hidden in real]
        real, fake = ([h / length for h, length in zip(hs, lengths, strict=True)] for hs in (real, fake))
        summaries = [torch.sigmoid(hidden.mean(0)) for hidden in real]
        losses = [jsd_loss(head(real[a], summaries[1 - a]), head(fake[a], summaries[1 - a])) for a in (0, 1)]
        return losses[0] + losses[1]


TASKS.add("mvgrl", Mvgrl)
