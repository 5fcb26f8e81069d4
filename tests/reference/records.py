"""Records of cells that were never run, to aggregate and draw."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from agssl.bench.cells import SCHEMA, Cell, unique
from agssl.bench.records import FORMAT, CellRecord, Records
from agssl.config import effective
from agssl.explain.groups import bucket_names


def record_of(cell: Cell, accuracy: float | None = None, seconds: float = 2.0) -> CellRecord:
    """A record with made-up figures; the accuracy depends on the cell alone."""
    draw = np.random.default_rng(int(cell.key, 16) % 2**32)
    tasks = cell.settings.tasks if cell.settings.method == "agssl" else ()
    accuracy = 0.7 + 0.2 * draw.random() if accuracy is None else accuracy
    buckets = bucket_names()
    weights = draw.dirichlet(np.ones(len(tasks)), len(buckets)).tolist() if tasks else None
    record: CellRecord = {
        "format": FORMAT,
        "schema": SCHEMA,
        "key": cell.key,
        "dataset": cell.dataset,
        "method": cell.method,
        "strategy": cell.strategy,
        "settings": effective(cell.settings),
        "config": cell.config,
        "cost": cell.cost,
        "seed": cell.seed,
        "agssl": "0",
        "commit": "abc123",
        "machine": {"processor": "some kind", "cores": 2, "threads": 1, "torch": "2"},
        "val": {"accuracy": accuracy, "log_loss": 0.5},
        "test": {"accuracy": accuracy, "macro_f1": accuracy, "log_loss": 1.0, "ece": 0.1},
        "by_degree": {"buckets": buckets, "count": [40] * len(buckets), "correct": [30] * len(buckets)},
        "teachers": [{"task": task, "alpha": 1.0, "weight": 0.2} for task in tasks],
        "lambda_by_degree": weights,
        "best_epoch": 3,
        "seconds": seconds,
        "cpu_seconds": seconds,
        "peak_mb": 300.0,
    }
    if cell.curves:
        names = [*(f"lambda{k}" for k in range(len(tasks))), "train_mse", "val_mse", "train_accuracy", "val_accuracy"]
        record["curves"] = {name: draw.random(6).tolist() for name in names} | {"epoch": list(range(0, 12, 2))}
    return record


def records_of(folder: Path, cells: Iterable[Cell]) -> Records:
    """A folder with a record of every cell."""
    records = Records(folder)
    for cell in unique(cells):
        records.add(record_of(cell))
    return records
