"""Our own partition beside that of METIS: `python benchmarks/partition.py --datasets cora,citeseer,pubmed,computers`.

Cut is the share of the edges between parts, balance the largest part over the mean. Accuracy is that of the teacher PAR
alone (method single, settings that ship for the dataset, one alpha) on the test nodes: both partitions, the same seeds.
Needs pymetis.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from agssl import load_dataset
from agssl.base.provenance import commit, machine
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.fitting.fit import fit, split_for
from agssl.metrics import accuracy
from agssl.ops.multilevel import cut_weight, multilevel_parts
from agssl.ops.partition import metis_parts
from agssl.pretext.par import Partition
from agssl.shipped import settings_for

Cut = Callable[[Graph, int, int], np.ndarray]


def own_parts(graph: Graph, parts: int, seed: int) -> np.ndarray:
    return multilevel_parts(graph.adjacency(), parts, seed)


WAYS: dict[str, Cut] = {"metis": metis_parts, "own": own_parts}


def measure(name: str, way: str, seeds: int, epochs: int | None, alpha: float) -> dict[str, Any]:
    """One row: a dataset cut in one way."""
    graph, a = load_dataset(name), load_dataset(name).adjacency()
    parts = min(Partition().count(graph), graph.num_nodes)
    seed = Rng(0).child("prepare", "par").key() & 0x7FFFFFFF
    start = time.process_time()
    labels = WAYS[way](graph, parts, seed)
    seconds = time.process_time() - start
    sizes = np.bincount(labels, minlength=parts)
    given = {"method": "single", "tasks": ("par",), "alpha": alpha} | ({} if epochs is None else {"epochs": epochs})
    how = settings_for(name, given)[0]
    reached = []
    with mock.patch("agssl.pretext.par.cut_graph", partial(_same, labels)):
        for seed in range(seeds):
            split = split_for(graph, "auto", seed)
            assert split.split is not None
            logits = fit(split, how, seed).fitted.logits
            reached.append(accuracy(graph.y[split.split.test], logits[split.split.test]))
            print(f"{name} {way} seed {seed}: {reached[-1]:.4f}", file=sys.stderr)
    return {
        "dataset": name,
        "way": way,
        "parts": parts,
        "cut": round(cut_weight(a, labels) / graph.num_edges, 4),
        "balance": round(float(sizes.max() * parts / graph.num_nodes), 3),
        "smallest": int(sizes.min()),
        "empty": int((sizes == 0).sum()),
        "cpu_seconds": round(seconds, 2),
        "alpha": alpha,
        "accuracy": [round(float(value), 4) for value in reached],
    }


def _same(labels: np.ndarray, graph: Graph, parts: int, seed: int = 0) -> np.ndarray:
    return labels


def record(path: Path, row: dict[str, Any]) -> None:
    """Put a row into the file, in place of an earlier one of that dataset and way."""
    known = json.loads(path.read_text())["rows"] if path.exists() else []
    others = [old for old in known if (old["dataset"], old["way"]) != (row["dataset"], row["way"])]
    about = {"commit": commit(), "machine": machine(1)}
    path.write_text(json.dumps({"rows": [*others, row | about]}, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="cora,citeseer,pubmed,computers")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, help="default: those of the settings")
    parser.add_argument("--alpha", type=float, default=0.5, help="weight of the loss of PAR")
    parser.add_argument("--out", help="put the rows into this file; those of other datasets stay")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = []
    for name in args.datasets.split(","):
        for way in WAYS:
            rows.append(measure(name, way, args.seeds, args.epochs, args.alpha))
            if args.out:
                record(Path(args.out), rows[-1])
    print(json.dumps(rows) if args.json else "\n".join(str(row) for row in rows))


if __name__ == "__main__":
    main()
