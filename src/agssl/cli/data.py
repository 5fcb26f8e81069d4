"""`agssl data`: the named datasets, and facts about any graph; `pack` and `generate` are in `agssl.cli.pack`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from agssl.cli import pack
from agssl.cli.common import command_parser, console, human, say
from agssl.cli.options import say_columns

_LIST = """\
example:
  agssl data list
"""
_INFO = """\
examples:
  agssl data info cora
  agssl data info path/to/folder --json
  agssl data info measurements.csv --knn 10 --label species
"""
_GET = """\
example:
  agssl data get citeseer pubmed
"""


def add_parser(subparsers: Any) -> None:
    """Add `data` and its own commands; each sets `handler`, a function of the arguments that gives the exit code."""
    text = "list, describe, fetch, pack and generate datasets"
    parser = command_parser(
        subparsers, "data", text, "\n".join(["examples:", *_LIST.split("\n")[1:2], *_INFO.split("\n")[1:4]])
    )
    commands = parser.add_subparsers(dest="data_command", metavar="COMMAND", required=True)

    listing = command_parser(commands, "list", "list the named datasets and where their files are", _LIST)
    listing.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    listing.set_defaults(handler=run_data_list)

    info = command_parser(commands, "info", "print the facts about a dataset or a graph of your own", _INFO)
    info.add_argument("graph", metavar="NAME", help="a dataset's name, a file or a folder")
    info.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    info.add_argument("--split", default="auto", help="auto (default), cv:5, benchmark, random:20/500/1000, a file ...")
    pack.add_reading(info)
    info.set_defaults(handler=run_info)

    get = command_parser(commands, "get", "see that a dataset's files are on this machine, and check them", _GET)
    get.add_argument("names", metavar="NAME", nargs="+", help="names of datasets")
    get.set_defaults(handler=run_get)

    pack.add_commands(commands)


def run_data_list(args: argparse.Namespace) -> int:
    """Print the table of datasets."""
    from agssl.data.datasets import DATASETS, where
    from agssl.data.fetch import data_folders

    folders = data_folders()
    keys = ("name", "nodes", "edges", "features", "classes", "split")
    rows = [{key: getattr(DATASETS[name], key) for key in keys} for name in DATASETS]
    for row in rows:
        row["files"] = where(DATASETS[row["name"]], folders)
    if args.json:
        print(json.dumps(rows))
        return 0
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for key in (*keys, "files"):
        table.add_column(key, justify="right" if key in keys[1:5] else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(f"{value:,}" if isinstance(value, int) else value for value in row.values()))
    console().print(table)
    return 0


def run_info(args: argparse.Namespace) -> int:
    """Print the facts about one graph."""
    graph = pack.read(args)
    say_columns(graph)
    facts = graph.info()
    if args.json:
        print(json.dumps(facts))
        return 0
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    for key, value in facts.items():
        table.add_row(key, human(value))
    console().print(table)
    return 0


def run_get(args: argparse.Namespace) -> int:
    """Fetch and check the files; print the path of each."""
    from agssl.data.datasets import dataset_spec, get_dataset

    for spec in [dataset_spec(name) for name in args.names]:  # a misspelt name stops us before the first download
        paths = get_dataset(spec.name, say=say)
        if not paths:
            say(f"{spec.name} is built in; there is nothing to fetch")
        for path in paths:
            print(path)
    return 0
