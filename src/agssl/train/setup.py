"""What settings mean on a graph: the problem they pose, the schedule of its networks, its mini-batches."""

from __future__ import annotations

from pathlib import Path

from agssl.base.spec import Spec
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.encoders import ENCODERS, Shape, blueprint
from agssl.ops.memory import keep_freed_memory
from agssl.train.batches import Batches
from agssl.train.loop import Schedule
from agssl.train.problem import Problem


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
        nodes=graph.num_nodes if ENCODERS[Spec.parse(settings.encoder).name].knows_nodes else 0,
    )


def problem_of(graph: Graph, settings: Settings, device: str = "cpu") -> Problem:
    """The problem that these settings pose on this graph."""
    keep_freed_memory()
    shape = shape_of(graph, settings)
    problem = Problem.of(graph, shape, balanced=settings.class_weight == "balanced", device=device)
    blueprint(shape).read(problem.graph)  # once, before anything is trained: an encoder may refuse a graph
    return problem


def schedule_of(settings: Settings) -> Schedule:
    """The schedule of every network."""
    return Schedule(settings.lr, settings.weight_decay, settings.epochs, settings.patience)


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
    schedule, batches = schedule_of(settings), batches_of(graph, settings)
    return schedule if batches is None else batches.schedule(schedule)
