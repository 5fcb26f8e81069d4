"""Options of `agssl fit` and the like: every field of `Settings` is one, and any may come from a TOML file instead."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agssl import config
from agssl.base.errors import SettingsError
from agssl.config import RUN_KEYS, Settings, parse_alpha, parse_task_weights, read_toml
from agssl.shipped import with_config

if TYPE_CHECKING:
    from agssl.scale.cluster import Cluster

_HELP = {
    "method": f"{', '.join(config.METHODS)}",
    "tasks": "pretext tasks, with commas; settings of a task after colons, as in par:parts=100",
    "integration": "whom each node trusts: lf, ts, random, average, weighted, was",
    "strategy": "teachers by joint training (jt) or by pre-training and fine-tuning (pf)",
    "hidden": "width of the hidden representation",
    "layers": "layers of the encoder",
    "feature_norm": "none: features as given; l2: rows of unit L2 norm; binary: the same after nonzeros became 1",
    "skip_weight": "what a node keeps of itself at each propagation, from 0 (its self-loop alone) to below 1",
    "head": "the class head: gcn or linear",
    "norm": "none or batch",
    "dropout": "dropout of the hidden representation",
    "input_dropout": "dropout of the features",
    "alpha": "weight of the pretext losses: a number, one a task (par=10,clu=1), or auto (from the paper's grid)",
    "beta": "weight of the distillation loss",
    "tau": "temperature of the distillation",
    "lr": "learning rate",
    "weight_decay": "L2 penalty",
    "epochs": "most epochs of a stage",
    "patience": "epochs without a better validation result before a stage ends, 0 for never",
    "class_weight": "none, or balanced: rare classes count more",
    "batch": "what a step sees: full (the whole graph), partition or neighbour (a part), auto (full if memory allows)",
    "batch_nodes": "nodes of a mini-batch, about",
    "weights_from": f"by which predictions task weights are fitted: {', '.join(config.WEIGHTS_FROM)}",
    "folds": "folds of crossfit",
    "calibrate": "bring each teacher in line with the labels that judge it: its confidence and how frequent classes "
    "are (classes), its confidence (temperature), or not at all (none)",
    "shrinkage": "pull of the teachers' weights toward equal ones; 0.1 is strong",
    "student_gradient": "let the loss of the teachers' weights move the student, too",
    "student_dropout": "dropout of the student's hidden representation",
    "student_tasks": "pretext tasks that students train with beside the teachers, and their weights (par=20)",
    "generations": "students in turn; the one before joins the teachers with half the weight, and is kept if the next "
    "is clearly worse",
    "task_weights": "fixed weights of method joint, one a task (par=1,clu=0.2); 1/K each if not given",
    "autossl_objective": "what autossl judges task weights by: labels (of --weights-from) or homophily (no labels)",
    "autossl_search": "how autossl searches task weights: gradient, or es (CMA-ES, one training a candidate; extra es)",
    "autossl_budget": "trainings of --autossl-search es",
    "autossl_lr": "learning rate of task weights in autossl",
}


def _tasks(text: str) -> tuple[str, ...]:
    return tuple(task.strip() for task in text.split(",") if task.strip())


_TYPES: Mapping[str, Callable[[str], Any]] = {
    "int": int,
    "int | None": int,
    "float": float,
    "float | None": float,
    "str": str,
    "str | None": str,
    "tuple[str, ...]": _tasks,
    "Alpha": parse_alpha,
    "Mapping[str, float] | None": parse_task_weights,
}

MOST_SEEDS = 10_000  # nobody waits for more, and a slip of the finger should not fill the memory with a list of them

_METAVARS = {"int": "N", "float": "X", "tuple[str,": "NAMES", "Alpha": "X", "Mapping[str,": "NAME=X"}


def add_settings(parser: argparse.ArgumentParser) -> None:
    """One option for each field of `Settings`; what is not given stays out of the namespace."""
    group = parser.add_argument_group("settings", "Each can also stand in the file of --config; options win.")
    for field in dataclasses.fields(Settings):
        option = "--" + field.name.replace("_", "-")
        text = _HELP.get(field.name, field.name.replace("_", " ")).replace("%", "%%") + _default(field.default)
        dest = f"set_{field.name}"
        if field.type == "bool":
            action = argparse.BooleanOptionalAction
            group.add_argument(option, dest=dest, action=action, default=argparse.SUPPRESS, help=text)
        elif str(field.type) in _TYPES:  # anything more intricate comes from a file only
            kind = _TYPES[str(field.type)]
            metavar = _METAVARS.get(str(field.type).split()[0], "NAME")
            group.add_argument(option, dest=dest, type=kind, default=argparse.SUPPRESS, metavar=metavar, help=text)


def _default(value: Any) -> str:
    if value is None or value is dataclasses.MISSING:
        return ""
    return f" (default: {','.join(value) if isinstance(value, tuple) else value})"


def add_graph(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
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
    parser.add_argument("--metric", metavar="NAME", help=f"for --knn: cosine (default) or euclidean{same}")
    parser.add_argument("--label", metavar="COLUMN", help=f"the column with the labels (default: label){same}")


def add_compute(parser: argparse.ArgumentParser) -> None:
    """Where to compute."""
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:1 ...")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of one process (default: 1)")


def add_jobs(parser: argparse.ArgumentParser, what: str, default: str) -> None:
    """How many side by side, and on which machines."""
    group = parser.add_argument_group("side by side")
    text = f"{what} to run side by side (default: {default}; with Ray, as many as there are CPUs for)"
    group.add_argument("--jobs", type=int, metavar="N", help=text)
    which = group.add_mutually_exclusive_group()
    which.add_argument("--ray", action="store_true", help="as tasks of Ray, which is started for it (extra scale)")
    which.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="as tasks of a Ray cluster that this machine is part of: host:port, or auto (extra scale)",
    )


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
    if settings.method == "autossl":
        raise SettingsError(f"{several} share mini-batches, but autossl searches on the whole graph; leave them out")
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


def cores() -> int:
    """How many CPUs of this machine we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """Which seeds, and how to split."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seeds", type=int, metavar="N", help="run the seeds 0 to N-1 (default: 1)")
    which.add_argument("--seed", type=int, metavar="S", help="run this one seed")
    parser.add_argument(
        "--split",
        metavar="HOW",
        help="auto (default), public, random:20/500/1000, per-class:20/30, fraction:0.6/0.2/0.2, or a file",
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
    values |= given_settings(args)
    if config is None and not args.no_config:
        values, path = with_config(_dataset_name(args.graph), values)
        config = None if path is None else f"shipped:{path.name}"
    if values.get("patience") == 0:
        values["patience"] = None
    if args.seeds is not None:
        seeds = args.seeds
    elif args.seed is not None:
        seeds = [args.seed]
    split = split if args.split is None else args.split
    if not isinstance(split, str):
        raise SettingsError(f"split = {split!r}, but it must be text, as in random:20/500/1000")
    return Plan(Settings().replace(**values), _seeds(seeds), split, config)


def given_settings(args: argparse.Namespace) -> dict[str, Any]:
    """The settings that options set, see `add_settings`."""
    return {name.removeprefix("set_"): value for name, value in vars(args).items() if name.startswith("set_")}


def _dataset_name(graph: str) -> str:
    """What a dataset's configs are called by; a path has none."""
    from agssl.data.datasets import dataset_spec, is_dataset

    return dataset_spec(graph).name if is_dataset(graph) else graph


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
