"""The networks whose probabilities are compared with p*: teachers, and students that learn to weight them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from agssl.config import PAPER_TASKS
from agssl.integrate import INTEGRATORS, Knowledge
from agssl.theory.csbm import softmax
from agssl.train.context import Context, Teacher
from agssl.train.distill import Student
from agssl.train.loop import by_validation
from agssl.train.students import distil
from agssl.train.teachers import collect_knowledge, train_teacher

MORE_TASKS = ("par:parts=20", "clu:clusters=4", "dgi:estimator=infonce", "pairdis:pairs=100", "pairsim:target=feature")
SCHEMES = ("lf", "ts")
BY_LABELS = ("local", "stack", "both")  # schemes that held-out labels settle, before a student trains
COMPARED_LABELS = ("train", "val")  # the paper's choice, and the default here, with calibrated teachers


@dataclass(frozen=True, eq=False)
class Networks:
    """All that was trained on one graph."""

    context: Context
    teachers: Sequence[Teacher]  # of the paper's five tasks
    others: Sequence[Teacher]  # of tasks with other settings
    students: dict[tuple[str, str], tuple[Knowledge, Student]]  # of the five, by scheme and labels that fit lambda

    @property
    def best_single(self) -> int:
        """Which of the five does best on validation nodes."""
        return max(range(len(self.teachers)), key=lambda k: by_validation(self.teachers[k].network.best))

    @property
    def probabilities(self) -> np.ndarray:
        """Of all teachers, the paper's first, [K, N, C]."""
        every = (*self.teachers, *self.others)
        return np.stack([softmax(t.network.logits.double().numpy()) for t in every])


def train_networks(context: Context) -> Networks:
    """Train teachers and students."""
    teachers = [train_teacher(context, text) for text in (*PAPER_TASKS, *MORE_TASKS)]
    five, others = teachers[: len(PAPER_TASKS)], teachers[len(PAPER_TASKS) :]
    students = {
        (scheme, labels): _student(context, five, scheme, labels) for scheme in SCHEMES for labels in COMPARED_LABELS
    }
    return Networks(context, five, others, students)


def by_labels(trained: Networks) -> dict[str, np.ndarray]:
    """The integrated teacher of each scheme of `BY_LABELS`, of the five and validation labels, [N, C]."""
    found = {}
    for scheme in BY_LABELS:
        context = replace(trained.context, settings=trained.context.settings.replace(integration=scheme))
        knowledge = collect_knowledge(context, trained.teachers)
        integrator = INTEGRATORS[scheme](knowledge, context.rng.child("integrator")).eval()
        nodes = torch.arange(knowledge.logits.shape[1])
        weights = integrator(knowledge.logits[0], knowledge.logits, nodes)
        says = torch.softmax(knowledge.logits.double(), dim=-1)
        found[scheme] = integrator.answer(weights.double(), says, nodes, 1.0).double().numpy()
    return found


def _student(context: Context, five: Sequence[Teacher], scheme: str, labels: str) -> tuple[Knowledge, Student]:
    context = replace(context, settings=context.settings.replace(integration=scheme, weights_from=labels))
    knowledge = collect_knowledge(context, five)
    return knowledge, distil(context, [knowledge])["student"]
