"""`agssl tune`: search for settings by the metric at validation, on seeds that nobody reports."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agssl.base.errors import GraphError, SettingsError
from agssl.base.system import duration
from agssl.cli.common import bar, command_parser, console, json_text, parse_seeds, say, table
from agssl.cli.options import (
    add_graph,
    add_jobs,
    add_settings,
    check_jobs,
    given_settings,
    make_plan,
    say_partition,
    say_weights,
    table_options,
    workers,
)
from agssl.cli.plugins import add_plugins

if TYPE_CHECKING:
    from agssl.config import Settings
    from agssl.search.study import Event, Search

FIRST_SEED = 100  # reported seeds are 0, 1, 2, ...

_EXAMPLES = """\
examples:
  agssl tune cora --trials 50
  agssl tune citeseer --method gcn --trials 30 --tuning-seeds 5
  agssl tune cora --config results/tune/cora-agssl-ts.toml --only beta,tau --trials 20
  agssl tune pubmed --method gcn --only feature_norm,skip_weight --shared --tuning-seeds 6
  agssl tune pubmed --config results/tune/pubmed.toml --only student_dropout --shared
  agssl fit cora --config results/tune/cora-agssl-ts.toml --seeds 10

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
    parser.add_argument(
        "--tuning-seeds",
        default="3",
        metavar="WHICH",
        help=f"a count (2: {FIRST_SEED} and {FIRST_SEED + 1}), a range ({FIRST_SEED + 3}-{FIRST_SEED + 5}) or a list "
        "(default: 3)",
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
    if args.trials < 1:
        raise SettingsError(f"trials = {args.trials}, but at least one is needed")
    seeds = parse_seeds(args.tuning_seeds, FIRST_SEED)
    if min(seeds) < FIRST_SEED:
        raise SettingsError(
            f"tuning seed {min(seeds)} is below {FIRST_SEED}, but results are reported on such; "
            f"take seeds from {FIRST_SEED} on"
        )
    check_jobs(args)
    from agssl.search.space import space_of
    from agssl.search.study import Search, check_tuning

    check_tuning()
    from agssl.fitting.job import check

    check(plan.settings, "cpu", args.threads)
    only = None if args.only is None else [name.strip() for name in args.only.split(",") if name.strip()]
    space = space_of(plan.settings, only)
    from agssl.base.lock import Lock
    from agssl.data.fetch import data_folders
    from agssl.data.resolve import open_graph
    from agssl.search.objective import without_test
    from agssl.shipped import config_name

    how = {"knn": args.knn, "knn_metric": args.knn_metric or "cosine", "label": args.label or "label"}
    how |= {"weight": args.weight, "unweighted": args.unweighted} | table_options(args)
    graph = open_graph(args.graph, split=None, say=say, **how)
    say_weights(graph)
    say_partition(plan.settings)
    if graph.missing is not None:
        raise GraphError(graph.missing)
    graphs = {seed: without_test(graph, plan.split, seed) for seed in seeds}
    name = graph.name
    del graph  # from here on nobody has a test label
    out = Path(args.out or f"results/tune/{name if args.shared else config_name(name, plan.settings)}.toml")
    storage = Path(args.study) if args.study else out.with_suffix(".db")
    search = Search(
        dataset=name,
        base=plan.settings,
        space=space,
        graphs=graphs,
        storage=storage,
        cache=data_folders().cache,
        threads=args.threads,
    )
    storage.parent.mkdir(parents=True, exist_ok=True)
    lock = Lock(storage.with_name(f".{storage.name}.lock"))
    lock.take(str(storage))
    try:
        summary = _search(search, args, out, config)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt("finished trials are kept. To go on, give the same command again") from stop
    finally:
        lock.release()
    if args.json:
        sys.stdout.write(json_text(summary))
    else:
        _show(summary)
    return 0


def _search(search: Search, args: argparse.Namespace, out: Path, config: str) -> dict[str, Any]:
    from agssl.base.atomic import write_text
    from agssl.base.version import __version__
    from agssl.bench.render import csv_of
    from agssl.config import effective
    from agssl.search.config_file import MADE, config_text, shared_command, shared_text
    from agssl.search.outcome import best_of, gain_of, importances, trial_rows
    from agssl.search.space import setting_of
    from agssl.search.study import count, open_study, run_study, train_teachers

    with workers(args, 1) as (jobs, cluster):
        study = open_study(search, jobs)
        before = count(study)["complete"]
        trials = min(args.trials, len(search.all or range(args.trials)))
        say(f"{before} trials complete before, {max(0, trials - before)} to go; they are kept in {search.storage}")
        if jobs > 1 and before < trials:
            train_teachers(search, jobs, say, cluster)
        run_study(search, study, trials, jobs, _Teller(study, trials, jobs), cluster)
    number, score, settings = best_of(search, study)
    counts, seeds = count(study), list(search.graphs)
    words = shared_command(args.argv) if args.shared else args.argv
    header = [
        f"{MADE}{shlex.join(['agssl', *words])}",
        f"best of {counts['complete']} complete trials ({counts['pruned']} more were pruned): trial {number}",
        f"score: mean {_metric(settings)} {score:.4f} on held-out halves of the validation nodes, "
        f"seeds {', '.join(map(str, seeds))}; no test label was read",
        f"agssl {__version__}",
    ]
    gain = gain_of(search, study)
    if gain is not None:
        header.insert(3, f"above trial {gain['over_trial']}, where the search began, by {_points(gain)}")
    if args.shared:
        options = given_settings(args) | ({} if args.split is None else {"split": args.split})
        searched = {setting_of(name) for name in search.space}
        text = shared_text(settings, searched, options, header, config)
    else:
        text = config_text(settings, header)
    write_text(out, text)
    write_text(out.with_suffix(".csv"), csv_of(trial_rows(search, study)))
    return {
        "dataset": search.dataset,
        "method": settings.method,
        "integration": settings.integration if settings.method == "agssl" else None,
        "strategy": None if settings.method == "gcn" else settings.strategy,
        "tuning_seeds": seeds,
        "trials": counts,
        "best": {"trial": number, "score": score, "settings": effective(settings)},
        "gain": gain,
        "importances": importances(study),
        "config": str(out),
        "table": str(out.with_suffix(".csv")),
        "study": str(search.storage),
    }


class _Teller:
    """A line on stderr for every trial that ends, with the best so far and the time left."""

    def __init__(self, study: Any, trials: int, jobs: int) -> None:
        self.study, self.trials, self.jobs = study, trials, jobs
        self.seconds, self.complete = 0.0, 0

    def __call__(self, event: Event) -> None:
        from agssl.search.study import count

        complete = count(self.study)["complete"]
        line = f"[{complete}/{self.trials}] trial {event.number} {event.state}"
        seeds = f"{event.seeds} seed{'s' * (event.seeds != 1)}"
        line += "" if event.score is None else f" at {event.score:.4f} after {seeds}"
        line += f": {event.why}" if event.why else ""
        if complete:
            best = self.study.best_trial
            line += f"; best {best.value:.4f} (trial {best.number})"
        self.seconds += event.seconds
        self.complete += event.state == "complete"
        if complete < self.trials and self.complete:
            # pruned trials cost too, so a complete one is taken to cost what all did, over the complete ones
            left = self.seconds / self.complete * (self.trials - complete) / self.jobs
            line += f"; about {duration(left)} left"
        say(line)


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
