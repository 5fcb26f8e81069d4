"""Cross-validation on a graph: a model is fitted while the labels of a fold are hidden, and measured by them."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from agssl.base.errors import GraphError, SettingsError
from agssl.base.processes import work
from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.splits import make_split
from agssl.fitting.fit import Resources, fit, split_for
from agssl.metrics import (
    Decision,
    Measured,
    decided,
    evaluate,
    measure,
    metric_text,
    resampled,
    wilson_interval,
)


@dataclass(frozen=True, eq=False)
class Folds:
    """What is fitted, and which nodes are hidden when."""

    graph: Graph  # with all labels and no split
    settings: Settings
    split: str  # of the labels that are left; see `agssl.data.splits`
    fold: Mapping[int, np.ndarray]  # by seed: the fold of every node, int64 [N], -1 where it is never hidden
    where: Resources

    @property
    def count(self) -> int:
        """How many folds each seed has."""
        return 1 + int(next(iter(self.fold.values())).max())


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """What models said of nodes whose labels they had never seen.

    Attributes:
        metric: the one that `value` and `interval` are of.
        value: its mean over folds and seeds.
        interval: its 95% interval, over the nodes: Wilson's for accuracy, by resampling the nodes for others.
        scores: of each metric, [seeds, folds]; NaN where a fold lacks the classes that it compares.
        seeds: each drew its own folds, and was the `random_state` of its fits.
        nodes: the labelled nodes that were hidden once per seed, by number, [n]; not among them is the only node of a
            class, without which nothing could learn the class.
        fold: in which fold each of them was hidden, [seeds, n].
        probabilities: of the classes, by the fits that did not know the node's label, [n, C]; the mean over seeds.
        predictions: the classes by these, as they were given, [n].
        classes: in the order of the columns.
        seconds: that all of it took.
    """

    metric: str
    value: float
    interval: tuple[float, float]
    scores: dict[str, np.ndarray]
    seeds: tuple[int, ...]
    nodes: np.ndarray
    fold: np.ndarray
    probabilities: np.ndarray
    predictions: np.ndarray
    classes: np.ndarray
    seconds: float

    @property
    def mean(self) -> dict[str, float]:
        """The mean of every metric over folds and seeds, leaving out folds where it is not defined."""
        return {name: _mean(values) for name, values in self.scores.items()}

    def __str__(self) -> str:
        value, low, high = (metric_text(self.metric, end) for end in (self.value, *self.interval))
        seeds, folds = self.scores[self.metric].shape
        times = "" if seeds == 1 else f" with each of {seeds} seeds"
        where = f"{len(self.nodes):,} nodes, hidden in {folds} folds{times}"
        return f"{self.metric} {value} (95% interval {low} to {high}) on {where}"


@dataclass(frozen=True, eq=False)
class Answer:
    """What one fit said of the nodes that were hidden from it."""

    probabilities: np.ndarray  # [n, C]
    decision: Decision | None
    seconds: float


def make_folds(
    graph: Graph, settings: Settings, split: str, folds: int, seeds: Sequence[int], where: Resources
) -> Folds:
    """Stratified folds of the labelled nodes, drawn by each seed; whatever split the graph brings is not used."""
    if split.strip().partition(":")[0] == "public" or Path(split).suffix.lower() in (".npz", ".json", ".csv"):
        raise SettingsError(
            f"split = {split!r} says of each node what it is for, but cross-validation hides nodes of its own choice; "
            "take auto, cv:5, holdout:0.2 or another that is drawn"
        )
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise SettingsError(f"folds = {folds!r}, but cross-validation needs a whole number of at least two")
    graph = replace(graph, split=None, splits=(), named=False)
    if len(graph.classes) == 2 and settings.positive is None:  # the same class for all folds: the rarer one
        first, second = np.bincount(graph.y[graph.y >= 0], minlength=2)
        settings = settings.replace(positive=graph.classes[0 if first < second else 1])
    found = {}
    for seed in seeds:
        drawn = make_split(f"cv:{folds}", graph, Rng(seed).child("cross-validation"))
        assert drawn.fold is not None
        found[seed] = np.full(graph.num_nodes, -1, dtype=np.int64)
        found[seed][drawn.val] = drawn.fold
    made = Folds(graph, settings, split, found, where)
    if made.count < 2:
        raise GraphError(f"{graph.name} has {(graph.y >= 0).sum()} labelled nodes, too few to hide some; label more")
    return made


def fit_without(folds: Folds, item: tuple[int, int]) -> Answer:
    """Fit with a seed while one fold is hidden, and ask about it."""
    seed, number = item
    hidden = folds.fold[seed] == number
    graph = replace(folds.graph, y=np.where(hidden, -1, folds.graph.y))
    result = fit(split_for(graph, folds.split, seed), folds.settings, seed, folds.where)
    return Answer(result.fitted.confidence(result.fitted.logits[hidden]), result.fitted.decision, result.seconds)


def cross_validation(
    folds: Folds,
    metric: str,
    values: np.ndarray,
    jobs: int = 1,
    done: Callable[[str], None] = lambda line: None,
) -> CrossValidation:
    """Fit every fold of every seed and measure; the same whatever `jobs` is.

    Args:
        folds: see `make_folds`.
        metric: what to report.
        values: the classes as they were given.
        jobs: fits side by side, in processes.
        done: hears a line about each fit.
    """
    began, truth = time.perf_counter(), folds.graph.y
    items = [(seed, number) for seed in folds.fold for number in range(folds.count)]
    said: dict[tuple[int, int], Measured] = {}

    def finish(item: tuple[int, int], answer: Answer) -> None:
        nodes = np.flatnonzero(folds.fold[item[0]] == item[1])
        one = said[item] = Measured(nodes, truth[nodes], answer.probabilities, answer.decision)
        value = metric_text(metric, evaluate(one.truth, one.probabilities, one.decision)[metric])
        done(f"[{len(said)}/{len(items)}] seed {item[0]}, fold {item[1] + 1}: {metric} {value}, {answer.seconds:.1f} s")

    waiting = iter(items)
    work(functools.partial(fit_without, folds), lambda: next(waiting, None), finish, max(1, min(jobs, len(items))))
    models = [said[item] for item in items]
    each = [evaluate(one.truth, one.probabilities, one.decision) for one in models]
    shape = (len(folds.fold), folds.count)
    scores = {name: np.array([found[name] for found in each]).reshape(shape) for name in each[0]}
    nodes = np.flatnonzero(next(iter(folds.fold.values())) >= 0)
    probabilities, predicted = _together(models, nodes, folds.graph)
    value = _mean(scores[metric])
    return CrossValidation(
        metric=metric,
        value=value,
        interval=_interval(metric, value, models, len(nodes)),
        scores=scores,
        seeds=tuple(folds.fold),
        nodes=nodes,
        fold=np.stack([fold[nodes] for fold in folds.fold.values()]),
        probabilities=probabilities,
        predictions=values[predicted],
        classes=values,
        seconds=time.perf_counter() - began,
    )


def _together(models: Sequence[Measured], nodes: np.ndarray, graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Mean probabilities [n, C] of the nodes over the fits that they were hidden from, and the classes by these."""
    total, threshold = np.zeros((graph.num_nodes, len(graph.classes))), np.zeros(graph.num_nodes)
    times = np.zeros(graph.num_nodes)
    for one in models:
        total[one.nodes] += one.probabilities
        times[one.nodes] += 1
        if one.decision is not None and one.decision.threshold is not None:
            threshold[one.nodes] += one.decision.threshold
    mean = total[nodes] / times[nodes, None]
    decision = models[0].decision
    if decision is None or decision.threshold is None:
        return mean, decided(mean)
    positive = mean[:, decision.positive] >= threshold[nodes] / times[nodes]
    return mean, np.where(positive, decision.positive, 1 - decision.positive)


def _interval(metric: str, value: float, models: Sequence[Measured], nodes: int) -> tuple[float, float]:
    """The 95% interval over nodes, each counted once however many seeds there are."""
    if metric == "accuracy":
        return wilson_interval(value, nodes)
    known = [one for one in models if np.isfinite(measure(metric, one.truth, one.probabilities, one.decision))]
    found = resampled(metric, known) if known else np.empty(0)
    if not len(found):
        return float("nan"), float("nan")
    low, high = np.percentile(found, [2.5, 97.5]).tolist()
    return low, high


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
