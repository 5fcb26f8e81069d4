"""AutoSSL: one weight for each task, found by a search (Jin et al., ICLR 2022).

AutoSSL-DS keeps the encoder that scored best while it searched, AutoSSL-ES that of its best candidate, and both have a
linear classifier read it. Here the search gives lambda alone: a fresh network is trained with it held fixed, so that
found, given and equal weights are compared by one and the same training (`agssl.train.fit.fit_autossl`). Weights that
end at zero leave their tasks out; if all do, a plain GCN remains.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from agssl.config import Settings
from agssl.rng import Rng
from agssl.store.stages import Stages
from agssl.train.evolution import search_by_evolution
from agssl.train.loop import Record, Schedule
from agssl.train.meta_gradient import Found, search_by_gradient
from agssl.train.network import Watch, Weighted, ignore
from agssl.train.outer import Homophily, LabelLoss, Outer
from agssl.train.problem import Problem, folds


def search_weights(
    problem: Problem,
    tasks: Sequence[Weighted],
    settings: Settings,
    schedule: Schedule,
    rng: Rng,
    watch: Watch = ignore,
    stages: Stages | None = None,
) -> tuple[Tensor, dict[str, list[Record]]]:
    """lambda [K] as the settings say, and the history of the search by stage; with folds, the mean of a search each.

    Args:
        problem: the graph and its split.
        tasks: prepared tasks with their alphas.
        settings: how to search, and what to judge by.
        schedule: of every network on the way.
        rng: of everything random.
        watch: called after every epoch.
        stages: where to keep what was searched, and to find what was.
    """
    found: dict[str, Found] = {}
    judges = _judges(problem, settings, rng.child("folds"))
    for number, (part, nodes) in enumerate(judges):
        stage = "search" if len(judges) == 1 else f"search fold {number + 1}"
        stream = rng.child(number)

        def outer(part: Problem = part, nodes: np.ndarray = nodes, stream: Rng = stream) -> Outer:
            return LabelLoss(part, nodes) if settings.outer == "labels" else Homophily(part, stream.child("clusters"))

        if settings.search == "es":
            found[stage] = search_by_evolution(
                part, tasks, settings.setting, outer, schedule, settings.search_budget, stream, watch, stage, stages
            )
        else:
            joint, head = settings.setting == "jt", settings.outer == "labels"
            found[stage] = search_by_gradient(
                part, tasks, joint, head, outer(), schedule, settings.lambda_lr, stream, watch, stage, stages
            )
    mean = torch.stack([one.weights for one in found.values()]).mean(0)
    return mean, {stage: one.history for stage, one in found.items()}


def _judges(problem: Problem, settings: Settings, rng: Rng) -> list[tuple[Problem, np.ndarray]]:
    """What each search may train on, and the labelled nodes that it is judged by (`lambda_fit`)."""
    nodes = problem.train_nodes
    if settings.outer == "homophily" or settings.lambda_fit == "val":
        return [(problem, problem.val_nodes)]
    if settings.lambda_fit == "train":
        return [(problem, nodes)]
    dealt = folds(problem, settings.folds, rng)
    return [(problem.with_training(np.delete(nodes, fold)), nodes[fold]) for fold in dealt]
