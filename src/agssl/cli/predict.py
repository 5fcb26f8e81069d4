"""`agssl predict`: the class of every node, of the fitted graph or of another one."""

from __future__ import annotations

import argparse
from typing import Any

from agssl.base.errors import DataError
from agssl.cli.common import command_parser, emit, json_text
from agssl.cli.options import add_compute, add_graph
from agssl.cli.source import Source, add_run, compute

_EXAMPLES = """\
examples:
  agssl predict runs/digits-agssl-ts > predictions.csv
  agssl predict runs/mine new-graph/ --proba -o new.csv
  agssl predict model.agssl new-graph/ --json
"""


def add_parser(subparsers: Any) -> None:
    """Add `predict`."""
    parser = command_parser(subparsers, "predict", "predict the class of every node, as CSV", _EXAMPLES)
    add_run(parser, "the mean of all")
    add_graph(parser, required=False)
    parser.add_argument("--proba", action="store_true", help="add the probability of every class")
    parser.add_argument("--json", action="store_true", help="print one JSON value in place of CSV")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file in place of stdout")
    add_compute(parser)
    parser.set_defaults(handler=run_predict)


def run_predict(args: argparse.Namespace) -> int:
    """Print or write the predictions."""
    compute(args)
    from agssl.store.fitted import together
    from agssl.store.run_writer import csv_text, node_names

    source = Source.open(args)
    fitted = source.fitted
    if args.graph is None:  # the answers are on file, so the graph itself is not needed
        names = [row["node"] for row in source.need_run(args.run).predictions(args.seed)]
        if args.moved is not None:
            source.run_graph(args.run)  # only to check it
        probabilities, decided = together((one, one.logits) for one in source.members())
        if len(names) != len(probabilities):
            raise DataError(
                f"{args.run} is damaged: {len(names)} predictions for {len(probabilities)} nodes; fit again"
            )
    else:
        from agssl.train.infer import infer

        graph = source.graph(args)
        names = node_names(graph)
        answers = ((one, infer(one.model, graph, args.device).logits) for one in source.members())
        probabilities, decided = together(answers)
    chosen, table = decided.tolist(), probabilities.tolist()
    if args.json:
        records = []
        for name, k, row in zip(names, chosen, table, strict=True):
            record = {"node": name, "prediction": fitted.classes[k], "probability": row[k]}
            if args.proba:
                record["probabilities"] = dict(zip(fitted.classes, row, strict=True))
            records.append(record)
        emit(json_text(records), args.output)
        return 0
    header = ["node", "prediction", "probability"]
    header += [f"proba_{name}" for name in fitted.classes] if args.proba else []
    rows = (
        [name, fitted.classes[k], f"{row[k]:.6f}", *(f"{p:.6f}" for p in (row if args.proba else ()))]
        for name, k, row in zip(names, chosen, table, strict=True)
    )
    emit(csv_text(header, rows), args.output)
    return 0
