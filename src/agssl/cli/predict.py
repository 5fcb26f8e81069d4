"""`agssl predict`: the class of every node, of the fitted graph or of another one."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agssl.base.errors import DataError, SettingsError
from agssl.cli.common import command_parser, emit, json_text
from agssl.cli.options import add_compute, add_graph
from agssl.cli.source import Source, add_run, compute

if TYPE_CHECKING:
    import numpy as np

    from agssl.store.fitted import FittedModel

_EXAMPLES = """\
examples:
  agssl predict runs/digits-agssl-both > predictions.csv
  agssl predict runs/mine new-graph/ --proba -o new.csv
  agssl predict runs/mine new-graph/ --weights
  agssl predict runs/mine --coverage 0.9
  agssl predict model.agssl new-graph/ --json
"""


def add_parser(subparsers: Any) -> None:
    """Add `predict`."""
    parser = command_parser(subparsers, "predict", "predict the class of every node, as CSV", _EXAMPLES)
    add_run(parser, "the mean of all")
    add_graph(parser, required=False)
    parser.add_argument("--proba", action="store_true", help="add the probability of every class")
    parser.add_argument("--weights", action="store_true", help="add the weight of every teacher")
    parser.add_argument(
        "--coverage",
        type=float,
        metavar="SHARE",
        help="add the classes that hold the true one with this chance, as 0.9, and whether that leaves it unsure",
    )
    parser.add_argument("--by-class", action="store_true", help="with --coverage: let it hold within every class")
    parser.add_argument("--json", action="store_true", help="print one JSON value in place of CSV")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file in place of stdout")
    add_compute(parser)
    parser.set_defaults(handler=run_predict)


def run_predict(args: argparse.Namespace) -> int:
    """Print or write the predictions."""
    compute(args)
    import numpy as np

    from agssl.store.fitted import together
    from agssl.store.run_writer import csv_text, node_names

    source = Source.open(args)
    fitted = source.fitted
    if args.weights and fitted.weights is None:
        raise SettingsError(
            f"method {fitted.settings.method} weighs no teachers, so there are no --weights; leave them out"
        )
    if args.by_class and args.coverage is None:
        raise SettingsError("--by-class says how prediction sets are made; give --coverage 0.9, too")
    trust: list[np.ndarray] = []  # of each model, [N, K]
    found: list[np.ndarray] = []  # of each model, the sets [N, C]
    where = source.run_graph(args.run) if args.coverage is not None and args.graph is None else None

    def noted(answers: Iterable[tuple[FittedModel, np.ndarray]]) -> Iterator[tuple[FittedModel, np.ndarray]]:
        for one, logits in answers:
            if where is not None and args.coverage is not None:
                found.append(one.sets(logits, where, args.coverage, args.by_class))
            yield one, logits

    if args.graph is None:  # the answers are on file, so the graph itself is not needed
        names = [row["node"] for row in source.need_run(args.run).predictions(args.seed)]
        if args.moved is not None and where is None:
            source.run_graph(args.run)  # only to check it
        probabilities, decided = together(noted(_answers(source.members(), trust)))
        if len(names) != len(probabilities):
            raise DataError(
                f"{args.run} is damaged: {len(names)} predictions for {len(probabilities)} nodes; fit again"
            )
    else:
        from agssl.train.transfer import answer, transfer

        where = graph = source.graph(args)
        names = node_names(graph)
        if args.weights:
            here = (transfer(one, graph, args.device) for one in source.members())
            probabilities, decided = together(noted(_answers(here, trust)))
        else:
            answers = ((one, answer(one, graph, args.device)) for one in source.members())
            probabilities, decided = together(noted(answers))
    chosen, table = decided.tolist(), probabilities.tolist()
    tasks = fitted.task_names if args.weights else ()
    weights = [()] * len(chosen) if not args.weights else np.mean(trust, axis=0).tolist()
    sets = _named(found, fitted.classes, len(chosen))
    if args.json:
        records = []
        for name, k, row, weighed, members in zip(names, chosen, table, weights, sets, strict=True):
            record = {"node": name, "prediction": fitted.classes[k], "probability": row[k]}
            if args.proba:
                record["probabilities"] = dict(zip(fitted.classes, row, strict=True))
            if args.weights:
                record["weights"] = dict(zip(tasks, weighed, strict=True))
            if args.coverage is not None:
                record |= {"set": members, "unsure": len(members) > 1}
            records.append(record)
        emit(json_text(records), args.output)
        return 0
    header = ["node", "prediction", "probability"]
    header += [f"proba_{name}" for name in fitted.classes] if args.proba else []
    header += [f"weight_{name}" for name in tasks]
    header += ["set", "unsure"] if args.coverage is not None else []
    rows = (
        [
            *(name, fitted.classes[k], f"{row[k]:.6f}"),
            *(f"{p:.6f}" for p in (*(row if args.proba else ()), *weighed)),
            *((" | ".join(members), "unsure" if len(members) > 1 else "") if args.coverage is not None else ()),
        ]
        for name, k, row, weighed, members in zip(names, chosen, table, weights, sets, strict=True)
    )
    emit(csv_text(header, rows), args.output)
    return 0


def _named(found: list[np.ndarray], classes: tuple[str, ...], nodes: int) -> list[list[str]]:
    """The classes in each node's set: those that more than half of the models have in theirs."""
    if not found:
        return [[]] * nodes
    most = len(found) / 2
    counts = (sum(row) for row in zip(*(one.astype(int) for one in found), strict=True))
    return [[name for name, count in zip(classes, row, strict=True) if count > most] for row in counts]


def _answers(models: Iterable[FittedModel], trust: list[np.ndarray]) -> Iterator[tuple[FittedModel, np.ndarray]]:
    """The models with their logits; their teacher weights gather in `trust`."""
    for one in models:
        if one.weights is not None:
            trust.append(one.weights.astype("float64"))
        yield one, one.logits
