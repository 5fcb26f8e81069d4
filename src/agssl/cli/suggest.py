"""`agssl suggest`: which nodes to label next."""

from __future__ import annotations

import argparse
from typing import Any

from agssl.cli.common import command_parser, console, emit, json_text, table
from agssl.cli.options import add_compute, add_graph
from agssl.cli.source import Source, add_run, compute

_EXAMPLES = """\
examples:
  agssl suggest runs/mine -n 20
  agssl suggest runs/mine -n 50 -o ask.csv
  agssl suggest runs/mine new-graph/ --json
"""
COLUMNS = ("node", "prediction", "probability", "second", "disagreement", "degree", "covered", "reason")


def add_parser(subparsers: Any) -> None:
    """Add `suggest`."""
    parser = command_parser(subparsers, "suggest", "say which nodes to label next, and why", _EXAMPLES)
    add_run(parser, "all together")
    add_graph(parser, required=False)
    parser.add_argument("-n", type=int, default=20, metavar="N", help="how many nodes (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON value in place of a table")
    parser.add_argument("-o", "--output", metavar="FILE", help="write CSV (with --json: JSON) to a file; - is stdout")
    add_compute(parser)
    parser.set_defaults(handler=run_suggest)


def run_suggest(args: argparse.Namespace) -> int:
    """Print or write the suggestions."""
    compute(args)
    from agssl.label.suggest import suggest
    from agssl.store.fitted import together
    from agssl.store.run_writer import csv_text
    from agssl.train.infer import infer
    from agssl.train.transfer import transfer

    source = Source.open(args)
    graph = source.graph(args)
    models = list(source.members())
    if args.graph is not None:
        models = [transfer(one, graph, args.device) for one in models]
    probabilities, _ = together((one, one.logits) for one in models)
    hidden = infer(source.fitted.model, graph, args.device).hidden
    found = suggest(models, probabilities, hidden, graph, args.n)
    if args.json:
        emit(json_text([one.to_dict() for one in found]), args.output)
        return 0
    if args.output:
        rows = ([_cell(getattr(one, name)) for name in COLUMNS] for one in found)
        emit(csv_text(COLUMNS, rows), args.output)
        return 0
    shown = table("node", "looks like", "sure", "why", left=("node", "looks like", "why"))
    for one in found:
        shown.add_row(one.node, one.prediction, f"{one.probability:.0%}", one.reason)
    console().print(shown)
    return 0


def _cell(value: Any) -> Any:
    return f"{value:.6f}" if isinstance(value, float) else value
