"""How much faster a grid of cells is side by side: one process, two, and as Ray tasks, each from nothing.

python benchmarks/jobs.py [--datasets cora,citeseer] [--seeds 2] [--epochs 200] [--json]

Every side is the same command, `agssl bench table1`, with its own folders of records and caches, so that nobody finds
what another has trained. Times are those of the whole command: starting processes (or Ray), reading the graphs and
preparing targets included. The records of all sides must be equal but for the time they took.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from workers import machine, say, show

from agssl.bench.records import Records

RESULTS = Path(__file__).parents[1] / "results/benchmarks/jobs.json"
COST = {"created", "seconds", "cpu_seconds", "peak_mb", "commit"}  # what may differ between two runs of a cell
SIDES = {"one process": ("--jobs", "1"), "two processes": ("--jobs", "2"), "ray": ("--ray", "--jobs", "2")}


def main() -> None:
    parser = argparse.ArgumentParser(
        description="the time of a grid of cells, side by side against one after the other"
    )
    parser.add_argument("--datasets", default="cora,citeseer", help="names, with commas (default: %(default)s)")
    parser.add_argument("--methods", default="gcn,par,clu,dgi,pairdis,pairsim,average,agssl-lf,agssl-ts")
    parser.add_argument("--seeds", default="2", help="as for agssl bench (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=200, help="most epochs of a training (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=1, help="runs of each side; the fastest counts (default: 1)")
    parser.add_argument("--no-ray", action="store_true", help="without Ray, even if it is installed")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the results (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    args = parser.parse_args()
    sides = [side for side in SIDES if side != "ray" or (importlib.util.find_spec("ray") and not args.no_ray)]
    rows: dict[str, dict[str, Any]] = {}
    expected: Any = None
    for _ in range(args.repeats):
        for side in sides:  # in turn, so that what else the machine does meets all alike
            seconds, records = run(args, SIDES[side])
            expected = records if expected is None else expected
            if records != expected:
                raise SystemExit(f"{side}: the records differ from those of {sides[0]}")
            best = min(seconds, rows[side]["seconds"] if side in rows else seconds)
            rows[side] = {"side": side, "cells": len(records), "seconds": round(best, 2)}
            say(f"{side}: {seconds:.1f} s for {len(records)} cells")
    for row in rows.values():
        row["ratio"] = round(rows[sides[0]]["seconds"] / row["seconds"], 3)
    about = {"datasets": args.datasets, "methods": args.methods, "seeds": args.seeds, "epochs": args.epochs}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"machine": machine(), **about, "rows": [*rows.values()]}, indent=1) + "\n")
    show([*rows.values()], ("side", "cells", "seconds", "ratio"), args.json)


def run(args: argparse.Namespace, words: tuple[str, ...]) -> tuple[float, dict[str, Any]]:
    """The seconds of one side, and its records without what they cost."""
    with tempfile.TemporaryDirectory(prefix="agssl-jobs-") as folder:
        command = [sys.executable, "-m", "agssl", "bench", "table1", "--strategies", "jt", "--threads", "1", "--json"]
        command += ["--datasets", args.datasets, "--methods", args.methods, "--seeds", args.seeds]
        command += ["--set", f"epochs={args.epochs}", "--out", f"{folder}/records", *words]
        variables = os.environ | {"AGSSL_CACHE": f"{folder}/cache", "OMP_NUM_THREADS": "1"}
        start = time.perf_counter()
        subprocess.run(command, env=variables, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        return seconds, {
            record["key"]: {key: value for key, value in record.items() if key not in COST}
            for record in Records(f"{folder}/records")
        }


if __name__ == "__main__":
    main()
