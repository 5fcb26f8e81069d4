"""The one way to fit: a graph with its split, settings and a seed in, a fitted model out.

The command line, the estimator, `agssl tune` and `agssl bench` all come through here, so that the same graph, settings
and seed give the same bits whoever asks.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.splits import make_split
from agssl.fitting.smooth import smoothed
from agssl.integrate.calibration import Confidence
from agssl.integrate.sets import Conformal
from agssl.metrics import Decision, find_threshold
from agssl.ops.seen import Seen
from agssl.store.checkpoints import CheckpointStore, Record
from agssl.store.fitted import FittedModel
from agssl.train.context import Candidate
from agssl.train.loop import Watch, ignore
from agssl.train.methods import MethodResult, train_method
from agssl.train.setup import check_metric, decision_of
from agssl.train.transfer import keep_teachers


@dataclass(frozen=True)
class Resources:
    """Where a fit computes, and where it keeps what others may use."""

    cache: Path | None = None  # folder for prepared targets; None: in memory
    checkpoints: CheckpointStore | None = None  # where to keep what was trained, and to find what was
    device: str = "cpu"
    threads: int = 1


@dataclass(frozen=True, eq=False)
class FitResult:
    """A fitted model and how it came about."""

    fitted: FittedModel
    history: dict[str, list[Record]]  # by stage: "gcn", "teacher par", "student", ...
    seconds: float
    cpu_seconds: float
    tried: tuple[Candidate, ...] = ()  # by the automatic pool

    @property
    def epochs(self) -> dict[str, int]:
        """How many epochs each stage took."""
        return {stage: len(records) for stage, records in self.history.items()}


def split_for(graph: Graph, how: str, seed: int) -> Graph:
    """The graph with the split of a seed; see `agssl.data.splits.make_split`."""
    return graph.with_split(make_split(how, graph, Rng(seed).child("split")))


def fit(
    graph: Graph,
    settings: Settings,
    seed: int = 0,
    resources: Resources | None = None,
    watch: Watch = ignore,
    *,
    folds_only: bool = False,
) -> FitResult:
    """Fit a graph that has a split.

    Args:
        graph: its test labels are never read, but to see that the metric can be measured on them.
        settings: what to do.
        seed: of everything random but the split, which is the graph's.
        resources: where to compute and what to keep.
        watch: called with the stage and the record of every epoch.
        folds_only: stop after the networks of the folds, where the split has any: for what is kept of them.
    """
    where = resources or Resources()
    if graph.split is not None:
        check_metric(graph, settings)
    wall, cpu = time.perf_counter(), time.process_time()
    with use_threads(where.threads):
        result = train_method(
            graph.hide_test(),
            settings,
            seed,
            watch=watch,
            cache=where.cache,
            device=where.device,
            checkpoints=where.checkpoints,
            folds_only=folds_only,
        )
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    fitted = fitted_model(result, graph, settings, seed)
    return FitResult(fitted, result.history, seconds, cpu_seconds, result.tried)


def fitted_model(result: MethodResult, graph: Graph, settings: Settings, seed: int) -> FittedModel:
    """What stays of a training."""
    trained = result
    if settings.smooth:
        result = smoothed(trained, graph, settings, chosen_by(graph, trained)[1])
    confidence = confidence_of(graph, result, settings)
    alphas = {teacher.name: teacher.alpha for teacher in result.teachers} or result.tasks
    teachers = [teacher.network.logits.cpu().numpy() for teacher in result.teachers]
    return FittedModel(
        model=result.model.cpu(),
        shape=result.model.shape,
        settings=settings,
        seed=seed,
        classes=graph.classes,
        logits=result.logits.cpu().numpy(),
        best=result.best,
        task_names=tuple(alphas),
        alphas=tuple(alphas.values()),
        teacher_logits=np.stack(teachers) if teachers else np.zeros((0, 0, 0), np.float32),
        weights=None if result.weights is None else result.weights.cpu().numpy(),
        class_kind=graph.class_kind,
        columns=graph.columns,
        decision=decide(graph, settings, result, confidence),
        heldout=None if result.heldout is None else result.heldout.logits.cpu().numpy(),
        teacher_heldout=None if result.heldout is None else _numpy(result.heldout.teachers),
        heldout_weights=None if result.heldout is None else _numpy(result.heldout.weights),
        teachers=keep_teachers(trained, settings.integration),
        student_logits=None if result.student_logits is None else result.student_logits.cpu().numpy(),
        unsmoothed=trained.logits.cpu().numpy() if settings.smooth else None,
        calibration=None if result.knowledge is None else result.knowledge.calibration,
        confidence=confidence,
        conformal=conformal_of(graph, result, confidence),
        seen=Seen.of(graph),
    )


def _numpy(found: torch.Tensor | None) -> np.ndarray | None:
    return None if found is None else found.cpu().numpy()


def chosen_by(graph: Graph, result: MethodResult) -> tuple[np.ndarray, np.ndarray]:
    """The held-out nodes that choose, and logits of them by networks that have not seen their labels."""
    assert graph.split is not None
    nodes = graph.split.val
    if result.heldout is not None:
        return nodes, result.heldout.choice.cpu().numpy()
    logits = result.logits[torch.from_numpy(nodes)] if result.apart is None else result.apart
    return nodes, logits.cpu().numpy()


def confidence_of(graph: Graph, result: MethodResult, settings: Settings) -> Confidence:
    """The calibration of a model, by held-out labels."""
    nodes, logits = chosen_by(graph, result)
    assert graph.split is not None
    cross = graph.split.measure is None
    return Confidence.fitted(logits, graph.y[nodes], cross, settings.class_shifts)


def conformal_of(graph: Graph, result: MethodResult, confidence: Confidence) -> Conformal:
    """What prediction sets go by: the scores of held-out nodes."""
    nodes, logits = chosen_by(graph, result)
    return Conformal.fitted(confidence(result.logits.cpu().numpy()), graph, nodes, confidence(logits))


def decide(graph: Graph, settings: Settings, result: MethodResult, confidence: Confidence) -> Decision | None:
    """Of two classes, the positive one and the threshold that the settings ask for, found on held-out nodes."""
    decision = decision_of(graph, settings)
    if decision is None or settings.threshold == "none":
        return decision
    (nodes, logits), positive = chosen_by(graph, result), decision.positive
    probabilities = confidence(logits)[:, positive]
    found = find_threshold(graph.y[nodes] == positive, probabilities, settings.threshold)
    return replace(found, positive=positive)


@contextlib.contextmanager
def use_threads(count: int) -> Iterator[None]:
    """So many threads of torch inside the block, and as many as before after it."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
