"""What knowledge integration is: per-node teacher weights, lambda [N, K], each row summing to one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from agssl.base.registry import Registry
from agssl.base.rng import Rng
from agssl.integrate.calibration import Calibration, calibration
from agssl.ops.softmax import softmax

BLOCK = 1 << 16  # nodes that lambda is worked out for at a time, after training


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The teachers' logits of all nodes, and held-out teacher logits of labelled nodes, which lambda is fitted to.

    A teacher is sure of a node whose label it has seen, so its logits of training nodes show memory and not skill.
    `heldout` are logits of teachers that have not seen these labels: of validation nodes, or of training nodes by
    teachers of other folds. (Only with `weights_from="train"`, the paper's way, have they seen them.)
    """

    logits: Tensor  # [K, N, C], frozen
    nodes: Tensor  # [n] labelled nodes by which lambda is fitted
    labels: Tensor  # [n] their labels
    heldout: Tensor  # [K, n, C] held-out teacher logits of these nodes
    calibration: Calibration | None = None  # what the logits have gone through
    near: sp.csr_matrix | None = None  # [N, n] how near each node is to these nodes, none to itself; where it is read

    def only(self, which: np.ndarray) -> Knowledge:
        """The same with some of the labelled nodes, bool [n]."""
        at = torch.from_numpy(which).to(self.nodes.device)
        near = None if self.near is None else self.near[:, which]
        return replace(self, nodes=self.nodes[at], labels=self.labels[at], heldout=self.heldout[:, at], near=near)

    def calibrated(self, how: str) -> Knowledge:
        """The same with each teacher's logits calibrated to the held-out labels; see `agssl.integrate.calibration`."""
        found = calibration(how, self.heldout, self.labels)
        if found is None:
            return self
        return replace(self, logits=found(self.logits), heldout=found(self.heldout), calibration=found)


class Integrator(nn.Module):
    """Per-node teacher weights, from the student's and the teachers' logits. Subclass it to add your own.

    One method makes a scheme: `scores`, whose softmax over the teachers is lambda [n, K]. Parameters that the
    constructor makes are fitted by the loss L_W on labelled nodes, while the student trains. A scheme that is not a
    softmax of scores overrides `forward`; one that draws or follows something overrides `step`.

    Args:
        knowledge: the teachers' logits of all nodes, and held-out teacher logits with their labels.
        rng: of everything random in it.

    Attributes:
        name: the name it is registered under.
        learns: whether it has parameters that L_W fits.
        transfers: whether it can weigh the teachers at nodes of another graph, by their logits. Then parameters and
            buffers must be all that it knows: they are what a fitted model keeps of it.
        reads_edges: whether it asks `knowledge.near` which labelled nodes are near.
        settled: whether the knowledge alone decides it, nothing random and no student, so that one serves them all.

    Example:
        >>> class Confident(Integrator):
        ...     '''A teacher counts where it is sure: the log of its highest probability.'''
        ...     name = "confident"
        ...     learns = False
        ...     def scores(self, student, teachers):
        ...         return teachers.log_softmax(-1).amax(-1).t()
        >>> INTEGRATORS.add("confident", Confident)  # doctest: +SKIP

        A file that ends so is used by `agssl fit digits --plugin confident.py --integration confident`; in Python,
        import the module and fit with `AGSSL(integration="confident")`.
    """

    name: ClassVar[str]
    learns: ClassVar[bool] = True  # has parameters that L_W fits
    transfers: ClassVar[bool] = True  # weighs the teachers of nodes that it was not fitted to
    reads_edges: ClassVar[bool] = False  # wants `knowledge.near`
    settled: ClassVar[bool] = False  # by the knowledge alone

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__()

    def step(self, rng: Rng) -> None:
        """Called before each training step, with its randomness; for schemes that draw or follow something.

        Args:
            rng: that of the step.
        """

    def scores(self, student: Tensor, teachers: Tensor) -> Tensor:
        """zeta [n, K] from student logits [n, C] and teacher logits [K, n, C] of the same nodes.

        Args:
            student: logits [n, C].
            teachers: logits [K, n, C].
        """
        raise NotImplementedError

    def forward(self, student: Tensor, teachers: Tensor, nodes: Tensor | None = None) -> Tensor:
        """lambda [n, K]: the softmax of the scores over the teachers.

        Args:
            student: logits [n, C].
            teachers: logits [K, n, C].
            nodes: which nodes of the fitted graph these are, [n]; without it, they may be of any graph.
        """
        return softmax(self.scores(student, teachers))

    def answer(self, weights: Tensor, probabilities: Tensor, nodes: Tensor, tau: float) -> Tensor:
        """What the student is told of these nodes of the fitted graph, p [n, C]; by default the mean by lambda (Eq. 4).

        Args:
            weights: lambda [n, K].
            probabilities: of the teachers, softened by tau, [K, n, C].
            nodes: [n].
            tau: temperature of the distillation.
        """
        return mixed(weights, probabilities)


INTEGRATORS: Registry[type[Integrator]] = Registry("integration", "agssl.integrators")


@torch.no_grad()
def all_weights(integrator: Integrator, student: Tensor, teachers: Tensor, *, fitted_nodes: bool = False) -> Tensor:
    """lambda [N, K] of all nodes, after training, from student logits [N, C] and teacher logits [K, N, C].

    `fitted_nodes` says that these are the nodes of the fitted graph.
    """
    integrator.eval()
    blocks = torch.arange(len(student), device=student.device).split(BLOCK)
    each = [integrator(student[at], teachers[:, at], at if fitted_nodes else None) for at in blocks]
    return torch.cat(each)


def integrated(weights: Tensor, teachers: Tensor, tau: float) -> Tensor:
    """p_i = sum_k lambda(k, i) softmax(h_i^(k) / tau), [n, C] (Eq. 4)."""
    return mixed(weights, softmax(teachers / tau))


def mixed(weights: Tensor, probabilities: Tensor) -> Tensor:
    """Probabilities [K, n, C] averaged with weights [n, K]."""
    return (weights.t().unsqueeze(-1) * probabilities).sum(0)


def weight_loss(weights: Tensor, teachers: Tensor, labels: Tensor, tau: float) -> Tensor:
    """L_W = -1/n sum_i log p_i[y_i] over labelled nodes (Sec. 3.2, P2)."""
    return -integrated(weights, teachers, tau).gather(1, labels[:, None]).clamp_min(1e-12).log().mean()


def shrinkage(weights: Tensor) -> Tensor:
    """Mean KL(uniform || lambda_i): what it costs to leave equal weights; it keeps lambda from going to one teacher."""
    return -(weights.clamp_min(1e-12) * weights.shape[1]).log().mean()
