"""How many hidden units of a network are 0 for every node, and what keeps them alive.

    python studies/dead_units.py --datasets photo,computers --seeds 100-101

Networks have the dataset's shipped settings, and those with one change. Where features are dense and none is negative,
a step of the optimizer moves all sums of a unit the same way, and a unit that ReLU cuts off at every node learns
no more.
Accuracy is that of `agssl tune`: on the half of the validation nodes that the fit did not see, on seeds that are not
reported. One JSON file per dataset goes to studies/results/dead_units; what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from agssl.base.atomic import write_json
from agssl.config import PAPER_TASKS, Settings
from agssl.data.datasets import load_dataset
from agssl.data.fetch import data_folders
from agssl.pretext.prepare import make_task
from agssl.search.objective import halved, without_test
from agssl.shipped import with_config
from agssl.train.methods import train_method
from agssl.train.setup import problem_of

RECORDS = Path(__file__).resolve().parent / "results"
CHANGES: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "batch norm": {"norm": "batch"},
    "unit features": {"feature_norm": "l2"},
}
NETWORKS: dict[str, dict[str, Any]] = {"gcn": {"method": "gcn"}} | {
    f"{task}, alpha {alpha:g}": {"method": "single", "tasks": (task,), "alpha": alpha}
    for task in PAPER_TASKS
    for alpha in make_task(task).alphas
}


def measure(dataset: str, network: str, change: str, seed: int) -> dict[str, float]:
    """The accuracy of one network on unseen validation nodes, and how many of its hidden units are dead."""
    graph = halved(without_test(load_dataset(dataset), "auto", seed), seed)
    assert graph.split is not None
    values, _ = with_config(dataset, {"method": "gcn"})
    settings = Settings().replace(**(values | NETWORKS[network] | CHANGES[change]))
    folder = data_folders().cache
    result = train_method(graph.hide_test(), settings, seed, cache=None if folder is None else folder / "targets")
    problem = problem_of(graph.hide_test(), settings)
    with torch.no_grad():
        hidden = torch.cat(result.model(problem.inputs, problem.plans.whole).hidden, dim=1)
    right = (result.logits.argmax(1).numpy() == graph.y)[graph.split.test]
    return {"accuracy": float(right.mean()), "dead": int((hidden == 0).all(0).sum()), "units": hidden.shape[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="photo,computers")
    parser.add_argument("--seeds", default="100-101", help="first and last")
    parser.add_argument("--out", type=Path, default=RECORDS / "dead_units")
    args = parser.parse_args()
    torch.set_num_threads(1)
    first, last = map(int, args.seeds.split("-"))
    for dataset in args.datasets.split(","):
        path = args.out / f"{dataset}.json"
        found: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}
        for seed in range(first, last + 1):
            for network in NETWORKS:
                for change in CHANGES:
                    cell = found.setdefault(f"{network}, {change}", {})
                    if str(seed) not in cell:
                        cell[str(seed)] = measure(dataset, network, change, seed)
                        write_json(path, found)
                        print(f"{dataset}, {network}, {change}, seed {seed}", file=sys.stderr)
        for name, cells in found.items():
            accuracy, dead, units = (fmean(c[key] for c in cells.values()) for key in ("accuracy", "dead", "units"))
            print(f"| {dataset} | {name} | {100 * accuracy:.1f} | {dead:.0f} of {units:.0f} | {len(cells)} |")


if __name__ == "__main__":
    main()
