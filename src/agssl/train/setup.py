"""What settings mean on a graph: the problem they pose, the schedule of its networks, its mini-batches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from agssl.base.errors import GraphError, SettingsError, unknown_name
from agssl.base.spec import Spec
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.encoders import ENCODERS, Shape, blueprint
from agssl.metrics import RANKED, Decision
from agssl.ops.graph_views import viewed
from agssl.ops.memory import keep_freed_memory
from agssl.train.batches import Batches
from agssl.train.loop import Schedule
from agssl.train.problem import Problem

LEAST, ENOUGH = 50, 200  # epochs where hardly a label is held out, and labels from which on any epoch may be the best


def shape_of(graph: Graph, settings: Settings) -> Shape:
    """What a network looks like that these settings ask for on this graph."""
    return Shape(
        features=graph.num_features,
        hidden=settings.hidden,
        classes=graph.num_classes,
        layers=settings.layers,
        head=settings.head,
        norm=settings.norm,
        residual=settings.residual,
        dropout=settings.dropout,
        input_dropout=settings.input_dropout,
        feature_norm=settings.feature_norm,
        skip_weight=settings.skip_weight,
        encoder=settings.encoder,
        view=settings.view,
        nodes=graph.num_nodes if ENCODERS[Spec.parse(settings.encoder).name].knows_nodes else 0,
    )


def problem_of(graph: Graph, settings: Settings, device: str = "cpu", cache: Path | None = None) -> Problem:
    """The problem that these settings pose on this graph; edges of another view are kept in the cache."""
    keep_freed_memory()
    graph = viewed(graph, settings.view, cache)
    shape = shape_of(graph, settings)
    problem = Problem.of(graph, shape, balanced=settings.class_weight == "balanced", device=device)
    blueprint(shape).read(problem.graph)  # once, before anything is trained: an encoder may refuse a graph
    check_metric(graph, settings)
    weights = class_weights_of(graph, settings)
    return replace(problem, class_weights=weights, metric=settings.metric, decision=decision_of(graph, settings))


def class_weights_of(graph: Graph, settings: Settings) -> tuple[float, ...] | None:
    """The weight of each class where some are given, 1 for the others."""
    given = settings.class_weight
    if isinstance(given, str):
        return None
    for name in given:
        if name not in graph.classes:
            raise unknown_name("class in class_weight", str(name), graph.classes)
    return tuple(float(given.get(name, 1.0)) for name in graph.classes)


def decision_of(graph: Graph, settings: Settings) -> Decision | None:
    """Which of two classes is the positive one: the one named, or the rarer one; None where there are not two."""
    if len(graph.classes) != 2:
        for name, value in (("threshold", settings.threshold), ("positive", settings.positive)):
            if value not in ("none", None):
                raise SettingsError(
                    f"{name} = {value!r} is for two classes, but {graph.name} has {len(graph.classes)}; leave it out"
                )
        return None
    if settings.positive is not None:
        if settings.positive not in graph.classes:
            raise unknown_name("positive class", settings.positive, graph.classes)
        return Decision(graph.classes.index(settings.positive))
    assert graph.split is not None
    known = graph.y[np.concatenate([graph.split.train, graph.split.val])]
    first, second = np.bincount(known[known >= 0], minlength=2)
    return Decision(0 if first < second else 1)


def check_metric(graph: Graph, settings: Settings) -> None:
    """Refuse, before training, a split that leaves the metric or the threshold nothing to compare.

    Of test labels, where they are known, it reads no more than which classes there are.
    """
    assert graph.split is not None
    parts = graph.split.to_arrays()
    needs = {part: f"metric {settings.metric}" for part in ("val", "test") if settings.metric in RANKED}
    if settings.threshold != "none":
        needs.setdefault("val", f"threshold {settings.threshold}")
    for part, what in needs.items():
        known = graph.y[parts[part]]
        present = np.unique(known[known >= 0])
        if len(present) == 1:
            others = [name for k, name in enumerate(graph.classes) if k != present[0]]
            shown = ", ".join(repr(name) for name in others[:5]) + (", ..." if len(others) > 5 else "")
            raise GraphError(
                f"{what} compares classes, but the {part} part of the split has {len(known)} nodes of class "
                f"{graph.classes[present[0]]!r} and none of {shown}; label more of them, make the part larger "
                "(--split), or choose another"
            )


def schedule_of(settings: Settings) -> Schedule:
    """The schedule of every network."""
    return Schedule(settings.lr, settings.weight_decay, settings.epochs, settings.patience)


def least_epochs(graph: Graph) -> int:
    """How long networks train before an epoch may be taken for the best, where folds choose it.

    By ten held-out labels, a network that has hardly begun to learn is as good as any.
    """
    if graph.split is None or graph.split.fold is None:
        return 0
    return max(0, round(LEAST * (1 - len(graph.split.val) / ENOUGH)))


def batches_of(graph: Graph, settings: Settings, cache: Path | None = None) -> Batches | None:
    """How the graph is cut into mini-batches; None: not at all."""
    if settings.batch in ("auto", "full"):
        return None
    encoder = blueprint(shape_of(graph, settings))
    # A head of many hops reads far; two of them see most of what it weighs.
    reach = encoder.reach + min(encoder.head_hops, 2) - 1
    return Batches(graph, settings.batch, settings.batch_nodes, reach, cache)


def schedule_on(graph: Graph, settings: Settings) -> Schedule:
    """The schedule of every network on a graph; mini-batches make for fewer epochs."""
    schedule, batches = replace(schedule_of(settings), least=least_epochs(graph)), batches_of(graph, settings)
    return schedule if batches is None else batches.schedule(schedule)
