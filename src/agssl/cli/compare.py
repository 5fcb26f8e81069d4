"""`agssl compare`: runs side by side, and how much each differs from the first."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from agssl.cli.common import command_parser, console, json_text, say, table

_EXAMPLES = """\
examples:
  agssl compare runs/cora-gcn runs/cora-agssl-both
  agssl compare runs/a runs/b runs/c --json
  agssl compare runs/a runs/b -o compare.html

Differences are to the first run: seed by seed where runs share graph, seeds and splits, else between the means.
"""


def add_parser(subparsers: Any) -> None:
    """Add `compare`."""
    parser = command_parser(subparsers, "compare", "compare runs, seed by seed", _EXAMPLES)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="folders written by agssl fit, the reference first")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    form.add_argument("-o", "--output", metavar="FILE", help="write a page")
    parser.set_defaults(handler=run_compare)


def run_compare(args: argparse.Namespace) -> int:
    """Print the comparison, or write its page."""
    from agssl.report.compare import compare
    from agssl.store.run import Run
    from agssl.store.run_writer import plain

    found = compare([Run.open(path) for path in args.runs])
    if args.json:
        sys.stdout.write(json_text(plain(found)))
        return 0
    names = run_names([run["run"] for run in found["runs"]])
    if args.output:
        from agssl.base.atomic import write_text
        from agssl.report.page import page

        for run, name in zip(found["runs"], names, strict=True):
            run["name"] = name
        title = " and ".join(dict.fromkeys(str(run["dataset"]) for run in found["runs"]))
        write_text(args.output, page({"kind": "compare", "title": title, **found}, {}, f"compare: {title}"))
        print(args.output)
        return 0
    show(found, names)
    return 0


def show(found: dict[str, Any], names: list[str]) -> None:
    """Print the comparison for people."""
    out, measures = console(), found["measures"]
    heads = [_HEADS.get(name, name.replace("_", " ", 1)) for name in measures]
    rows = table("run", "data", "method", "seeds", *heads, left=("run", "data", "method"))
    for run, name in zip(found["runs"], names, strict=True):
        method = ", ".join(filter(None, (run["method"], run["integration"])))
        cells = [_value(measure, run[measure]["mean"], run[measure]["std"], len(run["seeds"])) for measure in measures]
        rows.add_row(name, str(run["dataset"]), method, str(len(run["seeds"])), *cells)
    out.print(rows)
    out.print()
    out.print(f"differences to {names[0]}, with their 95% intervals", soft_wrap=True)
    rows = table("run", *heads, "how", left=("run", "how"))
    for difference, name in zip(found["differences"], names[1:], strict=True):
        count = len(difference["seeds"])
        how = (
            f"paired, {count} seed{'s' * (count > 1)}" if difference["paired"] else f"not paired: {difference['note']}"
        )
        rows.add_row(name, *(_change(measure, difference[measure]) for measure in measures), how)
    out.print(rows)
    if any(d["paired"] and len(d["seeds"]) == 1 for d in found["differences"]):
        say("one seed gives no interval; fit with --seeds 5 or more")


def run_names(paths: list[str]) -> list[str]:
    """The last parts of paths, as many as it takes to tell them apart.

    >>> run_names(["runs/a", "runs/b"]), run_names(["x/a", "y/a"])
    (['a', 'b'], ['x/a', 'y/a'])
    """
    for parts in (1, 2, 3):
        names = ["/".join(Path(path).resolve().parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return paths


_HEADS = {
    "test_accuracy": "test %",
    "macro_f1": "macro-F1",
    "log_loss": "log-loss",
    "ece": "ECE",
    "val_accuracy": "val %",
}


def _value(measure: str, mean: float | None, std: float | None, seeds: int) -> str:
    if mean is None or std is None:
        return "-"
    write = (lambda v: f"{100 * v:.2f}") if measure.endswith("accuracy") else (lambda v: f"{v:.3f}")
    return write(mean) + (f" ± {write(std)}" if seeds > 1 else "")


def _change(measure: str, found: dict[str, float] | None) -> str:
    if found is None:
        return "-"
    write = (lambda v: f"{100 * v:+.2f}") if measure.endswith("accuracy") else (lambda v: f"{v:+.3f}")
    return write(found["mean"]) + ("" if found["low"] is None else f" [{write(found['low'])}, {write(found['high'])}]")
