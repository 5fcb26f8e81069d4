"""What the tasks on node pairs share."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from agssl.pretext.base import TaskSample, Views


def pair_sample(pairs: np.ndarray, labels: Tensor, masked: tuple[np.ndarray, np.ndarray] | None = None) -> TaskSample:
    """A sample that reads only the nodes of these pairs, [2, n]."""
    nodes, at = np.unique(pairs, return_inverse=True)
    return TaskSample(nodes, masked, data={"at": torch.from_numpy(at.reshape(pairs.shape)), "labels": labels})


def pair_differences(views: Views, sample: TaskSample) -> Tensor:
    """|h_i - h_j| for every pair, [n, F]."""
    hidden = views.hidden(sample.nodes)
    first, second = sample.data["at"].to(hidden.device)
    return (hidden.index_select(0, first) - hidden.index_select(0, second)).abs()
