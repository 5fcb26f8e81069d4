"""PAIRSIM: predict whether two nodes are linked, or how alike their features are (Jin et al. 2020; paper, App. H)."""

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
from agssl.ops.adjacency import Adjacency
from agssl.ops.sampling import non_edges
from agssl.ops.similarity import similarity_pool
from agssl.pretext.base import NO_NODES, TASKS, Part, Targets, Task, TaskSample, Views, linear
from agssl.pretext.needs import Needs
from agssl.pretext.pairs import pair_differences, pair_sample

TARGETS = ("link", "feature")


class PairSimilarity(Task):
    """From |h_i - h_j|, which node pairs are linked, or how alike their features are.

    `link` (the paper) masks edges from the propagation of the step and asks which pairs are linked. `feature` (the
    task's origin) asks for the cosine similarity of features, on each node's nearest and farthest ones.

    Args:
        target: `link` or `feature`.
        pairs: masked edges per epoch, and as many non-edges (for `feature`, half the pairs); at most half of the edges.
    """

    name: ClassVar[str] = "pairsim"
    space: ClassVar[Mapping[str, tuple]] = {"target": TARGETS, "pairs": (400, 1000, 4000)}

    def __init__(self, target: str = "link", pairs: int = 400) -> None:
        if target not in TARGETS:
            raise SettingsError(f"pairsim: unknown target {target!r}; choose one of {', '.join(TARGETS)}")
        if pairs < 1:
            raise SettingsError(f"pairsim: pairs = {pairs}, but at least 1 pair must be drawn")
        self.target, self.pairs = target, pairs

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """`link`: every edge once; `feature`: pools of alike and unlike pairs with their similarity."""
        if self.target == "feature":
            pairs, similarity = similarity_pool(graph.x, rng)
            return {"pairs": pairs, "similarity": similarity}
        rows = np.repeat(np.arange(graph.num_nodes), graph.degree)
        once = rows < graph.indices
        return {"edges": np.stack([rows[once], graph.indices[once].astype(np.int64)])}

    def head(self, width: int, targets: Targets, rng: Rng) -> nn.Module:
        """One value."""
        return linear(width, 1, rng)

    @property
    def needs_whole(self) -> bool:
        """Links are those of a mini-batch itself; pools of similar nodes are the whole graph's."""
        return self.target == "feature"

    def extra_nodes(self, targets: Targets, rng: Rng) -> np.ndarray:
        """As many pairs of the pool as a step reads."""
        return targets["pairs"][:, self._chosen(targets, rng)].ravel() if self.target == "feature" else NO_NODES

    def restrict(self, targets: Targets, part: Part, rng: Rng) -> Targets:
        """The pairs of the pool with both ends in the part, or its edges."""
        if self.target == "link":
            return self.prepare(part.graph, rng)
        pairs, inside = part.pairs(targets["pairs"])
        return {"pairs": pairs, "similarity": targets["similarity"][inside]}

    def _chosen(self, targets: Targets, rng: Rng) -> np.ndarray:
        return rng.numpy().integers(targets["pairs"].shape[1], size=2 * self.pairs)

    def sample(self, targets: Targets, adjacency: Adjacency, rng: Rng) -> TaskSample:
        """Masked edges and non-edges, or pairs from the pool."""
        if self.target == "feature":
            chosen = self._chosen(targets, rng)
            return pair_sample(targets["pairs"][:, chosen], torch.from_numpy(targets["similarity"][chosen]))
        draw = rng.numpy()
        edges = targets["edges"]
        masked = edges[:, draw.choice(edges.shape[1], min(self.pairs, edges.shape[1] // 2), replace=False)]
        others = non_edges(adjacency, masked.shape[1] or self.pairs, draw)
        labels = torch.zeros(masked.shape[1] + others.shape[1])
        labels[: masked.shape[1]] = 1
        return pair_sample(np.concatenate([masked, others], axis=1), labels, (masked[0], masked[1]))

    def needs(self, graph: Graph, width: int) -> Needs:
        """Both ends of every pair, of which there are two for each that `pairs` counts."""
        return Needs(nodes=min(4 * self.pairs, graph.num_nodes), parameters=width + 1)

    def loss(self, head: nn.Module, views: Views, sample: TaskSample, targets: Targets) -> Tensor:
        """Binary cross-entropy (link) or squared error (feature) over the pairs."""
        differences = pair_differences(views, sample)
        scores, labels = head(differences).squeeze(1), sample.data["labels"].to(differences.device)
        if self.target == "feature":
            return F.mse_loss(scores, labels)
        if not len(labels):  # a graph with neither two edges nor a non-edge has nothing to predict
            return scores.sum()
        return F.binary_cross_entropy_with_logits(scores, labels)


TASKS.add("pairsim", PairSimilarity)
