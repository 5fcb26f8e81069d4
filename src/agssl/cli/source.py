"""What `predict`, `embed` and `explain` work on: a run or a model file, and perhaps another graph."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agssl.base.errors import DataError, GraphError, SettingsError
from agssl.cli.common import say
from agssl.cli.options import table_options
from agssl.cli.plugins import add_plugins

if TYPE_CHECKING:
    from agssl.data.columns import TableOptions
    from agssl.data.graph import Graph
    from agssl.data.weights import WeightChoice
    from agssl.serve.predictor import Predictor
    from agssl.store.fitted import FittedModel
    from agssl.store.run import Run


def add_moved(parser: argparse.ArgumentParser) -> None:
    """Where the graph of the run is now."""
    parser.add_argument(
        "--graph", dest="moved", metavar="PATH", help="the run's own graph, where it has moved since (it is checked)"
    )


def add_run(parser: argparse.ArgumentParser, default: str = "its first") -> None:
    """The run and its seed."""
    parser.add_argument("run", metavar="RUN", help="a folder written by agssl fit, or a model written by AGSSL.save")
    parser.add_argument("--seed", type=int, metavar="S", help=f"which seed of the run (default: {default})")
    add_moved(parser)
    add_plugins(parser)


@dataclass(frozen=True, eq=False)
class Source:
    """A model, and the run that it is from, if any."""

    fitted: FittedModel
    run: Run | None
    seed: int | None

    @classmethod
    def open(cls, args: argparse.Namespace) -> Source:
        """The model that the arguments name."""
        path = Path(args.run)
        if path.is_file():
            from agssl.store.fitted import load_fitted

            if args.moved is not None:
                raise SettingsError(f"{path} is a model and no run, so --graph says nothing; name the graph without it")

            if args.seed is not None:
                raise SettingsError(f"{path} is one model, so there is no seed {args.seed} to choose; leave --seed out")
            return cls(load_fitted(path), None, None)
        from agssl.store.run import Run

        run = Run.open(path, args.moved)
        return cls(run.fitted(args.seed), run, args.seed)

    def members(self) -> Iterator[FittedModel]:
        """The models that answer together: those of all seeds of a run, unless one seed was asked for."""
        if self.run is None or self.seed is not None:
            yield self.fitted
        else:
            yield from map(self.run.fitted, self.run.seeds)

    def need_run(self, path: str) -> Run:
        """The run, or an error that a model file does not carry its graph."""
        if self.run is None:
            raise DataError(f"{path} is a model without its graph; name a graph, or give a folder written by agssl fit")
        return self.run

    def graph(self, args: argparse.Namespace) -> Graph:
        """The graph that the arguments name, labels not needed; without one, that of the run."""
        if args.graph is None:
            return self.run_graph(args.run)
        if args.moved is not None:
            raise SettingsError(f"{args.graph} and --graph {args.moved} are two graphs; leave one of them out")
        from agssl.data.columns.options import LISTS
        from agssl.data.resolve import open_graph

        past = None if self.run is None else self.run.source
        knn = args.knn
        if knn is None and past is not None and _without_edges(args.graph):
            knn = past.knn
        weight, unweighted = args.weight, args.unweighted
        if past is not None and weight is None and not unweighted:
            weight, unweighted = past.weight if knn is None else None, past.unweighted
        columns = self.fitted.columns
        options = table_options(args)
        if past is not None and _has_tables(args.graph):
            kept = {name: value for name, value in past.options.items() if columns is None or name not in LISTS}
            options = kept | options
        graph = open_graph(
            args.graph,
            split=None,
            knn=knn,
            knn_metric=args.knn_metric or (past.knn_metric if past else "cosine"),
            label=args.label or (past.label if past else "label"),
            weight=weight,
            unweighted=unweighted,
            require_labels=False,
            say=say,
            columns=columns,
            labels=args.labels,
            **options,
        )
        if graph.missing is not None:
            raise GraphError(graph.missing)
        return graph

    def past_options(self, given: dict[str, Any]) -> TableOptions:
        """How tables are written: as the arguments say, else as in the run."""
        from agssl.data.columns import TableOptions
        from agssl.data.columns.options import LISTS

        past = {} if self.run is None else self.run.source.options
        kept = {name: value for name, value in past.items() if name not in LISTS and name != "encode"}
        return TableOptions.of(kept | given)

    def weights(self, args: argparse.Namespace) -> WeightChoice:
        """Which edge weights to read: as the arguments say, else as in the run."""
        from agssl.data.weights import WeightChoice

        if self.run is None or args.weight is not None or args.unweighted:
            return WeightChoice(args.weight, args.unweighted)
        return WeightChoice(self.run.source.weight, self.run.source.unweighted)

    def predictor(self, args: argparse.Namespace, *, attached: bool) -> Predictor:
        """The models, ready for new nodes; with the graph where `attached`, or where they read neighbours."""
        from agssl.data.fetch import data_folders
        from agssl.serve.predictor import Predictor

        if self.run is None:
            return Predictor(tuple(self.members()), names=(), device=args.device)
        past = self.run.source
        found = Predictor(
            tuple(self.members()),
            knn=None if past.knn is None else (past.knn, past.knn_metric),
            ignored=(past.label, "split"),
            device=args.device,
            cache=data_folders().cache / "targets",
        )
        if attached or found.needs_graph:
            return found.with_graph(self.run_graph(args.run))
        return replace(found, names=[row["node"] for row in self.run.predictions(self.seed)])

    def run_graph(self, path: str) -> Graph:
        """The graph of the run, with its split."""
        graph = self.need_run(path).graph(self.seed)
        if graph.num_nodes != len(self.fitted.logits):
            raise DataError(
                f"the model in {path} was fitted on {len(self.fitted.logits)} nodes, but its graph has "
                f"{graph.num_nodes}; fit again"
            )
        return graph


def compute(args: argparse.Namespace) -> None:
    """Check and set the options of `add_compute`."""
    import torch

    from agssl.config import Settings
    from agssl.fitting.job import check

    check(Settings(method="gcn"), args.device, args.threads)
    torch.set_num_threads(args.threads)


def _has_tables(text: str) -> bool:
    """Whether a path is a table, or a folder with one."""
    from agssl.data.datasets import is_dataset
    from agssl.data.tables import find_table, is_table

    path = Path(text)
    return not is_dataset(text) and (find_table(path, "nodes") is not None if path.is_dir() else is_table(path))


def _without_edges(text: str) -> bool:
    """Whether a path is a table, or a folder with one, that brings no edges."""
    from agssl.data.networks import find_edge_list
    from agssl.data.tables import find_table

    path = Path(text)
    return _has_tables(text) and not (path.is_dir() and (find_table(path, "edges") or find_edge_list(path)))
