"""How much of an accuracy is the split's: a plain GCN on several random splits, several times on each.

    python studies/splits.py --datasets cs,physics,photo,computers --splits 200-209 --repeats 2

Nothing is chosen here, so test labels may be read; splits are not those of the reported seeds. Accuracy is that on the
1,000 test nodes (`test`) and on all labelled nodes that neither train nor validate (`all`). One JSON file per
dataset goes to studies/results/splits; what is there is not run again. The table shows the mean, the deviation between
the splits' means, and that between repeats on one split.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch

from agssl.base.atomic import write_json
from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.datasets import load_dataset
from agssl.data.splits import make_split
from agssl.train.methods import train_method

RECORDS = Path(__file__).resolve().parent / "results"


def measure(dataset: str, labels: int, split: int, repeat: int) -> dict[str, float]:
    """The accuracies of one GCN: the split is drawn from one seed, everything else from another."""
    torch.set_num_threads(1)
    graph = load_dataset(dataset)
    graph = graph.with_split(make_split(f"random:{labels}/500/1000", graph, Rng(split).child("split")))
    assert graph.split is not None
    right = train_method(graph.hide_test(), Settings(method="gcn"), repeat).logits.argmax(1).numpy() == graph.y
    unseen = graph.y >= 0
    unseen[graph.split.train] = unseen[graph.split.val] = False
    return {"test": float(right[graph.split.test].mean()), "all": float(right[unseen].mean())}


def spread(found: dict[str, dict[str, float]], where: str) -> tuple[float, float, float]:
    """In points: the mean, the deviation of the splits' means, and the one between repeats on a split.

    >>> runs = {"0 0": 0.8, "0 1": 0.8, "1 0": 0.9, "1 1": 0.9}
    >>> [round(x, 2) for x in spread({name: {"test": value} for name, value in runs.items()}, "test")]
    [85.0, 7.07, 0.0]
    """
    by_split: dict[str, list[float]] = {}
    for name, accuracies in found.items():
        by_split.setdefault(name.split()[0], []).append(100 * accuracies[where])
    means = [np.mean(values) for values in by_split.values()]
    within = np.sqrt(np.mean([np.var(values, ddof=1) for values in by_split.values() if len(values) > 1]))
    return float(np.mean(means)), float(np.std(means, ddof=1)), float(within)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cs,physics,photo,computers")
    parser.add_argument("--labels", type=int, default=20, help="of a class")
    parser.add_argument("--splits", default="200-209", help="first and last seed of splits")
    parser.add_argument("--repeats", type=int, default=2, help="on each split")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RECORDS / "splits")
    parser.add_argument("--summary", action="store_true", help="only print what is there")
    args = parser.parse_args()
    first, last = map(int, args.splits.split("-"))
    wanted = [(split, repeat) for split in range(first, last + 1) for repeat in range(args.repeats)]
    print("| dataset | labels per class | nodes | mean | between splits | on one split | runs |")
    print("|---|---:|---|---:|---:|---:|---:|")
    with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
        for dataset in args.datasets.split(","):
            path = args.out / f"{dataset}-{args.labels}.json"
            found: dict[str, dict[str, float]] = json.loads(path.read_text()) if path.exists() else {}
            todo = [] if args.summary else [(s, r) for s, r in wanted if f"{s} {r}" not in found]
            flying = {pool.submit(measure, dataset, args.labels, s, r): f"{s} {r}" for s, r in todo}
            for number, done in enumerate(as_completed(flying), 1):
                found[flying[done]] = done.result()
                write_json(path, dict(sorted(found.items())))
                print(f"[{number}/{len(todo)}] {dataset}, split and repeat {flying[done]}", file=sys.stderr)
            for where in ("test", "all") if len(found) > 1 else ():
                figures = " | ".join(f"{value:.2f}" for value in spread(found, where))
                print(f"| {dataset} | {args.labels} | {where} | {figures} | {len(found)} |")


if __name__ == "__main__":
    main()
