"""Adam by torch's fused kernel and nothing around it.

`torch.optim.Adam(fused=True)` calls the same kernel and gives the same bits. But it imports torch's compiler, over a
second in every process, and on a small graph the bookkeeping of a step takes longer than the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn


class Adam:
    """Adam (Kingma & Ba 2015) with an L2 penalty, of parameters of one type on one device.

    One that has no gradient, in a step, is left as it is; its state begins with its first gradient.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], lr: float, weight_decay: float = 0.0) -> None:
        self.parameters, self.lr, self.weight_decay = list(parameters), lr, weight_decay
        self.state: dict[int, dict[str, Tensor]] = {}  # by the parameter's number

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One step, by the gradients that there are."""
        gradients = {k: p.grad for k, p in enumerate(self.parameters) if p.grad is not None}
        if not gradients:
            return
        states = [self.state.get(number) or self._begin(number) for number in gradients]
        steps = [state["step"] for state in states]
        torch._foreach_add_(steps, 1)
        torch._fused_adam_(
            [self.parameters[number] for number in gradients],
            list(gradients.values()),
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            steps,
            lr=self.lr,
            beta1=0.9,
            beta2=0.999,
            weight_decay=self.weight_decay,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )

    def _begin(self, number: int) -> dict[str, Tensor]:
        parameter = self.parameters[number]
        step = torch.zeros((), dtype=torch.float32, device=parameter.device)
        self.state[number] = {
            "step": step,
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }
        return self.state[number]

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps, as optimizers of torch have it."""
        return {"state": self.state}

    def load_state_dict(self, found: dict[str, Any]) -> None:
        """Take up what a checkpoint has kept."""
        device = self.parameters[0].device
        states = found["state"].items()
        self.state = {number: {name: t.to(device) for name, t in state.items()} for number, state in states}
