"""What the commands share: parsers that fail in one line, and ways to print."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from agssl.base.errors import SettingsError


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes are errors of one line, like all others."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # an abbreviation that works today would be ambiguous when the next option comes
        super().__init__(*args, **{"allow_abbrev": False, **kwargs})

    def error(self, message: str) -> NoReturn:
        """Raise, so that the caller decides how to print it."""
        raise SettingsError(f"{message}; see `{self.prog} --help`")


def command_parser(subparsers: Any, name: str, text: str, epilog: str) -> argparse.ArgumentParser:
    """The parser of one command, with its help, examples and the options that every command has."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_debug(parser, argparse.SUPPRESS)
    parser.set_defaults(parser=parser)
    return parser


def add_debug(parser: argparse.ArgumentParser, default: Any = False) -> None:
    """The flag --debug, which is understood before and after the command."""
    parser.add_argument("--debug", action="store_true", default=default, help="show the traceback of an error")


def refuse_unknown(extra: Sequence[str], args: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Complain about arguments that nobody understood, with the nearest option."""
    if not extra:
        return
    command = getattr(args, "parser", parser)
    word = extra[0].partition("=")[0]
    near = difflib.get_close_matches(word, [*command._option_string_actions], n=2, cutoff=0.6)
    hint = f"; did you mean {' or '.join(near)}?" if near and word.startswith("-") else ";"
    raise SettingsError(f"unknown argument {extra[0]!r}{hint} see `{command.prog} --help`")


def parse_seeds(text: str, first: int = 0) -> tuple[int, ...]:
    """Seeds from a count (of those from `first` on), a range or a list.

    >>> parse_seeds("2"), parse_seeds("2", 100), parse_seeds("3-5"), parse_seeds("0,7")
    ((0, 1), (100, 101), (3, 4, 5), (0, 7))
    """
    try:
        if "," in text:
            seeds = tuple(int(part) for part in text.split(",") if part.strip())
        elif "-" in text.strip():
            low, high = (int(part) for part in text.split("-"))
            seeds = tuple(range(low, high + 1))
        else:
            seeds = tuple(range(first, first + int(text)))
    except ValueError:
        seeds = ()
    if not seeds or min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise SettingsError(
            f"seeds {text!r} is not understood; give a count (5), a range ({first}-{first + 4}) "
            f"or a list ({first},{first + 7})"
        )
    return seeds


def say(text: str) -> None:
    """A line on stderr."""
    print(text, file=sys.stderr, flush=True)


def console() -> Any:
    """A rich console on stdout."""
    from rich.console import Console

    # a pipe has no width of its own, and a cut-off table is no use to the next program
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False)


def table(*columns: str, left: Iterable[str] = ()) -> Any:
    """An empty rich table in the one style; columns in `left` hold text, the others numbers."""
    from rich.table import Table

    result = Table(box=None, pad_edge=False)
    for column in columns:
        result.add_column(column, justify="left" if column in left else "right", no_wrap=True)
    return result


def emit(text: str, output: str | None = None) -> None:
    """Write a result to stdout, or whole into a file."""
    if output is None or output == "-":
        sys.stdout.write(text)
        return
    from agssl.base.atomic import write_text

    write_text(output, text)
    say(f"written to {output}")


def json_text(value: Any) -> str:
    """One JSON value."""
    return json.dumps(value, allow_nan=False) + "\n"


def human(value: Any) -> str:
    """A fact in words."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {human(item)}" for key, item in value.items())
    if isinstance(value, float):
        return f"{value:.4f}"
    if isinstance(value, int):
        return f"{value:,}"
    return "unknown" if value is None else str(value)


def bar(share: float, width: int = 20) -> str:
    """A small bar for a number in 0..1.

    >>> bar(0.5, 4)
    '██  '
    """
    filled = round(max(0.0, min(1.0, share)) * width)
    return "█" * filled + " " * (width - filled)
