"""The peak memory of fits, each in a fresh process, beside what `agssl.train.memory` expects.

python benchmarks/memory.py [--datasets cora,pubmed] [--hidden 64,256] [--json]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results/benchmarks/memory.json"


def measure(dataset: str, hidden: int, method: str, layers: int, epochs: int) -> dict:
    """Train in this process, and compare its peak with the estimate."""
    from agssl.config import Settings
    from agssl.data.datasets import load_dataset
    from agssl.train.memory import estimate
    from agssl.train.methods import train_method

    graph = load_dataset(dataset)
    settings = Settings(method=method, hidden=hidden, layers=layers, epochs=epochs, alpha=1.0)
    expected = estimate(graph, settings)
    train_method(graph, settings)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    total = expected.total / 2**20
    parts = {f"{name}_mb": round(value / 2**20, 1) for name, value in vars(expected).items()}
    about = {"dataset": dataset, "method": method, "hidden": hidden, "layers": layers}
    return about | {"peak_mb": round(peak), "estimated_mb": round(total), "ratio": round(total / peak, 3), **parts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="cora,pubmed,photo,physics")
    parser.add_argument("--hidden", default="64,256")
    parser.add_argument("--methods", default="agssl")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the results (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the rows on stdout")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        dataset, hidden, method = args.one
        print(json.dumps(measure(dataset, int(hidden), method, args.layers, args.epochs)))
        return
    rows = []
    for dataset in args.datasets.split(","):
        for hidden in args.hidden.split(","):
            for method in args.methods.split(","):
                words = [sys.executable, __file__, "--layers", str(args.layers), "--epochs", str(args.epochs)]
                done = subprocess.run(
                    [*words, "--one", dataset, hidden, method], check=True, stdout=subprocess.PIPE, text=True
                )
                rows.append(json.loads(done.stdout.splitlines()[-1]))
                print(rows[-1], file=sys.stderr)
    args.out.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    if args.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
