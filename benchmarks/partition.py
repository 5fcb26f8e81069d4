"""Our own partitions beside that of METIS.

    python benchmarks/partition.py --datasets cora,citeseer,pubmed,computers
    python benchmarks/partition.py --datasets ogbn-arxiv,PACKED-FOLDER --ways metis,propagation --seeds 0
    python benchmarks/partition.py --datasets physics --ways metis,propagation --batch-nodes 2048

The second command cuts and trains nothing, the third trains on mini-batches. Cut is the share of the edges between
parts, balance the largest part over the mean. Accuracy is that of the teacher PAR alone (method single, settings that
ship for the dataset, one alpha) on the test nodes: all partitions, the same seeds. With `--batch-nodes` it is that of a
GCN on mini-batches of these parts. Needs pymetis.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
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
from agssl.data.packed import open_packed
from agssl.fitting.fit import fit, split_for
from agssl.metrics import accuracy
from agssl.ops.large_partition import propagated_parts
from agssl.ops.multilevel import cut_weight, multilevel_parts
from agssl.ops.partition import metis_parts
from agssl.pretext.par import Partition
from agssl.shipped import settings_for

Cut = Callable[[Graph, int, int], np.ndarray]


def own_parts(graph: Graph, parts: int, seed: int) -> np.ndarray:
    return multilevel_parts(graph.adjacency(), parts, seed)


WAYS: dict[str, Cut] = {"metis": metis_parts, "own": own_parts, "propagation": propagated_parts}


def measure(name: str, way: str, options: argparse.Namespace) -> dict[str, Any]:
    """One row: a dataset, or a packed graph, cut in one way."""
    graph = open_packed(name) if Path(name).is_dir() else load_dataset(name)
    parts = min(Partition().count(graph), graph.num_nodes)
    seed = Rng(0).child("prepare", "par").key() & 0x7FFFFFFF
    start = _spent()
    labels = WAYS[way](graph, parts, seed)
    seconds = _spent() - start
    sizes = np.bincount(labels, minlength=parts)
    given: dict[str, Any] = {"method": "single", "tasks": ("par",), "alpha": options.alpha}
    if options.batch_nodes:
        given = {"method": "gcn", "batch": "partition", "batch_nodes": options.batch_nodes}
    given |= {} if options.epochs is None else {"epochs": options.epochs}
    how = settings_for(graph.name, given)[0]
    reached = []
    with mock.patch("agssl.pretext.par.cut_graph", partial(_same, labels)):
        for seed in range(options.seeds):
            split = split_for(graph, "auto", seed)
            assert split.split is not None
            logits = fit(split, how, seed).fitted.logits
            reached.append(accuracy(graph.y[split.split.test], logits[split.split.test]))
            print(f"{name} {way} seed {seed}: {reached[-1]:.4f}", file=sys.stderr)
    return {
        "dataset": graph.name,
        "way": way,
        "parts": parts,
        "cut": round(cut_weight(graph.adjacency(), labels) / float(graph.adjacency().data.sum() / 2), 4),
        "balance": round(float(sizes.max() * parts / graph.num_nodes), 3),
        "smallest": int(sizes.min()),
        "empty": int((sizes == 0).sum()),
        "cpu_seconds": round(seconds, 2),
        "alpha": options.alpha,
        "batch_nodes": options.batch_nodes,
        "accuracy": [round(float(value), 4) for value in reached],
    }


def _spent() -> float:
    """Processor seconds of this process and of those that it waited for: METIS may have one of its own."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _same(labels: np.ndarray, graph: Graph, parts: int, seed: int = 0) -> np.ndarray:
    return labels


def record(path: Path, row: dict[str, Any]) -> None:
    """Put a row into the file, in place of an earlier one of that dataset, way and mini-batch."""
    about = lambda row: (row["dataset"], row["way"], row.get("batch_nodes"))  # noqa: E731
    known = json.loads(path.read_text())["rows"] if path.exists() else []
    others = [old for old in known if about(old) != about(row)]
    where = {"commit": commit(), "machine": machine(1)}
    path.write_text(json.dumps({"rows": [*others, row | where]}, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="cora,citeseer,pubmed,computers")
    parser.add_argument("--ways", default="metis,own", help=f"of {', '.join(WAYS)} (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="0: only cut (default: %(default)s)")
    parser.add_argument("--batch-nodes", type=int, help="train a GCN on mini-batches of about so many nodes instead")
    parser.add_argument("--epochs", type=int, help="default: those of the settings")
    parser.add_argument("--alpha", type=float, default=0.5, help="weight of the loss of PAR")
    parser.add_argument("--out", help="put the rows into this file; those of other datasets stay")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = []
    for name in args.datasets.split(","):
        for way in args.ways.split(","):
            rows.append(measure(name, way, args))
            if args.out:
                record(Path(args.out), rows[-1])
    print(json.dumps(rows) if args.json else "\n".join(str(row) for row in rows))


if __name__ == "__main__":
    main()
