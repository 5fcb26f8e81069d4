"""`agssl fit`: train, measure, and write a run."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from agssl.base.errors import GraphError, SettingsError
from agssl.base.processes import warm_up
from agssl.base.system import cores
from agssl.cli.common import command_parser, json_text, say
from agssl.cli.options import (
    add_compute,
    add_graph,
    add_jobs,
    add_seeds,
    add_settings,
    add_workers,
    check_jobs,
    check_workers,
    make_plan,
    reading,
    say_columns,
    say_partition,
    say_weights,
    with_ray,
    workers,
)
from agssl.cli.outcome import show, warn
from agssl.cli.plugins import add_plugins, plugin_plan, plugin_record
from agssl.config import Settings

_EXAMPLES = """\
examples:
  agssl fit digits
  agssl fit cora --method gcn --seeds 10 --hidden 256
  agssl fit my-graph/ --tasks par,clu,dgi --integration lf --out runs/mine
  agssl fit table.csv --knn 10 --label species --json
  agssl fit people/ --id employee_id --sep ';' --drop phone --categorical grade
  agssl fit cora --config runs/mine/config.toml --seed 7

GRAPH as a folder has edges.csv (source,target) and nodes.csv (id, feature columns, label, optional split).
An interrupted fit goes on where it was when the same command is given again; a finished one shows its result again.
A finished run is never replaced without --overwrite: without --out, a fit with other settings goes to a folder of its
own (runs/digits-agssl-both-2); into the folder that --out names, it is refused.
A config file has settings by their names here, and may have `split` and `seeds` (a count or a list):
  hidden = 256
  tasks = ["par", "dgi"]
  seeds = 5
"""


def add_parser(subparsers: Any) -> None:
    """Add `fit`."""
    parser = command_parser(subparsers, "fit", "train on a graph and write a run", _EXAMPLES)
    add_graph(parser)
    add_seeds(parser)
    parser.add_argument(
        "--out",
        metavar="RUN",
        help="folder to write the run to (default: runs/GRAPH-METHOD-INTEGRATION, or that with -2, -3, ...)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    parser.add_argument("--plot", action="store_true", help="draw pictures of the first seed into the run (extra plot)")
    parser.add_argument(
        "--restart", action="store_true", help="drop what an interrupted fit left in RUN instead of going on with it"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a finished run in RUN")
    parser.add_argument(
        "--checkpoint",
        type=float,
        default=10.0,
        metavar="S",
        help="seconds between checkpoints (default: 10; 0: every epoch)",
    )
    parser.add_argument(
        "--drop-suspects", metavar="FILE", help="leave out the labels of the nodes in a file that agssl check -o wrote"
    )
    parser.add_argument("--track", metavar="WHERE", help="follow training in tensorboard or mlflow (extra track)")
    parser.add_argument(
        "--no-memory-check", dest="memory_check", action="store_false", help="start even if memory may not suffice"
    )
    add_compute(parser)
    add_jobs(parser, "seeds and teachers", "auto, all cores that there is memory for")
    add_workers(parser)
    add_plugins(parser)
    add_settings(parser)
    parser.set_defaults(handler=run_fit)


def run_fit(args: argparse.Namespace) -> int:
    """Fit every seed, write the run and print the results."""
    plan = make_plan(args)
    if args.config is None and plan.config is not None:
        say(
            f"settings from {plan.config.removeprefix('shipped:')}, which comes with agssl; --no-config leaves them out"
        )
    check_jobs(args)
    check_workers(args, plan.settings)
    if not args.checkpoint >= 0:
        raise SettingsError(f"checkpoint = {args.checkpoint}, but it is a number of seconds, 0 or more")
    quick = plan.settings.effort == "quick" and len(plan.seeds) == 1  # over before another process is of use
    if args.jobs != 1 and cores() > 1 and not with_ray(args) and plan.settings.method == "agssl" and not quick:
        warm_up("agssl.fitting.seeds")
    from agssl.base.system import peak_mb
    from agssl.fitting.job import Job, check
    from agssl.fitting.progress import Progress
    from agssl.fitting.schedule import most_at_once
    from agssl.fitting.seeds import fit_seeds
    from agssl.fitting.summary import summarise
    from agssl.fitting.verdict import stored_answers, verdict

    check(plan.settings, args.device, args.threads)
    if with_ray(args) and args.device != "cpu":
        raise SettingsError(f"device {args.device!r} is for one process, but Ray tasks get CPUs; leave one of them out")
    if args.plot:
        from agssl.explain.plots import check_plotting

        check_plotting()
    if args.track is not None:
        from agssl.track import check_tracking

        check_tracking(args.track)
        if (args.jobs or 1) > 1 or with_ray(args):
            other = "seeds go to Ray" if with_ray(args) else f"--jobs is {args.jobs}"
            raise SettingsError(f"--track follows one seed at a time, but {other}; leave one of them out")

    from agssl.base.rng import Rng
    from agssl.cli.progress import Following
    from agssl.data.fetch import data_folders
    from agssl.data.resolve import open_graph
    from agssl.data.splits import make_split
    from agssl.store.checkpoints import fingerprint
    from agssl.store.earlier import free_folder, is_done
    from agssl.store.run import GraphSource, describe
    from agssl.store.run_writer import RunWriter, write_predictions

    how = reading(args)
    graph = open_graph(args.graph, split=None, say=say, **how)
    say_columns(graph)
    say_weights(graph)
    if graph.missing is not None:
        raise GraphError(graph.missing)
    if args.drop_suspects is not None:
        from agssl.label.drop import drop_suspects

        before = int((graph.y >= 0).sum())
        graph = drop_suspects(graph, args.drop_suspects)
        say(f"{before - int((graph.y >= 0).sum())} of {before} labels are left out, by {args.drop_suspects}")
    # a split that can't be made shows before the first epoch
    splits = [make_split(plan.split, graph, Rng(seed).child("split")) for seed in plan.seeds]
    from agssl.train.memory import batch_mode, check_memory, jobs_that_fit
    from agssl.train.setup import check_metric, schedule_on

    for split in splits:
        check_metric(graph.with_split(split), plan.settings)

    settings = plan.settings
    folded = graph if splits[0].fold is None else graph.with_split(splits[0])  # a network for each fold takes memory
    units = most_at_once(settings, plan.seeds)
    here = max(1, cores() // args.threads) if args.device == "cpu" and args.track is None else 1
    jobs = min(args.jobs or (here if args.ray or not with_ray(args) else 1), units)
    jobs = args.workers if args.workers > 1 else jobs
    free_choice = args.jobs is None and not with_ray(args)  # of jobs: what is trained must not depend on it
    if settings.batch == "auto":
        settings = settings.replace(batch=batch_mode(folded, settings, 1 if free_choice else jobs))
        if settings.batch != "full":
            say(f"the whole graph at once would not fit into memory: training in parts (--batch {settings.batch})")
    if free_choice:
        jobs = jobs_that_fit(folded, settings, jobs)
    check_workers(args, settings)
    if args.memory_check and args.device == "cpu" and args.ray_address is None:
        check_memory(folded, settings, jobs)
    asked = plan.settings.to_dict() | {"split": plan.split, "device": args.device, "threads": args.threads}
    together = {"workers": args.workers} if args.workers > 1 else {}
    asked |= together | plugin_plan() | say_partition(settings, graph)
    probe = make_split(plan.split, graph, Rng(0).child("split"))  # changes with the file that it may come from
    asked["data"] = fingerprint(graph.fingerprint, graph.y, graph.classes, probe, *graph.splits)
    out = args.out or f"runs/{_run_name(graph.name, plan.settings)}"
    if not args.overwrite:
        out = args.out or (out if args.restart else free_folder(out, asked, plan.seeds))
        if is_done(Path(out), asked, plan.seeds):
            return _finish(_stored(out), args)
    writing = RunWriter(out, asked, args.restart, args.overwrite, plan.seeds)
    with workers(args, jobs) as (jobs, cluster), writing as writer:
        finished = writer.unfinished.finished(plan.seeds)
        if writer.unfinished.anything():
            say(f"going on with the fit in {out}: {len(finished)} of {len(plan.seeds)} seeds are finished")
        job = Job(
            graph,
            settings,
            plan.split,
            out=writer.staging,
            cache=data_folders().cache / "targets",
            device=args.device,
            threads=args.threads,
            checkpoint=args.checkpoint,
            workers=args.workers,
        )
        start = time.perf_counter()
        with Progress(settings, schedule_on(graph, settings.within_budget()), splits[0].fold is not None) as progress:
            follow = progress if args.track is None else Following(progress, args.track, Path(out), settings)
            results = fit_seeds(job, plan.seeds, jobs, observer=follow, finished=finished, cluster=cluster)
        summary = summarise(graph.name, settings, results)
        seconds = time.perf_counter() - start
        folders = [writer.staging / f"seed-{seed}" for seed in plan.seeds]
        answers = [] if settings.metric == "accuracy" else stored_answers(graph, splits, folders)
        summary |= verdict(graph, splits, results, args.threads, settings, answers)
        summary |= {"seconds": seconds, "peak_mb": peak_mb(), "run": str(out)}
        about = describe(
            GraphSource.of(graph, args.graph, **how),
            plan.seeds,
            command=shlex.join(["agssl", *args.argv]),
            device=args.device,
            threads=args.threads,
            config=plan.config,
            **together,
            **plugin_record(),
        )
        write_predictions(writer.staging, plan.seeds)
        writer.commit(about, settings, plan.split, {k: v for k, v in summary.items() if k != "run"})
    return _finish(summary, args)


def _stored(out: str) -> dict[str, Any]:
    """The results of a finished run."""
    from agssl.store.run import Run

    run = Run.open(out)
    say(f"{out} is finished already, with these very settings; this is its result (--overwrite fits again)")
    return run.metrics | {"run": out}


def _finish(summary: dict[str, Any], args: argparse.Namespace) -> int:
    """Print the results, and draw them if that is asked for."""
    if args.json:
        sys.stdout.write(json_text(summary))
    else:
        show(summary)
    warn(summary)
    if args.plot:
        from agssl.explain.plots import write_pictures
        from agssl.store.run import Run

        for path in write_pictures(Run.open(summary["run"])):
            say(f"picture: {path}")
    return 0


def _run_name(graph: str, settings: Settings) -> str:
    parts = [graph, settings.method] + ([settings.integration] if settings.method == "agssl" else [])
    parts += [settings.encoder] if settings.encoder != Settings.encoder else []
    return re.sub(r"[^\w.+-]+", "-", "-".join(parts)).lstrip(".-")
