"""The automatic pool: which teachers a graph needs, found out on nodes that are held out (`--teachers auto`).

Scouts come first: each encoder and view on the labels alone, and classifiers without training. Then the paper's tasks
on the encoder that did best. Of all of these a few are kept, by greedy forward selection: the next one is the one that
raises the held-out likelihood of the mean prediction most (Caruana et al. 2004), until none does. Nothing is assumed of
the graph: whether neighbours are alike shows in what the scouts score.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from agssl.base.errors import GraphError, SettingsError, TrainingError
from agssl.base.rng import Rng
from agssl.config import LABELS, PAPER_TASKS, TeacherSpec
from agssl.config.teacher import SCOUTS, SMALL_SCOUTS
from agssl.integrate.calibration import best_temperature
from agssl.simple import is_simple
from agssl.train.context import Candidate, Context, Teacher
from agssl.train.teachers import train_teacher

log = logging.getLogger("agssl")

MOST = 6  # teachers that are kept
BAGS, SHARE = (
    20,
    0.5,
)  # selections, each among a random half of the candidates: few held-out nodes choose less by chance
WORTH = 0.05  # of all selections that a teacher must be in, to be kept
TINY = 1e-9
NORMS = ("none", "l2")  # of features, tried on the first scouts


@dataclass(frozen=True, eq=False)
class Pool:
    """The teachers that were kept, and what for."""

    teachers: tuple[Teacher, ...]
    student: str  # encoder and settings of the student's network
    tried: tuple[Candidate, ...]


def find_pool(context: Context) -> Pool:
    """Try, choose and keep."""
    candidates = _scouts(context)
    student = _best_network(candidates)
    where = student.name.partition("@")[2]
    for task in PAPER_TASKS:
        candidates += _tried(context, f"{task}@{where}")
    kept = select(candidates, context)
    tried = tuple(replace(one.about, kept=one.name in kept) for one in candidates)
    teachers = tuple(one.teacher for one in candidates if one.name in kept)
    return Pool(teachers, where, tried)


@dataclass(frozen=True, eq=False)
class _Tried:
    """A candidate with its held-out probabilities."""

    teacher: Teacher
    probabilities: np.ndarray  # [n, C], of held-out nodes, at the best temperature
    about: Candidate

    @property
    def name(self) -> str:
        return self.teacher.name


def _scouts(context: Context) -> list[_Tried]:
    """Every encoder on the labels alone, with features scaled as suits the first of them best."""
    first, others = SCOUTS if context.problem.batches is None else SMALL_SCOUTS
    found = {norm: [t for text in first for t in _tried(context, _with_norm(text, norm))] for norm in NORMS}
    norm = min(NORMS, key=lambda norm: np.mean([one.about.log_loss for one in found[norm]] or [np.inf]))
    more = [t for text in others for t in _tried(context, _with_norm(text, norm))]
    return [*(one for norm in NORMS for one in found[norm]), *more]


def _with_norm(text: str, norm: str) -> str:
    simple = is_simple(TeacherSpec.parse(text).encoder)
    return text if norm == "none" or simple else f"{text}:feature_norm={norm}"


def _tried(context: Context, text: str) -> list[_Tried]:
    """The candidate of that name; none where it refuses the graph."""
    start = time.perf_counter()
    try:
        teacher = train_teacher(context, text)
    except (GraphError, SettingsError, TrainingError) as error:
        log.info("teacher %s is left out: %s", text, error)
        return []
    truth = context.problem.labels[torch.from_numpy(context.problem.val_nodes)]
    heat = best_temperature(teacher.network.heldout, truth)
    probabilities = torch.softmax(teacher.network.heldout.double() / heat, dim=1).cpu().numpy()
    y = truth.cpu().numpy()
    accuracy = float((probabilities.argmax(1) == y).mean())
    about = Candidate(text, accuracy, log_loss(probabilities, y), time.perf_counter() - start)
    return [_Tried(teacher, probabilities, about)]


def _best_network(candidates: Sequence[_Tried]) -> _Tried:
    """The scout whose encoder pretext tasks and the student get: the likeliest of those that are trained."""
    trained = [
        one
        for one in candidates
        if TeacherSpec.parse(one.name).task == LABELS and not is_simple(TeacherSpec.parse(one.name).encoder)
    ]
    if not trained:
        raise TrainingError("no network of the automatic pool could be trained; name some, as in --teachers par@gcn")
    return min(trained, key=lambda one: one.about.log_loss)


def select(candidates: Sequence[_Tried], context: Context) -> set[str]:
    """The names of the few whose mean prediction is likeliest on held-out nodes."""
    y = context.problem.labels[torch.from_numpy(context.problem.val_nodes)].cpu().numpy()
    said = np.stack([one.probabilities[np.arange(len(y)), y] for one in candidates])  # [K, n], of the true class
    votes = greedy_votes(said, Rng(0).child("pool"))
    order = np.argsort(-votes, kind="stable")
    kept = [k for k in order[:MOST] if votes[k] >= WORTH] or [int(order[0])]
    return {candidates[k].name for k in kept}


def greedy_votes(said: np.ndarray, rng: Rng) -> np.ndarray:
    """How often each candidate is chosen, [K], over several greedy selections, each among a random half of them.

    Args:
        said: [K, n], the probability that each gives to the true class of each held-out node.
        rng: of the halves.
    """
    votes, draw = np.zeros(len(said)), rng.numpy()
    for _ in range(BAGS):
        among = np.sort(draw.permutation(len(said))[: max(1, round(SHARE * len(said)))])
        chosen = greedy(said[among])
        np.add.at(votes, among[chosen], 1 / len(chosen))
    return votes / BAGS


def greedy(said: np.ndarray) -> list[int]:
    """The sequence, with repetitions, whose mean is likeliest, step by step: the best pair, then what helps most.

    A pair comes first, since two that know different halves of the nodes are each worse alone than one that knows
    little of all.

    >>> greedy(np.array([[0.9, 0.2], [0.2, 0.9], [0.5, 0.5]]))
    [0, 1]
    """
    pairs = [(i, j) for i in range(len(said)) for j in range(i, len(said))]
    chosen = list(max(pairs, key=lambda pair: _likelihood(said[list(pair)].sum(0), 2)))
    total = said[chosen].sum(0)
    while len(chosen) < 2 * MOST:
        scores = [_likelihood(total + one, len(chosen) + 1) for one in said]
        k = int(np.argmax(scores))
        if scores[k] <= _likelihood(total, len(chosen)) + 1e-4:
            break
        total = total + said[k]
        chosen.append(k)
    return chosen


def _likelihood(total: np.ndarray, count: int) -> float:
    """Mean log-likelihood of the mean of so many predictions."""
    return float(np.log(np.maximum(total / count, TINY)).mean())


def log_loss(probabilities: np.ndarray, y: np.ndarray) -> float:
    """Mean negative log-likelihood."""
    return float(-np.log(np.maximum(probabilities[np.arange(len(y)), y], TINY)).mean())
