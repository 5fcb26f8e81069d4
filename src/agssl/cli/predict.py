"""`agssl predict`: the class of every node, of the fitted graph or of another one."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from agssl.base.errors import DataError, SettingsError
from agssl.cli.common import command_parser, emit, json_text, say
from agssl.cli.options import add_compute, add_graph, table_options
from agssl.cli.source import Source, add_run, compute

if TYPE_CHECKING:
    import numpy as np

    from agssl.serve.answers import Answers
    from agssl.store.fitted import FittedModel

_EXAMPLES = """\
examples:
  agssl predict runs/digits-agssl-both > predictions.csv
  agssl predict runs/mine new-graph/ --proba -o new.csv
  agssl predict runs/mine new-graph/ --weights
  agssl predict runs/mine --coverage 0.9
  agssl predict model.agssl new-graph/ --json
  agssl predict runs/mine --new nodes.csv --edges edges.csv --weights --coverage 0.9
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
    parser.add_argument(
        "--new",
        metavar="FILE",
        help="predict new nodes in place of the known ones: a table with their columns, as nodes.csv; only their "
        "neighbourhood in the run's graph is read",
    )
    parser.add_argument(
        "--edges", metavar="FILE", help="with --new: edges from new nodes to known ones or to each other, as edges.csv"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON value in place of CSV")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file in place of stdout")
    add_compute(parser)
    parser.set_defaults(handler=run_predict)


def run_predict(args: argparse.Namespace) -> int:
    """Print or write the predictions."""
    compute(args)
    source = Source.open(args)
    if args.weights and source.fitted.weights is None:
        raise SettingsError(
            f"method {source.fitted.settings.method} weighs no teachers, so there are no --weights; leave them out"
        )
    if args.by_class and args.coverage is None:
        raise SettingsError("--by-class says how prediction sets are made; give --coverage 0.9, too")
    if args.edges is not None and args.new is None:
        raise SettingsError(f"--edges {args.edges} are those of new nodes; give their table with --new, too")
    found = _every_node(args, source) if args.new is None else _new_nodes(args, source)
    if args.json:
        emit(json_text(found.records(args.proba)), args.output)
        return 0
    from agssl.store.run_writer import csv_text

    emit(csv_text(found.header(args.proba), found.rows(args.proba)), args.output)
    return 0


def _every_node(args: argparse.Namespace, source: Source) -> Answers:
    """Of the fitted graph, or of another one."""
    import numpy as np

    from agssl.serve.answers import Answers, named_sets
    from agssl.store.fitted import together
    from agssl.store.run_writer import node_names

    fitted = source.fitted
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
    return Answers(
        names,
        fitted.classes,
        decided,
        probabilities,
        fitted.task_names if args.weights else (),
        np.mean(trust, axis=0) if args.weights else None,
        named_sets(found, fitted.classes) if args.coverage is not None else None,
    )


def _answers(models: Iterable[FittedModel], trust: list[np.ndarray]) -> Iterator[tuple[FittedModel, np.ndarray]]:
    """The models with their logits; their teacher weights gather in `trust`."""
    for one in models:
        if one.weights is not None:
            trust.append(one.weights.astype("float64"))
        yield one, one.logits


def _new_nodes(args: argparse.Namespace, source: Source) -> Answers:
    """Of new nodes, attached to the run's graph or alone."""
    from pathlib import Path

    from agssl.data.new_nodes import read_new_nodes
    from agssl.serve.predictor import Asked

    if args.graph is not None:
        raise SettingsError(f"{args.graph} is a whole graph, and --new {args.new} new nodes; leave one of them out")
    predictor = source.predictor(args, attached=args.edges is not None or args.weights)
    options = source.past_options(table_options(args))
    edges = None if args.edges is None else Path(args.edges)
    nodes = read_new_nodes(Path(args.new), edges, predictor.known, options, source.weights(args))
    found = predictor.new(nodes, Asked(args.weights, args.coverage, args.by_class))
    if found.answered_by == "teachers":
        say("answered by the teachers together, as in the run: they were better than the student")
    return found
