"""CG3: contrast the graph with a coarse one, by nodes and by labels, and rebuild its edges (Wan et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders.base import Encoder
from agssl.ops.adjacency import Adjacency
from agssl.ops.coarsen import coarse_groups, coarse_propagation
from agssl.ops.csr import multiply
from agssl.ops.linear_loss import info_nce
from agssl.ops.sampling import non_edges
from agssl.pretext.augment import sampled
from agssl.pretext.base import TASKS, Targets, Task, TaskSample, Views, linear
from agssl.pretext.heads import Matrices, check_count, check_positive
from agssl.pretext.needs import Needs, stored_entries
from agssl.pretext.views import View


def supervised_contrast(first: Tensor, second: Tensor, labels: Tensor, tau: float) -> Tensor:
    """-1/n sum_i log ( sum_{k: y_k = y_i} e^{u_i . v_k / tau} / sum_k e^{u_i . v_k / tau} ) (Eq. 6), [n, F] each."""
    scores = first @ second.t() / tau
    same = scores.masked_fill(labels[:, None] != labels[None, :], -torch.inf)
    return (scores.logsumexp(1) - same.logsumexp(1)).mean()


class Coarse(nn.Module):
    """The score of edges and, once training has started, the encoder of the coarse view."""

    encoder: Encoder | None

    def __init__(self, width: int, rng: Rng) -> None:
        super().__init__()
        self.matrices = Matrices()
        self.register_module("encoder", None)
        self.edge = linear(2 * width, 1, rng.child("edge"))

    def forward(self, views: Views, targets: Targets) -> Tensor:
        """H of the coarse view for every node of the graph, [N, F]: down to the coarse graph and up again."""
        nodes, groups = (len(targets[f"{way}_indptr"]) - 1 for way in ("up", "pool"))
        view = View(
            pool=self.matrices.get(targets, "pool_", nodes),
            adjacency=self.matrices.get(targets, "coarse_", groups, symmetric=True),
        )
        return multiply(self.matrices.get(targets, "up_", groups), views.encode(view, self.encoder))


class Cg3(Task):
    """Contrast of the encoder's view with a hierarchical one, plus the likelihood of the graph given both.

    Labels enter where the method has them, that is in joint training; pre-training is without.

    Args:
        temperature: of the cosine similarity.
        levels: times that groups of nodes are joined in pairs, for the coarse graph.
        nodes: this many nodes, drawn anew every epoch, are contrasted with each other, and at most as many labelled
            ones; all where there are no more.
        pairs: edges, and as many non-edges, drawn anew every epoch for the likelihood of the graph.
        generative: weight of that likelihood.
    """

    name: ClassVar[str] = "cg3"
    alphas: ClassVar[tuple[float, ...]] = (0.03, 0.1)
    space: ClassVar[Mapping[str, tuple]] = {
        "temperature": (0.3, 0.5, 0.8),
        "levels": (1, 2, 3),
        "generative": (0.1, 0.3, 1.0),
    }

    def __init__(
        self,
        temperature: float = 0.5,
        levels: int = 3,
        nodes: int = 500,
        pairs: int = 1000,
        generative: float = 0.3,
    ) -> None:
        check_positive(self.name, temperature=temperature, generative=generative)
        check_count(self.name, levels=levels, nodes=nodes, pairs=pairs)
        self.temperature, self.levels, self.nodes = temperature, levels, nodes
        self.pairs, self.generative = pairs, generative

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """The ways to the coarse graph, in it, and back, sparse."""
        groups = coarse_groups(graph, self.levels, rng.numpy())
        ways = dict(zip(("pool", "coarse", "up"), coarse_propagation(graph, groups), strict=True))
        targets: dict[str, np.ndarray] = {}
        for way, m in ways.items():
            targets |= {f"{way}_indptr": m.indptr, f"{way}_indices": m.indices, f"{way}_values": m.data}
        return targets

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """The score of an edge."""
        return Coarse(width, rng)

    def start(self, head: nn.Module, encoder: Encoder, rng: Rng) -> None:
        """The coarse view's encoder is of the network's shape."""
        assert isinstance(head, Coarse)
        head.encoder = encoder.sibling(rng.child("encoder"))

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """The nodes to contrast, and edges and non-edges."""
        draw, n = rng.numpy(), adjacency.num_nodes
        chosen = sampled(n, self.nodes, draw)
        chosen = np.arange(n) if chosen is None else chosen
        upper = adjacency.edges[0]
        edges = upper[draw.choice(len(upper), min(self.pairs, len(upper)), replace=False)]
        linked = np.stack([adjacency.rows[edges], adjacency.indices[edges]]).astype(np.int64)
        pairs = np.concatenate([linked, non_edges(adjacency, self.pairs, draw)], axis=1)
        data = {
            "chosen": chosen,
            "ends": pairs,
            "linked": (np.arange(pairs.shape[1]) < linked.shape[1]).astype(np.float32),
            "priority": draw.random(n, dtype=np.float32),  # who is taken where there are more labelled nodes than asked
        }
        nodes = np.unique(np.concatenate([chosen, pairs[0]]))
        return TaskSample(nodes, data={name: torch.from_numpy(array) for name, array in data.items()})

    def needs(self, graph: Graph, width: int) -> Needs:
        """The nodes to contrast, one end of every pair, and the coarse view of all nodes."""
        # Up: at most a row of A + I per node. Down: a link between groups leads to all members; measured, not proved.
        entries = (2 + self.levels) * stored_entries(graph)
        nodes = min(self.nodes, graph.num_nodes)
        return Needs(
            nodes=min(nodes + 2 * self.pairs, graph.num_nodes),
            views=1,
            entries=entries,
            scores=nodes**2,
            parameters=2 * width + 1,
            encoders=1,
        )

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """L_uc + L_sc + generative * L_g2 (Eqs. 4 to 11); each contrast is the mean of both directions."""
        assert isinstance(head, Coarse)
        coarse = head(views, targets)
        chosen, pairs = sample.data["chosen"], sample.data["ends"]
        loss = self._contrast(views, coarse, chosen.numpy(), None)
        if views.given.labelled is not None:
            nodes, labels = views.given.labelled
            most = np.argsort(sample.data["priority"].numpy()[nodes], kind="stable")[: self.nodes]
            loss = loss + self._contrast(views, coarse, nodes[most], labels[torch.from_numpy(most)])
        device = coarse.device
        ends = torch.cat([views.hidden(pairs[0].numpy()), coarse.index_select(0, pairs[1].to(device))], dim=1)
        linked = sample.data["linked"].to(coarse)
        return loss + self.generative * F.binary_cross_entropy_with_logits(head.edge(ends).squeeze(1), linked)

    def _contrast(self, views: Views, coarse: Tensor, nodes: np.ndarray, labels: Tensor | None) -> Tensor:
        first = F.normalize(views.hidden(nodes), dim=1)
        second = F.normalize(coarse.index_select(0, torch.from_numpy(nodes).to(coarse.device)), dim=1)
        if labels is None:
            own = torch.arange(len(first), device=first.device)
            there, back = (info_nce(a, b, own, self.temperature) for a, b in ((first, second), (second, first)))
        else:
            there = supervised_contrast(first, second, labels, self.temperature)
            back = supervised_contrast(second, first, labels, self.temperature)
        return (there + back) / 2


TASKS.add("cg3", Cg3)
