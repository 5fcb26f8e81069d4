"""Training one network: alone, jointly with pretext tasks, or pre-trained by them and fine-tuned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from agssl.base.rng import Rng
from agssl.base.world import World, wrap_ddp
from agssl.encoders import Network, Output
from agssl.pretext.base import Part, Targets, Task, TaskSample, Views
from agssl.pretext.views import StepContext
from agssl.store.checkpoints import Best, Record
from agssl.train.loop import Objective, Score, Training, by_epoch, by_loss, by_validation, train
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
    """A network at its best validation epoch."""

    model: Network
    logits: Tensor  # [N, C], evaluation mode
    best: Record  # the record of the best epoch
    history: list[Record]


def train_network(
    problem: Problem,
    tasks: Sequence[WeightedTask],
    strategy: str,
    training: Training,
    rng: Rng,
    *,
    stage: str = "gcn",
    fixed_epochs: int | None = None,
) -> Trained:
    """A network on the labels and these tasks (none: on the labels alone), at its best validation epoch.

    `jt` minimises L_task + sum_k w_k L_k in one stage (Eq. 1); `pf` first the tasks alone, then L_task from there
    (Eq. 2). With `fixed_epochs`, labels are trained on for that many epochs and the last one is taken: nothing is
    chosen. What was kept of an earlier training is not trained again.
    """
    model = Network(problem.shape, rng.child("model")).to(problem.device)
    history: list[Record] = []

    def run(stage: Stage, training: Training) -> Best:
        best = Best()
        for record in _epochs(problem, model, stage, training, best):
            history.append(record | {"pretrain": float(not stage.labels)})
            training.watch(stage.name, record)
        model.load_state_dict(best.state)
        return best

    if tasks and strategy == "pf":
        run(Stage(f"{stage} pre-train", tasks, False, by_loss, rng.child("pretrain")), training)
        fresh = Network(problem.shape, rng.child("fine-tune"))  # pre-training has not touched the class head
        model.head.load_state_dict(fresh.head.state_dict())
        tasks = ()
    score: Score = by_validation
    if fixed_epochs is not None:
        schedule = replace(training.schedule, epochs=fixed_epochs, patience=None)
        training, score = replace(training, schedule=schedule), by_epoch
    best = run(Stage(stage, tasks, True, score, rng.child("train")), training)
    return Trained(model, World.current().broadcast(lambda: problem.logits(model)), best.record, history)


@dataclass(frozen=True, eq=False)
class Stage:
    """One training of a network, with or without labels."""

    name: str
    tasks: Sequence[WeightedTask]
    labels: bool
    score: Score
    rng: Rng


def _epochs(problem: Problem, model: Network, stage: Stage, training: Training, best: Best) -> Iterator[Record]:
    """The epochs of a stage; the tasks' heads live only as long."""
    tasks, labels = stage.tasks, stage.labels
    heads = make_heads(problem, model, tasks, stage.rng)

    def losses_of(part: Problem, rng: Rng) -> Mapping[str, Tensor]:
        here = [weighted.restrict_to(part) for weighted in tasks]
        losses = step_losses(part, model, heads, here, labels, rng)
        total = losses.get("task", torch.zeros((), device=problem.device))
        for weighted in tasks:
            total = total + weighted.weight * losses[weighted.name]
        return losses | {"loss": total}

    learns = nn.ModuleList([model, heads])
    step_of = wrap_ddp(learns, losses_of)

    def losses(epoch: int, rng: Rng) -> Iterator[Mapping[str, Tensor]]:
        for part, step in problem.steps(rng, labels, lambda rng: [w.extra_nodes(rng) for w in tasks]):
            yield step_of(part, step)
            after_step(model, heads, tasks)
        World.current().sync_buffers(learns)

    def evaluate(record: Record) -> Record:
        return problem.evaluate(model) if stage.score is by_validation else {}

    checkpoint = None
    if training.checkpoints is not None:
        checkpoint = training.checkpoints.checkpoint(
            learns,
            problem=problem.fingerprint,
            tasks=[weighted.cache_key for weighted in tasks],
            labels=labels,
            score=stage.score.__name__,
            schedule=training.schedule,
            rng=stage.rng,
        )
    parameters = [*model.parameters(), *heads.parameters()]
    objective = Objective(losses, stage.score, evaluate)
    return train(
        model, parameters, objective, training.schedule, stage.rng, best, checkpoint=checkpoint, stage=stage.name
    )


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
