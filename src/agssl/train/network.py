"""Training one network: alone, jointly with pretext tasks, or pre-trained by them and fine-tuned."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.base.world import World, wrap_ddp
from agssl.encoders import Network, Output
from agssl.pretext.base import Part, Targets, Task, TaskSample, Views
from agssl.pretext.views import StepContext
from agssl.store.checkpoints import Best, Record, without_choices
from agssl.train.evaluate import evaluate, validation
from agssl.train.loop import Objective, Score, Training, by_epoch, by_loss, train
from agssl.train.mixing import SUM, Learning, Mix
from agssl.train.problem import Problem


@dataclass(frozen=True, eq=False)
class WeightedTask:
    """A prepared task with its weight in the loss."""

    name: str  # of its loss and its random streams: the task, with its settings where some were given
    task: Task
    targets: Targets
    weight: float

    @property
    def cache_key(self) -> tuple[object, ...]:
        """All of it that decides the result of a training, for `CheckpointStore.checkpoint`."""
        return self.name, self.task.settings(), self.targets, self.weight

    def extra_nodes(self, rng: Rng) -> np.ndarray:
        """The nodes that a mini-batch must have for this task; see `Task.extra_nodes`."""
        return self.task.extra_nodes(self.targets, rng.child(self.name))

    def restrict_to(self, part: Problem) -> WeightedTask:
        """The same task on a part of the graph (on the whole, itself)."""
        if part.nodes is None:
            return self
        piece = Part(part.graph, part.nodes)
        return replace(self, targets=self.task.restrict(self.targets, piece, Rng(0).child("prepare", self.task.name)))


@dataclass(frozen=True, eq=False)
class Trained:
    """A network at its best validation epoch; of a split with folds, one per fold, each where the others are best."""

    models: tuple[Network, ...]
    fold_logits: tuple[Tensor, ...]  # [N, C] of each, evaluation mode
    heldout: Tensor  # [n, C], logits of the validation nodes (of all folds, sorted) by networks that have not seen them
    best: Record  # the record of the best epoch
    history: list[Record]

    @property
    def model(self) -> Network:
        """The network, or that of the first fold."""
        return self.models[0]

    @cached_property
    def logits(self) -> Tensor:
        """[N, C]: of the network, or the mean log-probabilities of all."""
        return mean_logits(self.fold_logits)

    @classmethod
    def of(cls, problems: Sequence[Problem], models: Sequence[Network], best: Record, history: list[Record]) -> Trained:
        """With what each network says of all nodes."""
        both = zip(problems, models, strict=True)
        logits = [World.current().broadcast(partial(problem.logits, model)) for problem, model in both]
        found = cls.of_logits(problems, models, logits)
        if len(problems) == 1:
            return replace(found, best=best, history=history)
        return replace(found, best=without_choices(best) | found.best, history=[without_choices(r) for r in history])

    @classmethod
    def of_logits(cls, problems: Sequence[Problem], models: Sequence[Network], logits: Sequence[Tensor]) -> Trained:
        """What is known of networks whose logits [N, C] these are, one for each problem."""
        nodes = np.concatenate([problem.val_nodes for problem in problems])
        heldout = torch.cat([z[torch.from_numpy(p.val_nodes)] for p, z in zip(problems, logits, strict=True)])
        best = validation(problems[0], heldout, problems[0].labels[torch.from_numpy(nodes)])
        at = torch.from_numpy(np.argsort(nodes))
        return cls(tuple(models), tuple(logits), heldout[at], best, [])


def mean_logits(many: Sequence[Tensor]) -> Tensor:
    """[N, C]: those of one network as they are, of several the mean of their log-probabilities."""
    return many[0] if len(many) == 1 else torch.stack([logits.log_softmax(1) for logits in many]).mean(0)


def streams(rng: Rng, problems: Sequence[Problem]) -> list[Rng]:
    """The randomness of each fold; of the only one, all of it."""
    return [rng] if len(problems) == 1 else [rng.child("fold", number) for number in range(len(problems))]


Epochs = Generator[Record, None, Trained]  # the records of a training's epochs, and what was trained


def train_network(
    problems: Sequence[Problem],
    tasks: Sequence[WeightedTask],
    strategy: str,
    training: Training,
    rng: Rng,
    *,
    stage: str = "gcn",
    fixed_epochs: int | None = None,
    mix: Mix = SUM,
) -> Epochs:
    """A network on the labels and these tasks (none: on the labels alone), at its best validation epoch.

    It is trained epoch by epoch, as these are asked for: `agssl.train.halving` stops where another is better.

    With several problems (the folds of a split, see `Problem.by_folds`) it is one network for each, trained side by
    side, and each is taken at the epoch that is best for the others: see `evaluate`.

    `jt` minimises L_task + sum_k w_k L_k in one stage (Eq. 1); `pf` first the tasks alone, then L_task from there
    (Eq. 2). With `fixed_epochs`, labels are trained on for that many epochs and the last one is taken: nothing is
    chosen. What was kept of an earlier training is not trained again. `mix` says how the losses of a step become one.
    """
    models = [
        Network(problem.shape, stream.child("model")).to(problem.device)
        for problem, stream in zip(problems, streams(rng, problems), strict=True)
    ]
    history: list[Record] = []

    def run(stage: Stage, training: Training, count: int) -> Generator[Record, None, Best]:
        best = Best(folds=count)
        for record in _epochs(problems[:count], models[:count], stage, training, best):
            history.append(record | {"pretrain": float(not stage.labels)})
            training.watch(stage.name, record)
            yield history[-1]
        nn.ModuleList(models[:count]).load_state_dict(best.state)
        return best

    if tasks and strategy == "pf":  # which reads no label, so that it is done once for all folds
        before = replace(training, schedule=replace(training.schedule, least=0))
        yield from run(Stage(f"{stage} pre-train", tasks, False, by_loss, rng.child("pretrain"), mix), before, 1)
        for model, stream in zip(models, streams(rng, problems), strict=True):
            fresh = Network(model.shape, stream.child("fine-tune"))  # pre-training has not touched the class head
            model.load_state_dict(models[0].state_dict())
            model.head.load_state_dict(fresh.head.state_dict())
        tasks = tasks if mix.keeps_tasks else ()
    score = problems[0].score
    if fixed_epochs is not None:
        schedule = replace(training.schedule, epochs=fixed_epochs, patience=None, least=0)
        training, score = replace(training, schedule=schedule), by_epoch
    best = yield from run(Stage(stage, tasks, True, score, rng.child("train"), mix), training, len(problems))
    return Trained.of(problems, models, best.record, history)


@dataclass(frozen=True, eq=False)
class Stage:
    """One training of a network, with or without labels."""

    name: str
    tasks: Sequence[WeightedTask]
    labels: bool
    score: Score
    rng: Rng
    mix: Mix = SUM


def _epochs(
    problems: Sequence[Problem], models: Sequence[Network], stage: Stage, training: Training, best: Best
) -> Iterator[Record]:
    """The epochs of a stage, one network after the other in each; the tasks' heads live only as long."""
    networks = [_Learning(*one, stage) for one in zip(problems, models, streams(stage.rng, problems), strict=True)]
    learns = nn.ModuleList(network.learns for network in networks)

    def losses(epoch: int, rng: Rng) -> Iterator[Mapping[str, Tensor]]:
        for network, stream in zip(networks, streams(rng, problems), strict=True):
            yield from network.epoch(stream)

    def measured(record: Record) -> Record:
        return evaluate(problems, models) if stage.labels and stage.score is not by_epoch else {}

    checkpoint = None
    if training.checkpoints is not None:
        checkpoint = training.checkpoints.checkpoint(
            learns,
            problem=[problem.fingerprint for problem in problems],
            tasks=[weighted.cache_key for weighted in stage.tasks],
            labels=stage.labels,
            score=stage.score.__name__,
            schedule=training.schedule,
            rng=stage.rng,
            **({} if stage.mix is SUM else {"mix": stage.mix.cache_key}),
        )
    objective = Objective(losses, stage.score, measured)
    return train(
        nn.ModuleList(models),
        list(learns.parameters()),
        objective,
        training.schedule,
        stage.rng,
        best,
        checkpoint=checkpoint,
        stage=stage.name,
    )


class _Learning:
    """A network and the heads of its tasks, while they train."""

    def __init__(self, problem: Problem, model: Network, rng: Rng, stage: Stage) -> None:
        self.problem, self.model, self.stage = problem, model, stage
        self.heads = make_heads(problem, model, stage.tasks, rng)
        self.learns = nn.ModuleList([model, self.heads])
        self.step_of = wrap_ddp(self.learns, self.losses)

    def losses(self, part: Problem, rng: Rng) -> Mapping[str, Tensor]:
        """The losses of a step."""
        here = [weighted.restrict_to(part) for weighted in self.stage.tasks]
        losses = step_losses(part, self.model, self.heads, here, self.stage.labels, rng)
        weights = {weighted.name: weighted.weight for weighted in self.stage.tasks}
        others = (*self.model.head.parameters(), *self.heads.parameters())
        learning = Learning(tuple(self.model.encoder.parameters()), others)
        return losses | self.stage.mix(losses, weights, learning)

    def epoch(self, rng: Rng) -> Iterator[Mapping[str, Tensor]]:
        """The losses of the steps of an epoch; each step is taken before the next is asked for."""
        tasks = self.stage.tasks
        for part, step in self.problem.steps(rng, self.stage.labels, lambda rng: [w.extra_nodes(rng) for w in tasks]):
            yield self.step_of(part, step)
            after_step(self.model, self.heads, tasks)
        World.current().sync_buffers(self.learns)


def make_heads(problem: Problem, model: Network, tasks: Sequence[WeightedTask], rng: Rng) -> nn.ModuleList:
    """The tasks' heads, ready for the first step."""
    heads = nn.ModuleList(w.task.head(problem.shape.hidden, w.targets, rng.child("head", w.name)) for w in tasks)
    for weighted, head in zip(tasks, heads.to(problem.device), strict=True):
        weighted.task.start(head, model.encoder, rng.child("head", weighted.name))
    return heads


def step_losses(
    problem: Problem, model: Network, heads: nn.ModuleList, tasks: Sequence[WeightedTask], labels: bool, rng: Rng
) -> dict[str, Tensor]:
    """The losses of one step by name: `task` of the labels, if they are asked for, and that of each pretext task."""
    output, views, samples = forward(problem, model, tasks, labels, rng)
    losses: dict[str, Tensor] = {}
    if labels:
        assert output.logits is not None
        losses["task"] = problem.task_loss(output.logits)
    return losses | pretext_losses(heads, tasks, views, samples)


def pretext_losses(
    heads: nn.ModuleList, tasks: Sequence[WeightedTask], views: Views, samples: Sequence[TaskSample]
) -> dict[str, Tensor]:
    """The loss of each task, by name."""
    return {
        weighted.name: weighted.task.loss(head, views, sample, weighted.targets)
        for weighted, head, sample in zip(tasks, heads, samples, strict=True)
    }


def after_step(model: Network, heads: nn.ModuleList, tasks: Sequence[WeightedTask]) -> None:
    """Let every head follow the encoder after a step of the optimizer."""
    for weighted, head in zip(tasks, heads, strict=True):
        weighted.task.after_step(head, model.encoder)


def forward(
    problem: Problem, model: Network, tasks: Sequence[WeightedTask], labels: bool, rng: Rng, everywhere: bool = False
) -> tuple[Output, Views, list[TaskSample]]:
    """One forward pass that serves the labels and all tasks, over no more rows than they need.

    Logits are those of the training nodes, where `labels` are read, or of all nodes, `everywhere`.
    """
    if not tasks:
        inputs, plan = (problem.inputs, problem.plans.whole) if everywhere else problem.plans.training
        output = model(inputs, plan, rng.child("dropout"))
        return output, Views(output, plan), []
    samples = [w.task.sample(w.targets, problem.adjacency, rng.child("sample", w.name)) for w in tasks]
    masked = [sample.masked for sample in samples if sample.masked is not None]
    adjacency = problem.normalised
    if masked:
        source, target = (np.concatenate(ends) for ends in zip(*masked, strict=True))
        adjacency = problem.adjacency.without(source, target).to(problem.device)
    if everywhere:
        plan = problem.plans.everything(adjacency)
    else:
        nodes = None
        if all(sample.nodes is not None for sample in samples):
            nodes = np.concatenate([sample.nodes for sample in samples if sample.nodes is not None])
        plan = problem.plans.step(adjacency, problem.train_nodes if labels else None, nodes)
    orders = [sample.permutation for sample in samples if sample.permutation is not None]
    shuffle = None
    if orders:
        order = torch.from_numpy(orders[0])
        shuffle = (order.to(problem.device), torch.argsort(order).to(problem.device))
    output = model(problem.inputs, plan, rng.child("dropout"), shuffle)
    labelled = (problem.train_nodes, problem.train_labels) if labels else None
    context = StepContext(model, problem.inputs, problem.normalised, labelled, problem)
    return output, Views(output, plan, context), samples
