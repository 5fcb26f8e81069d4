"""From a graph and settings to a fitted model: one function per method."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.integrate import INTEGRATORS, Knowledge
from agssl.metrics import gain
from agssl.pretext.prepare import alphas_of, check_tasks
from agssl.store.checkpoints import CheckpointStore
from agssl.train.autossl import search_weights
from agssl.train.auxts import Agreement
from agssl.train.context import Candidate, Context, MethodResult, Teacher, Withheld
from agssl.train.cpf import fit_cpf
from agssl.train.distill import Student
from agssl.train.grand import fit_grand
from agssl.train.loop import Training, Watch, ignore
from agssl.train.memory import batch_mode
from agssl.train.mixed import fit_mixed
from agssl.train.network import Trained, WeightedTask
from agssl.train.pareto import MinimumNorm
from agssl.train.pool import find_pool
from agssl.train.students import distil, distil_again, distil_apart
from agssl.train.teachers import collect_knowledge, train_teacher
from agssl.train.worse import worse_than

log = logging.getLogger("agssl")


def train_method(
    graph: Graph,
    settings: Settings,
    seed: int = 0,
    *,
    watch: Watch = ignore,
    cache: Path | None = None,
    device: str = "cpu",
    checkpoints: CheckpointStore | None = None,
    folds_only: bool = False,
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
        folds_only: stop after the networks of the folds, where the split has any.
    """
    if settings.method != "gcn":
        check_tasks(settings)  # name every mistake before the first epoch
    if settings.batch == "auto":
        settings = settings.replace(batch=batch_mode(graph, settings))
    training = Training(watch=watch, checkpoints=checkpoints)
    context = Context.of(graph, settings.within_budget(), training, Rng(seed), cache, device, folds_only)
    return FITTERS[settings.method](context)


def fit_gcn(context: Context) -> MethodResult:
    """The encoder on the labels alone, without any task."""
    rng = context.rng.child("gcn")
    return context.result(context.network((), rng, "gcn"), (), rng, "gcn")


def fit_single(context: Context) -> MethodResult:
    """One task: a teacher on its own."""
    text = context.settings.tasks[0]
    teacher = train_teacher(context, text)
    weighted, rng = (WeightedTask(text, *context.targets(text), teacher.alpha),), context.rng.child("teacher", text)
    return context.result(teacher.network, weighted, rng, f"teacher {text}", teachers=(teacher,))


def fit_joint(context: Context) -> MethodResult:
    """All tasks in one network: lambda_k = 1/K (the paper's Vanilla, JOINT-T), or as given; alpha by validation."""
    settings, rng = context.settings, context.rng.child("joint")
    shares = [settings.task_weight(text) for text in settings.tasks]
    choices = [shared(weighted, shares) for weighted in joint_choices(context)]
    number, network = context.best_network(choices, rng, "joint")
    return context.result(network, choices[number], rng, "joint")


def fit_autossl(context: Context) -> MethodResult:
    """lambda by a search, then a fresh network with it held fixed (see `agssl.train.autossl`); alpha by validation.

    Of a split with folds, the first one is searched on: a search takes long.
    """
    settings, rng = context.settings, context.rng.child("autossl")
    candidates = []
    for weighted in joint_choices(context):
        stream = context.rng.child("search")
        weights, history = search_weights(context.folds[0], weighted, settings, context.training, stream)
        chosen = shared(weighted, weights.tolist())
        candidates.append((context.network(chosen, rng, "autossl"), chosen, weighted, weights, history))
    network, chosen, weighted, weights, history = max(
        candidates, key=lambda found: context.problem.score(found[0].best)
    )
    everywhere = weights.expand(context.problem.graph.num_nodes, -1)
    alphas = {w.name: w.weight for w in weighted}
    result = context.result(network, chosen, rng, "autossl", weights=everywhere, tasks=alphas)
    return replace(result, history=history | result.history)


def joint_choices(context: Context) -> list[list[WeightedTask]]:
    """All tasks with their alphas, once for each choice of alphas."""
    tasks = {text: context.targets(text) for text in context.settings.tasks}
    alphas = {text: alphas_of(context.settings, text) for text in tasks}
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
    tried: tuple[Candidate, ...] = ()
    if settings.automatic:
        pool = find_pool(context)
        teachers, tried = pool.teachers, pool.tried
        context = replace(context, settings=settings.replace(student=settings.student or pool.student))
    else:
        teachers = tuple(train_teacher(context, text) for text in settings.pool)
    known, students, answers, replaced = taught_by(context, teachers)
    alone = better_alone(context, teachers, answers)
    if alone is not None:
        teachers = (alone,)
        known, students, answers, replaced = taught_by(context, teachers)
    history = {f"teacher {teacher.name}": teacher.network.history for teacher in teachers}
    history |= {stage: student.network.history for stage, student in students.items()}
    last = list(students.values())[-1]
    if not context.trains_again:
        own = last.network.logits if replaced else None
        result = MethodResult(last.network.model, answers.logits, answers.best, history, teachers, last.weights)
        result = replace(result, tried=tried, student_logits=own)
        if len(known) > 1:
            return result
        others = distil_apart(context, known[0], last, replaced) if settings.smooth or not replaced else ()
        apart = None if replaced or not others else _said_apart(others)
        result = replace(result, knowledge=known[0], integrator=last.integrator, apart=apart)
        return replace(result, withheld=others) if settings.smooth else result
    knowledge = collect_knowledge(context, teachers)
    final = distil_again(context, knowledge, last)
    history["student, all labels"] = final.network.history
    heldout = context.heldout(answers, [teacher.network for teacher in teachers], last.fold_weights)
    model, logits, own = final.network.model, final.network.logits, None
    if replaced:
        logits, own = final.taught[0], logits
    best = context.best(answers)
    result = MethodResult(model, logits, best, history, teachers, final.weights, heldout=heldout, tried=tried)
    result = replace(result, knowledge=knowledge, integrator=final.integrator, student_logits=own)
    return replace(result, withheld=context.withheld(answers))


def _said_apart(others: Sequence[Withheld]) -> Tensor:
    """Logits [n, C] of the validation nodes, each by those that know nothing of its label."""
    order = np.argsort(np.concatenate([one.nodes for one in others]))  # validation nodes are sorted
    return torch.cat([one.logits[torch.from_numpy(one.nodes)] for one in others])[torch.from_numpy(order)]


def taught_by(
    context: Context, teachers: Sequence[Teacher]
) -> tuple[list[Knowledge], dict[str, Student], Trained, bool]:
    """What teachers know for each fold, their students by stage, who answers, and whether it is not the student."""
    known = [collect_knowledge(context, teachers, fold) for fold in range(len(context.folds))]
    students = distil(context, known)
    return known, students, *answering(context, list(students.values())[-1])


def answering(context: Context, student: Student) -> tuple[Trained, bool]:
    """Who answers: the student or, in an automatic pool where they are clearly better, its teachers together."""
    if not context.settings.automatic:
        return student.network, False
    teachers = Trained.of_logits(context.folds, (), student.taught)
    worse = worse_than(context.problem, student.network, teachers)
    if not worse:
        return student.network, False
    log.warning(f"the student has {worse} of its teachers together: these answer in its place")
    return replace(teachers, best=student.network.best | teachers.best), True


def better_alone(context: Context, teachers: Sequence[Teacher], answers: Trained) -> Teacher | None:
    """The best of an automatic pool's teachers, where what was made of all of them is clearly worse than it."""
    if not context.settings.automatic or len(teachers) == 1:
        return None
    metric = context.problem.metric
    best = max(teachers, key=lambda teacher: gain(metric, teacher.network.best[f"val_{metric}"]))
    worse = worse_than(context.problem, answers, best.network)
    if not worse:
        return None
    log.warning(f"what was made of the teachers has {worse} of {best.name} alone: it teaches without the others")
    return best


FITTERS: dict[str, Callable[[Context], MethodResult]] = {
    "gcn": fit_gcn,
    "single": fit_single,
    "joint": fit_joint,
    "autossl": fit_autossl,
    "agssl": fit_agssl,
    "pareto": lambda context: fit_mixed(context, joint_choices(context), MinimumNorm()),
    "auxts": lambda context: fit_mixed(context, joint_choices(context), Agreement()),
    "grand": fit_grand,
    "cpf": fit_cpf,
}
