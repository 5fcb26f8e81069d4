"""What a single network can reach: the plain GCN with other settings, and every task with other alphas.

    python studies/teachers.py --datasets cs,physics --seeds 100-102

Accuracy is that of `agssl tune`: validation nodes are halved, the fit gets one half to choose its epoch by and the
accuracy is that on the other half. Test labels are removed before anything else, and seeds are not those reported.
One JSON file per dataset goes to studies/results/teachers; what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

from agssl.base.atomic import write_json
from agssl.config import PAPER_TASKS, Settings
from agssl.data.datasets import load_dataset
from agssl.data.fetch import data_folders
from agssl.search.objective import Common, TrialSeed, halved, score, without_test

RECORDS = Path(__file__).resolve().parent / "results"
ALPHAS = (0.5, 1.0, 5.0, 20.0)
NETWORKS: dict[str, dict[str, Any]] = {
    "gcn": {},
    "gcn, hidden 256": {"hidden": 256},
    "gcn, batch norm": {"norm": "batch"},
    "gcn, linear head": {"head": "linear"},
    "gcn, dropout 0.8": {"dropout": 0.8},
    "gcn, no input dropout": {"input_dropout": 0.0},
    "gcn, weight decay 0.001": {"weight_decay": 0.001},
    "gcn, weight decay 0.00005": {"weight_decay": 0.00005},
}
VARIANTS = {name: {"method": "gcn"} | changes for name, changes in NETWORKS.items()} | {
    f"{task}, alpha {alpha:g}": {"method": "single", "tasks": (task,), "alpha": alpha}
    for task in PAPER_TASKS
    for alpha in ALPHAS
}


def measure(dataset: str, variant: str, seed: int) -> float:
    """The accuracy of one network on the half of the validation nodes that its fit did not see."""
    graph = halved(without_test(load_dataset(dataset), "auto", seed), seed)
    settings = Settings().replace(**VARIANTS[variant])
    right = score(Common({seed: graph}, data_folders().cache), TrialSeed(0, 0, settings, seed))
    if isinstance(right, str):
        raise RuntimeError(right)
    return float(right.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cs,physics,photo,computers")
    parser.add_argument("--variants", help="names, with semicolons (default: all)")
    parser.add_argument("--seeds", default="100-102", help="first and last")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RECORDS / "teachers")
    parser.add_argument("--summary", action="store_true", help="only print what is there")
    args = parser.parse_args()
    first, last = map(int, args.seeds.split("-"))
    variants = args.variants.split(";") if args.variants else list(VARIANTS)
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        for dataset in args.datasets.split(","):
            path = args.out / f"{dataset}.json"
            found: dict[str, dict[str, float]] = json.loads(path.read_text()) if path.exists() else {}
            todo = [(v, s) for v in variants for s in range(first, last + 1) if str(s) not in found.get(v, {})]
            flying = {} if args.summary else {pool.submit(measure, dataset, v, s): (v, s) for v, s in todo}
            for number, done in enumerate(as_completed(flying), 1):
                variant, seed = flying[done]
                found.setdefault(variant, {})[str(seed)] = done.result()
                write_json(path, {v: dict(sorted(found[v].items())) for v in VARIANTS if v in found})
                print(f"[{number}/{len(todo)}] {dataset}, {variant}, seed {seed}", file=sys.stderr)
            for variant, scores in found.items():
                print(f"| {dataset} | {variant} | {100 * fmean(scores.values()):.2f} | {len(scores)} |")


if __name__ == "__main__":
    main()
