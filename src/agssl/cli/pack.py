"""`agssl data pack` and `agssl data generate`: graphs as folders of memory-mapped arrays."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agssl.cli.common import command_parser, human, say
from agssl.cli.options import add_tables, add_weights, table_options

if TYPE_CHECKING:
    from agssl.data.graph import Graph

_PACK = """\
examples:
  agssl data pack cora packed/cora
  agssl data pack my-graph/ packed/mine --split random:20/500/1000
"""
_GENERATE = """\
examples:
  agssl data generate made --nodes 100000 --edges 1000000
  agssl data generate words --nodes 20000 --degree 8 --features 1000 --kind binary --signal 0.3
"""


def add_commands(commands: Any) -> None:
    """Add both to the commands of `agssl data`."""
    pack = command_parser(commands, "pack", "convert a graph to a folder that is read without loading it", _PACK)
    pack.add_argument("graph", metavar="GRAPH", help="a dataset's name, a file or a folder")
    pack.add_argument("out", metavar="OUT", help="the folder to write; it must not exist yet")
    pack.add_argument("--split", help="pack this split with it; default: the one that came with the data, if any")
    add_reading(pack)
    pack.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    pack.set_defaults(handler=run_pack)

    make = command_parser(commands, "generate", "write a graph of any size with known labels", _GENERATE)
    make.add_argument("out", metavar="OUT", help="the folder to write; it must not exist yet")
    make.add_argument("--nodes", type=int, required=True, metavar="N", help="number of nodes")
    size = make.add_mutually_exclusive_group(required=True)
    size.add_argument("--edges", type=int, metavar="E", help="number of undirected edges, about")
    size.add_argument("--degree", type=float, metavar="D", help="average degree, about")
    for name, kind, text in (
        ("classes", int, "number of classes (default: 5)"),
        ("homophily", float, "share of the edges within a class (default: 0.8)"),
        ("degree-exponent", float, "exponent of the power law of degrees, above 2; inf: none (default: 2.5)"),
        ("features", int, "number of features (default: 64)"),
        ("kind", str, "features: gaussian (default) or binary"),
        ("signal", float, "gaussian: length of class means (default: 1); binary: share of class words"),
        ("words", int, "binary: words drawn for each node (default: 10)"),
        ("imbalance", float, "size of the largest class over the smallest (default: 1)"),
        ("split", str, "benchmark (default), random:20/500/1000, fraction:0.6/0.2/0.2 ..."),
        ("seed", int, "seed of everything (default: 0)"),
    ):
        make.add_argument(f"--{name}", type=kind, default=argparse.SUPPRESS, help=text, metavar=name.upper())
    make.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    make.set_defaults(handler=run_generate)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How to read the graph, and the seed of its split."""
    parser.add_argument("--knn", type=int, metavar="K", help="link each row of a table to the K rows most like it")
    parser.add_argument("--knn-metric", default="cosine", help="for --knn: cosine (default) or euclidean")
    parser.add_argument(
        "--label", default="label", metavar="COLUMN", help="the column with the labels (default: label)"
    )
    add_weights(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of a split that is drawn (default: 0)")
    add_tables(parser)


def read(args: argparse.Namespace, require_labels: bool = True) -> Graph:
    """The graph that the arguments name."""
    from agssl.data.resolve import open_graph

    how = {"knn": args.knn, "knn_metric": args.knn_metric, "label": args.label, "require_labels": require_labels}
    how |= {"weight": args.weight, "unweighted": args.unweighted} | table_options(args)
    return open_graph(args.graph, split=args.split, seed=args.seed, say=say, **how)


def run_pack(args: argparse.Namespace) -> int:
    """Read a graph and write it packed."""
    from dataclasses import replace

    from agssl.data.packed import write_packed

    graph = read(args, require_labels=False)
    if args.split is not None and graph.split is not None:
        graph = graph.with_split(replace(graph.split, origin="public"))  # from now on it comes with the data
    write_packed(graph, args.out)
    return _report(args)


def run_generate(args: argparse.Namespace) -> int:
    """Draw a graph straight to disk."""
    import dataclasses

    from agssl.data.synthetic import Synthetic, generate_packed

    names = [field.name for field in dataclasses.fields(Synthetic)]
    given = {name: value for name, value in vars(args).items() if name in names and value is not None}
    given.setdefault("edges", round((args.degree or 0) * args.nodes / 2))
    generate_packed(Synthetic(**given), args.out)
    return _report(args)


def _report(args: argparse.Namespace) -> int:
    """Print what was written: the meta data and the size on disk."""
    folder = Path(args.out)
    meta = json.loads((folder / "meta.json").read_bytes())
    facts = {key: meta[key] for key in ("name", "nodes", "edges", "features", "split")}
    facts |= {"classes": len(meta["classes"]), "bytes": sum(file.stat().st_size for file in folder.iterdir())}
    facts["folder"] = str(folder)
    print(json.dumps(facts) if args.json else "\n".join(f"{key:9} {human(value)}" for key, value in facts.items()))
    return 0
