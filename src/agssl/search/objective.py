"""What a trial is scored by: the metric on validation nodes that nothing in the fit has seen the labels of.

With `weights_from = "val"`, lambda and the teachers' calibration are fitted to validation labels; with any method,
alpha and the best epoch are chosen by them. A student's result on these same nodes would reward settings that fit
them best. So validation nodes are halved, class by class and anew for every seed: the fit gets one half as its
validation nodes, and the score is the metric on the other. So settings are chosen by labels that nothing in the fit
has used.
"""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agssl.base.errors import AgsslError, GraphError
from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.fitting.fit import Resources, fit, split_for
from agssl.metrics import gain, measure
from agssl.store.checkpoints import CheckpointStore

STORE_LIMIT = 4 << 30  # bytes of trained teachers to keep while a study runs


@dataclass(frozen=True, eq=False)
class Common:
    """What all trials share."""

    graphs: Mapping[int, Graph]  # by seed, see `halved`
    cache: Path | None = None
    checkpoints: CheckpointStore | None = None  # teachers that other trials have trained
    threads: int = 1


@dataclass(frozen=True, eq=False)
class TrialSeed:
    """One seed of one trial."""

    trial: int
    step: int
    settings: Settings
    seed: int


def without_test(graph: Graph, split: str, seed: int) -> Graph:
    """The graph with the split of a tuning seed, its test labels removed; from here on nobody can read them.

    Of a split that holds nodes out in turn, a search takes the first turn: it trains many networks, and needs one
    measure of each.
    """
    found = split_for(graph, split, seed)
    assert found.split is not None
    return found.with_split(found.split.folds()[0]).hide_test()


def halved(graph: Graph, seed: int) -> Graph:
    """The same with its validation nodes halved: one half to validate, the other where test nodes were."""
    split = graph.split
    assert split is not None
    nodes = split.val[Rng(seed).child("tune", "halves").numpy().permutation(len(split.val))]
    nodes = nodes[np.argsort(graph.y[nodes], kind="stable")]
    kept, scored = np.sort(nodes[0::2]), np.sort(nodes[1::2])
    if not len(scored):
        raise GraphError(f"{graph.name} has {len(split.val)} validation node, but a search needs two at least")
    return graph.with_split(Split(split.train, kept, scored, f"{split.origin}, validation halved"))


def score(common: Common, task: TrialSeed) -> np.ndarray | float | str:
    """Which nodes are right of the half that the fit did not see, bool; or why it failed.

    For another metric than accuracy it is its value, greater being better.
    """
    graph = common.graphs[task.seed]
    assert graph.split is not None
    targets = None if common.cache is None else common.cache / "targets"
    try:
        result = fit(graph, task.settings, task.seed, Resources(targets, common.checkpoints, threads=common.threads))
    except AgsslError as error:
        return str(error)
    except Exception as error:  # as where memory does not suffice for these settings: others may still do
        return " ".join("".join(traceback.format_exception_only(error)).split())
    fitted, nodes, metric = result.fitted, graph.split.test, task.settings.metric
    probabilities = fitted.confidence(fitted.logits[nodes])
    if metric == "accuracy":
        return fitted.decide(probabilities) == graph.y[nodes]
    return gain(metric, measure(metric, graph.y[nodes], probabilities, fitted.decision))


def trim(folder: Path, limit: int = STORE_LIMIT) -> None:
    """Remove the oldest files of a folder until it is no larger than `limit` bytes; 0 removes the folder."""
    if limit == 0:
        shutil.rmtree(folder, ignore_errors=True)
        return
    files = sorted(((path.stat(), path) for path in folder.glob("*") if path.is_file()), key=lambda f: f[0].st_mtime)
    size = sum(status.st_size for status, _ in files)
    for status, path in files:
        if size <= limit:
            return
        path.unlink(missing_ok=True)
        size -= status.st_size
