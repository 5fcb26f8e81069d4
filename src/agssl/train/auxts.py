"""AUX-TS: auxiliary tasks weighed by how their gradients agree with that of the labels (Han et al., KDD 2021).

Fine-tuning goes on with the tasks of the pre-training beside the labels. The weight of task k at a step is the cosine
of its gradient and the labels', by the encoder's parameters, where it is positive:

    lambda_k = max(0, cos(grad L_k, grad L_task)),   L = L_task + sum_k alpha_k lambda_k L_k

Han et al. learn a small network that makes weights of such similarities; here these are the weights, which a task that
pulls against the labels loses (the weighted cosine of Du et al. 2018). While pre-training, all tasks count 1/K.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from agssl.train.mixing import ByGradients, unit


def agreement(tasks: Tensor, labels: Tensor) -> Tensor:
    """max(0, cos(g_k, g)) of each row g_k of [K, P] and g [P].

    >>> agreement(torch.tensor([[2.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), torch.tensor([3.0, 0.0])).tolist()
    [1.0, 0.0, 0.0]
    """
    return (unit(tasks) @ unit(labels)).clamp_min(0)


class Agreement(ByGradients):
    """lambda of a step by how each task's gradient agrees with the labels'."""

    keeps_tasks: ClassVar[bool] = True

    def shares(self, tasks: Tensor, labels: Tensor | None) -> Tensor:
        """lambda [K].

        Args:
            tasks: gradients of the tasks' losses, [K, P].
            labels: that of the labels' loss; None while pre-training.
        """
        return torch.full((len(tasks),), 1 / len(tasks)) if labels is None else agreement(tasks, labels)
