"""Do fits of this checkout and of another revision give the same bits on this machine?

Each fit is one `agssl fit` with seed 0 and the shipped settings, in a process of its own, with a cache of its own. What
is compared: the model's tensors, the logits of model and teachers, the per-node teacher weights, the predictions and
the histories. Finished fits of the other revision are kept in `--keep`, by its commit and `--options`, and not run
again.

    python benchmarks/same_bits.py --against 7c586cd --datasets digits,cora
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

from revisions import ROOT, commit_of, source_of
from safetensors.numpy import load_file

# By name, what to ask `agssl fit` for. Revisions before the option got this name say --setting.
FITS: dict[str, dict[str, str]] = {
    "lf": {"integration": "lf"},
    "ts": {"integration": "ts"},
    "average": {"integration": "average"},
    "pf": {"integration": "ts", "strategy": "pf"},
}
FILES = ("model.safetensors", "history.json", "predictions.csv", "task_weights.csv")


def main() -> int:
    """Run what is missing and compare; 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", default="7c586cd", metavar="REV", help="the other revision (default: 7c586cd)")
    parser.add_argument("--datasets", default="digits,cora,computers", help="with commas")
    parser.add_argument("--fits", default=",".join(FITS), help=f"of {', '.join(FITS)}")
    parser.add_argument("--keep", type=Path, default=ROOT / "runs" / "same-bits", help="where runs are kept")
    parser.add_argument("--jobs", type=int, default=1, help="fits side by side")
    parser.add_argument("--only", choices=("before", "after"), help="run one side, and compare nothing")
    parser.add_argument("--options", default="", help="more options of agssl fit, e.g. '--epochs 3'")
    args = parser.parse_args()
    kept = args.keep.resolve() / kept_name(commit_of(args.against), args.options)
    cells = [(dataset, fit) for dataset in args.datasets.split(",") for fit in args.fits.split(",")]
    source = nullcontext(ROOT) if args.only == "after" else source_of(args.against)
    with tempfile.TemporaryDirectory() as scratch, source as code:
        sides = {"before": (code, kept), "after": (ROOT, Path(scratch))}
        asked = [(side, cell) for cell in cells for side in sides if args.only in (None, side)]

        def one(item: tuple[str, tuple[str, str]]) -> None:
            (code, out), (dataset, fit) = sides[item[0]], item[1]
            print(f"{item[0]}: {_name(dataset, fit)}", file=sys.stderr, flush=True)
            run(code, out, dataset, fit, args.options)

        with ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(one, asked))
        if args.only:
            return 0
        found = [compare(*(out / _name(*cell) for _, out in sides.values())) for cell in cells]
    for cell, differences in zip(cells, found, strict=True):
        print(f"{_name(*cell)}: {'; '.join(differences) or 'the same bits'}")
    return int(any(found))


def kept_name(commit: str, options: str) -> str:
    """The folder of a revision's fits with these options of `agssl fit`."""
    digest = sha256(" ".join(options.split()).encode()).hexdigest()[:8]
    return f"{commit}-{digest}" if options.split() else commit


def run(code: Path, out: Path, dataset: str, fit: str, options: str) -> None:
    """One fit by the code in a folder, unless its run is there already."""
    folder = out / _name(dataset, fit)
    if (folder / "run.json").exists():
        return
    asked = dict(FITS[fit])
    if "strategy" in asked and not (code / "src" / "agssl" / "base").is_dir():
        asked["setting"] = asked.pop("strategy")
    words = [word for name, value in asked.items() for word in (f"--{name}", value)]
    environment = os.environ | {
        "PYTHONPATH": str(code / "src"),
        "AGSSL_CACHE": str(out / "cache" / _name(dataset, fit)),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "agssl", "fit", dataset, "--seed", "0", "--out", str(folder), *words]
    done = subprocess.run([*command, *options.split()], env=environment, cwd=code, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")


def compare(before: Path, after: Path) -> list[str]:
    """What differs between two runs."""
    return [name for name in FILES if _content(before / "seed-0" / name) != _content(after / "seed-0" / name)]


def _content(path: Path) -> Any:
    if not path.exists():
        return None
    if path.suffix == ".json":
        return json.loads(path.read_text())
    if path.suffix == ".csv":
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        # revisions before did not calibrate: probabilities were other ones of the same logits
        return [{name: value for name, value in row.items() if name != "probability"} for row in rows]
    tensors = load_file(path)
    # revisions before kept no networks of teachers, no calibration and no scores for prediction sets
    later = ("model.", "teachers.", "calibration.", "conformal.", "heldout_weights")
    others = {name: array for name, array in tensors.items() if not name.startswith(later)}
    named = {name: (array.shape, array.tobytes()) for name, array in others.items()}
    # the model's own tensors may have been renamed, so they are a collection
    own = sorted((array.shape, array.tobytes()) for name, array in tensors.items() if name.startswith("model."))
    return named, own


def _name(dataset: str, fit: str) -> str:
    return f"{dataset}-{fit}"


if __name__ == "__main__":
    sys.exit(main())
