"""The automatic pool: which teachers a graph needs, found out on nodes that are held out (`--teachers auto`).

Scouts come first: each encoder and view on the labels alone, and classifiers without training. Then pretext tasks on
the encoder that did best. Of all of these a few are kept, by greedy forward selection: the next is the one that raises
the held-out likelihood of the mean prediction most (Caruana et al. 2004), until none is worth what it costs. Nothing is
assumed of the graph: whether neighbours are alike shows in what the scouts score.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from agssl.base.errors import GraphError, SettingsError, TrainingError
from agssl.base.rng import Rng
from agssl.base.spec import Spec
from agssl.config import LABELS, Settings, TeacherSpec
from agssl.encoders import blueprint
from agssl.integrate.calibration import best_temperature
from agssl.simple import is_simple
from agssl.train.context import Candidate, Context, Teacher
from agssl.train.setup import shape_of
from agssl.train.teachers import train_teacher

log = logging.getLogger("agssl")

MOST = 6  # teachers that are kept
BAGS, SHARE = 20, 0.5  # selections, each among a random half of the candidates: few nodes choose less by chance
WORTH = 0.05  # of all selections that a teacher must be in, to be kept
GAIN = 2e-4  # of the mean log-likelihood, that one more teacher of cost 1 must bring
TINY = 1e-9
VARIANTS = ("", ":feature_norm=l2", ":input_dropout=0")  # of what is read of features, tried on the first scouts
CLOSE = 0.1  # of the least log-loss, within which a scout is not clearly worse
MOST_MADE = 6e7  # numbers that an encoder may make of the features to be tried
MOST_HELD = 2.5e7  # numbers that a step may hold for the edges: with more, attention takes several times a GCN's step
COSTS = {"mlp": 0.5, "appnp": 3.0, "gpr": 3.0, "gat": 6.0}  # of a step in units of a GCN's, about; of others 1
MOST_COST = 3.0  # of an encoder that tasks are trained on, where another is not clearly worse


@dataclass(frozen=True, eq=False)
class Pool:
    """The teachers that were kept, and what for."""

    teachers: tuple[Teacher, ...]
    student: str  # encoder and settings of the student's network
    tried: tuple[Candidate, ...]


def find_pool(context: Context) -> Pool:
    """Try, choose and keep."""
    found: dict[str, Tried | None] = {}
    while texts := next_round(context.settings, {name: loss_of(one) for name, one in found.items()}):
        found |= {text: try_teacher(context, text) for text in texts}
    student = best_networks({name: loss_of(one) for name, one in found.items()}, 1)[0]
    candidates = [one for one in found.values() if one is not None]
    shares = select(candidates, context)
    about = [replace(one.about, share=share, kept=kept) for one, (share, kept) in zip(candidates, shares, strict=True)]
    teachers = [one.teacher for one, now in zip(candidates, about, strict=True) if now.kept]
    return Pool(tuple(teachers), student, tuple(about))


def next_round(settings: Settings, found: Mapping[str, float]) -> list[str]:
    """The teachers that are to be tried next; none when all are.

    Args:
        settings: of the fit.
        found: log-loss on held-out nodes of those that were tried, by name; infinite where one was refused.
    """
    budget = settings.budget
    first = {variant: [_variant(text, variant) for text in budget.first] for variant in VARIANTS}
    if missing := [text for texts in first.values() for text in texts if text not in found]:
        return missing
    best = min(VARIANTS, key=lambda variant: np.mean([found[text] for text in first[variant]]))
    if missing := [text for text in (_variant(text, best) for text in budget.others) if text not in found]:
        return missing
    if not budget.tasks:
        return []
    where = best_networks(found, budget.encoders, MOST_COST)
    tasks = [f"{task}@{where[number % len(where)]}" for number, task in enumerate(budget.tasks)]  # dealt out in turn
    if budget.seeds > 1:
        tasks = [f"{task}@{one}" for one in where for task in budget.tasks]
        tasks += [f"{text}:seed={number}" for number in range(1, budget.seeds) for text in tasks]
    return [text for text in tasks if text not in found]


def round_sizes(settings: Settings) -> tuple[int, int, int]:
    """How many teachers are trained in each round."""
    budget = settings.budget
    others = [text for text in budget.others if not is_simple(TeacherSpec.parse(text).encoder)]
    tasks = len(budget.tasks) * (budget.encoders * budget.seeds if budget.seeds > 1 else 1)
    return len(VARIANTS) * len(budget.first), len(others), tasks


def best_networks(found: Mapping[str, float], count: int, cost: float = math.inf) -> list[str]:
    """The encoders, with settings, of the likeliest scouts that are trained, and of others that are not clearly worse.

    Tasks and the student get them. Those that cost more than asked are left out where others are near enough.
    """
    specs = {name: TeacherSpec.parse(name) for name in found}
    trained = [name for name, spec in specs.items() if spec.task == LABELS and not is_simple(spec.encoder)]
    trained = sorted((name for name in trained if math.isfinite(found[name])), key=found.__getitem__)
    if not trained:
        raise TrainingError("no network of the automatic pool could be trained; name some, as in --teachers par@gcn")
    near = [name for name in trained if found[name] <= (1 + CLOSE) * found[trained[0]]]
    near = [name for name in near if _step_cost(specs[name]) <= cost] or near
    each = {Spec.parse(specs[name].encoder or "").name: name for name in reversed(near)}  # the likeliest of its kind
    return [name.partition("@")[2] for name in near if name in each.values()][:count]


@dataclass(frozen=True, eq=False)
class Tried:
    """A candidate with its held-out probabilities."""

    teacher: Teacher
    probabilities: np.ndarray  # [n, C], of held-out nodes, at the best temperature
    about: Candidate


def loss_of(tried: Tried | None) -> float:
    """Its held-out log-loss; infinite where it was refused."""
    return math.inf if tried is None else tried.about.log_loss


def _variant(text: str, variant: str) -> str:
    return text if is_simple(TeacherSpec.parse(text).encoder) else text + variant


def try_teacher(context: Context, text: str) -> Tried | None:
    """The candidate of that name; None where it refuses the graph, or would take too long on it."""
    start = time.perf_counter()
    try:
        _check_size(context, text)
        teacher = train_teacher(context, text)
    except (GraphError, SettingsError, TrainingError) as error:
        log.info("teacher %s is left out: %s", text, error)
        return None
    truth = context.problem.labels[torch.from_numpy(context.problem.val_nodes)]
    heat = best_temperature(teacher.network.heldout, truth)
    probabilities = torch.softmax(teacher.network.heldout.double() / heat, dim=1).cpu().numpy()
    y = truth.cpu().numpy()
    accuracy = float((probabilities.argmax(1) == y).mean())
    about = Candidate(text, accuracy, log_loss(probabilities, y), time.perf_counter() - start)
    return Tried(teacher, probabilities, about)


def _check_size(context: Context, text: str) -> None:
    """Refuse an encoder that makes very many numbers of a graph."""
    spec = TeacherSpec.parse(text)
    if is_simple(spec.encoder):
        return
    settings, graph = context.settings.of_network(spec.encoder, spec.settings), context.problem.graph
    encoder = blueprint(shape_of(graph, settings))
    made, _ = encoder.made(graph)
    held = encoder.entry_numbers * (len(graph.indices) + graph.num_nodes)
    if made > MOST_MADE or held > MOST_HELD:
        raise GraphError(f"{spec.encoder} would make {made:.1e} numbers of {graph.name}, and {held:.1e} in a step")


def select(candidates: Sequence[Tried], context: Context) -> list[tuple[float, bool]]:
    """Of each candidate, its share in the selections, and whether it is kept: the few with the largest shares are."""
    y = context.problem.labels[torch.from_numpy(context.problem.val_nodes)].cpu().numpy()
    said = np.stack([one.probabilities[np.arange(len(y)), y] for one in candidates])  # [K, n], of the true class
    votes = greedy_votes(said, Rng(0).child("pool"), np.array([cost_of(one.about.name) for one in candidates]))
    order = np.argsort(-votes, kind="stable")
    kept = {int(k) for k in order[:MOST] if votes[k] >= WORTH} or {int(order[0])}
    return [(float(share), k in kept) for k, share in enumerate(votes)]


def cost_of(name: str) -> float:
    """What a teacher costs, in units of a GCN on the labels alone, about.

    >>> cost_of("labels@lp"), cost_of("labels@gcn"), cost_of("par@appnp")
    (0.0, 1.0, 6.0)
    """
    spec = TeacherSpec.parse(name)
    if is_simple(spec.encoder):
        return 0.0
    return _step_cost(spec) * (1 if spec.task == LABELS else 2)


def _step_cost(spec: TeacherSpec) -> float:
    """What a step on its encoder costs, in units of a GCN's, about."""
    return COSTS.get(Spec.parse(spec.encoder or "gcn").name, 1.0)


def greedy_votes(said: np.ndarray, rng: Rng, costs: np.ndarray | None = None) -> np.ndarray:
    """How often each candidate is chosen, [K], over several greedy selections, each among a random half of them.

    Args:
        said: [K, n], the probability that each gives to the true class of each held-out node.
        rng: of the halves.
        costs: [K], of each; None: all alike.
    """
    costs = np.ones(len(said)) if costs is None else costs
    votes, draw = np.zeros(len(said)), rng.numpy()
    for _ in range(BAGS):
        among = np.sort(draw.permutation(len(said))[: max(1, round(SHARE * len(said)))])
        chosen = greedy(said[among], costs[among])
        np.add.at(votes, among[chosen], 1 / len(chosen))
    return votes / BAGS


def greedy(said: np.ndarray, costs: np.ndarray | None = None) -> list[int]:
    """The sequence, with repetitions, whose mean is likeliest, step by step: the best pair, then what helps most.

    One that is not among them yet must be worth its cost: its gain is told in likelihood less `GAIN` times that.

    A pair comes first, since two that know different halves of the nodes are each worse alone than one that knows
    little of all.

    >>> greedy(np.array([[0.9, 0.2], [0.2, 0.9], [0.5, 0.5]]))
    [0, 1]
    """
    prices = GAIN * (np.ones(len(said)) if costs is None else costs)
    pairs = [(i, j) for i in range(len(said)) for j in range(i, len(said))]
    worth = [_likelihood(said[list(pair)].sum(0), 2) - prices[list(set(pair))].sum() for pair in pairs]
    chosen = list(pairs[int(np.argmax(worth))])
    total = said[chosen].sum(0)
    while len(chosen) < 2 * MOST:
        scores = [
            _likelihood(total + one, len(chosen) + 1) - prices[k] * (k not in chosen) for k, one in enumerate(said)
        ]
        k = int(np.argmax(scores))
        if scores[k] <= _likelihood(total, len(chosen)):
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
