"""Options of `agssl fit` and the like: every setting is one, and any may come from a TOML file instead."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agssl.base.errors import SettingsError
from agssl.base.install import install_line
from agssl.cli.common import say
from agssl.config import DESCRIBED, RUN_KEYS, WHOLE, Settings, none_for_zero, read_toml
from agssl.config.kinds import Flag, Kind
from agssl.shipped import settings_for

if TYPE_CHECKING:
    from agssl.data.graph import Graph
    from agssl.scale.cluster import Cluster

MOST_SEEDS = 10_000  # nobody waits for more, and a slip of the finger should not fill the memory with a list of them


def add_settings(parser: argparse.ArgumentParser) -> None:
    """One option for each setting; what is not given stays out of the namespace."""
    group = parser.add_argument_group("settings", "Each can also stand in the file of --config; options win.")
    for name, about in DESCRIBED.items():
        default = f" (default: {about.default_text})" if about.default_text else ""
        how: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
        if not isinstance(about.kind, Flag):
            how = {"type": _reader(about.kind), "metavar": about.kind.metavar}
        text = about.help.replace("%", "%%") + default
        option = "--" + name.replace("_", "-")
        group.add_argument(option, dest=f"set_{name}", default=argparse.SUPPRESS, help=text, **how)


def _reader(kind: Kind) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            return kind.parse(text)
        except SettingsError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind.words}") from None

    return read


def add_graph(parser: argparse.ArgumentParser, *, required: bool = True, more_labels: bool = True) -> None:
    """The graph and how to read it."""
    text = "a dataset's name, a file or a folder"
    if required:
        parser.add_argument("graph", metavar="GRAPH", help=text)
    else:
        text = f"{text}: another graph with the same features; labels are not needed"
        parser.add_argument("graph", metavar="GRAPH", nargs="?", help=text)
    same = "" if required else "; as in the run, if not given"
    parser.add_argument(
        "--knn", type=int, metavar="K", help=f"link each row of a table to the K rows most like it{same}"
    )
    parser.add_argument("--knn-metric", metavar="NAME", help=f"for --knn: cosine (default) or euclidean{same}")
    parser.add_argument("--label", metavar="COLUMN", help=f"the column with the labels (default: label){same}")
    if more_labels:
        parser.add_argument(
            "--labels",
            metavar="FILE",
            help="CSV (id,label) with labels that complete or replace those of the graph, or are the only ones of a "
            "dataset (default: labels.csv in the graph's folder, if it is there; none leaves that alone)",
        )
    add_weights(parser, same)
    add_tables(parser, same, encodes=required)


def add_weights(parser: argparse.ArgumentParser, same: str = "") -> None:
    """Which edge weights to use; `same` ends the help."""
    which = parser.add_mutually_exclusive_group()
    text = f"the column of the edge list with the weights (default: weight, if there is one){same}"
    which.add_argument("--weight", metavar="COLUMN", help=text)
    which.add_argument("--unweighted", action="store_true", help=f"ignore edge weights{same}")


def say_weights(graph: Graph) -> None:
    """One line about the edge weights, where there are any."""
    about = graph.weight_facts()
    if about is not None:
        span = f"{about['min']:.4g} to {about['max']:.4g}, {about['mean']:.4g} on average"
        say(f"edge weights are used ({span}); --unweighted ignores them")


def say_partition(settings: Settings, graph: Graph) -> dict[str, str]:
    """One line where partitions are cut without METIS, and what the plan of the fit says of it."""
    from agssl.ops.partition import OWN
    from agssl.pretext.prepare import partition_plan

    plan = partition_plan(settings, graph.num_edges)
    if plan.get("partition") == OWN:
        line = "pymetis is not installed, so the graph is cut into parts by a method of our own, about as well"
        say(f"{line}; for METIS: {install_line('metis')}")
    return plan


def add_tables(parser: argparse.ArgumentParser, same: str = "", *, encodes: bool = True) -> None:
    """How to read tables, and what to make of their columns."""
    group = parser.add_argument_group("tables", f"What is not said is guessed where that is safe{same}.")
    group.add_argument("--id", metavar="COLUMN", help="the column with the nodes' ids (default: id)")
    group.add_argument("--source", metavar="COLUMN", help="the column where an edge begins (default: source)")
    group.add_argument("--target", metavar="COLUMN", help="the column where an edge ends (default: target)")
    group.add_argument("--sep", metavar="CHAR", type=_character, help="what separates cells: , ; | or tab")
    group.add_argument("--encoding", metavar="NAME", help="of the characters: utf-8 (default), latin-1, cp1252 ...")
    if not encodes:  # a model knows already what to make of its columns
        return
    group.add_argument("--drop", metavar="COLUMNS", help="leave out these columns (names with commas between)")
    group.add_argument("--categorical", metavar="COLUMNS", help="take these for categories, whatever they look like")
    group.add_argument("--numeric", metavar="COLUMNS", help="take these for numbers")
    group.add_argument("--text", metavar="COLUMNS", help="take these for text: TF-IDF of their words")
    group.add_argument(
        "--no-encode", dest="encode", action="store_false", default=None, help="numbers as they are, nothing else"
    )


def _character(text: str) -> str:
    return {"\\t": "\t", "tab": "\t"}.get(text, text)


def table_options(args: argparse.Namespace) -> dict[str, Any]:
    """What the options of `add_tables` say, for `read_graph`."""
    names = ("id", "source", "target", "sep", "encoding", "drop", "categorical", "numeric", "text", "encode")
    return {name: value for name in names if (value := getattr(args, name, None)) is not None}


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """What the options of `add_graph` say, for `open_graph`."""
    how = {"knn": args.knn, "knn_metric": args.knn_metric or "cosine", "label": args.label or "label"}
    how |= {"weight": args.weight, "unweighted": args.unweighted, "labels": args.labels}
    return how | table_options(args)


def say_columns(graph: Graph) -> None:
    """What the columns of a table became, one line each, unless all are plain numbers."""
    if graph.columns is not None and not graph.columns.plain:
        for line in graph.columns.lines():
            say(line)


def add_compute(parser: argparse.ArgumentParser) -> None:
    """Where to compute."""
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:1 ...")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of one process (default: 1)")


def add_jobs(parser: argparse.ArgumentParser, what: str, default: str) -> None:
    """How many side by side, and on which machines."""
    group = parser.add_argument_group("side by side")
    text = f"{what} to run side by side, or auto (default: {default}; with Ray, as many as there are CPUs for)"
    group.add_argument("--jobs", type=_jobs, metavar="N", help=text)
    which = group.add_mutually_exclusive_group()
    which.add_argument("--ray", action="store_true", help="as tasks of Ray, which is started for it (extra scale)")
    which.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="as tasks of a Ray cluster that this machine is part of: host:port, or auto (extra scale)",
    )


def _jobs(text: str) -> int | None:
    return None if text == "auto" else int(text)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """How many for one network."""
    text = "processes of Ray that train one network together, each on its share of the mini-batches (default: 1)"
    parser.add_argument("--workers", type=int, default=1, metavar="N", help=text)


def check_workers(args: argparse.Namespace, settings: Settings) -> None:
    """Find what is wrong with the option of `add_workers`; batch = "auto" may still come to anything."""
    if args.workers < 1:
        raise SettingsError(f"workers = {args.workers}, but at least one is needed")
    if args.workers == 1:
        return
    several = f"workers = {args.workers}"
    if not with_ray(args):
        raise SettingsError(f"{several} are processes of Ray; add --ray, or --ray-address of a cluster")
    if settings.method in WHOLE:
        does = f"{settings.method} {WHOLE[settings.method]} the whole graph"
        raise SettingsError(f"{several} share mini-batches, but {does}; leave them out")
    if settings.method in ("pareto", "auxts"):
        raise SettingsError(f"{several} average gradients, but {settings.method} compares them; leave them out")
    if settings.batch == "full":
        raise SettingsError(f"{several} share mini-batches, but a step sees the whole graph; choose --batch partition")
    if (args.jobs or 1) > 1:
        raise SettingsError(f"{several} train one seed at a time, but --jobs is {args.jobs}; leave one of them out")


def check_jobs(args: argparse.Namespace) -> None:
    """Find what is wrong with the options of `add_jobs` before anything is read."""
    if args.jobs is not None and args.jobs < 1:
        raise SettingsError(f"jobs = {args.jobs}, but at least one is needed")
    if with_ray(args):
        from agssl.scale.cluster import check_ray

        check_ray()


def with_ray(args: argparse.Namespace) -> bool:
    """Whether work goes to Ray."""
    return args.ray or args.ray_address is not None


@contextlib.contextmanager
def workers(args: argparse.Namespace, default: int) -> Iterator[tuple[int, Cluster | None]]:
    """How many side by side, by default so many, and the Ray cluster to do it on, if one is asked for."""
    if not with_ray(args):
        yield args.jobs or default, None
        return
    from agssl.scale.cluster import connect

    with connect(args.ray_address, args.threads) as cluster:
        together = getattr(args, "workers", 1)
        if together > cluster.slots:  # Ray would wait for more machines for ever
            raise SettingsError(
                f"workers = {together}, but the Ray cluster has CPUs for {cluster.slots} (of --threads {args.threads})"
            )
        yield args.jobs or cluster.slots, cluster


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """Which seeds, and how to split."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seeds", type=int, metavar="N", help="run the seeds 0 to N-1 (default: 1)")
    which.add_argument("--seed", type=int, metavar="S", help="run this one seed")
    parser.add_argument(
        "--split",
        metavar="HOW",
        help="auto (default: the split of the data, else cv:5), cv:5, holdout:0.2, benchmark, public, public:3, "
        "authors, random:20/500/1000, per-class:20/30, fraction:0.6/0.2/0.2, or a file",
    )
    parser.add_argument("--config", metavar="FILE", help="TOML file with settings, and split and seeds if need be")
    parser.add_argument(
        "--no-config", action="store_true", help="without the settings that come with the package for some datasets"
    )


@dataclass(frozen=True)
class Plan:
    """What to fit, apart from the graph."""

    settings: Settings
    seeds: tuple[int, ...]
    split: str
    config: str | None = None  # the file that settings came from


def make_plan(args: argparse.Namespace) -> Plan:
    """Settings, seeds and split: options before the config file before defaults.

    Without a config of the user's own, a dataset's shipped one is used, if there is one for the method.
    """
    values = {} if args.config is None else read_toml(args.config, RUN_KEYS)
    config: str | None = args.config
    seeds, split = values.pop("seeds", 1), values.pop("split", "auto")
    values |= none_for_zero(given_settings(args))
    shipped = config is None and not args.no_config
    settings, path = settings_for(args.graph if shipped else None, values)
    config = config if path is None else f"shipped:{path.name}"
    if args.seeds is not None:
        seeds = args.seeds
    elif args.seed is not None:
        seeds = [args.seed]
    split = split if args.split is None else args.split
    if not isinstance(split, str):
        raise SettingsError(f"split = {split!r}, but it must be text, as in random:20/500/1000")
    return Plan(settings, _seeds(seeds), split, config)


def given_settings(args: argparse.Namespace) -> dict[str, Any]:
    """The settings that options set, see `add_settings`."""
    return {name.removeprefix("set_"): value for name, value in vars(args).items() if name.startswith("set_")}


def _seeds(value: Any) -> tuple[int, ...]:
    """Seeds from a count or a list."""
    listed = value if isinstance(value, list) else [value]
    if not listed or any(isinstance(seed, bool) or not isinstance(seed, int) for seed in listed):
        raise SettingsError(f"seeds = {value!r}, but it must be a whole number or a list of them, as in 5 or [0, 1, 2]")
    if not isinstance(value, list):
        if value < 1:
            raise SettingsError(f"seeds = {value}, but at least one is needed, as in --seeds 5")
        if value > MOST_SEEDS:
            raise SettingsError(
                f"seeds = {value}, but {MOST_SEEDS} are the most; this is a count (one seed is --seed S)"
            )
        return tuple(range(value))
    if min(value) < 0:
        raise SettingsError(f"seed {min(value)} is negative; seeds are 0, 1, 2, ...")
    if len(set(value)) < len(value):
        raise SettingsError(f"seeds = {value}, but each may be there only once")
    return tuple(value)
