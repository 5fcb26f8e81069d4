"""Does `agssl check` find wrong labels? A tenth of the labels of a graph are flipped, and looked for in its list.

    python studies/check.py --datasets cora,citeseer --seeds 0-2
    python studies/check.py --table

1,000 nodes of a graph, drawn evenly, are labelled; a tenth of them get another class, drawn evenly. A quick fit with
five folds holds out each label once, and `agssl check` ranks all, the least believed first. One JSON line per fit goes
to studies/results/check.jsonl; what is there is not run again.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agssl import AGSSL
from agssl.base.atomic import append_json
from agssl.base.jsonl import read_json_lines
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.resolve import open_graph

RECORDS = Path(__file__).resolve().parent / "results" / "check.jsonl"
SEVEN = "cora,citeseer,pubmed,photo,computers,cs,physics"
LABELS, SHARE = 1000, 0.1
Record = dict[str, Any]


def with_flips(graph: Graph, rng: Rng) -> tuple[Graph, np.ndarray]:
    """The graph with so many labels and no split, and the nodes whose labels are wrong."""
    draw = rng.numpy()
    known = draw.permutation(np.flatnonzero(graph.y >= 0))[:LABELS]
    y = np.full_like(graph.y, -1)
    y[known] = graph.y[known]
    flipped = known[: round(SHARE * len(known))]
    y[flipped] = (y[flipped] + draw.integers(1, graph.num_classes, len(flipped))) % graph.num_classes
    return Graph.from_arrays(graph.adjacency(), graph.x, y, classes=graph.classes, notify=False), flipped


def measure(name: str, seed: int) -> Record:
    """One fit, and where the flips are in its list."""
    start = time.perf_counter()
    graph, flipped = with_flips(open_graph(name, split=None), Rng(seed).child("flips"))
    found = AGSSL(effort="quick", split="cv:5", random_state=seed).fit(graph).check()
    wrong = np.isin([one.index for one in found], flipped)
    suspects = np.array([one.suspect for one in found])
    first = wrong[: round(SHARE * len(found))]
    return {
        "graph": name,
        "seed": seed,
        "found": float(first.sum() / len(flipped)),  # of the flips, in the first tenth of the list
        "precision": float(first.mean()),
        "suspects": int(suspects.sum()),
        "suspects_found": float(wrong[suspects].sum() / len(flipped)),
        "suspects_precision": float(wrong[suspects].mean()) if suspects.any() else None,
        "seconds": round(time.perf_counter() - start, 1),
    }


def stored() -> list[Record]:
    """What was measured."""
    return [record for _, record in read_json_lines(RECORDS)] if RECORDS.exists() else []


def table() -> str:
    """Means over seeds, in per cent."""
    lines = [
        "| graph | seeds | flips in the first tenth of the list | precision there | suspects | flips among them "
        "| precision |",
        "|---|---|---|---|---|---|---|",
    ]
    graphs = list(dict.fromkeys(record["graph"] for record in stored()))
    rows = [[record for record in stored() if record["graph"] == graph] for graph in graphs]
    for name, here in [*zip(graphs, rows, strict=True), ("mean", [record for row in rows for record in row])]:
        means = [
            np.mean([record[key] for record in here])
            for key in ("found", "precision", "suspects", "suspects_found", "suspects_precision")
        ]
        cells = [f"{mean:.0f}" if key == 2 else f"{100 * mean:.1f}" for key, mean in enumerate(means)]
        lines.append(f"| {name} | {len(here)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure what is asked for and not there yet, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=SEVEN)
    parser.add_argument("--seeds", default="0-2", help="first and last")
    parser.add_argument("--table", action="store_true", help="print the table and leave")
    args = parser.parse_args()
    if args.table:
        print(table())
        return
    torch.set_num_threads(1)
    first, _, last = args.seeds.partition("-")
    done = {(record["graph"], record["seed"]) for record in stored()}
    for seed in range(int(first), int(last or first) + 1):
        for name in args.datasets.split(","):
            if (name, seed) not in done:
                record = measure(name, seed)
                append_json(RECORDS, record)
                print(record, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
