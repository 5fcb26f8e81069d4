"""`agssl tune`: search for settings by the metric at validation, on seeds that nobody reports."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agssl.cli.common import bar, command_parser, console, json_text, parse_seeds, say, table
from agssl.cli.options import (
    add_graph,
    add_jobs,
    add_settings,
    check_jobs,
    given_settings,
    make_plan,
    reading,
    say_partition,
    say_weights,
    workers,
)
from agssl.cli.plugins import add_plugins

if TYPE_CHECKING:
    from agssl.config import Settings
    from agssl.search.run import Found
    from agssl.search.study import Search

_EXAMPLES = """\
examples:
  agssl tune cora --trials 50
  agssl tune citeseer --method gcn --trials 30 --tuning-seeds 5
  agssl tune cora --config results/tune/cora-agssl-both.toml --only beta,tau --trials 20
  agssl tune pubmed --method gcn --only feature_norm,skip_weight --shared --tuning-seeds 6
  agssl tune pubmed --config results/tune/pubmed.toml --only student_dropout --shared
  agssl fit cora --config results/tune/cora-agssl-both.toml --seeds 10

Every trial is scored by its mean --metric on half of the validation nodes, whose labels the fit does not see.
A search that was stopped, even by kill -9, goes on where it was when the same command is given again.
"""


def add_parser(subparsers: Any) -> None:
    """Add `tune`."""
    parser = command_parser(
        subparsers, "tune", "search for settings by the metric at validation (extra tune)", _EXAMPLES
    )
    add_graph(parser)
    parser.add_argument("--trials", type=int, default=50, metavar="N", help="complete trials in all (default: 50)")
    parser.add_argument("--seconds", type=float, metavar="S", help="begin no further trial after so many seconds")
    parser.add_argument(
        "--tuning-seeds",
        default="3",
        metavar="WHICH",
        help="a count (2: 100 and 101), a range (103-105) or a list (default: 3)",
    )
    parser.add_argument(
        "--only",
        metavar="NAMES",
        help="search these alone, e.g. beta,tau,alpha, or tasks' own settings, e.g. par.parts",
    )
    parser.add_argument(
        "--shared",
        action="store_true",
        help="write a config for all methods: what was searched and what options set, below the text of --config "
        "(default of --out: results/tune/GRAPH.toml)",
    )
    parser.add_argument("--split", metavar="HOW", help="as for agssl fit (default: auto)")
    parser.add_argument("--config", metavar="FILE", help="TOML file with settings to start from")
    parser.add_argument(
        "--out", metavar="FILE", help="where to write the settings found (default: results/tune/GRAPH-METHOD.toml)"
    )
    parser.add_argument("--study", metavar="FILE", help="where trials are kept (default: as --out, ending in .db)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of one process (default: 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    add_jobs(parser, "trials", "1: with several, what is tried next depends on which end first")
    add_plugins(parser)
    add_settings(parser)
    # what `make_plan` asks for, and a search has no use for
    parser.set_defaults(handler=run_tune, seeds=None, seed=None, no_config=True)


def run_tune(args: argparse.Namespace) -> int:
    """Search, write the best settings and print what was found."""
    plan = make_plan(args)
    config = Path(args.config).read_text(encoding="utf-8") if args.shared and args.config else ""
    check_jobs(args)
    from agssl.data.fetch import data_folders
    from agssl.data.resolve import open_graph
    from agssl.search.run import FIRST_SEED, check_search, make_search, run_search, searched
    from agssl.search.space import space_of
    from agssl.shipped import config_name

    plan, seeds = replace(plan, settings=searched(plan.settings)), parse_seeds(args.tuning_seeds, FIRST_SEED)
    check_search(plan.settings, args.trials, seeds, args.threads, args.seconds)
    only = None if args.only is None else [name.strip() for name in args.only.split(",") if name.strip()]
    space = space_of(plan.settings, only)
    how = reading(args)
    graph = open_graph(args.graph, split=None, say=say, **how)
    say_weights(graph)
    say_partition(plan.settings, graph)
    name = graph.name if args.shared else config_name(graph.name, plan.settings)
    out = Path(args.out or f"results/tune/{name}.toml")
    storage = Path(args.study) if args.study else out.with_suffix(".db")
    more = {"cache": data_folders().cache, "threads": args.threads}
    search = make_search(graph, plan.settings, space, plan.split, seeds, storage, **more)
    del graph  # from here on nobody has a test label
    try:
        with workers(args, 1) as (jobs, cluster):
            found = run_search(search, args.trials, jobs, seconds=args.seconds, say=say, cluster=cluster)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt("finished trials are kept. To go on, give the same command again") from stop
    summary = _write(search, found, args, out, config)
    if args.json:
        sys.stdout.write(json_text(summary))
    else:
        _show(summary)
    return 0


def _write(search: Search, found: Found, args: argparse.Namespace, out: Path, config: str) -> dict[str, Any]:
    """Write the settings and all trials; gives back what --json prints."""
    from agssl.base.atomic import write_text
    from agssl.base.version import __version__
    from agssl.bench.render import csv_of
    from agssl.config import effective
    from agssl.search.config_file import MADE, config_text, shared_command, shared_text
    from agssl.search.space import setting_of

    settings, counts, seeds = found.settings, found.counts, list(search.graphs)
    words = shared_command(args.argv) if args.shared else args.argv
    header = [
        f"{MADE}{shlex.join(['agssl', *words])}",
        f"best of {counts['complete']} complete trials ({counts['pruned']} more were pruned): trial {found.trial}",
        f"score: mean {_metric(settings)} {found.score:.4f} on held-out halves of the validation nodes, "
        f"seeds {', '.join(map(str, seeds))}; no test label was read",
        f"agssl {__version__}",
    ]
    if found.gain is not None:
        over = found.gain["over_trial"]
        header.insert(3, f"above trial {over}, where the search began, by {_points(found.gain)}")
    if args.shared:
        options = given_settings(args) | ({} if args.split is None else {"split": args.split})
        searched = {setting_of(name) for name in search.space}
        text = shared_text(settings, searched, options, header, config)
    else:
        text = config_text(settings, header)
    write_text(out, text)
    write_text(out.with_suffix(".csv"), csv_of(found.rows))
    return {
        "dataset": search.dataset,
        "method": settings.method,
        "integration": settings.integration if settings.method == "agssl" else None,
        "strategy": settings.strategy if settings.has_strategy else None,
        "tuning_seeds": seeds,
        "trials": counts,
        "best": {"trial": found.trial, "score": found.score, "settings": effective(settings)},
        "gain": found.gain,
        "importances": found.importances,
        "config": str(out),
        "table": str(out.with_suffix(".csv")),
        "study": str(search.storage),
    }


def _metric(settings: Settings) -> str:
    """The metric, and which way is up."""
    return "-log_loss (higher is better)" if settings.metric == "log_loss" else settings.metric


def _points(gain: Mapping[str, float]) -> str:
    return f"{gain['mean']:.4f} (standard error {gain['standard_error']:.4f})"


def _show(summary: dict[str, Any]) -> None:
    out, best, trials = console(), summary["best"], summary["trials"]
    out.print(
        f"{summary['dataset']}: best of {trials['complete']} complete trials ({trials['pruned']} pruned, "
        f"{trials['failed']} failed or interrupted) is trial {best['trial']}, score {best['score']:.4f}",
        soft_wrap=True,
    )
    if summary["gain"] is not None:
        gain = summary["gain"]
        close = gain["mean"] <= gain["standard_error"]
        out.print(
            f"it is above trial {gain['over_trial']}, where the search began, by {_points(gain)}"
            + (": too close to tell" if close else ""),
            soft_wrap=True,
        )
    if summary["importances"]:
        rows = table("parameter", "importance", "", left=("parameter", ""))
        for name, value in summary["importances"].items():
            rows.add_row(name, f"{value:.3f}", bar(value))
        out.print(rows)
    out.print(
        f"the settings are in {summary['config']}, use them with --config; all trials are in {summary['table']}",
        soft_wrap=True,
    )
