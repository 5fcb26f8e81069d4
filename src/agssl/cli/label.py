"""`agssl label`: a page on this machine to label nodes by hand."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agssl.base.errors import SettingsError
from agssl.cli.common import command_parser, json_text, say
from agssl.cli.options import (
    add_compute,
    add_graph,
    add_jobs,
    add_seeds,
    add_settings,
    check_jobs,
    given_settings,
    make_plan,
    reading,
)
from agssl.cli.plugins import add_plugins

_EXAMPLES = """\
examples:
  agssl label my-graph/                      labels go to my-graph/labels.csv, which agssl fit my-graph/ reads
  agssl label people.csv --knn 10 --classes "spam,no spam"
  agssl label cora --out mine.csv            as if its labels were not known
  agssl label my-graph/ --effort standard    settings of the fits in the background, as for agssl fit

It prints an address to open in a browser; Ctrl-C ends it. Every label is on disk before the page goes on.
"""
# its own options, with the number of words after them; all others are handed on to agssl fit
_OWN = {"--host": 1, "--port": 1, "--out": 1, "--classes": 1, "--no-fit": 0, "--open": 0, "--json": 0, "--debug": 0}


def add_parser(subparsers: Any) -> None:
    """Add `label`."""
    parser = command_parser(subparsers, "label", "label nodes by hand on a page in the browser", _EXAMPLES)
    add_graph(parser, more_labels=False)
    parser.add_argument(
        "--out", metavar="FILE", help="where labels go (default: labels.csv in the folder, else NAME-labels.csv)"
    )
    parser.add_argument("--classes", metavar="NAMES", help="classes to begin with, with commas between")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: %(default)s, for this machine alone)"
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="port to listen on (default: any free one)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--no-fit", dest="fit", action="store_false", help="no fits in the background")
    parser.add_argument("--json", action="store_true", help="at the end, print one JSON value on stdout")
    add_seeds(parser)
    add_compute(parser)
    add_jobs(parser, "seeds and teachers of the fits", "1")
    add_plugins(parser)
    add_settings(parser)
    parser.set_defaults(handler=run_label, labels="none")


def run_label(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C; then say what there is."""
    words, quick = _fit_words(args)
    from agssl.annotate.label_file import LabelFile
    from agssl.annotate.names import class_name
    from agssl.annotate.refit import Refitter
    from agssl.annotate.server import LabelServer
    from agssl.annotate.session import Session
    from agssl.annotate.source import label_path, to_label

    graph, classes = to_label(args.graph, say=say, **reading(args))
    for name in (args.classes or "").split(","):
        classes += [class_name(name, classes)] if name.strip() else []
    path = label_path(args.graph, args.out)
    file = LabelFile(path)
    try:
        session = Session(graph, file, classes)
        server = LabelServer(session, args.host, args.port)
        with server, tempfile.TemporaryDirectory(prefix="agssl-label-") as folder:
            plugins = [word for file in args.plugin for word in ("--plugin", file)]
            refitter = Refitter(session, [*words, *quick], plugins, Path(folder))
            say(f"{sum(session.counts().values()):,} of {graph.num_nodes:,} nodes of {graph.name} have a label")
            session.next("first")  # so that the first page need not wait for it
            if args.host not in ("127.0.0.1", "localhost", "::1"):
                say(f"WARNING: {args.host} can be reached by others; whoever gets the address can read and label")
            say(f"label at {server.address} (Ctrl-C ends; labels go to {path})")
            if args.open:
                import webbrowser

                webbrowser.open(server.address)
            if args.fit:
                refitter.start()
            try:
                server.serve_forever(poll_interval=0.1)
            except KeyboardInterrupt:
                pass
            finally:
                if args.fit:
                    refitter.end()
                _tell(session, args, words)
    finally:
        file.close()
    return 0


def _tell(session: Any, args: argparse.Namespace, words: Sequence[str]) -> None:
    """What was written, and how to go on."""
    path, said = session.file.path, len(session.file.labels)
    named = [] if path == Path(args.graph) / "labels.csv" else ["--labels", str(path)]
    command = shlex.join(["agssl", "fit", *words, *named])
    if args.json:
        sys.stdout.write(json_text({"labels": said, "new": said - session.at_first, "file": str(path), "fit": command}))
    else:
        new = said - session.at_first
        print(f"{said} labels are in {path}, {new:+d} since the start; to fit with them:\n  {command}")
    sys.stdout.flush()


def _fit_words(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """What was said to `agssl fit`, and what the background adds to it; settings that can't be show here."""
    plan = make_plan(args)
    check_jobs(args)
    if not 0 <= args.port <= 65535:
        raise SettingsError(f"port = {args.port}, but ports are 0 (any that is free) to 65535")
    from agssl.fitting.job import check

    check(plan.settings, args.device, args.threads)
    words, given = [], list(args.argv)
    given.remove("label")
    while given:
        name, equals, _ = (word := given.pop(0)).partition("=")
        if name in _OWN:
            del given[: 0 if equals else _OWN[name]]
        else:
            words.append(word)
    quick = [] if args.jobs is not None else ["--jobs", "1"]
    if plan.settings.automatic and "effort" not in given_settings(args) and args.config is None:
        quick += ["--effort", "quick"]
    return words, quick
