"""`agssl report`: a page that shows a run, and the teacher weights of every node."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from agssl.base.errors import SettingsError
from agssl.cli.common import command_parser, say
from agssl.cli.plugins import add_plugins
from agssl.cli.source import add_moved

_EXAMPLES = """\
examples:
  agssl report runs/digits-agssl-both
  agssl report runs/mine --baseline runs/mine-gcn -o mine.html
  agssl report runs/mine --seed 3

The page needs no network and no other file: open it from disk, send it, or print it to PDF.
"""


def add_parser(subparsers: Any) -> None:
    """Add `report`."""
    parser = command_parser(subparsers, "report", "write a page that shows a run", _EXAMPLES)
    parser.add_argument("run", metavar="RUN", help="a folder written by agssl fit")
    parser.add_argument("--seed", type=int, metavar="S", help="the seed to show in detail (default: the first)")
    parser.add_argument("--baseline", metavar="RUN", help="a run of --method gcn on the same graph, to stand beside it")
    parser.add_argument(
        "--map", default="tsne", metavar="HOW", help="layout of the map: tsne (default) or pca (at once)"
    )
    parser.add_argument(
        "--reasons",
        type=int,
        default=600,
        metavar="N",
        help="of how many nodes to show which features and neighbours moved their predictions (default: 600)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: report.html in the run)")
    add_moved(parser)
    add_plugins(parser)
    parser.set_defaults(handler=run_report)


def run_report(args: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from agssl.explain.layout import LAYOUTS
    from agssl.store.run import Run

    if args.map not in LAYOUTS:
        raise SettingsError(f"map {args.map!r} is not known; give {' or '.join(LAYOUTS)}")
    if args.reasons < 0:
        raise SettingsError(f"--reasons is {args.reasons}; give a number of nodes, or 0 for none")
    run = Run.open(args.run, args.moved)
    run.folder(args.seed)
    baseline = None if args.baseline is None else Run.open(args.baseline)

    from agssl.base.atomic import write_text
    from agssl.report.build import build
    from agssl.report.page import page

    data, arrays = build(run, args.seed, baseline, args.map, args.reasons)
    path = Path(args.output) if args.output else run.path / "report.html"
    text = page(data, arrays, f"{data['name']}: {data['method']}")
    write_text(path, text)
    print(path)
    say(f"{len(text) / 1e6:.1f} MB; open it in a browser")
    return 0
