"""`agssl explain`: the teacher weights of a node, or their means by degree or class."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from agssl.cli.common import bar, command_parser, console, json_text, table
from agssl.cli.options import add_compute, add_graph
from agssl.cli.source import Source, add_run, compute

if TYPE_CHECKING:
    from agssl.explain.groups import Group
    from agssl.explain.node import Explanation

_EXAMPLES = """\
examples:
  agssl explain runs/digits-agssl-both --node 42
  agssl explain runs/digits-agssl-both --degree
  agssl explain runs/mine --class --csv > weights.csv
  agssl explain runs/mine new-graph/ --node alice
"""
_NAMED = 5  # witnesses of a teacher
_SHOWN = 20  # neighbours that fit on a screen


def add_parser(subparsers: Any) -> None:
    """Add `explain`."""
    parser = command_parser(subparsers, "explain", "show the teacher weights: which teachers a node trusted", _EXAMPLES)
    add_run(parser)
    add_graph(parser, required=False)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--node", metavar="ID", help="one node, by name or number: teachers, weights, neighbours")
    what.add_argument("--degree", action="store_true", help="mean weights by degree")
    what.add_argument("--class", dest="by_class", action="store_true", help="mean weights by predicted class")
    add_compute(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    form.add_argument("--csv", action="store_true", help="print CSV on stdout")
    parser.set_defaults(handler=run_explain)


def run_explain(args: argparse.Namespace) -> int:
    """Print one explanation."""
    from agssl.explain.groups import by_class, by_degree
    from agssl.explain.node import explain_node

    compute(args)
    source = Source.open(args)
    fitted = source.fitted
    if args.by_class and args.graph is None:  # needs no graph
        _groups("class", by_class(fitted), args)
        return 0
    graph = source.graph(args)
    if args.graph is not None:
        from agssl.train.transfer import transfer

        fitted = transfer(fitted, graph, args.device)
    if args.node is not None:
        _node(explain_node(fitted, graph, args.node), args)
    elif args.degree:
        _groups("degree", by_degree(fitted, graph.degree), args)
    else:
        _groups("class", by_class(fitted), args)
    return 0


def _node(found: Explanation, args: argparse.Namespace) -> None:
    if args.json:
        sys.stdout.write(json_text(found.to_dict()))
        return
    if args.csv:
        from agssl.store.run_writer import csv_text

        rows = [[o.task, f"{o.weight:.6f}", o.prediction or "", _said(o.probability, ".6f")] for o in found.opinions]
        sys.stdout.write(csv_text(["task", "weight", "prediction", "probability"], rows))
        return
    out = console()
    label = "no label" if found.label is None else f"label {found.label}"
    part = "" if found.part is None else f" ({found.part})"
    out.print(
        f"node {found.node}: predicted {found.prediction} ({found.probability:.1%}), {label}{part}", soft_wrap=True
    )
    if found.opinions:
        opinions = table("task", "weight", "trust", "prediction", "probability", left=("task", "trust", "prediction"))
        for o in found.opinions:
            said = (o.prediction or "-", _said(o.probability, ".1%") or "-")
            opinions.add_row(o.task, f"{o.weight:.3f}", bar(o.weight), *said)
        out.print()
        out.print(opinions)
    if found.witnesses:
        out.print()
        for line in _vouchers(found):
            out.print(line, soft_wrap=True)
    out.print()
    out.print(f"{found.degree} neighbours" + (":" if found.degree else ""))
    if found.neighbours:
        neighbours = table("node", "label", "prediction", left=("node", "label", "prediction"))
        for n in found.neighbours[:_SHOWN]:
            neighbours.add_row(n.node, n.label or "-", n.prediction)
        out.print(neighbours)
    if found.degree > _SHOWN:
        out.print(f"and {found.degree - _SHOWN} more (--json has them all)")


def _vouchers(found: Explanation) -> list[str]:
    """On which of the labelled nodes near by each teacher was right, the most trusted first."""
    count = len(found.witnesses)
    near = f"of the {count} labelled nodes nearest to it, held out when the teachers answered"
    near += ":" if found.by_witnesses else " (these weights do not read them; those of local and both do):"
    lines = []
    for o in found.opinions:
        right = found.right(o.task)
        names = f" ({', '.join(right[:_NAMED])}{', …' if len(right) > _NAMED else ''})" if right else ""
        lines.append(f"  {o.task} {o.weight:.2f}: right on {len(right)}{names}")
    return [near, *lines]


def _said(probability: float | None, form: str) -> str:
    return "" if probability is None else format(probability, form)


def _groups(kind: str, groups: list[Group], args: argparse.Namespace) -> None:
    if args.json:
        sys.stdout.write(json_text([{kind: g.name, "nodes": g.nodes, "weights": g.weights} for g in groups]))
        return
    tasks = list(groups[0].weights)
    if args.csv:
        from agssl.store.run_writer import csv_text

        rows = [[g.name, g.nodes, *(f"{w:.6f}" for w in g.weights.values())] for g in groups]
        sys.stdout.write(csv_text([kind, "nodes", *tasks], rows))
        return
    shown = table(kind, "nodes", *tasks, left=(kind, *tasks))
    for g in groups:
        shown.add_row(g.name, f"{g.nodes:,}", *(f"{w:.3f} {bar(w, 10)}" for w in g.weights.values()))
    console().print(shown)
