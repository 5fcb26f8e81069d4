"""From a graph and settings to a fitted model: one function per method."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from agssl.train.students import Apart, distil, distil_again, distil_apart
from agssl.train.teachers import collect_knowledge, train_teacher
from agssl.train.worse import clearly_better

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
    found = taught_by(context, teachers)
    alone = better_alone(context, found)
    if alone is not None:
        found = taught_by(context, (alone,))
    teachers, last, answers = found.teachers, found.last, found.answers
    history = {f"teacher {teacher.name}": teacher.network.history for teacher in teachers}
    history |= {stage: student.network.history for stage, student in found.students.items()}
    if not context.trains_again:
        own = last.network.logits if found.replaced else None
        result = MethodResult(last.network.model, answers.logits, answers.best, history, teachers, last.weights)
        result = replace(result, tried=tried, student_logits=own)
        if len(found.known) > 1:
            return result
        apart = _said_apart(found.withheld) if found.apart and not found.replaced else None
        result = replace(result, knowledge=found.known[0], integrator=last.integrator, apart=apart)
        return replace(result, withheld=found.withheld) if settings.smooth else result
    knowledge = collect_knowledge(context, teachers)
    final = distil_again(context, knowledge, last)
    history["student, all labels"] = final.network.history
    heldout = context.heldout(answers, [teacher.network for teacher in teachers], last.fold_weights)
    model, logits, own = final.network.model, final.network.logits, None
    if found.replaced:
        logits, own = final.taught[0], logits
    best = context.best(answers)
    result = MethodResult(model, logits, best, history, teachers, final.weights, heldout=heldout, tried=tried)
    result = replace(result, knowledge=knowledge, integrator=final.integrator, student_logits=own)
    return replace(result, withheld=context.withheld(answers))


@dataclass(frozen=True, eq=False)
class Taught:
    """What came of some teachers."""

    teachers: tuple[Teacher, ...]
    known: tuple[Knowledge, ...]  # what they know, for each fold
    students: Mapping[str, Student]  # by stage, the last one last
    apart: tuple[Apart, ...]  # what is said without some held-out labels each; nothing where `answers` serves for it
    answers: Trained  # the last student, or the teachers together
    replaced: bool  # whether it is not the student

    @property
    def last(self) -> Student:
        """The last student."""
        return list(self.students.values())[-1]

    @property
    def withheld(self) -> tuple[Withheld, ...]:
        """What those that answer say without some held-out labels each."""
        return tuple(Withheld(one.nodes, one.taught if self.replaced else one.student) for one in self.apart)

    @property
    def heldout(self) -> Tensor:
        """What those that answer say of the validation nodes, [n, C], knowing nothing of their labels."""
        return _said_apart(self.withheld) if self.apart and not self.replaced else self.answers.heldout


def _said_apart(others: Sequence[Withheld]) -> Tensor:
    """Logits [n, C] of the validation nodes, each by those that know nothing of its label."""
    order = np.argsort(np.concatenate([one.nodes for one in others]))  # validation nodes are sorted
    return torch.cat([one.logits[torch.from_numpy(one.nodes)] for one in others])[torch.from_numpy(order)]


def taught_by(context: Context, teachers: Sequence[Teacher]) -> Taught:
    """The students of some teachers, and who answers: the last one or, where these are clearly better, the teachers."""
    known = tuple(collect_knowledge(context, teachers, fold) for fold in range(len(context.folds)))
    students = distil(context, known)
    last = list(students.values())[-1]
    apart = distil_apart(context, known[0], last) if len(known) == 1 and not context.trains_again else ()
    found = Taught(tuple(teachers), known, students, apart, last.network, False)
    if not context.settings.automatic:
        return found
    together = Trained.of_logits(context.folds, (), last.taught)
    worse = clearly_better(context.problem, together.heldout, found.heldout)
    if not worse:
        return found
    log.warning(f"the student has {worse} of its teachers together: these answer in its place")
    return replace(found, answers=replace(together, best=last.network.best | together.best), replaced=True)


def better_alone(context: Context, found: Taught) -> Teacher | None:
    """The best of an automatic pool's teachers, where what was made of all of them is clearly worse than it."""
    if not context.settings.automatic or len(found.teachers) == 1:
        return None
    metric = context.problem.metric
    best = max(found.teachers, key=lambda teacher: gain(metric, teacher.network.best[f"val_{metric}"]))
    worse = clearly_better(context.problem, best.network.heldout, found.heldout)
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
