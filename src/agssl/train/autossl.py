"""AutoSSL: one weight for each task, found by a search (Jin et al., ICLR 2022).

AutoSSL-DS keeps the encoder that scored best while it searched, AutoSSL-ES that of its best candidate, and both have a
linear classifier read it. Here the search gives lambda alone: a fresh network is trained with it held fixed, so that
found, given and equal weights are compared by one and the same training (`agssl.train.methods.fit_autossl`). Weights
that end at zero leave their tasks out; if all do, a plain GCN remains.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.store.checkpoints import Record
from agssl.train.evolution import Evolution, search_by_evolution
from agssl.train.loop import Training
from agssl.train.meta_gradient import Found, Inner, search_by_gradient
from agssl.train.network import WeightedTask
from agssl.train.outer import Homophily, LabelLoss, Outer
from agssl.train.problem import Problem, folds


def search_weights(
    problem: Problem,
    tasks: Sequence[WeightedTask],
    settings: Settings,
    training: Training,
    rng: Rng,
) -> tuple[Tensor, dict[str, list[Record]]]:
    """lambda [K] as the settings say, and the history of the search by stage; with folds, the mean of a search each.

    Args:
        problem: the graph and its split.
        tasks: prepared tasks with their alphas.
        settings: how to search, and the outer objective.
        training: of every network on the way.
        rng: of everything random.
    """
    found: dict[str, Found] = {}
    heldout_nodes = _heldout_parts(problem, settings, rng.child("folds"))
    for number, (part, nodes) in enumerate(heldout_nodes):
        stage = "search" if len(heldout_nodes) == 1 else f"search fold {number + 1}"
        stream = rng.child(number)

        def outer(part: Problem = part, nodes: np.ndarray = nodes, stream: Rng = stream) -> Outer:
            return (
                LabelLoss(part, nodes)
                if settings.autossl_objective == "labels"
                else Homophily(part, stream.child("clusters"))
            )

        if settings.autossl_search == "es":
            how = Evolution(settings.strategy, settings.autossl_budget)
            found[stage] = search_by_evolution(part, tasks, how, outer, training, stream, stage=stage)
        else:
            joint, head = settings.strategy == "jt", settings.autossl_objective == "labels"
            inner = Inner(part, tasks, joint, head, training.schedule, stream)
            found[stage] = search_by_gradient(inner, outer(), training, settings.autossl_lr, stream, stage=stage)
    mean = torch.stack([one.weights for one in found.values()]).mean(0)
    return mean, {stage: one.history for stage, one in found.items()}


def _heldout_parts(problem: Problem, settings: Settings, rng: Rng) -> list[tuple[Problem, np.ndarray]]:
    """What each search may train on, and the labelled nodes of its outer loss (`weights_from`)."""
    nodes = problem.train_nodes
    if settings.autossl_objective == "homophily" or settings.weights_from == "val":
        return [(problem, problem.val_nodes)]
    if settings.weights_from == "train":
        return [(problem, nodes)]
    dealt = folds(problem, settings.folds, rng)
    return [(problem.with_training(np.delete(nodes, fold)), nodes[fold]) for fold in dealt]
