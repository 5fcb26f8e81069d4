"""Whole fits of the paper's pool with default settings, against those of another revision: what a person waits for.

python benchmarks/fit.py [--datasets cora,citeseer] [--against 7c586cd] [--repeats 3] [--seeds 1] [--json]

Each fit is one `agssl fit DATASET --teachers paper` (without it, where a revision has no other pool) in a process of
its own, with a cache of its own: wall clock of the whole command, imports and preparation included, on all cores that
the command takes by itself. Both sides take turns. With `--seeds N`, the fits are those of the seeds 0 to N-1, one
command each, and accuracies are paired on them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from revisions import ROOT, commit_of, source_of
from workers import machine, say, show

RESULTS = ROOT / "results/benchmarks/fit.json"
DATASETS = "cora,citeseer,pubmed,photo,computers,cs,physics"
COLUMNS = ("dataset", "ratio", "seconds", "seconds_before", "accuracy", "accuracy_before", "difference")
# seconds of the paper's V100, its Table A3
V100 = {"cora": 15, "citeseer": 16, "pubmed": 68, "cs": 92, "physics": 159, "photo": 33, "computers": 46}


def main() -> None:
    """Measure, write the records and show them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default=DATASETS, help="names, with commas (default: %(default)s)")
    parser.add_argument("--against", default="7c586cd", metavar="REV", help="the other revision (default: %(default)s)")
    parser.add_argument("--integration", default="ts", help="of both sides (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="fits of seed 0 a side; the median counts (default: 3)")
    parser.add_argument("--seeds", type=int, default=1, help="seeds to compare accuracies on (default: 1)")
    parser.add_argument("--options", default="", help="more options of agssl fit, of both sides, e.g. '--epochs 3'")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the records (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    args = parser.parse_args()
    rows = []
    with source_of(args.against) as before:
        for dataset in args.datasets.split(","):
            rows.append(measure(dataset, {"before": before, "now": ROOT}, args))
    about = {"against": commit_of(args.against), "commit": commit_of("HEAD"), "machine": machine()}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n")
    show(rows, COLUMNS, args.json)


def measure(dataset: str, sides: dict[str, Path], args: argparse.Namespace) -> dict[str, Any]:
    """The row of one dataset."""
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    accuracy: dict[str, list[float]] = {side: [] for side in sides}
    peak: dict[str, list[float]] = {side: [] for side in sides}
    for turn, seed in [(0, seed) for seed in range(args.seeds)] + [(turn, 0) for turn in range(1, args.repeats)]:
        for side, code in sides.items():
            took, result = fit(code, dataset, seed, args)
            say(f"{dataset}, {side}, seed {seed}: {took:.1f} s, test {result['test_accuracy']['mean']:.1%}")
            if seed == 0:
                seconds[side].append(took)
                peak[side].append(result["peak_mb"])
            if turn == 0:
                accuracy[side].append(result["test_accuracy"]["mean"])
    differences = [now - before for now, before in zip(accuracy["now"], accuracy["before"], strict=True)]
    middle = {side: median(times) for side, times in seconds.items()}
    return {
        "dataset": dataset,
        "integration": args.integration,
        "options": args.options,
        "ratio": round(middle["before"] / middle["now"], 3),
        "seconds": round(middle["now"], 2),
        "seconds_before": round(middle["before"], 2),
        "seconds_v100": V100.get(dataset),
        "accuracy": round(fmean(accuracy["now"]), 5),
        "accuracy_before": round(fmean(accuracy["before"]), 5),
        "difference": round(fmean(differences), 5),
        "standard_error": None if args.seeds < 2 else round(stdev(differences) / args.seeds**0.5, 5),
        "accuracies": accuracy,
        "all_seconds": {side: [round(took, 2) for took in times] for side, times in seconds.items()},
        "peak_mb": round(median(peak["now"]), 1),
        "peak_mb_before": round(median(peak["before"]), 1),
    }


def fit(code: Path, dataset: str, seed: int, args: argparse.Namespace) -> tuple[float, dict[str, Any]]:
    """The seconds of one command by the code in a folder, and what it printed."""
    with tempfile.TemporaryDirectory(prefix="agssl-fit-") as folder:
        command = [sys.executable, "-m", "agssl", "fit", dataset, "--seed", str(seed), "--json"]
        variables = os.environ | {"PYTHONPATH": str(code / "src"), "AGSSL_CACHE": f"{folder}/cache"}
        command += ["--teachers", "paper"] if chooses_teachers(code) else []
        command += ["--integration", args.integration, "--out", f"{folder}/run", *args.options.split()]
        start = time.perf_counter()
        done = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True)
        seconds = time.perf_counter() - start
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
        return seconds, json.loads(done.stdout)


def chooses_teachers(code: Path) -> bool:
    """Whether the settings of a revision know other pools than the paper's."""
    return (code / "src/agssl/config/teacher.py").exists()


if __name__ == "__main__":
    main()
