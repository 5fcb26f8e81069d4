"""AutoSSL-ES: search the task weights by CMA-ES, one whole training per candidate (Jin et al., ICLR 2022)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from agssl.base.errors import SettingsError
from agssl.base.install import missing_extra
from agssl.base.rng import Rng
from agssl.store.checkpoints import Record
from agssl.train.halving import to_the_end
from agssl.train.loop import Training, check_finite
from agssl.train.meta_gradient import Found, weights_record
from agssl.train.network import WeightedTask, train_network
from agssl.train.outer import Outer
from agssl.train.problem import Problem

POPULATION = 8  # candidates a generation, and sigma: both AutoSSL's
SIGMA = 0.5


def check_evolution(tasks: int) -> None:
    """Find out before training whether CMA-ES can run."""
    if tasks < 2:
        raise SettingsError(
            "autossl_search es needs at least two tasks to weigh; name more, or use --autossl-search gradient"
        )
    try:
        import cmaes  # noqa: F401
    except ImportError as error:
        raise missing_extra("autossl_search es needs cmaes", "es") from error


@dataclass(frozen=True)
class Evolution:
    """How to evolve task weights."""

    strategy: str  # of the trainings: jt or pf
    budget: int  # trainings in all


def search_by_evolution(
    problem: Problem,
    tasks: Sequence[WeightedTask],
    how: Evolution,
    outer: Callable[[], Outer],
    training: Training,
    rng: Rng,
    *,
    stage: str = "search",
) -> Found:
    """The best of `budget` trained candidates in [0, 1]^K; the first generation is drawn around 1/K.

    All candidates start from the same weights and see the same draws, so that lambda alone tells them apart. `outer`
    makes the outer loss, anew for each. The history has one record per candidate. A training that is in the
    checkpoint store is not done again: which candidates are tried follows from the seed and from what the earlier ones
    gave.
    """
    check_evolution(len(tasks))
    from cmaes import CMA

    count = len(tasks)
    evolution = CMA(
        mean=np.full(count, 1 / count),
        sigma=SIGMA,
        bounds=np.tile([0.0, 1.0], (count, 1)),
        seed=rng.child("cma").key() & 0x7FFFFFFF,
        population_size=POPULATION,
    )
    history: list[Record] = []
    tried: list[np.ndarray] = []
    while len(history) < how.budget:
        generation = []
        for _ in range(min(POPULATION, how.budget - len(history))):
            candidate = evolution.ask()
            number = len(history)
            chosen = [replace(w, weight=w.weight * share) for w, share in zip(tasks, candidate.tolist(), strict=True)]
            stream, name = rng.child("network"), f"{stage} {number + 1}"
            network = to_the_end(train_network([problem], chosen, how.strategy, training, stream, stage=name))
            with torch.no_grad():
                value = outer()(network.model).item()
            record = {"epoch": number, "loss": value, "outer_loss": value} | weights_record(torch.from_numpy(candidate))
            check_finite(record, stage, training.schedule)
            history.append(record)
            tried.append(candidate)
            generation.append((candidate, value))
        if len(generation) == POPULATION:
            evolution.tell(generation)
    best = min(range(how.budget), key=lambda number: history[number]["outer_loss"])
    return Found(torch.from_numpy(tried[best]).float(), history)
