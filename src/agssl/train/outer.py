"""By what a search judges task weights: a loss of the network that they gave, in evaluation mode."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from agssl.models.gcn import Gcn, joined
from agssl.rng import Rng
from agssl.train.problem import Problem

Outer = Callable[[Gcn], Tensor]


class LabelLoss:
    """Cross-entropy on labelled nodes, as the AGSSL paper adapts AutoSSL (Sec. 2)."""

    def __init__(self, problem: Problem, nodes: np.ndarray) -> None:
        self.plan = problem.fixed_field(nodes)
        self.labels = problem.labels[torch.from_numpy(nodes)]

    def __call__(self, model: Gcn) -> Tensor:
        """Differentiable in the parameters of the model."""
        return F.cross_entropy(model(*self.plan).logits, self.labels)


def soft_assignments(hidden: Tensor, centres: Tensor) -> Tensor:
    """p_ic = softmax_c(-|h_i - c|^2 / s), [n, c], with s the mean squared distance to the nearest centre.

    AutoSSL sets s = 0.001; relative to the spread, neither the width nor the scale of H changes what it means.
    """
    distances = hidden.square().sum(1, keepdim=True) - 2 * hidden @ centres.t() + centres.square().sum(1)
    spread = distances.detach().amin(1).mean().clamp_min(1e-12)
    return torch.softmax(-distances / spread, dim=1)


def disagreement(assignments: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """Mean |p_ic - p_jc| over edges and clusters: low where neighbours share a cluster, AutoSSL's pseudo-homophily."""
    if not len(source):
        return 0 * assignments.sum()
    return F.l1_loss(assignments.index_select(0, source), assignments.index_select(0, target))


class Homophily:
    """How far neighbours are from sharing a k-means cluster of H; no label is read.

    As many clusters as classes (AutoSSL: 5, or 10). k-means starts from the centres of the last call, since a step
    changes H little.
    """

    def __init__(self, problem: Problem, rng: Rng) -> None:
        self.inputs, self.plan = problem.inputs, replace(problem.whole, head=None)
        self.clusters = min(problem.shape.classes, problem.graph.num_nodes)
        self.seed = rng.key() & 0x7FFFFFFF
        self.centres: np.ndarray | None = None
        rows = np.repeat(np.arange(problem.graph.num_nodes), problem.graph.degree)
        once = rows < problem.graph.indices
        self.source = torch.from_numpy(rows[once]).to(problem.device)
        self.target = torch.from_numpy(problem.graph.indices[once].astype(np.int64)).to(problem.device)

    def __call__(self, model: Gcn) -> Tensor:
        """Differentiable in the encoder; the centres are constants."""
        hidden = joined(model(self.inputs, self.plan).hidden)
        size = hidden.square().sum()
        if not torch.isfinite(size):  # the caller says so; k-means would raise an error of its own
            return size
        centres = torch.from_numpy(self._cluster(hidden.detach().cpu().numpy())).to(hidden)
        return disagreement(soft_assignments(hidden, centres), self.source, self.target)

    def _cluster(self, hidden: np.ndarray) -> np.ndarray:
        first = self.centres is None
        how = {"n_init": 3} if first else {"n_init": 1, "init": self.centres, "max_iter": 5}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters
            self.centres = KMeans(self.clusters, random_state=self.seed, **how).fit(hidden).cluster_centers_
        assert self.centres is not None
        return self.centres
