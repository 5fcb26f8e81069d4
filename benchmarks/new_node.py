"""A new node beside a graph: time and memory of its prediction, by the size of the graph.

    python benchmarks/new_node.py                                # Cora, and a graph of 10^7 edges on disk
    python benchmarks/new_node.py --edges 1000000 --no-cora --json

A GCN is trained for a moment (`--epochs`), then a process of its own opens the run and predicts new nodes, each linked
to five of the graph, one after another; another one does so with the command `agssl predict --new`, from start to end.
`milliseconds` is the median of `--count` predictions, `cpu_milliseconds` the processor time of one. `peak_mb` is memory
that the process holds for itself while it predicts (anonymous pages), `more_mb` what of it came by predicting.
`open_seconds` is what it takes to load the run and to check the graph, which is done once and grows with the graph.
Ratios are to Cora's.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scale import Peak, generated

RESULTS = Path(__file__).parents[1] / "results/benchmarks/new_node.json"
LINKS = 5


def predictions(run: str, count: int) -> dict[str, Any]:
    """New nodes one by one, in a process that has opened the run."""
    import numpy as np
    import torch

    from agssl.data.new_nodes import frame_new_nodes
    from agssl.serve.predictor import Asked, Predictor
    from agssl.store.run import Run

    torch.set_num_threads(1)
    start = time.perf_counter()
    opened = Run.open(run)
    predictor = Predictor((opened.fitted(),), opened.graph())
    _ = predictor.known
    opening = time.perf_counter() - start
    graph, draw, times = predictor.graph, np.random.default_rng(0), []
    assert graph is not None
    before, cpu = anonymous(), time.process_time()
    with Peak() as peak:
        for _ in range(count):
            like, ends = draw.integers(graph.num_nodes), draw.integers(graph.num_nodes, size=LINKS)
            row = graph.x[[like]]
            x = np.asarray(row if isinstance(row, np.ndarray) else row.toarray())
            edges = np.vstack([np.full(LINKS, graph.num_nodes), ends])
            start = time.perf_counter()
            predictor.new(frame_new_nodes(x, edges, predictor.known), Asked(coverage=0.9))
            times.append(1000 * (time.perf_counter() - start))
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "open_seconds": round(opening, 2),
        "first_milliseconds": round(times[0], 2),
        "cpu_milliseconds": round(1000 * (time.process_time() - cpu) / count, 3),
        "milliseconds": round(statistics.median(times), 3),
        "p99_milliseconds": round(float(np.quantile(times, 0.99)), 3),
        "peak_mb": round(peak.most["RssAnon"] / 1024, 1),
        "more_mb": round(peak.most["RssAnon"] / 1024 - before, 1),
        "count": count,
    }


def anonymous() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


def command(run: str, features: int, sparse_columns: int) -> dict[str, Any]:
    """`agssl predict --new` from start to end, and the memory of its process."""
    with tempfile.TemporaryDirectory() as folder:
        header = ",".join(["id", *(f"f{i}" for i in range(features))])
        row = ",".join(["n0", *("1" if i < sparse_columns else "0" for i in range(features))])
        (Path(folder) / "nodes.csv").write_text(f"{header}\n{row}\n")
        edges = "".join(f"n0,{number}\n" for number in range(LINKS))
        (Path(folder) / "edges.csv").write_text("source,target\n" + edges)
        words = ["predict", run, "--new", f"{folder}/nodes.csv", "--edges", f"{folder}/edges.csv", "--json"]
        start, before = time.perf_counter(), os.times()
        process = subprocess.Popen([sys.executable, "-m", "agssl", *words], stdout=subprocess.PIPE, text=True)
        most = 0
        while process.poll() is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
                most = max(
                    [most, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon"))]
                )
            except OSError:
                break
            time.sleep(0.05)
        out = process.communicate()[0]
        after = os.times()
        assert process.returncode == 0
        assert json.loads(out)[0]["node"] == "n0"
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    seconds = time.perf_counter() - start
    return {"command_seconds": round(seconds, 2), "command_cpu_seconds": round(cpu, 2), "command_mb": most // 1024}


def measured(name: str, graph: str, root: Path, epochs: int, count: int) -> dict[str, Any]:
    run = root / f"run-{name}"
    if not (run / "run.json").exists():
        words = ["fit", graph, "--method", "gcn", "--hidden", "64", "--epochs", str(epochs), "--jobs", "1"]
        words += ["--batch", "neighbour"] if name != "cora" else []
        subprocess.run(
            [sys.executable, "-m", "agssl", *words, "--out", str(run)], check=True, stdout=subprocess.DEVNULL
        )
    call = [sys.executable, __file__, "--call", json.dumps([str(run), count])]
    row = json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout)
    features = 1433 if name == "cora" else 64
    return {"graph": name} | row | command(str(run), features, 20 if name == "cora" else features)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", default="10000000", help="sizes of generated graphs, with commas")
    parser.add_argument("--cora", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--count", type=int, default=200, help="new nodes (default: 200)")
    parser.add_argument("--root", type=Path, default=Path("runs/scale"), help="where graphs and runs are kept")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the results (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the rows on stdout")
    parser.add_argument("--call", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.call:
        print(json.dumps(predictions(*args.call)))
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows = [measured("cora", "cora", args.root, args.epochs, args.count)] if args.cora else []
    for edges in args.edges.split(","):
        rows.append(measured(edges, generated(args.root, int(edges)), args.root, args.epochs, args.count))
    for row in rows[1:] if args.cora else []:
        names = ("milliseconds", "cpu_milliseconds", "peak_mb", "command_seconds", "command_cpu_seconds", "command_mb")
        row["times_cora"] = {name: round(row[name] / max(rows[0][name], 0.1), 2) for name in names}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"load_average": os.getloadavg()[0], "rows": rows}, indent=1) + "\n")
    for row in rows:
        print(row, file=sys.stderr)
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
