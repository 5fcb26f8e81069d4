"""Time per epoch and peak memory by the size of the graph: the whole graph, METIS parts, sampled neighbours.

    python benchmarks/scale.py [--edges 100000,1000000,10000000] [--modes full,partition,neighbour] [--json]
    python benchmarks/scale.py --whole 10000000                  # the whole of AGSSL at one size, partition mode
    python benchmarks/scale.py --arxiv --modes full,partition    # the whole of AGSSL on ogbn-arxiv's graph

Graphs are generated (`agssl data generate`, ten edges per node, 64 features, five classes) and stay on disk, mapped
into memory. Each measurement has a process of its own. Targets that are prepared once (METIS, k-means, pairs by
distance) are measured before, in a process of their own, and shared. An epoch is the mean of one epoch of each of the
five teachers and of the student; the first one is not counted. `cpu_microseconds_per_edge` is what the process itself
spent, which other work on the machine disturbs less than the time that passed.

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
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
TASKS = ("par", "clu", "dgi", "pairdis", "pairsim")


class Peak:
    """The largest anonymous and resident memory of this process while the block runs, looked at all the time."""

    def __enter__(self) -> Peak:
        self.most = {"RssAnon": 0, "VmRSS": 0}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self._look()

    def _look(self) -> None:
        for line in Path("/proc/self/status").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in self.most:
                self.most[name] = max(self.most[name], int(rest.split()[0]))

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def megabytes(self) -> dict[str, int]:
        return {"peak_mb": self.most["RssAnon"] // 1024, "resident_mb": self.most["VmRSS"] // 1024}


def prepare(folder: str, cache: str, mode: str, nodes: int) -> dict[str, Any]:
    """Targets and partition, once."""
    from agssl.data.packed import open_packed
    from agssl.pretext.prepare import make_task, prepared
    from agssl.train.batches import Batches

    graph, seconds = open_packed(folder), {}
    with Peak() as peak:
        start = time.perf_counter()
        _ = graph.fingerprint
        seconds["fingerprint"] = time.perf_counter() - start
        for name in TASKS:
            task = make_task(name)
            if task.needs_whole or mode == "full":
                start = time.perf_counter()
                prepared(task, graph, Path(cache))
                seconds[name] = time.perf_counter() - start
        if mode == "partition":
            start = time.perf_counter()
            _ = Batches(graph, mode, nodes, 1, Path(cache)).parts
            seconds["partition"] = time.perf_counter() - start
    return {"prepare_seconds": {k: round(v, 2) for k, v in seconds.items()}, "prepare": peak.megabytes()}


def epochs(folder: str, cache: str, mode: str, nodes: int, count: int) -> dict[str, Any]:
    """A few epochs of every teacher and of the student."""
    from agssl.config import Settings
    from agssl.data.packed import open_packed
    from agssl.train.methods import train_method

    graph = open_packed(folder)
    how: dict[str, Any] = {"teachers": ("paper",), "integration": "ts", "alpha": 1.0, "generations": 1}
    settings = Settings(**how, epochs=count, patience=None, batch=mode, batch_nodes=nodes)
    ends: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with Peak() as peak:

        def watch(stage: str, record: dict[str, float]) -> None:
            ends[stage].append((time.perf_counter(), time.process_time()))

        train_method(graph, settings, watch=watch, cache=Path(cache))
    by_stage, cpu = (
        {stage: (times[-1][clock] - times[0][clock]) / (len(times) - 1) for stage, times in ends.items()}
        for clock in range(2)
    )
    mean, cpu_mean = (sum(times.values()) / len(times) for times in (by_stage, cpu))
    return {
        "mode": mode,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "seconds_per_epoch": round(mean, 4),
        "microseconds_per_edge": round(1e6 * mean / graph.num_edges, 4),
        "cpu_microseconds_per_edge": round(1e6 * cpu_mean / graph.num_edges, 4),
        "counted_epochs": count - 1,
        **peak.megabytes(),
        "stages": {stage: round(value, 4) for stage, value in by_stage.items()},
    }


def whole(folder: str, cache: str, mode: str, nodes: int, seed: int, changes: dict[str, Any]) -> dict[str, Any]:
    """All of AGSSL by its defaults with some changes, and its accuracy."""
    from agssl.cli.progress import Progress
    from agssl.config import Settings
    from agssl.data.packed import open_packed
    from agssl.fitting.job import Job, fit_seed

    graph, settings = (
        open_packed(folder),
        Settings(teachers=("paper",), integration="ts", batch=mode, batch_nodes=nodes, **changes),
    )
    start = time.perf_counter()
    with Peak() as peak, Progress(1, settings.epochs, True) as progress:
        metrics = fit_seed(Job(graph, settings, cache=Path(cache), threads=2), seed, progress.watch(seed))
    return {
        "mode": mode,
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "settings": changes,
        "threads": 2,
        "seconds": round(time.perf_counter() - start, 1),
        **peak.megabytes(),
        "epochs": metrics["epochs"],
        "test_accuracy": metrics["test"]["accuracy"],
        "teachers": {teacher["task"]: teacher["test_accuracy"] for teacher in metrics["teachers"]},
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


def once(root: Path, folder: str, cache: str, mode: str, nodes: int) -> dict[str, Any]:
    """What preparing took when it was done: later runs find its results in the cache."""
    path = root / f"prepared-{Path(folder).name}-{mode}-{nodes}.json"
    if not path.exists():
        path.write_text(json.dumps(fresh("prepare", folder, cache, mode, nodes)))
    return json.loads(path.read_text())


def write(path: Path, changes: dict[str, Any]) -> None:
    """Rows replace those of the same mode and size; the rest of the file stays."""
    found = json.loads(path.read_text()) if path.exists() else {}
    for part, rows in changes.items():
        ours = {(row["mode"], row["edges"]) for row in rows}
        kept = [row for row in found.get(part, []) if (row["mode"], row["edges"]) not in ours]
        found[part] = sorted([*kept, *rows], key=lambda row: (row["mode"], row["edges"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", default="100000,1000000,10000000", help="sizes, with commas")
    parser.add_argument("--modes", default="full,partition,neighbour")
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
    cache, rows = str(args.root / "targets"), []
    if args.arxiv:
        graphs, part, changes = [arxiv(args.root)], "whole", ARXIV
    else:
        sizes = [args.whole] if args.whole else [int(size) for size in args.edges.split(",")]
        graphs, part, changes = [generated(args.root, size) for size in sizes], "whole" if args.whole else "rows", {}
    for folder in graphs:
        for mode in ["partition"] if args.whole else args.modes.split(","):
            made = once(args.root, folder, cache, mode, args.batch_nodes)
            how = (folder, cache, mode, args.batch_nodes)
            row = fresh("epochs", *how, args.epochs) if part == "rows" else fresh("whole", *how, args.seed, changes)
            rows.append(row | made)
            print({k: v for k, v in row.items() if k != "stages"}, file=sys.stderr)
            write(args.out, {part: rows[-1:]})
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
