"""How good networks are at an epoch, on the nodes that choose it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from agssl.encoders import Network
from agssl.metrics import gain, measure, softmax
from agssl.store.checkpoints import Record, choice_of
from agssl.train.problem import Problem


def evaluate(problems: Sequence[Problem], models: Sequence[Network]) -> Record:
    """Accuracy on training and validation nodes, the validation loss, and the metric if it is another.

    Of several folds (a problem and a network each), all validation nodes together. And for each fold what chooses the
    epoch of its network: the other folds' nodes, so that what it says of its own nodes was not chosen by them.
    """
    found = [problem.known_logits(model) for problem, model in zip(problems, models, strict=True)]
    seen = torch.cat([problem.train_labels for problem in problems])
    known = torch.cat([train for train, _ in found])
    heldout = [val for _, val in found]
    truth = [problem.labels[torch.from_numpy(problem.val_nodes)] for problem in problems]
    record = {"train_accuracy": (known.argmax(1) == seen).float().mean().item()}
    record |= validation(problems[0], torch.cat(heldout), torch.cat(truth))
    for fold in range(len(problems) if len(problems) > 1 else 0):
        others = [number for number in range(len(problems)) if number != fold]
        figures = validation(
            problems[0], torch.cat([heldout[k] for k in others]), torch.cat([truth[k] for k in others])
        )
        metric = problems[0].metric
        record |= choice_of(fold, gain(metric, figures[f"val_{metric}"]), -figures["val_loss"])
    return record


def validation(problem: Problem, logits: Tensor, truth: Tensor) -> Record:
    """The figures that choose, given the logits [n, C] of validation nodes."""
    found = {
        "val_accuracy": (logits.argmax(1) == truth).float().mean().item(),
        "val_loss": F.cross_entropy(logits, truth).item(),
    }
    if problem.metric != "accuracy":
        probabilities = softmax(logits.cpu().numpy())
        found[f"val_{problem.metric}"] = measure(problem.metric, truth.cpu().numpy(), probabilities, problem.decision)
    return found
