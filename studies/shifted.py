"""What calibrating to how frequent classes are does for a plain GCN, without any teacher.

    python studies/shifted.py --datasets cora,citeseer,pubmed --seeds 100-109

AGSSL calibrates its teachers by validation labels (`calibrate="classes"`). Here the same is done to the logits of a GCN
with the dataset's shipped settings. As in `agssl tune`, validation nodes are halved: the fit and the calibration see
one half, accuracy is that on the other; seeds are not those reported. One JSON file per dataset goes to
studies/results/shifted; what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import fmean, stdev

import torch
from torch import Tensor

from agssl.base.atomic import write_json
from agssl.config import Settings
from agssl.data.datasets import load_dataset
from agssl.integrate.calibration import best_shift
from agssl.search.objective import halved, without_test
from agssl.shipped import with_config
from agssl.train.methods import train_method

RECORDS = Path(__file__).resolve().parent / "results"


def measure(dataset: str, seed: int) -> dict[str, float]:
    """Accuracy of a GCN on unseen validation nodes, as it is and with shifted classes."""
    graph = halved(without_test(load_dataset(dataset), "auto", seed), seed)
    assert graph.split is not None
    values, _ = with_config(dataset, {"method": "gcn"})
    logits = train_method(graph.hide_test(), Settings().replace(**values), seed).logits
    labels, seen, unseen = (torch.from_numpy(part) for part in (graph.y, graph.split.val, graph.split.test))
    temperature, shift = best_shift(logits[seen], labels[seen])

    def accuracy(z: Tensor) -> float:
        return (z.argmax(1) == labels)[unseen].double().mean().item()

    return {"plain": accuracy(logits), "shifted": accuracy(logits / temperature + shift)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cora,citeseer,pubmed,cs,physics,photo,computers")
    parser.add_argument("--seeds", default="100-109", help="first and last")
    parser.add_argument("--out", type=Path, default=RECORDS / "shifted")
    args = parser.parse_args()
    torch.set_num_threads(1)
    first, last = map(int, args.seeds.split("-"))
    print("| | seeds | GCN | shifted | difference |\n|---|---:|---:|---:|---:|")
    for dataset in args.datasets.split(","):
        path = args.out / f"{dataset}.json"
        found: dict[str, dict[str, float]] = json.loads(path.read_text()) if path.exists() else {}
        for seed in range(first, last + 1):
            if str(seed) not in found:
                found[str(seed)] = measure(dataset, seed)
                write_json(path, found)
        plain, shifted = ([100 * scores[name] for scores in found.values()] for name in ("plain", "shifted"))
        gains = [after - before for before, after in zip(plain, shifted, strict=True)]
        error = stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else float("nan")
        means = f"{fmean(plain):.1f} | {fmean(shifted):.1f} | {fmean(gains):+.1f} ± {error:.1f}"
        print(f"| {dataset} | {len(found)} | {means} |", flush=True)


if __name__ == "__main__":
    main()
