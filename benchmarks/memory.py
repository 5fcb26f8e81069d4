"""The peak memory of fits, each in a fresh process, beside what `agssl.train.memory` expects.

python benchmarks/memory.py [--datasets cora,pubmed] [--hidden 64,256] [--tasks grace,mvgrl] [--json]

Without `--tasks`, fits of the paper's five tasks by `--method`; with it, one fit by method `single` per task. Rows go
into the record beside those it has, in place of older ones of the same fit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from workers import benchmark_graph

RESULTS = Path(__file__).parents[1] / "results/benchmarks/memory.json"
SAME_FIT = ("dataset", "method", "tasks", "hidden", "layers")  # what tells one row from another


def measure(dataset: str, method: str, tasks: list[str], hidden: int, layers: int, epochs: int) -> dict[str, Any]:
    """Fit in this process and compare."""
    from agssl.config import Settings
    from agssl.train.memory import estimate
    from agssl.train.methods import train_method

    graph = benchmark_graph(dataset)
    settings = Settings(method=method, tasks=tuple(tasks), hidden=hidden, layers=layers, epochs=epochs, alpha=1.0)
    expected = estimate(graph, settings)
    train_method(graph, settings)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    total = expected.total / 2**20
    parts = {f"{name}_mb": round(value / 2**20, 1) for name, value in vars(expected).items()}
    about = {"dataset": dataset, "method": method, "tasks": tasks, "hidden": hidden, "layers": layers}
    return about | {"peak_mb": round(peak), "estimated_mb": round(total), "ratio": round(total / peak, 3), **parts}


def recorded(path: Path, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the record that are of other fits, and these."""
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    measured = [[row[name] for name in SAME_FIT] for row in rows]
    return [row for row in before if [row[name] for name in SAME_FIT] not in measured] + rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="cora,pubmed,photo,physics")
    parser.add_argument("--hidden", default="64,256")
    parser.add_argument("--methods", default="agssl")
    parser.add_argument("--tasks", help="names, with commas: one fit of each by method `single`")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the results (default: %(default)s)")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(**json.loads(args.one))))
        return
    paper = ["par", "clu", "dgi", "pairdis", "pairsim"]
    kinds = [("single", [task]) for task in args.tasks.split(",")] if args.tasks else []
    kinds = kinds or [(method, paper) for method in args.methods.split(",")]
    rows: list[dict[str, Any]] = []
    for dataset in args.datasets.split(","):
        for hidden in args.hidden.split(","):
            for method, tasks in kinds:
                fit = {"dataset": dataset, "method": method, "tasks": tasks, "hidden": int(hidden)}
                fit |= {"layers": args.layers, "epochs": args.epochs}
                words = [sys.executable, __file__, "--one", json.dumps(fit)]
                done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
                rows.append(json.loads(done.stdout.splitlines()[-1]))
                print(rows[-1], file=sys.stderr)
                args.out.write_text(json.dumps({"rows": recorded(args.out, rows)}, indent=2) + "\n")
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
