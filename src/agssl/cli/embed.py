"""`agssl embed`: the hidden representation of every node."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

from agssl.base.errors import SettingsError
from agssl.cli.common import command_parser, emit, say
from agssl.cli.options import add_compute, add_graph
from agssl.cli.source import Source, add_run, compute

_EXAMPLES = """\
examples:
  agssl embed runs/digits-agssl-both -o embedding.npy
  agssl embed runs/mine new-graph/ > embedding.csv
"""


def add_parser(subparsers: Any) -> None:
    """Add `embed`."""
    parser = command_parser(subparsers, "embed", "write the hidden representation of every node", _EXAMPLES)
    add_run(parser)
    add_graph(parser, required=False)
    parser.add_argument("-o", "--output", metavar="FILE", help=".npy or .csv (default: CSV on stdout)")
    add_compute(parser)
    parser.set_defaults(handler=run_embed)


def run_embed(args: argparse.Namespace) -> int:
    """Print or write the representations [N, F]."""
    ending = Path(args.output).suffix.lower() if args.output not in (None, "-") else ".csv"
    if ending not in (".npy", ".csv"):
        raise SettingsError(f"cannot tell by the ending of {args.output} what to write; end it in .npy or .csv")
    compute(args)
    import numpy as np

    from agssl.base.atomic import write_bytes
    from agssl.store.run_writer import csv_text, node_names
    from agssl.train.infer import infer

    source = Source.open(args)
    graph = source.graph(args)
    hidden = infer(source.fitted.model, graph, args.device).hidden
    if ending == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, hidden, allow_pickle=False)
        write_bytes(args.output, buffer.getvalue())
        say(f"written to {args.output}: {hidden.shape[0]} x {hidden.shape[1]}")
        return 0
    header = ["node", *(f"h{i}" for i in range(hidden.shape[1]))]
    # nine digits give back every 32-bit float exactly
    rows = ([name, *(f"{v:.9g}" for v in row)] for name, row in zip(node_names(graph), hidden.tolist(), strict=True))
    emit(csv_text(header, rows), args.output)
    return 0
