"""The outer objective of a search for task weights: a loss of the network that they gave, in evaluation mode."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.encoders import Network, joined
from agssl.train.problem import Problem


class Outer(nn.Module):
    """An outer objective: a loss of a network. What it remembers from call to call are buffers."""

    cache_key: tuple[object, ...]  # what tells one from another of its kind, for `CheckpointStore.checkpoint`


class LabelLoss(Outer):
    """Cross-entropy on labelled nodes, as the AGSSL paper adapts AutoSSL (Sec. 2)."""

    def __init__(self, problem: Problem, nodes: np.ndarray) -> None:
        super().__init__()
        self.cache_key = (nodes,)
        self.plan = problem.plans.fixed(nodes)
        self.labels = problem.labels[torch.from_numpy(nodes)]

    def forward(self, model: Network) -> Tensor:
        """Differentiable in the parameters of the model."""
        return F.cross_entropy(model(*self.plan).logits, self.labels)


def soft_assignments(hidden: Tensor, centres: Tensor) -> Tensor:
    """p_ic = softmax_c(-|h_i - c|^2 / s), [n, c], with s the mean squared distance to the nearest centre.

    AutoSSL sets s = 0.001; relative to the spread, neither the width nor the scale of H changes what it means.
    """
    distances = hidden.square().sum(1, keepdim=True) - 2 * hidden @ centres.t() + centres.square().sum(1)
    spread = distances.detach().amin(1).mean().clamp_min(1e-12)
    return torch.softmax(-distances / spread, dim=1)


def neighbour_disagreement(assignments: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """Mean |p_ic - p_jc| over edges and clusters: low where neighbours share a cluster, AutoSSL's pseudo-homophily."""
    if not len(source):
        return 0 * assignments.sum()
    return F.l1_loss(assignments.index_select(0, source), assignments.index_select(0, target))


class Homophily(Outer):
    """How far neighbours are from sharing a k-means cluster of H; no label is read.

    As many clusters as classes (AutoSSL: 5, or 10). k-means starts from the centres of the last call, since a step
    changes H little.
    """

    centres: Tensor  # [clusters, F]
    started: Tensor

    def __init__(self, problem: Problem, rng: Rng) -> None:
        super().__init__()
        self.inputs, self.plan = problem.inputs, replace(problem.plans.whole, head=())
        self.clusters = min(problem.shape.classes, problem.graph.num_nodes)
        self.seed = rng.key() & 0x7FFFFFFF
        self.cache_key = (self.seed,)
        self.register_buffer("centres", torch.zeros(self.clusters, problem.shape.hidden))
        self.register_buffer("started", torch.tensor(False))
        rows = np.repeat(np.arange(problem.graph.num_nodes), problem.graph.degree)
        once = rows < problem.graph.indices
        self.source = torch.from_numpy(rows[once]).to(problem.device)
        self.target = torch.from_numpy(problem.graph.indices[once].astype(np.int64)).to(problem.device)

    def forward(self, model: Network) -> Tensor:
        """Differentiable in the encoder; the centres are constants."""
        hidden = joined(model(self.inputs, self.plan).hidden)
        size = hidden.square().sum()
        if not torch.isfinite(size):  # the caller says so; k-means would raise an error of its own
            return size
        self._cluster(hidden.detach().cpu().numpy())
        return neighbour_disagreement(soft_assignments(hidden, self.centres.to(hidden)), self.source, self.target)

    def _cluster(self, hidden: np.ndarray) -> None:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        how: dict[str, Any] = {"n_init": 3}
        if self.started:
            how = {"n_init": 1, "init": self.centres.numpy(), "max_iter": 5}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
            found = KMeans(self.clusters, random_state=self.seed, **how).fit(hidden).cluster_centers_
        # a fresh tensor: the one before may be part of a graph that is still to be walked
        self.centres, self.started = torch.from_numpy(found), torch.tensor(True)
