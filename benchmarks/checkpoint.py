"""What checkpoints cost: the share of a fit's time that goes into finding and writing its stages.

python benchmarks/checkpoint.py --datasets digits,cora --json
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from agssl import load_dataset
from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.splits import make_split
from agssl.store.checkpoints import Checkpoint, CheckpointStore
from agssl.train.methods import train_method


def timed(owner: type, name: str, spent: list[float]) -> None:
    """Add the time of every call of a method to a list."""
    original: Callable[..., Any] = getattr(owner, name)

    def call(*args: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return original(*args, **options)
        finally:
            spent.append(time.perf_counter() - start)

    setattr(owner, name, call)


def measure(dataset: str, settings: Settings, writes: list[float], keys: list[float]) -> dict[str, Any]:
    graph = load_dataset(dataset)
    graph = graph.with_split(make_split("auto", graph, Rng(0).child("split")))
    writes.clear()
    keys.clear()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        start = time.perf_counter()
        train_method(graph, settings, checkpoints=CheckpointStore(Path(folder)))
        seconds = time.perf_counter() - start
        share = (sum(writes) + sum(keys)) / seconds
        start = time.perf_counter()
        train_method(graph, settings, checkpoints=CheckpointStore(Path(folder)))
        again = time.perf_counter() - start
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    return {
        "dataset": dataset,
        "seconds": seconds,
        "overhead": share,
        "writes": len(writes),
        "seconds_from_stages": again,
        "mb": size / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="digits,cora")
    parser.add_argument("--tasks", default="par,clu")
    parser.add_argument("--epochs", type=int, default=Settings().epochs, help="at most (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    writes: list[float] = []
    keys: list[float] = []
    timed(Checkpoint, "_write", writes)
    timed(CheckpointStore, "checkpoint", keys)
    settings = Settings(integration="ts", alpha_epochs=None, tasks=tuple(args.tasks.split(",")), epochs=args.epochs)
    results = [measure(dataset, settings, writes, keys) for dataset in args.datasets.split(",")]
    if args.json:
        print(json.dumps(results))
        return
    for result in results:
        print("{dataset}: {overhead:.2%} of {seconds:.1f} s; again in {seconds_from_stages:.1f} s".format(**result))


if __name__ == "__main__":
    main()
