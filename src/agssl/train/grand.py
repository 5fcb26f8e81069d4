"""GRAND: random propagation and consistency, as a method of its own (Feng et al., NeurIPS 2020).

S views of the graph, each with the features of a random share of nodes dropped (DropNode) before they are spread. All
must classify the training nodes, and agree on all nodes with their sharpened mean:

    L = 1/S sum_s CE(y, p^s) + lambda / S sum_s |p^s - q|^2           (Eqs. 3 and 5, `agssl.pretext.grand`)

As a task (`--method single --tasks grand`) this stands beside the loss of the network's own pass; here it is all there
is. The paper's network is `--encoder mixed`: a perceptron on the mean of X, ÂX, ..., Â^K X.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from agssl.train.context import Context, MethodResult
from agssl.train.mixed import fit_mixed
from agssl.train.mixing import Learning, Losses, Mix
from agssl.train.network import WeightedTask


class OwnLoss(Mix):
    """The loss of the only task: it reads the labels itself."""

    def __call__(self, losses: Losses, weights: Mapping[str, float], learning: Learning) -> dict[str, Tensor]:
        """That loss.

        Args:
            losses: those of the step.
            weights: the task's name.
            learning: what the step moves.
        """
        (name,) = weights
        return {"loss": losses[name]}


def fit_grand(context: Context) -> MethodResult:
    """A network trained by random views alone; their settings are those of the task `grand`."""
    (text,) = context.settings.tasks
    return fit_mixed(context, [(WeightedTask(text, *context.targets(text), 1.0),)], OwnLoss())
