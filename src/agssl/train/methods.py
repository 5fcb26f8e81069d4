"""From a graph and settings to a fitted model: one function per method."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.encoders import Network
from agssl.integrate import INTEGRATORS, Knowledge
from agssl.ops.subgraph import induced
from agssl.pretext.base import ALPHA_GRID, Targets, Task
from agssl.pretext.prepare import check_tasks, make_task, prepared
from agssl.store.checkpoints import CheckpointStore, Record
from agssl.train.autossl import search_weights
from agssl.train.distill import Distillation, Student, train_student
from agssl.train.loop import Training, Watch, ignore
from agssl.train.memory import batch_mode
from agssl.train.network import Trained, WeightedTask, train_network
from agssl.train.problem import Problem, folds
from agssl.train.setup import batches_of, problem_of, schedule_on
from agssl.train.worse import worse_than

log = logging.getLogger("agssl")


@dataclass(frozen=True, eq=False)
class Teacher:
    """A network trained with one task, frozen."""

    name: str  # the task, with its settings where some were given
    alpha: float
    network: Trained


@dataclass(frozen=True, eq=False)
class MethodResult:
    """What any method gives back."""

    model: Network
    logits: Tensor  # [N, C], evaluation mode, at the best validation epoch
    best: Record
    history: dict[str, list[Record]]  # by stage: "gcn", "teacher par", "student", ...
    teachers: tuple[Teacher, ...] = ()
    weights: Tensor | None = None  # lambda [N, K]
    tasks: Mapping[str, float] = field(default_factory=dict)  # the K tasks and their alphas, where no teacher has them


@dataclass(frozen=True, eq=False)
class Context:
    """What a method works with."""

    problem: Problem
    settings: Settings
    training: Training
    rng: Rng
    cache: Path | None = None
    _targets: dict[str, Targets] = field(default_factory=dict)

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

    def alphas(self, task: Task) -> tuple[float, ...]:
        """The loss weights of a task to choose from."""
        alpha = self.settings.alpha_of(task.name)
        if alpha is None:
            return task.alphas
        return ALPHA_GRID if alpha == "auto" else (float(alpha),)

    def network(
        self,
        weighted: Sequence[WeightedTask],
        rng: Rng,
        stage: str,
        problem: Problem | None = None,
        fixed_epochs: int | None = None,
    ) -> Trained:
        """A network trained with these tasks, on this problem or a part of it; see `train_network`."""
        problem = self.problem if problem is None else problem
        strategy = self.settings.strategy
        return train_network(problem, weighted, strategy, self.training, rng, stage=stage, fixed_epochs=fixed_epochs)


def train_method(
    graph: Graph,
    settings: Settings,
    seed: int = 0,
    *,
    watch: Watch = ignore,
    cache: Path | None = None,
    device: str = "cpu",
    checkpoints: CheckpointStore | None = None,
) -> MethodResult:
    """Train a graph that has a split, by the method that the settings name.

    Args:
        graph: its test labels are never read.
        settings: what to do.
        seed: of everything random but the split, which is the graph's.
        watch: called with the stage and the record of every epoch.
        cache: folder for prepared targets.
        device: where to compute.
        checkpoints: where to keep what was trained, and to find what was.
    """
    if settings.method != "gcn":
        check_tasks(settings)  # name every mistake before the first epoch
    if settings.batch == "auto":
        settings = settings.replace(batch=batch_mode(graph, settings))
    problem = problem_of(graph, settings, device)
    problem = replace(problem, batches=batches_of(problem.graph, settings, cache))
    training = Training(schedule_on(graph, settings), watch, checkpoints)
    context = Context(problem, settings, training, Rng(seed), cache)
    return FITTERS[settings.method](context)


def fit_gcn(context: Context) -> MethodResult:
    """The encoder on the labels alone, without any task."""
    network = context.network((), context.rng.child("gcn"), "gcn")
    return MethodResult(network.model, network.logits, network.best, {"gcn": network.history})


def fit_single(context: Context) -> MethodResult:
    """One task: a teacher on its own."""
    teacher = train_teacher(context, context.settings.tasks[0])
    network = teacher.network
    return MethodResult(
        network.model, network.logits, network.best, {f"teacher {teacher.name}": network.history}, (teacher,)
    )


def fit_joint(context: Context) -> MethodResult:
    """All tasks in one network: lambda_k = 1/K (the paper's Vanilla, JOINT-T), or as given; alpha by validation."""
    settings = context.settings
    shares = [settings.task_weight(text) for text in settings.tasks]
    networks = [
        context.network(shared(weighted, shares), context.rng.child("joint"), "joint")
        for weighted in joint_choices(context)
    ]
    network = max(networks, key=lambda n: context.problem.score(n.best))
    return MethodResult(network.model, network.logits, network.best, {"joint": network.history})


def fit_autossl(context: Context) -> MethodResult:
    """lambda by a search, then a fresh network with it held fixed (see `agssl.train.autossl`); alpha by validation."""
    settings, problem = context.settings, context.problem
    candidates = []
    for weighted in joint_choices(context):
        stream = context.rng.child("search")
        weights, history = search_weights(problem, weighted, settings, context.training, stream)
        network = context.network(shared(weighted, weights.tolist()), context.rng.child("autossl"), "autossl")
        history["autossl"] = network.history
        everywhere = weights.expand(problem.graph.num_nodes, -1)
        alphas = {w.name: w.weight for w in weighted}
        candidates.append(MethodResult(network.model, network.logits, network.best, history, (), everywhere, alphas))
    return max(candidates, key=lambda result: problem.score(result.best))


def joint_choices(context: Context) -> list[list[WeightedTask]]:
    """All tasks with their alphas, once for each choice of alphas."""
    tasks = {text: context.targets(text) for text in context.settings.tasks}
    alphas = {text: context.alphas(task) for text, (task, _) in tasks.items()}
    return [
        [
            WeightedTask(text, task, targets, alphas[text][min(number, len(alphas[text]) - 1)])
            for text, (task, targets) in tasks.items()
        ]
        for number in range(max(map(len, alphas.values())))
    ]


def shared(weighted: Sequence[WeightedTask], shares: Sequence[float]) -> list[WeightedTask]:
    """The tasks with alpha_k lambda_k for weight; those without any are left out."""
    both = zip(weighted, shares, strict=True)
    return [replace(w, weight=w.weight * share) for w, share in both if share > 0]


def fit_agssl(context: Context) -> MethodResult:
    """K teachers, integrated for every node and distilled into one student (Algorithm 1)."""
    settings = context.settings
    _ = INTEGRATORS[settings.integration]
    teachers = tuple(train_teacher(context, text) for text in settings.tasks)
    knowledge = collect_knowledge(context, teachers)
    students = distil(context, knowledge)
    history = {f"teacher {teacher.name}": teacher.network.history for teacher in teachers}
    history |= {stage: student.network.history for stage, student in students.items()}
    last = list(students.values())[-1]
    network = last.network
    return MethodResult(network.model, network.logits, network.best, history, teachers, last.weights)


def collect_knowledge(context: Context, teachers: Sequence[Teacher]) -> Knowledge:
    """What the teachers know, with the labels that lambda is fitted by."""
    settings, problem = context.settings, context.problem
    logits = torch.stack([teacher.network.logits for teacher in teachers])
    nodes = torch.from_numpy(problem.val_nodes if settings.weights_from == "val" else problem.train_nodes).to(
        problem.device
    )
    heldout = logits[:, nodes]
    if settings.weights_from == "crossfit":
        heldout = torch.stack([cross_fit(context, t, text) for text, t in zip(settings.tasks, teachers, strict=True)])
    knowledge = Knowledge(logits, nodes, problem.labels[nodes], heldout)
    return knowledge if settings.weights_from == "train" else knowledge.calibrated(settings.calibrate)


def distil(context: Context, knowledge: Knowledge) -> dict[str, Student]:
    """The students of all generations by stage, the last one last; one that is clearly worse ends them, left out."""
    settings, problem = context.settings, context.problem
    problem = problem.with_shape(replace(problem.shape, dropout=settings.student_dropout))
    how = Distillation(settings.beta, settings.tau, settings.shrinkage, settings.student_gradient)
    tasks = [
        WeightedTask(text, *context.targets(text), weight) for text, weight in (settings.student_tasks or {}).items()
    ]
    students: dict[str, Student] = {}
    previous = None
    for generation in range(1, settings.generations + 1):
        stage = "student" if generation == 1 else f"student {generation}"
        rng = context.rng.child("student", settings.integration, generation)
        integrator = INTEGRATORS[settings.integration](knowledge, rng.child("integrator")).to(problem.device)
        logits = None if previous is None else previous.network.logits
        student = train_student(
            problem, knowledge, integrator, how, context.training, rng, stage=stage, previous=logits, tasks=tasks
        )
        if previous is not None:
            worse = worse_than(problem, student.network, previous.network)
            if worse:
                log.warning(f"{stage} has {worse}: left out")
                break
        students[stage] = previous = student
    return students


def train_teacher(context: Context, text: str) -> Teacher:
    """The teacher of one task; alpha is chosen by validation."""
    task, targets = context.targets(text)
    rng = context.rng.child("teacher", text)  # the text and not the name: one task may teach twice, set differently
    candidates = []
    for alpha in context.alphas(task):
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


FITTERS: dict[str, Callable[[Context], MethodResult]] = {
    "gcn": fit_gcn,
    "single": fit_single,
    "joint": fit_joint,
    "autossl": fit_autossl,
    "agssl": fit_agssl,
}
