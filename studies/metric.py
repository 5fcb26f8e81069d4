"""What does it bring to choose epochs, alphas and students by ROC-AUC, where that is what counts?

    python studies/metric.py --datasets minesweeper.npz,twitch_en.npz

Graphs are those that `agssl fit` takes. Every fit is on half of the labelled
nodes, validates on a quarter and is tested on the other (`fraction:0.5/0.25/0.25`). One JSON file per graph, method and
metric goes to studies/results/metric; what is there is not run again. The table has the mean and deviation over seeds.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

import torch

from agssl.base.atomic import write_json
from agssl.config import Settings, effective
from agssl.data.fetch import data_folders
from agssl.data.resolve import open_graph
from agssl.fitting.job import Job, fit_seed

RECORDS = Path(__file__).resolve().parent / "results" / "metric"
SPLIT = "fraction:0.5/0.25/0.25"
METHODS: dict[str, dict[str, Any]] = {
    "gcn": {"method": "gcn"},
    "agssl": {"method": "agssl", "tasks": ("par", "clu")},
}
SHOWN = ("roc_auc", "average_precision", "balanced_accuracy", "accuracy")


def measure(path: str, settings: Settings, seeds: int) -> dict[str, Any]:
    """The test metrics of each seed, and its epochs."""
    graph = open_graph(path, split=None)
    cache = data_folders().cache / "targets"
    found = [fit_seed(Job(graph, settings, SPLIT, cache=cache), seed) for seed in range(seeds)]
    rows = [{"seed": one["seed"], "test": one["test"], "val": one["val"], "seconds": one["seconds"]} for one in found]
    return {"settings": effective(settings), "split": SPLIT, "seeds": rows}


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", required=True, metavar="NAMES", help="datasets, files or folders, with commas")
    parser.add_argument("--seeds", type=int, default=3, help="seeds 0 to N-1 (default: 3)")
    parser.add_argument("--epochs", type=int, default=200, help="most epochs of a stage (default: 200)")
    parser.add_argument("--patience", type=int, default=50, help="(default: 50)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    print("| graph | method | chosen by | " + " | ".join(SHOWN) + " |\n|---|---|---|" + "---|" * len(SHOWN), flush=True)
    for given in args.datasets.split(","):
        name = Path(given).stem
        for method, how in METHODS.items():
            for metric in ("accuracy", "roc_auc"):
                record = RECORDS / f"{name}-{method}-{metric}.json"
                if not record.exists():
                    settings = Settings(metric=metric, epochs=args.epochs, patience=args.patience, **how)
                    write_json(record, measure(given, settings, args.seeds))
                seeds = json.loads(record.read_text())["seeds"]
                cells = [_cell([one["test"][key] for one in seeds]) for key in SHOWN]
                print(f"| {name} | {method} | {metric} | {' | '.join(cells)} |", flush=True)


def _cell(values: list[float]) -> str:
    return f"{statistics.fmean(values):.3f} ± {statistics.stdev(values) if len(values) > 1 else 0:.3f}"


if __name__ == "__main__":
    main()
