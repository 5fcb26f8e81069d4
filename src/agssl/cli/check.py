"""`agssl check`: which labels to doubt."""

from __future__ import annotations

import argparse
from typing import Any

from agssl.base.errors import DataError
from agssl.cli.common import command_parser, console, emit, json_text, say, table
from agssl.cli.source import Source, add_run

_EXAMPLES = """\
examples:
  agssl check runs/mine
  agssl check runs/mine -o suspects.csv
  agssl check runs/mine --all --json
"""
COLUMNS = ("node", "label", "looks_like", "suspect", "probability", "other", "reason")


def add_parser(subparsers: Any) -> None:
    """Add `check`."""
    parser = command_parser(subparsers, "check", "say which labels to doubt, and why", _EXAMPLES)
    add_run(parser, "all together")
    parser.add_argument(
        "--all", action="store_true", help="list all labels that were checked, the least believed first"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON value in place of a table")
    parser.add_argument("-o", "--output", metavar="FILE", help="write CSV (with --json: JSON) to a file; - is stdout")
    parser.set_defaults(handler=run_check)


def run_check(args: argparse.Namespace) -> int:
    """Print or write the suspects."""
    from agssl.label.check import check_labels
    from agssl.store.run_writer import csv_text

    source = Source.open(args)
    run = source.run
    if run is None:
        raise DataError(f"{args.run} is a model without the labels of its graph; give a folder written by agssl fit")
    graph = source.run_graph(args.run)
    seeds = run.seeds if args.seed is None else (args.seed,)
    found = check_labels(((run.fitted(seed), run.split(seed)) for seed in seeds), graph)
    suspects = [one for one in found if one.suspect]
    missed = int((graph.y >= 0).sum()) - len(found)
    more = f"; {missed} others were never held out (--split cv:5 holds out every label)" if missed else ""
    say(f"{len(suspects)} of {len(found)} labels are doubted by networks that had not seen them{more}")
    listed = found if args.all else suspects
    if args.json:
        emit(json_text([one.to_dict() for one in listed]), args.output)
        return 0
    if args.output:
        rows = ([_cell(getattr(one, name)) for name in COLUMNS] for one in listed)
        emit(csv_text(COLUMNS, rows), args.output)
        return 0
    shown = table("node", "label", "looks like", "why", left=("node", "label", "looks like", "why"))
    for one in listed:
        shown.add_row(one.node, one.label, one.looks_like, one.reason)
    if listed:
        console().print(shown)
    return 0


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6f}" if isinstance(value, float) else value
