"""Where the processor time of a whole fit goes, beside that of another revision: `python benchmarks/profile_fit.py`.

Each side is one `agssl fit` of the paper's pool in one process with one thread, imports included, under Python's
profiler, which counts processor time here; it slows down what has many calls. Parts overlap where one calls another: a
backward pass has sparse products of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from revisions import ROOT, commit_of, source_of
from workers import machine, say, show

RESULTS = ROOT / "results/benchmarks/profile.json"
# a part, and how the profiler names what it consists of: the end of the file, the function
PARTS = {
    "imports": [("<frozen importlib._bootstrap>", "_find_and_load")],
    "backward": [("", "<method 'run_backward' of 'torch._C._EngineBase' objects>")],
    "sparse_products": [("", "<built-in method torch.embedding_bag>")],
    "optimizer": [("torch/optim/optimizer.py", "wrapper"), ("agssl/ops/adam.py", "step")],
    "masks": [("agssl/ops/dropout.py", "keep_mask")],
    "evaluation": [("agssl/train/problem.py", "evaluate"), ("agssl/train/evaluate.py", "evaluate")],
    "heads_of_pseudo_labels": [("agssl/ops/linear_loss.py", "forward")],
}
CODE = """
import cProfile, json, pstats, sys, time
profiler = cProfile.Profile(time.process_time)
profiler.enable()
from agssl.cli.main import main
main(sys.argv[2:])
profiler.disable()
found = pstats.Stats(profiler)
rows = [(file, name, calls, whole) for (file, _, name), (calls, _, _, whole, _) in found.stats.items()]
json.dump({"seconds": found.total_tt, "calls": found.total_calls, "rows": rows}, open(sys.argv[1], "w"))
"""


def main() -> None:
    """Profile both sides and show what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="cora", help="names, with commas (default: %(default)s)")
    parser.add_argument("--against", default="7c586cd", metavar="REV", help="the other revision (default: %(default)s)")
    parser.add_argument("--options", default="", help="more options of agssl fit, of both sides, e.g. '--epochs 3'")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the records (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    args = parser.parse_args()
    with source_of(args.against) as before:
        sides = {"before": before, "now": ROOT}
        rows = [
            {"dataset": name, "side": side} | profile(code, name, args.options.split())
            for name in args.datasets.split(",")
            for side, code in sides.items()
        ]
    about = {"against": commit_of(args.against), "commit": commit_of("HEAD"), "machine": machine()}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(about | {"options": args.options, "rows": rows}, indent=1) + "\n")
    show(rows, tuple(rows[0]), args.json)


def profile(code: Path, dataset: str, options: list[str]) -> dict[str, Any]:
    """Processor seconds of a fit by the code in a folder, in all and by part; epochs and calls of functions."""
    with tempfile.TemporaryDirectory(prefix="agssl-profile-") as folder:
        words = ["fit", dataset, "--seed", "0", "--jobs", "1", "--threads", "1", "--out", f"{folder}/run", *options]
        variables = os.environ | {"PYTHONPATH": str(code / "src"), "AGSSL_CACHE": f"{folder}/cache"}
        command = [sys.executable, "-c", CODE, f"{folder}/profile.json", *words]
        done = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"agssl {' '.join(words)} failed:\n{done.stderr}")
        found = json.loads(Path(folder, "profile.json").read_text())
    say(f"{dataset}: {found['seconds']:.1f} s of processor time")
    row = {"seconds": round(found["seconds"], 1)}
    for part, names in PARTS.items():
        times = [time for file, name, _, time in found["rows"] if any(_is(file, name, one) for one in names)]
        row[part] = round(sum(times), 1)
    steps = sum(count for file, name, count, _ in found["rows"] if _is(file, name, PARTS["backward"][0]))
    return row | {"steps": steps, "calls": found["calls"]}


def _is(file: str, name: str, one: tuple[str, str]) -> bool:
    return name == one[1] and file.endswith(one[0])


if __name__ == "__main__":
    main()
