"""Running one cell: fit without test labels, then read them once for the record."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from agssl.base.provenance import machine
from agssl.base.spec import Spec
from agssl.base.system import peak_mb
from agssl.base.version import __version__
from agssl.bench.cells import BENCHMARK, SCHEMA, Cell, file_stem
from agssl.bench.pools import FirstStudent, pool_record
from agssl.bench.records import FORMAT, CellRecord
from agssl.bench.studies import STUDIES
from agssl.bench.tuned import tune
from agssl.config import effective
from agssl.data.graph import Graph
from agssl.data.resolve import open_graph
from agssl.explain.groups import bucket_names
from agssl.fitting.fit import Resources, fit, split_for
from agssl.fitting.job import Job, measure, prepare
from agssl.store.checkpoints import CheckpointStore
from agssl.store.fitted import FittedModel
from agssl.store.run_writer import plain
from agssl.train.distill import BUCKETS, degree_buckets

POINTS = 60  # most epochs that a learning curve keeps
CURVE_DEGREE = 4  # lambda over epochs is that of the degree bucket that begins here: 4 to 6


@dataclass(frozen=True)
class Workspace:
    """Where cells are run, and what goes into every record."""

    cache: Path
    threads: int = 1
    commit: str | None = None

    def checkpoints(self, cell: Cell) -> Path:
        """Where the cells of a group find each other's teachers."""
        dataset, seed, strategy, _ = cell.teacher_group
        return self.cache / "stages" / "bench" / f"{file_stem(dataset)}-{strategy}-{seed}"


def run_cell(workspace: Workspace, cell: Cell) -> CellRecord:
    """Fit a cell and measure it; gives its record."""
    graph = split_for(graph_of(cell.dataset), cell.split, cell.seed)
    targets = workspace.cache / "targets"
    if cell.tries:  # what is made of the graph before training, they share
        where = Resources(targets, threads=workspace.threads)
        found = tune(graph, cell.tries, cell.settings, cell.seed, where)
        return plain(_about(cell, workspace) | found | {"peak_mb": peak_mb()})
    # what is taken from the store is bit-equal to what would be trained here; only time must not be measured so
    checkpoints = None if cell.cost or cell.whole else CheckpointStore(workspace.checkpoints(cell))
    where = Resources(None if cell.whole else targets, checkpoints, threads=workspace.threads)
    if cell.study:
        return plain(_about(cell, workspace) | _studied(cell, graph, where))
    watch = FirstStudent()
    result = fit(graph, cell.settings, cell.seed, where, watch)
    fitted = result.fitted
    record = _about(cell, workspace) | measure(fitted, graph)
    if cell.whole:
        record["pool"] = pool_record(result, graph, min(watch.seconds, result.seconds))
    record["by_degree"] = _by_degree(fitted, graph)
    if fitted.weights is not None:
        record["lambda_by_degree"] = _lambda_by_degree(fitted.weights, graph.degree)
    if cell.curves:
        record["curves"] = curves(result.history)
    record |= {
        "epochs": result.epochs,
        "best_epoch": int(fitted.best["epoch"]),
        "seconds": round(result.seconds, 3),
        "cpu_seconds": round(result.cpu_seconds, 3),
        "peak_mb": peak_mb(),
    }
    return plain(record)


def _studied(cell: Cell, graph: Graph, where: Resources) -> CellRecord:
    """What a cell measures in place of predictions."""
    wall, cpu = time.perf_counter(), time.process_time()
    spec = Spec.parse(cell.study)
    options = dict(option.split("=", 1) for option in spec.options)
    found = STUDIES[spec.name](graph, cell.settings, cell.seed, where, **options)
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    times = {"seconds": round(seconds, 3), "cpu_seconds": round(cpu_seconds, 3), "peak_mb": peak_mb()}
    return {"seed": cell.seed, "study": cell.study, "val": None, "test": None} | found | times


@functools.lru_cache(maxsize=2)  # cells come dataset by dataset, two where one ends and the next begins
def graph_of(dataset: str) -> Graph:
    """The graph of a dataset, read once per process."""
    return open_graph(dataset, split=None)


def prepare_targets(workspace: Workspace, cell: Cell) -> None:
    """Fill the cache of targets, so that whoever is measured first does not pay for all."""
    job = Job(graph_of(cell.dataset), cell.settings, cache=workspace.cache / "targets", threads=workspace.threads)
    prepare(job)


def _about(cell: Cell, workspace: Workspace) -> CellRecord:
    about = {
        "format": FORMAT,
        "schema": SCHEMA,
        "key": cell.key,
        "dataset": cell.dataset,
        "method": cell.method,
        "strategy": cell.strategy,
        "settings": effective(cell.settings),
        "config": cell.config,
        "cost": cell.cost,
        "agssl": __version__,
        "commit": workspace.commit,
        "machine": machine(workspace.threads),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    about |= {"split_asked": cell.split} if cell.split != BENCHMARK else {}
    return about | {"whole": True} if cell.whole else about


def _by_degree(fitted: FittedModel, graph: Graph) -> CellRecord:
    """Test nodes, and how many of them are right, by degree bucket."""
    assert graph.split is not None
    nodes = graph.split.test[graph.y[graph.split.test] >= 0]
    buckets = degree_buckets(graph.degree[nodes])
    right = fitted.confidence(fitted.logits[nodes]).argmax(1) == graph.y[nodes]
    return {
        "buckets": bucket_names(),
        "count": np.bincount(buckets, minlength=len(BUCKETS)).tolist(),
        "correct": np.bincount(buckets[right], minlength=len(BUCKETS)).tolist(),
    }


def _lambda_by_degree(weights: np.ndarray, degree: np.ndarray) -> list[list[float] | None]:
    """Mean lambda [K] of all nodes in each degree bucket; None where a bucket is empty."""
    buckets = degree_buckets(degree)
    return [
        [round(float(w), 5) for w in weights[buckets == b].mean(0, dtype=np.float64)] if (buckets == b).any() else None
        for b in range(len(BUCKETS))
    ]


def curves(history: Mapping[str, Sequence[Mapping[str, float]]]) -> CellRecord:
    """The last student's lambda at one degree bucket, squared errors and accuracies, at no more than `POINTS` epochs.

    There is none of test nodes: no test label is read while anything trains.
    """
    records = next((history[stage] for stage in [*history][::-1] if stage.startswith("student")), ())
    if not records:
        return {}
    at = np.unique(np.linspace(0, len(records) - 1, min(POINTS, len(records))).round().astype(int))
    tasks = sum(name.startswith("lambda") and "_" not in name for name in records[0])
    names = {f"lambda{k}": f"lambda{k}_degree{CURVE_DEGREE}" for k in range(tasks)}
    names |= {name: name for name in ("epoch", "train_mse", "val_mse", "train_accuracy", "val_accuracy")}
    return {
        short: [round(float(records[i][name]), 5) for i in at] for short, name in names.items() if name in records[0]
    }
