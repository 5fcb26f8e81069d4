"""What a search writes: TOML with all settings of one method, or with those that all methods of a dataset share."""

from __future__ import annotations

import io
import itertools
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import tomli_w

from agssl.config import Settings, effective

MADE = "made by: "  # how a header begins
_METHOD = ("method", "tasks", "integration", "strategy")
# Options of `tune` that do not decide the result, and may tell of folders and machines: with a value, and without.
_ASIDE = ("--out", "--study", "--jobs", "--threads", "--ray-address")
_FLAGS = ("--ray", "--json", "--debug")


def config_text(settings: Settings, header: Sequence[str]) -> str:
    """All settings of a method, for `agssl fit --config`, below comments that say where they come from."""
    values: dict[str, Any] = effective(settings)
    if settings.patience is None:
        values["patience"] = 0  # TOML knows no None
    return _comments(header) + tomli_w.dumps(values)


def shared_text(
    found: Settings, searched: Collection[str], options: Mapping[str, Any], header: Sequence[str], before: str = ""
) -> str:
    """What was searched and what options set, for all methods, below the config that the search began with.

    Args:
        found: the settings that were found.
        searched: names of those that were searched.
        options: what else was set beside the config, by name.
        header: comments that say where all this comes from.
        before: the config's text. It stays as it is, but for what is now set below it, and tables: those become lines
            such as `alpha.par = 5.0`, since what comes after a table would be part of it.
    """
    values = dict(options) | {name: value for name, value in found.to_dict().items() if name in searched}
    # Who uses the file chooses the method, unless the config did already, or weights say nothing without its tasks.
    apart = set(_METHOD) - {name for name, _ in _statements(before)}
    apart -= {"tasks"} if isinstance(values.get("alpha"), Mapping) or "tasks" in searched else set()
    apart -= {"tasks", "method"} if "task_weights" in values else set()
    values = {name: value for name, value in values.items() if name not in apart}
    return _without(before, {*options, *searched}) + _comments(header) + tomli_w.dumps(values)


def shared_command(words: Sequence[str]) -> list[str]:
    """A command line without what does not decide its result: files, processes, machines.

    >>> shared_command(["tune", "cora", "--out", "my.toml", "--jobs=2", "--shared"])
    ['tune', 'cora', '--shared']
    """
    kept: list[str] = []
    left = iter(words)
    for word in left:
        if word in _ASIDE:
            next(left, None)
        elif word not in _FLAGS and word.partition("=")[0] not in _ASIDE:
            kept.append(word)
    return kept


def _without(text: str, names: Collection[str]) -> str:
    """The text of a config without these settings, and without the headers of which nothing is left."""
    blocks: list[list[tuple[str, str]]] = [[]]
    for name, part in _statements(text):
        if part.startswith(f"# {MADE}"):
            blocks.append([])
        blocks[-1].append((name, part))
    kept: list[str] = []
    for number, block in enumerate(blocks):
        set_here = {name for name, _ in block if name}
        if number and set_here and set_here <= set(names):
            block = [*itertools.dropwhile(lambda line: line[1].startswith("#"), block)]
        kept += [part for name, part in block if name not in names]
    return "".join(kept)


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a config, in order: the name of the setting, "" for comments and empty lines, and the text."""
    table = part = ""
    for line in io.StringIO(text):
        part += line.rstrip("\n") + "\n"
        try:
            value = tomllib.loads(part)
        except tomllib.TOMLDecodeError:  # a value of several lines
            continue
        key = next(iter(value), "")
        if part.lstrip().startswith("["):
            table = key
        elif key and table:
            yield table.replace("-", "_"), f"{table}.{part.lstrip()}"
        else:
            yield key.replace("-", "_"), part
        part = ""


def _comments(lines: Sequence[str]) -> str:
    return "".join(f"# {line}\n" for line in lines)
