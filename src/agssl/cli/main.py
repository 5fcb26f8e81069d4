"""The command `agssl`: finds the sub-command, and turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence

from agssl.base.errors import AgsslError
from agssl.base.version import __version__
from agssl.cli import (
    bench,
    check,
    compare,
    data,
    doctor,
    embed,
    explain,
    export,
    fit,
    label,
    predict,
    report,
    serve,
    suggest,
    tune,
)
from agssl.cli import list as listing
from agssl.cli.common import Parser, add_debug, refuse_unknown, say
from agssl.cli.plugins import load_plugins

COMMANDS = (
    *(data, listing, fit, predict, explain, embed, suggest, check, label, report, compare),
    *(serve, export, tune, bench, doctor),
)

_EXAMPLES = """\
examples:
  agssl fit digits --seeds 3
  agssl fit my-graph/ --integration ts --out runs/mine
  agssl explain runs/mine --node 42
  agssl report runs/mine

exit codes: 0 done, 2 a mistake in input or settings, 1 anything else, 130 interrupted
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of everything; building it imports nothing heavy."""
    parser = Parser(
        prog="agssl",
        description="Learn from a graph with few labels: one teacher per pretext task, distilled into one model.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"agssl {__version__}")
    add_debug(parser)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and give back its exit code; results on stdout, everything else on stderr."""
    words = list(sys.argv[1:] if argv is None else argv)
    # Threads that spin while they wait take the core from the others; this must be set before torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    debug = "--debug" in words
    try:
        with _logging():
            code = _run(words)
            sys.stdout.flush()
            return code
    except AgsslError as error:
        return _fail(2, f"agssl: error: {_one_line(error)}", debug)
    except KeyboardInterrupt as stop:
        kept = _one_line(stop) or "no result was written. To go on, give the same command again"
        return _fail(130, f"agssl: interrupted; {kept}", debug)
    except BrokenPipeError:
        # Whoever read our output has had enough. Python would complain at exit, so it gets nothing to flush.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        what = f"agssl: error: unexpected {type(error).__name__}: {_one_line(error) or 'no further message'}"
        return _fail(1, what + ("" if debug else " (--debug shows where)"), debug)


def _run(words: Sequence[str]) -> int:
    parser = build_parser()
    try:
        args, extra = parser.parse_known_args(words)
    except SystemExit as done:  # --help and --version
        return int(done.code or 0)
    refuse_unknown(extra, args, parser)
    args.argv = list(words)
    load_plugins(args)
    code: int = args.handler(args)
    return code


def _fail(code: int, line: str, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    say(line)
    return code


def _one_line(error: BaseException) -> str:
    """The message, with the notes that it got on its way (what was kept, how to go on)."""
    parts = (" ".join(part.split()) for part in (str(error), *getattr(error, "__notes__", ())))
    return "; ".join(part for part in parts if part)


class _Stderr(logging.Handler):
    """Log records as lines on whatever stderr is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        say(f"agssl: {self.format(record)}")


@contextlib.contextmanager
def _logging() -> Iterator[None]:
    log, handler = logging.getLogger("agssl"), _Stderr()
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def entry() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without ± or █ is no reason to fail
    # as a tidy exit: what is half done is removed, and worker processes end too
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    sys.exit(main())
