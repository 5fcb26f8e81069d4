"""GraphMAE: reconstruct the features of masked nodes (Hou et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders.layer import glorot
from agssl.ops.adjacency import Adjacency
from agssl.ops.csr import Csr, multiply
from agssl.pretext.base import NO_NODES, TASKS, Targets, Task, TaskSample, Views
from agssl.pretext.heads import check_positive, check_share
from agssl.pretext.needs import Needs
from agssl.pretext.views import View

LEAST = 1e-12  # of a squared length


def scaled_cosine_error(dots: Tensor, squares: Tensor, lengths: Tensor, gamma: float) -> Tensor:
    """1/n sum_i (1 - x_i . z_i / (|x_i| |z_i|))^gamma (Eq. 2), from x_i . z_i, |z_i|^2 and |x_i|."""
    cosine = dots / (squares.clamp_min(LEAST).sqrt() * lengths.clamp_min(LEAST**0.5))
    return (1 - cosine).clamp_min(0).pow(gamma).mean()


class Decoder(nn.Module):
    """The token of masked nodes, the map from hidden to code, and the map from aggregated code to features."""

    def __init__(self, width: int, features: int, rng: Rng) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(features))
        self.code = nn.Parameter(torch.empty(width, width))
        self.features = nn.Parameter(torch.empty(features, width))
        glorot(self.code, rng.child("code"))
        glorot(self.features, rng.child("features"))

    def forward(self, hidden: Tensor, masked: Tensor, adjacency: Csr) -> Tensor:
        """The code of all nodes, hidden again where masked, and aggregated once, [N, F]; before the last map."""
        return multiply(adjacency, (hidden @ self.code).masked_fill(masked[:, None], 0))


class GraphMae(Task):
    """Masked nodes get a learned token as features; a one-layer decoder must give their own back.

    Args:
        share: of the nodes that are masked.
        gamma: how much more large errors count (1: as they are).
    """

    name: ClassVar[str] = "graphmae"
    alphas: ClassVar[tuple[float, ...]] = (5.0, 20.0)
    space: ClassVar[Mapping[str, tuple]] = {"share": (0.25, 0.5, 0.75), "gamma": (1, 2, 3)}

    def __init__(self, share: float = 0.5, gamma: float = 2) -> None:
        check_share(self.name, share=share)
        check_positive(self.name, share=share, gamma=gamma)
        self.share, self.gamma = share, gamma

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """|x_i| of every node, and the number of features."""
        from sklearn.utils.extmath import row_norms

        return {"lengths": row_norms(graph.x).astype(np.float32), "features": np.array([graph.num_features])}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """Token and decoder."""
        return Decoder(width, int(targets["features"][0]), rng)

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """The nodes to mask; the step's own pass is not read."""
        n = adjacency.num_nodes
        masked = np.zeros(n, dtype=bool)
        masked[rng.numpy().choice(n, max(1, round(self.share * n)), replace=False)] = True
        return TaskSample(NO_NODES, views=(View(masked=masked),))

    def needs(self, graph: Graph, width: int) -> Needs:
        """Every node of the view; the decoder takes as much as another one."""
        features = graph.num_features
        return Needs(nodes=0, views=2, parameters=features + width**2 + features * width)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """The scaled cosine error over masked nodes.

        A reconstruction is z = W c with the code c [F] and W [d, F], so x . z = (x W) . c and |z|^2 = c (W^T W) c:
        the [N, d] reconstructions are never made, and sparse features stay sparse.
        """
        assert isinstance(head, Decoder)
        (view,) = sample.views
        assert view.masked is not None
        masked = torch.from_numpy(view.masked).to(head.token.device)
        code = head(views.encode(view, token=head.token), masked, views.given.decoding())
        at = masked.nonzero().squeeze(1)
        code = code.index_select(0, at)
        dots = (code * views.features(head.features, np.flatnonzero(view.masked))).sum(1)
        squares = (code @ (head.features.t() @ head.features) * code).sum(1)
        lengths = torch.from_numpy(targets["lengths"]).to(code).index_select(0, at)
        return scaled_cosine_error(dots, squares, lengths, self.gamma)


TASKS.add("graphmae", GraphMae)
