"""`agssl bench`: tables and figures, the paper's and others, as a grid of cells that goes on where it was."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agssl.base.errors import DataError, SettingsError, unknown_name
from agssl.base.system import cores, duration
from agssl.cli.common import command_parser, json_text, parse_seeds, say
from agssl.cli.options import add_jobs, check_jobs, workers
from agssl.cli.plugins import add_plugins

if TYPE_CHECKING:
    from agssl.bench.artifacts import Artifact
    from agssl.bench.cells import Cell
    from agssl.bench.grid import Grid, TimeLeft
    from agssl.bench.records import CellRecord
    from agssl.bench.scope import Scope

WHAT = (
    *("table1", "table2", "table-a2", "table-a3", "fig1", "fig5", "fig6", "fig7", "fig8", "theory", "graphs"),
    "trust",
    *("table1-authors", "table2-authors", "equal", "rivals", "redundancy", "embeddings", "beyond"),
)

_EXAMPLES = """\
examples:
  agssl bench table1 --datasets cora,citeseer --seeds 2
  agssl bench fig8 --datasets citeseer --methods agssl-lf,agssl-ts,average
  agssl bench all --jobs 2
  agssl bench table2 --summary
  agssl bench graphs --datasets texas,cora,my-graph/ --methods gcn,paper,auto
  agssl bench results

Each cell of the grid (a dataset, method and seed) leaves a record in --out as soon as it is done. The same command,
given again, runs only what is missing. `results` runs nothing: it writes the pages below
docs/research, and RESULTS.md, from all records there are.
"""


def add_parser(subparsers: Any) -> None:
    """Add `bench`."""
    parser = command_parser(
        subparsers, "bench", "make the paper's tables and figures, and compare on any graphs", _EXAMPLES
    )
    parser.add_argument("what", metavar="WHAT", help=f"{', '.join(WHAT)}, all, or results")
    parser.add_argument("--datasets", metavar="NAMES", help="with commas (default: the paper's)")
    parser.add_argument("--methods", metavar="NAMES", help="with commas, e.g. gcn,par,agssl-ts (default: the paper's)")
    parser.add_argument(
        "--seeds",
        metavar="WHICH",
        help="a count (2: 0 and 1), a range (0-4) or a list (0,7) (default: 10 for cora, citeseer and pubmed, else 5)",
    )
    parser.add_argument("--strategies", metavar="NAMES", default="jt,pf", help="jt, pf or both (default: jt,pf)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting for every cell, e.g. epochs=50"
    )
    parser.add_argument("--out", metavar="FOLDER", default="results/bench", help="records (default: results/bench)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of one process (default: 1)")
    add_jobs(parser, "cells", "all cores")
    add_plugins(parser)
    parser.add_argument("--summary", action="store_true", help="run nothing; show what is there")
    parser.add_argument("--json", action="store_true", help="print one JSON value on stdout")
    parser.set_defaults(handler=run_bench)


def run_bench(args: argparse.Namespace) -> int:
    """Run what is missing, then write and print the tables and figures."""
    from agssl.bench.catalog import ARTIFACTS
    from agssl.bench.methods import TABLE_METHODS

    if args.what not in (*ARTIFACTS, "all", "results"):
        raise unknown_name("table or figure", args.what, (*ARTIFACTS, "all", "results"))
    names = ARTIFACTS if args.what in ("all", "results") else [args.what]
    chosen = {name: ARTIFACTS[name] for name in names}
    scope = scope_of(args, chosen[args.what].methods if len(chosen) == 1 else TABLE_METHODS)
    if args.threads < 1:
        raise SettingsError(f"threads = {args.threads}, but at least one is needed")
    check_jobs(args)
    if any(artifact.figures for artifact in chosen.values()):
        from agssl.explain.plots import check_plotting

        check_plotting()
    from agssl.bench.grid import Grid
    from agssl.bench.records import Records

    out = Path(args.out)
    grid = Grid([cell for artifact in chosen.values() for cell in artifact.cells(scope)], Records(out))
    if args.what == "results":
        from agssl.bench.results import write_results

        paths = [str(path) for path in write_results(chosen, scope, grid.records, Path())]
        if args.json:
            sys.stdout.write(json_text({"files": paths}))
        else:
            say("written: " + ", ".join(paths))
        return 0
    if not args.summary:
        _run(grid, out, args)
        for artifact in chosen.values():
            if artifact.compute is not None:
                artifact.compute(scope, out, say)
    _show(chosen, scope, grid, out, args.json)
    if grid.failed:
        for cell, why in grid.failed.items():
            say(f"failed: {cell}: {why}")
        return 1
    return 0


def _show(chosen: dict[str, Artifact], scope: Scope, grid: Grid, out: Path, as_json: bool) -> None:
    from agssl.bench.output import text_of, write_rendered

    values = {}
    listing = next(iter(chosen.values())).listing if len(chosen) == 1 else None
    for name, artifact in chosen.items():
        rendered = artifact.render(scope, grid.records)
        files = write_rendered(out / "tables", name, rendered)
        values[name] = {
            "title": artifact.title,
            "entries": rendered.table.entries,
            "notes": rendered.table.notes,
            "files": [str(path) for path in files],
        }
        if not as_json:
            sys.stdout.write(f"{artifact.title}\n\n{text_of(rendered.table)}\n")
            say("written: " + ", ".join(str(path) for path in files))
    if as_json and listing is not None:
        sys.stdout.write(json_text(listing(scope, grid.records)))
    elif as_json:
        left = sum(cell not in grid.records for cell in grid.wanted)
        sys.stdout.write(json_text({"cells": len(grid.wanted), "missing": left, "shown": values}))


def _run(grid: Grid, out: Path, args: argparse.Namespace) -> None:
    """Run the missing cells of the datasets that can be read."""
    if not grid.missing:
        return
    from agssl.base.lock import Lock
    from agssl.base.provenance import commit
    from agssl.bench.measure import Workspace
    from agssl.data.fetch import data_folders

    reasons = {}
    for dataset, split in dict.fromkeys((cell.dataset, cell.split) for cell in grid.missing):
        reasons[dataset, split] = why_not(dataset, split)
        if reasons[dataset, split]:
            say(f"{dataset} is left out: {reasons[dataset, split]}")
    grid.missing = [cell for cell in grid.missing if not reasons[cell.dataset, cell.split]]
    workspace = Workspace(data_folders().cache, args.threads, commit())
    with contextlib.ExitStack() as stack:
        out.mkdir(parents=True, exist_ok=True)
        for path in dict.fromkeys(grid.records.path_of(cell.dataset) for cell in grid.missing):
            lock = Lock(path.with_name(f".{path.stem}.lock"))  # two commands at once would run the same cells
            lock.take(str(path))
            stack.callback(lock.release)
        try:
            with workers(args, cores()) as (jobs, cluster), GridProgress(len(grid.missing), grid.present) as progress:
                grid.run(workspace, jobs, progress.done, cluster)
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt("finished cells are kept. To go on, give the same command again") from stop


def why_not(dataset: str, split: str) -> str | None:
    """Why a dataset can't be run here, split like that; None if it can."""
    from agssl.data.resolve import open_graph

    try:
        missing = open_graph(dataset, split=None, say=say).missing
        if missing is None and split == "authors":  # which is a file of its own
            open_graph(dataset, split=split)
    except DataError as error:
        return str(error)
    return missing


def scope_of(args: argparse.Namespace, known: Iterable[str]) -> Scope:
    """What the options ask for, checked; `known` are the methods that they may name."""
    from agssl.bench.scope import STRATEGIES, Scope

    strategies = _names(args.strategies) or ()
    for name in strategies:
        if name not in STRATEGIES:
            raise unknown_name("strategy", name, STRATEGIES)
    methods = _names(args.methods)
    for name in methods or ():
        if name not in known:
            raise unknown_name("method", name, known)
    datasets = _names(args.datasets)
    return Scope(
        None if datasets is None else tuple(_dataset(name) for name in datasets),
        methods,
        None if args.seeds is None else parse_seeds(args.seeds),
        strategies,
        dict(_change(text) for text in args.set),
    )


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _dataset(name: str) -> str:
    """A dataset by its one name, or a path to a graph of the user's own; one for practice also without its folder."""
    from agssl.bench.scope import PRACTICE
    from agssl.data.datasets import dataset_spec, is_dataset
    from agssl.data.resolve import find_path

    practice = {Path(path).stem: path for path in PRACTICE}
    if is_dataset(name) or (find_path(name) is None and name not in practice):
        return dataset_spec(name).name
    return name if find_path(name) is not None else practice[name]


def _change(text: str) -> tuple[str, Any]:
    """A setting as NAME=VALUE, the value as JSON or plain text; weights as for `fit`, too (alpha=par=10,clu=1)."""
    from agssl.config import DESCRIBED, Settings
    from agssl.config.kinds import AlphaKind, TaskWeights

    name, equals, value = text.partition("=")
    if not equals:
        raise SettingsError(f"--set {text!r} is not understood; write NAME=VALUE, as in --set epochs=50")
    try:
        found = json.loads(value)
    except ValueError:
        found = value
    name = name.strip().replace("-", "_")
    kind = DESCRIBED[name].kind if name in DESCRIBED else None
    found = kind.parse(found) if isinstance(kind, AlphaKind | TaskWeights) and isinstance(found, str) else found
    Settings().replace(**{name: found})  # a mistake shows before anything runs
    return name, found


class GridProgress:
    """Finished cells and the time left on stderr: a bar on a terminal, else one line per cell."""

    def __init__(self, total: int, present: int) -> None:
        self.total, self.count = total, 0
        self.bar: Any = None
        self.task: Any = None
        say(f"{present} cell{'s' * (present != 1)} done before, {total} to run")

    def __enter__(self) -> GridProgress:
        if sys.stderr.isatty() and self.total:
            from rich import progress
            from rich.console import Console

            columns = [
                progress.TextColumn("cells"),
                progress.BarColumn(bar_width=24),
                progress.TextColumn("{task.completed}/{task.total} {task.fields[note]}"),
                progress.TimeElapsedColumn(),
            ]
            self.bar = progress.Progress(*columns, console=Console(stderr=True, highlight=False), transient=True)
            self.bar.start()
            self.task = self.bar.add_task("cells", total=self.total, note="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def done(self, cell: Cell, result: CellRecord | str, estimate: TimeLeft) -> None:
        """Say that a cell is finished, and what is left."""
        self.count += 1
        left = estimate.seconds()
        note = "" if left is None or not estimate.left else f"about {duration(left)} left"
        what = f"failed: {result}" if isinstance(result, str) else _outcome(result)
        if self.bar is None:
            say(f"[{self.count}/{self.total}] {cell}: {what}" + (f"; {note}" if note else ""))
            return
        self.bar.console.print(f"{cell}: {what}", markup=False)
        self.bar.update(self.task, completed=self.count, note=note)


def _outcome(record: CellRecord) -> str:
    test = "" if record["test"] is None else f"test {record['test']['accuracy']:.1%}, "
    return f"{test}{record['seconds']:.1f} s"
