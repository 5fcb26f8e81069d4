"""What a method works with, and what it gives back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.encoders import Network
from agssl.integrate import Integrator, Knowledge
from agssl.ops.subgraph import induced
from agssl.pretext.base import Targets, Task
from agssl.pretext.prepare import make_task, prepared
from agssl.store.checkpoints import Record
from agssl.train.evaluate import validation
from agssl.train.halving import best_of, to_the_end
from agssl.train.loop import Training
from agssl.train.mixing import SUM, Mix
from agssl.train.network import Trained, WeightedTask, train_network
from agssl.train.problem import Problem
from agssl.train.setup import batches_of, problem_of, schedule_on


@dataclass(frozen=True, eq=False)
class Teacher:
    """A network trained with one task, or a classifier without training; of a split with folds, one per fold."""

    name: str  # as text names it, see `TeacherSpec`
    alpha: float
    network: Trained
    seconds: float = 0.0  # that it took


@dataclass(frozen=True)
class Candidate:
    """A teacher that the automatic pool tried."""

    name: str
    accuracy: float  # on held-out nodes
    log_loss: float  # there, at its best temperature
    seconds: float
    share: float = 0.0  # in the selections
    kept: bool = False


@dataclass(frozen=True, eq=False)
class Heldout:
    """What was said of held-out nodes of a split with folds by networks that had not seen them."""

    logits: Tensor  # [n, C], of the nodes that measure (`Split.judges`)
    choice: Tensor  # [m, C], of those that choose (`Split.val`)
    teachers: Tensor | None = None  # [K, n, C], of the nodes that measure
    weights: Tensor | None = None  # lambda [n, K], of the nodes that measure


class Withheld(NamedTuple):
    """What a network says of all nodes that knows nothing of the labels of some held-out ones."""

    nodes: np.ndarray  # these
    logits: Tensor  # [N, C]


@dataclass(frozen=True, eq=False)
class MethodResult:
    """What any method gives back."""

    model: Network  # of a split with folds, one that was trained again, with all labels
    logits: Tensor  # [N, C], evaluation mode, at the best validation epoch; of the teachers, where these answer
    best: Record
    history: dict[str, list[Record]]  # by stage: "gcn", "teacher par", "student", ...
    teachers: tuple[Teacher, ...] = ()
    weights: Tensor | None = None  # lambda [N, K]
    tasks: Mapping[str, float] = field(default_factory=dict)  # the K tasks and their alphas, where no teacher has them
    heldout: Heldout | None = None  # None where the split has no folds: then `logits` have it
    apart: Tensor | None = None  # [n, C], of validation nodes, where `logits` owe too much to their labels
    withheld: tuple[Withheld, ...] = ()  # to smooth by: of all held-out nodes; none where `logits` serve for any
    tried: tuple[Candidate, ...] = ()  # by the automatic pool
    knowledge: Knowledge | None = None  # of the teachers, where the student of `model` was taught by it
    integrator: Integrator | None = None  # that weighed them for this student
    student_logits: Tensor | None = None  # [N, C], of the student, where its teachers together are clearly better


@dataclass(frozen=True, eq=False)
class Context:
    """What a method works with."""

    problem: Problem
    settings: Settings
    training: Training
    rng: Rng
    cache: Path | None = None
    folds_only: bool = False  # whether to stop before networks are trained again with all labels
    graph: Graph | None = None  # as it was given; None: that of the problem
    mix: Mix = SUM  # how the losses of a step become one
    _targets: dict[str, Targets] = field(default_factory=dict)
    _others: list[Context] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        graph: Graph,
        settings: Settings,
        training: Training,
        rng: Rng,
        cache: Path | None = None,
        device: str = "cpu",
        folds_only: bool = False,
    ) -> Context:
        """What these settings work with on a graph; `training` gets their schedule."""
        problem = problem_of(graph, settings, device, cache)
        problem = replace(problem, batches=batches_of(problem.graph, settings, cache))
        training = replace(training, schedule=schedule_on(problem.graph, settings))
        return cls(problem, settings, training, rng, cache, folds_only, graph)

    def with_network(self, encoder: str | None, changes: Mapping[str, Any]) -> Context:
        """The same for networks with an encoder and settings of their own; itself where these are the same."""
        settings = self.settings.of_network(encoder, changes)
        if settings == self.settings:
            return self
        known = [other for other in self._others if other.settings == settings]
        if not known:
            graph = self.problem.graph if self.graph is None else self.graph
            parts = (self.rng, self.cache, self.problem.device, self.folds_only)
            known = [Context.of(graph, settings, self.training, *parts)]
            self._others.extend(known)
        return known[0]

    @cached_property
    def folds(self) -> tuple[Problem, ...]:
        """The problem once for each fold of its split; itself where there are none."""
        return self.problem.by_folds()

    @property
    def trains_again(self) -> bool:
        """Whether networks on all labels follow those of the folds."""
        return self.folds[0] is not self.problem and not self.folds_only

    def targets(self, text: str) -> tuple[Task, Targets]:
        """The task of that text, prepared."""
        task = make_task(text)
        if text not in self._targets:
            graph, batches = self.problem.graph, self.problem.batches
            if batches is not None and not task.needs_whole:
                # Each part is prepared for itself; this one tells the sizes of the task's head.
                graph = induced(graph, next(batches.epoch(Rng(0))))
            self._targets[text] = prepared(task, graph, self.cache)
        return task, self._targets[text]

    def network(
        self,
        weighted: Sequence[WeightedTask],
        rng: Rng,
        stage: str,
        problem: Problem | None = None,
        fixed_epochs: int | None = None,
    ) -> Trained:
        """A network trained with these tasks, on all folds, or on one problem; see `train_network`."""
        problems, strategy = self.folds if problem is None else (problem,), self.settings.strategy
        training = train_network(
            problems, weighted, strategy, self.training, rng, stage=stage, fixed_epochs=fixed_epochs, mix=self.mix
        )
        return to_the_end(training)

    def best_network(self, choices: Sequence[Sequence[WeightedTask]], rng: Rng, stage: str) -> tuple[int, Trained]:
        """The network trained with those of the choices that are best at validation, and their number."""
        if len(choices) == 1:
            return 0, self.network(choices[0], rng, stage)
        settings, schedule, store = self.settings, self.training.schedule, self.training.checkpoints
        rung = None
        if settings.alpha_epochs is not None:  # fewer where mini-batches make for fewer epochs
            rung = math.ceil(settings.alpha_epochs * schedule.epochs / settings.epochs)
        note = None
        if store is not None:
            note = store.choice(
                problem=[problem.fingerprint for problem in self.folds],
                choices=[[weighted.cache_key for weighted in choice] for choice in choices],
                how=(settings.strategy, schedule, rung),
                rng=rng,
                **({} if self.mix is SUM else {"mix": self.mix.cache_key}),
            )
        starts = [
            partial(train_network, self.folds, choice, settings.strategy, self.training, rng, stage=stage, mix=self.mix)
            for choice in choices
        ]
        return best_of(starts, self.problem.score, rung, note)

    def heldout(self, network: Trained, teachers: Sequence[Trained] = (), weights: Sequence[Tensor] = ()) -> Heldout:
        """What networks of the folds said of held-out nodes; `weights` are the lambda [N, K] of each fold."""
        said = [self._judged(one) for one in teachers]
        trust = self._heldout_weights(weights) if weights else None
        return Heldout(self._judged(network), network.heldout, torch.stack(said) if said else None, trust)

    def withheld(self, network: Trained) -> tuple[Withheld, ...]:
        """What networks of the folds say of all nodes, where that is to be smoothed."""
        if not self.settings.smooth:
            return ()
        both = zip(self.folds, network.fold_logits, strict=True)
        return tuple(Withheld(fold.val_nodes, logits) for fold, logits in both)

    def _heldout_weights(self, weights: Sequence[Tensor]) -> Tensor:
        split = self.problem.graph.split
        assert split is not None
        if split.measure is not None:
            return weights[0][torch.from_numpy(split.measure)]
        nodes = np.concatenate([fold.val_nodes for fold in self.folds])
        found = [w[torch.from_numpy(fold.val_nodes)] for fold, w in zip(self.folds, weights, strict=True)]
        return torch.cat(found)[torch.from_numpy(np.argsort(nodes))]

    def best(self, network: Trained) -> Record:
        """The record of a network of the folds, with its figures on the nodes that measure it."""
        assert self.problem.graph.split is not None
        at = torch.from_numpy(self.problem.graph.split.judges("val"))
        return network.best | validation(self.problem, self._judged(network), self.problem.labels[at])

    def _judged(self, network: Trained) -> Tensor:
        split = self.problem.graph.split
        assert split is not None
        return network.heldout if split.measure is None else network.logits[torch.from_numpy(split.measure)]

    def result(
        self, network: Trained, weighted: Sequence[WeightedTask], rng: Rng, stage: str, **further: Any
    ) -> MethodResult:
        """The result of a method that ends with one network; after folds it is trained again, with all labels.

        That one trains as long as the folds did to their best epoch.
        """
        if not self.trains_again:
            return MethodResult(network.model, network.logits, network.best, {stage: network.history}, **further)
        epochs, name = int(network.best["epoch"]) + 1, f"{stage}, all labels"
        final = self.network(weighted, rng.child("all labels"), name, self.problem, epochs)
        history = {stage: network.history, name: final.history}
        further |= {"withheld": self.withheld(network)}
        heldout = self.heldout(network, [network] if "teachers" in further else [])
        return MethodResult(final.model, final.logits, self.best(network), history, heldout=heldout, **further)
