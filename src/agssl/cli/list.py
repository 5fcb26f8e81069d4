"""`agssl list`: what there is to choose from, plug-ins included."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from agssl.base.errors import unknown_name
from agssl.cli.common import command_parser, json_text
from agssl.cli.plugins import add_plugins, registries

WHAT = ("tasks", "encoders", "integrations", "datasets")

_EXAMPLES = """\
examples:
  agssl list tasks
  agssl list encoders --json
  agssl list integrations --plugin mine.py
  agssl list datasets

Settings are in brackets with their defaults, and given after a colon: --tasks par:parts=100,clu
"""


def add_parser(subparsers: Any) -> None:
    """Add `list`."""
    text = "list the tasks, encoders, integrations or datasets, one line each"
    parser = command_parser(subparsers, "list", text, _EXAMPLES)
    parser.add_argument("what", metavar="WHAT", help=", ".join(WHAT))
    parser.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    add_plugins(parser)
    parser.set_defaults(handler=run_list)


def run_list(args: argparse.Namespace) -> int:
    """Print one line each."""
    if args.what not in WHAT:
        raise unknown_name("list", args.what, WHAT)
    if args.what == "datasets":
        from agssl.cli import data

        return data.run_data_list(args)
    entries = sorted(registries()[args.what].describe(), key=lambda entry: entry.name)
    if args.json:
        sys.stdout.write(
            json_text([{"name": e.name, "summary": e.summary, "settings": _plain(e.settings)} for e in entries])
        )
        return 0
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        settings = ", ".join(f"{name}={default}" for name, default in entry.settings.items())
        print(f"{entry.name:{width}}  {entry.summary}" + (f" [{settings}]" if settings else ""))
    return 0


def _plain(settings: Any) -> dict[str, Any]:
    """Defaults as JSON takes them."""
    return {k: v if v is None or isinstance(v, str | int | float) else str(v) for k, v in settings.items()}
