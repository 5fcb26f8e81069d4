"""The students of a fit, generation after generation."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from agssl.base.rng import Rng
from agssl.config import parse_network
from agssl.integrate import INTEGRATORS, Integrator, Knowledge
from agssl.train.context import Context
from agssl.train.distill import Distillation, Lesson, Student, train_student
from agssl.train.network import WeightedTask, streams
from agssl.train.problem import Problem
from agssl.train.worse import worse_than

log = logging.getLogger("agssl")

APART = 3  # parts of the validation nodes that are left out in turn


def distil(context: Context, known: Sequence[Knowledge]) -> dict[str, Student]:
    """The students of all generations by stage, the last one last; one that is clearly worse ends them, left out.

    Args:
        context: what to work with.
        known: what the teachers know, for each fold.
    """
    context = context.with_network(*_student(context))
    settings = context.settings
    students: dict[str, Student] = {}
    previous, lessons = None, list[Lesson]()
    for generation in range(1, settings.generations + 1):
        stage = "student" if generation == 1 else f"student {generation}"
        rng = context.rng.child("student", settings.integration, generation)
        elders = [None] * len(known) if previous is None else previous.network.fold_logits
        judges = [None] * len(known) if previous is None else [lesson.integrator for lesson in lessons]
        each = zip(context.folds, known, streams(rng, context.folds), elders, judges, strict=True)
        lessons = [_lesson(context, *one) for one in each]
        student = _distil(context, lessons, rng, stage)
        if previous is not None:
            worse = worse_than(context.problem, student.network, previous.network)
            if worse:
                log.warning(f"{stage} has {worse}: left out")
                break
        students[stage] = previous = student
    return students


def distil_again(context: Context, knowledge: Knowledge, students: Student) -> Student:
    """A student of all labels, after those of the folds: it learns from these, too, and trains as long as they did."""
    context = context.with_network(*_student(context))
    rng = context.rng.child("student", context.settings.integration, "all labels")
    lesson = _lesson(context, context.problem, knowledge, rng, students.network.logits)
    epochs = int(students.network.best["epoch"]) + 1
    return _distil(context, [lesson], rng, "student, all labels", epochs)


class Apart(NamedTuple):
    """What is said of all nodes where nothing is known of the labels of some validation nodes."""

    nodes: np.ndarray  # these
    student: Tensor  # [N, C], logits of a student
    taught: Tensor  # [N, C], log-probabilities of its teachers together


def distil_apart(context: Context, knowledge: Knowledge, student: Student) -> tuple[Apart, ...]:
    """What students say that know nothing of the labels of some validation nodes; nothing where any does as well.

    Where labelled nodes near by teach (`Integrator.reads_edges`), what a student says of a node whose label has taught
    its neighbours is no measure of what it says of others. So students are trained without a part of these labels each,
    as long as the real one. With effort `quick` there is no time for it.
    """
    settings = context.settings
    quick = settings.automatic and settings.effort == "quick"
    if settings.weights_from != "val" or not student.integrator.reads_edges or quick:
        return ()
    context = context.with_network(*_student(context))
    nodes, epochs = context.problem.val_nodes, int(student.network.best["epoch"]) + 1
    part, found = np.arange(len(nodes)) % APART, []
    for number, problem in enumerate(context.problem.in_parts(part)):
        rng = context.rng.child("student", settings.integration, "apart", number)
        lesson = _lesson(context, problem, knowledge.only(part != number), rng, None)
        other = _distil(context, [lesson], rng, f"student for calibration {number + 1}", epochs)
        found.append(Apart(problem.val_nodes, other.network.logits, other.taught[0]))
    return tuple(found)


def _student(context: Context) -> tuple[str | None, dict[str, Any]]:
    """The student's encoder and settings of its network."""
    return parse_network(context.settings.student) if context.settings.student else (None, {})


def _lesson(
    context: Context,
    problem: Problem,
    knowledge: Knowledge,
    rng: Rng,
    previous: Tensor | None,
    judge: Integrator | None = None,
) -> Lesson:
    """What one student is taught; `judge` weighed the teachers for the one before, by the same knowledge."""
    settings = context.settings
    problem = problem.with_shape(replace(problem.shape, dropout=settings.student_dropout))
    if judge is not None and judge.settled:
        return Lesson(problem, knowledge, judge, previous)
    integrator = INTEGRATORS[settings.integration](knowledge, rng.child("integrator")).to(problem.device)
    return Lesson(problem, knowledge, integrator, previous)


def _distil(
    context: Context, lessons: Sequence[Lesson], rng: Rng, stage: str, fixed_epochs: int | None = None
) -> Student:
    settings = context.settings
    how = Distillation(settings.beta, settings.tau, settings.shrinkage, settings.student_gradient)
    tasks = [
        WeightedTask(text, *context.targets(text), weight) for text, weight in (settings.student_tasks or {}).items()
    ]
    return train_student(lessons, how, context.training, rng, stage=stage, tasks=tasks, fixed_epochs=fixed_epochs)
