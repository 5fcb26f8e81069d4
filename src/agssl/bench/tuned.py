"""A baseline whose settings validation chooses: several are fitted, and the one that is chosen meets the test nodes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agssl.config import Settings, TeacherSpec
from agssl.data.graph import Graph
from agssl.fitting.fit import Resources, fit, use_threads
from agssl.metrics import evaluate, gain, softmax
from agssl.ops.graph_views import viewed
from agssl.simple import is_simple, make_simple
from agssl.train.setup import decision_of


@dataclass(frozen=True, eq=False)
class Tried:
    """One of several: what it says of all nodes, and how good that is on validation nodes."""

    name: str
    logits: np.ndarray  # [N, C]
    seconds: float
    val: dict[str, float]


def tune(graph: Graph, tries: Sequence[str], settings: Settings, seed: int, where: Resources) -> dict[str, Any]:
    """What a record says of the baseline: the chosen one's figures, all that were tried, and the time of both.

    Args:
        graph: with the seed's split; test labels are read once, for the one that is chosen.
        tries: as teachers are named, `labels@mlp:feature_norm=l2`.
        settings: what the tries do not say.
        seed: of everything random.
        where: to compute.
    """
    assert graph.split is not None
    cpu = time.process_time()
    tried = [try_out(graph, text, settings, seed, where) for text in tries]
    best = choose(tried, settings.metric)
    test, decision = graph.split.test, decision_of(graph, settings)
    return {
        "seed": seed,
        "split": {"origin": graph.split.origin} | graph.split.sizes(),
        "val": best.val,
        "test": evaluate(graph.y[test], softmax(best.logits[test]), decision) if len(test) else None,
        "chosen": best.name,
        "tried": [
            {"name": one.name, settings.metric: one.val[settings.metric], "seconds": round(one.seconds, 3)}
            for one in tried
        ],
        "fit_seconds": round(best.seconds, 3),
        "seconds": round(sum(one.seconds for one in tried), 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
    }


def choose(tried: Sequence[Tried], metric: str) -> Tried:
    """The best on validation nodes; of equals, the likeliest, and of these the first."""
    return max(tried, key=lambda one: (gain(metric, one.val[metric]), -one.val["log_loss"]))


def try_out(graph: Graph, text: str, settings: Settings, seed: int, where: Resources) -> Tried:
    """Fit a network or a classifier that a text names, without test labels."""
    split, start = graph.split, time.perf_counter()
    assert split is not None
    logits, seconds = _logits(graph.hide_test(), text, settings, seed, where), time.perf_counter() - start
    val = evaluate(graph.y[split.val], softmax(logits[split.val]), decision_of(graph, settings))
    return Tried(text, logits, seconds, val)


def _logits(graph: Graph, text: str, settings: Settings, seed: int, where: Resources) -> np.ndarray:
    spec, split = TeacherSpec.parse(text), graph.split
    if not is_simple(spec.encoder):
        return fit(graph, settings.of_teacher(text), seed, where).fitted.logits
    assert spec.encoder is not None
    assert split is not None
    seen = viewed(graph, spec.settings.get("view", settings.view), where.cache)
    with use_threads(where.threads):
        return make_simple(spec.encoder).fit_predict(seen, split.train, graph.y[split.train], len(graph.classes))
