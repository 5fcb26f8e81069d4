"""The teachers: one network per task, and what they know together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from agssl.integrate import Knowledge
from agssl.pretext.prepare import alphas_of
from agssl.train.context import Context, Teacher
from agssl.train.network import WeightedTask
from agssl.train.problem import folds


def train_teacher(context: Context, text: str) -> Teacher:
    """The teacher of one task; alpha is chosen by validation."""
    task, targets = context.targets(text)
    rng = context.rng.child("teacher", text)  # the text and not the name: one task may teach twice, set differently
    candidates = []
    for alpha in alphas_of(context.settings, text):
        network = context.network((WeightedTask(text, task, targets, alpha),), rng, f"teacher {text}")
        candidates.append(Teacher(text, alpha, network))
    return max(candidates, key=lambda teacher: context.problem.score(teacher.network.best))


def cross_fit(context: Context, teacher: Teacher, text: str) -> Tensor:
    """Logits [n_train, C] of the training nodes by teachers trained without their labels, fold by fold.

    Each trains as long as the teacher itself did to its best epoch, so that no further choice is made.
    """
    task, targets = context.targets(text)
    problem, settings = context.problem, context.settings
    weighted = (WeightedTask(text, task, targets, teacher.alpha),)
    epochs = int(teacher.network.best["epoch"]) + 1
    held_out = torch.zeros(len(problem.train_nodes), problem.shape.classes, device=problem.device)
    for number, fold in enumerate(folds(problem, settings.folds, context.rng.child("folds"))):
        part = problem.with_training(np.delete(problem.train_nodes, fold))
        rng = context.rng.child("teacher", text, "fold", number)
        stage = f"fold {number + 1} of {text}"
        network = context.network(weighted, rng, stage, part, fixed_epochs=epochs)
        held_out[torch.from_numpy(fold)] = network.logits[torch.from_numpy(problem.train_nodes[fold])]
    return held_out


def collect_knowledge(context: Context, teachers: Sequence[Teacher], fold: int | None = None) -> Knowledge:
    """What the teachers know, with the labels that lambda is fitted by: those of one fold, or of all folds together.

    The student of a fold may not know its labels. So lambda and the calibration are fitted by those of the other folds,
    where there are any.
    """
    settings, problem = context.settings, context.problem
    networks = [teacher.network for teacher in teachers]
    logits = torch.stack([n.logits if fold is None else n.fold_logits[fold] for n in networks])
    if context.trains_again and settings.weights_from != "train":
        own = context.folds[fold].val_nodes if fold is not None and len(context.folds) > 1 else np.empty(0, np.int64)
        which = torch.from_numpy(np.flatnonzero(~np.isin(problem.val_nodes, own)))
        nodes = torch.from_numpy(problem.val_nodes)[which].to(problem.device)
        heldout = torch.stack([network.heldout for network in networks])[:, which]
        return Knowledge(logits, nodes, problem.labels[nodes], heldout).calibrated(settings.calibrate)
    problem = problem if fold is None else context.folds[fold]
    nodes = torch.from_numpy(problem.val_nodes if settings.weights_from == "val" else problem.train_nodes).to(
        problem.device
    )
    heldout = logits[:, nodes]
    if settings.weights_from == "crossfit":
        heldout = torch.stack([cross_fit(context, t, text) for text, t in zip(settings.tasks, teachers, strict=True)])
    knowledge = Knowledge(logits, nodes, problem.labels[nodes], heldout)
    return knowledge if settings.weights_from == "train" else knowledge.calibrated(settings.calibrate)
