"""How the losses of a step become the one that is minimised.

Most methods minimise a weighted sum. Others look at the gradients of the losses first (`agssl.train.pareto`,
`agssl.train.auxts`): each is taken once, and the sum of the weighted gradients is what the loss hands back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

Losses = Mapping[str, Tensor]  # of one step, by name: `task` is that of the labels, where they are read


@dataclass(frozen=True, eq=False)
class Learning:
    """The parameters that a step moves."""

    shared: Sequence[Tensor]  # those that all losses reach, the encoder's
    others: Sequence[Tensor] = ()  # of the class head and the heads of tasks

    @property
    def all(self) -> tuple[Tensor, ...]:
        """Every one that learns; a head may keep a slow copy of the encoder."""
        return tuple(parameter for parameter in (*self.shared, *self.others) if parameter.requires_grad)


class Mix:
    """L_task + sum_k w_k L_k (Eq. 1)."""

    keeps_tasks: ClassVar[bool] = False  # whether tasks go on beside the labels after pre-training

    @property
    def cache_key(self) -> tuple[object, ...]:
        """All of it that decides the result of a training."""
        return (type(self).__name__,)

    def __call__(self, losses: Losses, weights: Mapping[str, float], learning: Learning) -> dict[str, Tensor]:
        """`loss`, the one to minimise, and whatever else the history should have.

        Args:
            losses: those of the step.
            weights: of the tasks, by name.
            learning: what the step moves.
        """
        total = losses.get("task", torch.zeros((), device=next(iter(losses.values())).device))
        for name, weight in weights.items():
            total = total + weight * losses[name]
        return {"loss": total}


SUM = Mix()


class ByGradients(Mix):
    """L_task + sum_k lambda_k w_k L_k, where the gradients of the step say what lambda is."""

    def shares(self, tasks: Tensor, labels: Tensor | None) -> Tensor:
        """lambda [K].

        Args:
            tasks: the gradients of the tasks' losses by the shared parameters, [K, P].
            labels: that of the labels' loss, [P]; None while pre-training.
        """
        raise NotImplementedError

    def __call__(self, losses: Losses, weights: Mapping[str, float], learning: Learning) -> dict[str, Tensor]:
        """The mixed loss, and lambda.

        Args:
            losses: those of the step.
            weights: alpha of each task, by name.
            learning: what the step moves.
        """
        if not weights:
            return super().__call__(losses, weights, learning)
        own = _Gradient(losses["task"], learning) if "task" in losses else None
        found = [_Gradient(losses[name], learning) for name in weights]
        shares = self.shares(torch.stack([one.vector for one in found]), None if own is None else own.vector)
        factors = [share * weight for share, weight in zip(shares.tolist(), weights.values(), strict=True)]
        terms = list(zip(factors, found, strict=True)) + ([] if own is None else [(1.0, own)])
        value = torch.stack([factor * one.value for factor, one in terms]).sum()
        slopes = [_sum([(factor, one.by[at]) for factor, one in terms]) for at in range(len(learning.all))]
        loss: Tensor = _WithGradient.apply(value, slopes, *learning.all)  # type: ignore[no-untyped-call]
        return {"loss": loss} | {f"lambda{k}": share for k, share in enumerate(shares)}


class _Gradient:
    """The gradient of a loss by everything that learns; what the forward pass kept stays for the next one."""

    def __init__(self, loss: Tensor, learning: Learning) -> None:
        self.value = loss.detach()
        self.by = torch.autograd.grad(loss, learning.all, retain_graph=True, allow_unused=True)
        self._learning = learning

    @property
    def vector(self) -> Tensor:
        """By the shared parameters as one vector [P], zeros where the loss does not reach."""
        by = {id(parameter): part for parameter, part in zip(self._learning.all, self.by, strict=True)}
        parts = [(parameter, by.get(id(parameter))) for parameter in self._learning.shared]
        return torch.cat([(torch.zeros_like(at) if part is None else part).flatten() for at, part in parts]).detach()


def _sum(terms: Sequence[tuple[float, Tensor | None]]) -> Tensor | None:
    """The weighted sum of those that are there."""
    known = [factor * part for factor, part in terms if part is not None]
    return torch.stack(known).sum(0) if known else None


class _WithGradient(torch.autograd.Function):
    """A number whose gradient by some parameters is given."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, slopes: Sequence[Tensor | None], *parameters: Tensor) -> Tensor:
        ctx.slopes = slopes
        return value.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grads
        return None, None, *(None if slope is None else grad * slope for slope in ctx.slopes)


def unit(vectors: Tensor) -> Tensor:
    """Rows of unit L2 norm; rows of zeros stay as they are."""
    return vectors / vectors.norm(dim=-1, keepdim=True).clamp_min(torch.finfo(vectors.dtype).tiny)
