"""When may the worse alpha be left, and how long is patience worth it? Whole fits, paired on tuning seeds.

python studies/halving.py --datasets cora,citeseer --seeds 105,106 --choices none/100,100/100,100/50

A choice is `alpha_epochs`/`patience`: `none/100` trains all alphas to the end, `50/100` leaves the worse of two after
50 epochs. Trainings that choices share are done once. Records that are there are not made again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import fmean, stdev

from agssl import load_dataset
from agssl.base.provenance import commit
from agssl.fitting.fit import Resources, fit, split_for
from agssl.metrics import accuracy
from agssl.shipped import settings_for
from agssl.store.checkpoints import CheckpointStore

RESULTS = Path(__file__).parent / "results/halving.jsonl"


def main() -> None:
    """Fit what is missing, and show differences to the first choice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="cora,citeseer", help="names, with commas (default: %(default)s)")
    parser.add_argument("--seeds", default="100,101,102,103", help="with commas (default: %(default)s)")
    parser.add_argument("--choices", default="none/100,100/100,100/50", help="with commas (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the records (default: %(default)s)")
    args = parser.parse_args()
    choices, seeds = args.choices.split(","), [int(seed) for seed in args.seeds.split(",")]
    found = [json.loads(line) for line in args.out.read_text().splitlines()] if args.out.is_file() else []
    have = {(row["dataset"], row["seed"], row["choice"]): row for row in found}
    for dataset in args.datasets.split(","):
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                for choice in choices:
                    if (dataset, seed, choice) not in have:
                        row = measure(dataset, seed, choice, Path(folder))
                        have[dataset, seed, choice] = row
                        with args.out.open("a") as file:
                            file.write(json.dumps(row) + "\n")
        for choice in choices[1:]:
            pairs = [(have[dataset, seed, choice], have[dataset, seed, choices[0]]) for seed in seeds]
            differences = [100 * (one["test"] - other["test"]) for one, other in pairs]
            error = stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else float("nan")
            print(f"{dataset} {choice}: {fmean(differences):+.2f} +- {error:.2f} ({len(pairs)} seeds)")


def measure(dataset: str, seed: int, choice: str, folder: Path) -> dict[str, object]:
    """The record of one fit."""
    epochs, patience = choice.split("/")
    given = {"teachers": ("paper",), "integration": "ts", "patience": int(patience)}
    given["alpha_epochs"] = None if epochs == "none" else int(epochs)
    settings, _ = settings_for(dataset, given)
    graph = split_for(load_dataset(dataset), "auto", seed)
    where = Resources(folder / "cache", CheckpointStore(folder / "stages", every=1e9, min_seconds=0))
    result = fit(graph, settings, seed, where)
    assert graph.split is not None
    test = graph.split.test
    return {
        "dataset": dataset,
        "seed": seed,
        "choice": choice,
        "test": round(accuracy(graph.y[test], result.fitted.logits[test]), 5),
        "val": result.fitted.best["val_accuracy"],
        "alphas": list(result.fitted.alphas),
        "epochs": result.epochs,
        "commit": commit(),
    }


if __name__ == "__main__":
    main()
