"""GMI: what a node's representation knows of its neighbours' features and of its links (Peng et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders.layer import glorot
from agssl.ops.adjacency import Adjacency
from agssl.ops.sampling import non_edges
from agssl.pretext.base import TASKS, Targets, Task, TaskSample, Views
from agssl.pretext.heads import check_choice, check_count, check_positive, mean_length
from agssl.pretext.needs import Needs, stored_entries

PAIR_WEIGHTS = ("mean", "adaptive")


class FeatureScore(nn.Module):
    """D(h, x) = h^T Theta x, computed as h . (x Theta) with Theta [d, F]."""

    def __init__(self, width: int, features: int, rng: Rng) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features, width))
        glorot(self.weight, rng)


class Gmi(Task):
    """The Jensen-Shannon bound of I(h_i; x_j) over neighbours j, weighted by w_ij, plus that of I(w_ij; a_ij).

    Args:
        weights: w_ij of the first part: `mean` (one over the number of neighbours) or `adaptive` (sigmoid(h_i . h_j)).
        pairs: node and neighbour (or the node itself), drawn anew every epoch; all where there are no more. Each has a
            shuffled counterpart for the features and an unlinked one for the topology.
        topology: weight of the second part.
    """

    name: ClassVar[str] = "gmi"
    alphas: ClassVar[tuple[float, ...]] = (0.2, 0.5)
    space: ClassVar[Mapping[str, tuple]] = {"weights": PAIR_WEIGHTS, "topology": (0.1, 0.5, 1.0)}

    def __init__(self, weights: str = "mean", pairs: int = 2000, topology: float = 0.1) -> None:
        check_choice(self.name, PAIR_WEIGHTS, weights=weights)
        check_count(self.name, pairs=pairs)
        check_positive(self.name, topology=topology)
        self.weights, self.pairs, self.topology = weights, pairs, topology

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """The number of features, and what to multiply them by so that the mean L2 norm of their rows is one."""
        from sklearn.utils.extmath import row_norms

        length = float(np.mean(row_norms(graph.x)))
        return {"features": np.array([graph.num_features]), "scale": np.array([1 / length if length else 1.0])}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """The bilinear score of representations and features."""
        return FeatureScore(width, int(targets["features"][0]), rng)

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """Pairs (i, j), the node whose features stand in for x_j, and node pairs that are not linked."""
        draw, n = rng.numpy(), adjacency.num_nodes
        degree = np.diff(adjacency.indptr)
        if len(adjacency.indices) <= self.pairs:
            node, other = adjacency.rows, adjacency.indices
            share = 1 / (n * degree[node])
        else:  # a node, then one of its neighbours, so that every node counts the same
            node = draw.integers(n, size=self.pairs)
            other = adjacency.indices[adjacency.indptr[node] + (draw.random(self.pairs) * degree[node]).astype(int)]
            share = np.full(self.pairs, 1 / self.pairs)
        false = draw.integers(n, size=len(node))
        apart = non_edges(adjacency, len(node), draw)
        nodes, at = np.unique(np.concatenate([node, other, false, *apart]), return_inverse=True)
        pairs, unlinked = np.split(at, [3 * len(node)])
        data = {
            "pairs": pairs.reshape(3, -1),  # positions among the nodes, as the next
            "apart": unlinked.reshape(2, -1),
            "share": share.astype(np.float32),
        }
        return TaskSample(nodes, data={name: torch.from_numpy(array) for name, array in data.items()})

    def needs(self, graph: Graph, width: int) -> Needs:
        """The nodes of every pair: two linked, a stand-in, and two that are not linked; their features, encoded."""
        pairs = min(self.pairs, stored_entries(graph))
        nodes = min(5 * pairs, graph.num_nodes)
        return Needs(nodes=nodes, parameters=graph.num_features * width)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """sum_ij w_ij (sp(-D(h_i, x_j)) + sp(D(h_i, x'_j))) + topology * CE(sigmoid(h_i . h_j), a_ij)."""
        assert isinstance(head, FeatureScore)
        assert sample.nodes is not None
        hidden = views.hidden(sample.nodes)
        hidden = hidden / mean_length(hidden)
        features = views.features(head.weight * float(targets["scale"][0]), sample.nodes)
        node, other, false = sample.data["pairs"].to(hidden.device)
        h = hidden.index_select(0, node)
        right, wrong = ((h * features.index_select(0, at)).sum(1) for at in (other, false))
        linked = (h * hidden.index_select(0, other)).sum(1)
        first, second = sample.data["apart"].to(hidden.device)
        apart = (hidden.index_select(0, first) * hidden.index_select(0, second)).sum(1)
        share = sample.data["share"].to(hidden)
        weight = share if self.weights == "mean" else share * torch.sigmoid(linked)
        told = (weight * (F.softplus(-right) + F.softplus(wrong))).sum()
        edges = (share * F.softplus(-linked)).sum() + (F.softplus(apart).mean() if len(apart) else 0)
        return told + self.topology * edges / 2


TASKS.add("gmi", Gmi)
