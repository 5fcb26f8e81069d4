"""`agssl export`: the student as an ONNX model."""

from __future__ import annotations

import argparse
from typing import Any

from agssl.base.errors import SettingsError
from agssl.cli.common import command_parser, json_text, say
from agssl.cli.source import Source, add_run

_EXAMPLES = """\
examples:
  agssl fit my-graph/ --student mlp --out runs/mine
  agssl export runs/mine model.onnx
  agssl export runs/mine model.onnx --rows rows.npy
"""


def add_parser(subparsers: Any) -> None:
    """Add `export`."""
    text = "write a student that reads no neighbours as an ONNX model (extra onnx)"
    parser = command_parser(subparsers, "export", text, _EXAMPLES)
    add_run(parser)
    parser.add_argument("file", metavar="FILE", help="the file to write, as model.onnx")
    rows = "write what the model reads of each node of the run's graph, as a NumPy array"
    parser.add_argument("--rows", metavar="FILE", help=rows)
    parser.add_argument("--json", action="store_true", help="print what was written as one JSON value")
    parser.set_defaults(handler=run_export)


def run_export(args: argparse.Namespace) -> int:
    """Write the model."""
    import sys

    from agssl.export import export_onnx, network_rows

    if not args.file.endswith(".onnx"):
        raise SettingsError(f"{args.file} does not end in .onnx, the one format that there is; name it model.onnx")
    source = Source.open(args)
    fitted = source.fitted
    about = export_onnx(fitted, args.file)
    if fitted.student_logits is not None or fitted.unsmoothed is not None:
        how = "smoothed by labels" if fitted.unsmoothed is not None else "those of its teachers together"
        say(f"the answers of the run are {how}; the exported student answers alone, so some differ")
    if args.rows is not None:
        import io

        import numpy as np

        from agssl.base.atomic import write_bytes

        buffer = io.BytesIO()
        np.save(buffer, network_rows(fitted, source.run_graph(args.run)), allow_pickle=False)
        write_bytes(args.rows, buffer.getvalue())
    if args.json:
        sys.stdout.write(json_text({"file": args.file, **about}))
    say(f"written to {args.file}: rows [n, {about['width']}] ({about['rows']}) to logits, probabilities and label")
    if about["columns"] is not None and about["rows"] == "the features of a node":
        say("rows are features as the model encodes them; `columns` in the file's metadata says how")
    return 0
