"""What docs/performance.md shows of the records: `python benchmarks/performance.py` writes its tables there.

A table stands between `<!-- NAME -->` and `<!-- end -->`. One whose records are not there says so.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FIRST = "none/100"  # what choices of `studies/halving.py` are compared with


def main() -> None:
    """Write all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, default=ROOT / "docs/performance.md", help="the page with the tables")
    page = parser.parse_args().page
    text = page.read_text(encoding="utf-8")
    for name, make in TABLES.items():
        made = make() or "(Not measured yet.)"
        text, count = re.subn(
            rf"<!-- {name} -->\n.*?<!-- end -->",
            lambda match, made=made, name=name: f"<!-- {name} -->\n{made}\n<!-- end -->",
            text,
            flags=re.DOTALL,
        )
        if count != 1:
            raise SystemExit(f"{page} has a place for the table {name} {count} times, not once")
    page.write_text(text, encoding="utf-8")


def profile() -> str | None:
    """Parts of a fit, before and now."""
    found = _records("results/benchmarks/profile.json")
    rows = [] if found is None else found["rows"]
    columns = [f"{row['dataset']}, {row['side']}" for row in rows]
    parts = [part for part in (rows[0] if rows else {}) if part not in ("dataset", "side")]
    return _table(["", *columns], [[part.replace("_", " "), *(f"{row[part]:,}" for row in rows)] for part in parts])


def halving() -> str | None:
    """Differences in test accuracy, in points, of choices to `FIRST`."""
    path = ROOT / "studies/results/halving.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    test = {(row["dataset"], row["choice"], row["seed"]): 100 * row["test"] for row in records}
    cells = []
    for dataset, choice in sorted({key[:2] for key in test}):
        seeds = [seed for name, one, seed in test if (name, one) == (dataset, choice)]
        pairs = [(test[dataset, choice, seed], test.get((dataset, FIRST, seed))) for seed in sorted(seeds)]
        differences = [one - other for one, other in pairs if other is not None]
        if choice == FIRST or len(differences) < 2:
            continue
        epochs, patience = choice.split("/")
        error = stdev(differences) / len(differences) ** 0.5
        what = [dataset, "all to the end" if epochs == "none" else epochs, patience, str(len(differences))]
        cells.append([*what, f"{fmean(differences):+.2f} ± {error:.2f}"])
    return _table(["", "epochs of all alphas", "patience", "seeds", "points, and standard error"], cells)


def patience() -> str | None:
    """What rules of stopping do, replayed by `studies/patience.py`."""
    path = ROOT / "studies/results/patience.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    return str(runpy.run_path(str(ROOT / "studies/patience.py"))["table"](rows)) if rows else None


def kernels() -> str | None:
    """What `studies/kernels.py` timed."""
    found = _records("studies/results/kernels.json")
    if found is None:
        return None
    cells = [
        [f"{dataset}: {name.replace('_', ' ')}", str(value)]
        for dataset, figures in found["features"].items()
        for name, value in figures.items()
    ]
    for size, figures in found["head"].items():
        cells.append([f"PAR's head, {size}, rows at a time", ", ".join(f"{n}: {ms}" for n, ms in figures.items())])
    for dataset, figures in found["k-means"].items():
        ours = f"{figures['seconds']} s, {figures['scikit_learn']} by scikit-learn, inertia {figures['inertia']} of its"
        cells.append([f"k-means of {dataset}", ours])
    for passes, figures in found["metis"].items():
        cells.append([f"METIS, {passes}", f"{figures['seconds']} s, cut {figures['cut']:.1%}"])
    return _table(["", "ms"], cells)


def fit() -> str | None:
    """Whole fits, before and now."""
    found = _records("results/benchmarks/fit.json")
    cells = [
        [
            row["dataset"],
            f"{row['seconds_before']:.1f}",
            f"{row['seconds']:.1f}",
            f"{row['ratio']:.2f}",
            str(row["seconds_v100"]),
            f"{row['accuracy_before']:.1%}",
            f"{row['accuracy']:.1%}",
            f"{row['peak_mb_before']:.0f}, {row['peak_mb']:.0f}",
        ]
        for row in (found or {"rows": []})["rows"]
    ]
    names = ["", "seconds before", "now", "ratio", "the paper's V100", "test accuracy before", "now", "peak MB"]
    table = _table(names, cells)
    if found is None or table is None:
        return None
    one, cores = found["rows"][0], found["machine"]["cores"]
    load = found["machine"]["load_average"]
    about = f"Median of {len(one['all_seconds']['now'])}, accuracy on {len(one['accuracies']['now'])} seed(s), "
    return f"{table}\n\n{about}{cores} cores; load average at the end: {load:.1f}."


def _records(path: str) -> Any:
    file = ROOT / path
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def _table(header: list[str], cells: list[list[str]]) -> str | None:
    lines = [header, ["---"] * len(header), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if cells else None


TABLES: dict[str, Callable[[], str | None]] = {
    "profile": profile,
    "halving": halving,
    "patience": patience,
    "kernels": kernels,
    "fit": fit,
}


if __name__ == "__main__":
    main()
