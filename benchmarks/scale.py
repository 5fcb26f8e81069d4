"""Time per epoch and peak memory by the size of the graph: the whole graph, parts, sampled neighbours.

    python benchmarks/scale.py [--edges 100000,1000000,10000000] [--modes full,partition,neighbour] [--json]
    python benchmarks/scale.py --edges 10000000,100000000 --modes partition --tasks clu,dgi    # two teachers, a student
    python benchmarks/scale.py --whole 10000000                  # the whole of AGSSL at one size, partition mode
    python benchmarks/scale.py --arxiv --modes full,partition    # the whole of AGSSL on ogbn-arxiv's graph

Graphs are generated (`agssl data generate`, ten edges per node, 64 features, five classes) and stay on disk, mapped
into memory. Each measurement has a process of its own. Targets that are prepared once (a partition, k-means, pairs by
distance) are measured before, in a process of their own, and shared. An epoch is the mean of one epoch of each of the
teachers and of the student; the first one is not counted. `cpu_microseconds_per_edge` is what the process itself
spent, which other work on the machine disturbs less than the time that passed. Stopped at any moment, the same command
goes on: graphs, targets and finished epochs are kept under `--root`.

ogbn-arxiv has its own edges, labels and split, but 128 random features that depend on the class (its real ones are not
there); two layers with batch norm, alpha 0.5, one generation, student dropout 0.5, at most 100 epochs.

`peak_mb` is memory that the process holds for itself (anonymous pages); `resident_mb` counts pages of files, too, which
the system takes back whenever it needs them. Results go to `--out`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scale_sides import TASKS, epochs, prepare, whole

RESULTS = Path(__file__).parents[1] / "results/benchmarks/scale.json"
ARXIV = {
    "layers": 2,
    "norm": "batch",
    "alpha": 0.5,
    "generations": 1,
    "student_dropout": 0.5,
    "epochs": 100,
    "patience": 20,
}


CALLS: dict[str, Callable[..., dict[str, Any]]] = {"prepare": prepare, "epochs": epochs, "whole": whole}


def fresh(name: str, *arguments: Any) -> dict[str, Any]:
    """One of the functions above in a process of its own."""
    words = [sys.executable, __file__, "--call", json.dumps([name, *arguments])]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def generated(root: Path, edges: int) -> str:
    """The folder of the graph with that many edges."""
    folder = root / f"graph-{edges}"
    if not folder.exists():
        words = ["data", "generate", "--nodes", str(edges // 10), "--edges", str(edges), str(folder)]
        subprocess.run([sys.executable, "-m", "agssl", *words], check=True, stdout=subprocess.DEVNULL)
    return str(folder)


def arxiv(root: Path) -> str:
    """The folder of ogbn-arxiv's graph with random features that depend on the class."""
    import numpy as np

    from agssl.data.datasets import load_dataset
    from agssl.data.graph import Graph
    from agssl.data.packed import write_packed

    folder = root / "graph-arxiv"
    if not folder.exists():
        graph, draw = load_dataset("ogbn-arxiv"), np.random.default_rng(0)
        means = draw.standard_normal((graph.num_classes, 128), dtype=np.float32) / 128**0.5
        x = means[graph.y] + draw.standard_normal((graph.num_nodes, 128), dtype=np.float32)
        named = (graph.y, graph.classes, graph.split, "ogbn-arxiv, random features")
        write_packed(Graph(graph.indptr, graph.indices, x, *named), folder)
    return str(folder)


def once(root: Path, folder: str, cache: str, mode: str, nodes: int, tasks: list[str]) -> dict[str, Any]:
    """What preparing took when it was done: later runs find its results in the cache."""
    note = root / f"prepared-{Path(folder).name}-{mode}-{nodes}.json"
    return fresh("prepare", folder, cache, mode, nodes, str(note), tasks)


def write(path: Path, changes: dict[str, Any]) -> None:
    """Rows replace those of the same mode, size and teachers; the rest of the file stays."""

    def about(row: dict[str, Any]) -> tuple[str, int, list[str]]:
        return row["mode"], row["edges"], row.get("tasks", list(TASKS))

    found = json.loads(path.read_text()) if path.exists() else {}
    for part, rows in changes.items():
        ours = [about(row) for row in rows]
        kept = [row for row in found.get(part, []) if about(row) not in ours]
        found[part] = sorted([*kept, *rows], key=about)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", default="100000,1000000,10000000", help="sizes, with commas")
    parser.add_argument("--modes", default="full,partition,neighbour")
    parser.add_argument("--tasks", default=",".join(TASKS), help="of the teachers (default: %(default)s)")
    parser.add_argument("--batch-nodes", type=int, default=16384)
    parser.add_argument("--epochs", type=int, default=3, help="the first of them is not counted (default: 3)")
    parser.add_argument("--whole", type=int, metavar="EDGES", help="instead: all of AGSSL on a graph of this size")
    parser.add_argument("--arxiv", action="store_true", help="instead: all of AGSSL on ogbn-arxiv's graph")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--root", type=Path, default=Path("runs/scale"), help="where graphs and targets are kept")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the results (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the rows on stdout")
    parser.add_argument("--call", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.call:
        print(json.dumps(CALLS[args.call[0]](*args.call[1:])))
        return
    if not args.whole and not args.arxiv:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    cache, rows, tasks = str(args.root / "targets"), [], args.tasks.split(",")
    if args.arxiv:
        graphs, part, changes = [arxiv(args.root)], "whole", ARXIV
    else:
        sizes = [args.whole] if args.whole else [int(size) for size in args.edges.split(",")]
        graphs, part, changes = [generated(args.root, size) for size in sizes], "whole" if args.whole else "rows", {}
    for folder in graphs:
        for mode in ["partition"] if args.whole else args.modes.split(","):
            made = once(args.root, folder, cache, mode, args.batch_nodes, tasks)
            how = (folder, cache, mode, args.batch_nodes)
            call = ("epochs", *how, args.epochs, tasks) if part == "rows" else ("whole", *how, args.seed, changes)
            row = fresh(*call)
            rows.append(row | made)
            print({k: v for k, v in row.items() if k != "stages"}, file=sys.stderr)
            write(args.out, {part: rows[-1:]})
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
