"""Searching task weights by the gradient through a training step: AutoSSL-DS (Jin et al., ICLR 2022).

The inner problem is L_task + sum_k alpha_k lambda_k L_k (JT) or its tasks alone (P&F), the outer one a loss of the
parameters theta' after one step of Adam from theta. That step acts on each gradient element g by itself, and the inner
gradient is linear in lambda, so the meta-gradient needs no second derivatives of the network:

    d outer / d lambda_k = alpha_k < d outer / d theta' * d theta' / d g, grad L_k(theta) >
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.encoders import Network
from agssl.store.checkpoints import Best, Record
from agssl.train.loop import Plateau, Schedule, Training, check_finite
from agssl.train.network import WeightedTask, after_step, make_heads, step_losses
from agssl.train.outer import Outer
from agssl.train.problem import Problem

Gradient = tuple[Tensor | None, ...]  # one entry a parameter; None where the loss does not reach it


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found."""

    weights: Tensor  # lambda [K], in [0, 1]
    history: list[Record]


def adam_slope(gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> Tensor:
    """d theta' / d g, element by element, of the step of Adam that has just been taken with this gradient."""
    (beta1, beta2), step = group["betas"], float(state["step"])
    scale1, scale2 = 1 - beta1**step, 1 - beta2**step
    root = (state["exp_avg_sq"] / scale2).sqrt_()
    bottom = root + group["eps"]
    # theta' = theta - lr / scale1 * m / bottom, where m and bottom both depend on g
    through_bottom = state["exp_avg"] * gradient * ((1 - beta2) / scale2)
    through_bottom.div_(root.clamp_min_(torch.finfo(root.dtype).tiny)).div_(bottom)
    return through_bottom.sub_(1 - beta1).div_(bottom).mul_(group["lr"] / scale1)


class Inner:
    """The inner problem: a network and its pretext heads, trained with weights that may change from step to step.

    Args:
        problem: the graph and its labels.
        tasks: prepared tasks; the weight of each is its alpha.
        joint: whether the labels train the encoder too (JT).
        labels: whether there is a class head; without `joint`, it learns from the labels on top of a fixed encoder.
        schedule: of its Adam.
        rng: of the initialisation.
    """

    def __init__(
        self, problem: Problem, tasks: Sequence[WeightedTask], joint: bool, labels: bool, schedule: Schedule, rng: Rng
    ) -> None:
        self.problem, self.tasks, self.joint, self.labels = problem, tasks, joint, joint or labels
        self.decay = schedule.weight_decay
        self.model = Network(problem.shape, rng.child("model")).to(problem.device)
        self.heads = make_heads(problem, self.model, tasks, rng)
        everything = (*self.model.parameters(), *self.heads.parameters())
        self.parameters = [p for p in everything if p.requires_grad]  # a head may keep a slow copy of the encoder
        # The decay is added by hand, since the meta-gradient is taken where the whole gradient enters Adam.
        self.optimizer = torch.optim.Adam(self.parameters, lr=schedule.lr, fused=True)
        self._by_task: list[Gradient] = []

    def step(self, weights: Tensor, rng: Rng) -> dict[str, Tensor]:
        """One step of Adam with these weights [K]; gives back the losses."""
        losses = step_losses(self.problem, self.model, self.heads, self.tasks, self.labels, rng)
        task, by_task = self._gradients(losses)
        losses = {name: loss.detach() for name, loss in losses.items()}  # lets go of the forward pass
        shares = [w.weight * weight for w, weight in zip(self.tasks, weights.tolist(), strict=True)]
        with torch.no_grad():
            for at, parameter in enumerate(self.parameters):
                total = self.decay * parameter
                for share, gradient in zip((1.0, *shares), (task, *by_task), strict=True):
                    part = gradient[at]
                    if part is not None:
                        total.add_(part, alpha=share)
                parameter.grad = total
        self.optimizer.step()
        after_step(self.model, self.heads, self.tasks)
        self._by_task = by_task
        parts = [share * losses[w.name] for share, w in zip(shares, self.tasks, strict=True)]
        return losses | {"loss": sum(parts, losses["task"] if self.joint else torch.zeros(()))}

    def meta_gradient(self, outer: Outer) -> tuple[float, Tensor]:
        """The outer loss after the last step, and its gradient [K] by the weights of that step."""
        parameters = list(self.model.parameters())
        value = outer(self.model)
        slopes = torch.autograd.grad(value, parameters, allow_unused=True)
        meta = torch.zeros(len(self.tasks), dtype=value.dtype)
        for at, (parameter, slope) in enumerate(zip(parameters, slopes, strict=True)):
            if slope is None or all(gradient[at] is None for gradient in self._by_task):
                continue
            assert parameter.grad is not None
            state, group = self.optimizer.state[parameter], self.optimizer.param_groups[0]
            direction = (adam_slope(parameter.grad, state, group) * slope).flatten()
            for k, (weighted, gradient) in enumerate(zip(self.tasks, self._by_task, strict=True)):
                found = gradient[at]
                if found is not None:
                    meta[k] += weighted.weight * torch.dot(direction, found.flatten()).cpu()
        return value.item(), meta

    def _gradients(self, losses: dict[str, Tensor]) -> tuple[Gradient, list[Gradient]]:
        """Of L_task, and of each task, by all parameters."""
        task: Gradient = (None,) * len(self.parameters)
        if self.labels:
            own = list(self.model.head.parameters())
            task = self._gradient(losses["task"], self.parameters if self.joint else own)
        return task, [self._gradient(losses[w.name], self.parameters) for w in self.tasks]

    def _gradient(self, loss: Tensor, parameters: Sequence[Tensor]) -> Gradient:
        found = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
        by = {id(parameter): gradient for parameter, gradient in zip(parameters, found, strict=True)}
        return tuple(by.get(id(parameter)) for parameter in self.parameters)


def search_by_gradient(
    inner: Inner, outer: Outer, training: Training, rate: float, rng: Rng, *, stage: str = "search"
) -> Found:
    """A step of the network, then a step of lambda, which starts at 1/K; the best outer loss decides.

    Args:
        inner: the network, its tasks with their alphas, and the labels that it may see.
        outer: the outer loss.
        training: its epochs and patience are the search's too.
        rate: learning rate of lambda.
        rng: of everything random; that of `inner`, too.
        stage: what to call it.
    """
    tasks, schedule = inner.tasks, training.schedule
    weights = nn.ParameterList([torch.full((len(tasks),), 1 / len(tasks))])
    optimizer = torch.optim.Adam(weights, lr=rate)
    checkpoint = None
    if training.checkpoints is not None:
        checkpoint = training.checkpoints.checkpoint(
            nn.ModuleList([inner.model, inner.heads, weights, outer]),
            problem=inner.problem.fingerprint,
            tasks=[weighted.cache_key for weighted in tasks],
            inner=(inner.joint, inner.labels),
            outer=(type(outer).__name__, outer.cache_key),
            schedule=schedule,
            rate=rate,
            rng=rng,
        )
    best = Best()
    history = [] if checkpoint is None else list(checkpoint.load(best, inner.optimizer, optimizer))
    plateau = Plateau(schedule.patience)
    for record in history:
        training.watch(stage, record)
        plateau.hear((-record["outer_loss"], 0.0))
    for epoch in range(len(history), schedule.epochs):
        if plateau.reached():
            break
        used = weights[0].detach().clone()
        losses = inner.step(used, rng.child(epoch))
        value, meta = inner.meta_gradient(outer)
        record = {"epoch": epoch} | {name: loss.item() for name, loss in losses.items()}
        record |= {"outer_loss": value} | weights_record(used)
        check_finite(record, stage, schedule)
        best.offer(epoch, (-value, 0.0), weights, record)
        plateau.hear((-value, 0.0))
        history.append(record)
        training.watch(stage, record)
        weights[0].grad = meta.to(used.dtype)
        optimizer.step()
        with torch.no_grad():
            weights[0].clamp_(0, 1)
        if checkpoint is not None:
            checkpoint.add(record, best, inner.optimizer, optimizer)
    if checkpoint is not None:
        checkpoint.finish(best)
    return Found(best.state["0"], history)


def weights_record(weights: Tensor) -> Record:
    """lambda as the history shows it."""
    return {f"lambda{k}": value for k, value in enumerate(weights.tolist())}
