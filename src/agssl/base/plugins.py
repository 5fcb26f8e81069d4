"""Plug-in files: Python files of the user's own that register a task, an encoder or an integration.

`--plugin degree.py` runs the file once. What it registers is then known under its name, here and in every process or
Ray worker that works for this one: they get the text of the file, so that an edit while a fit runs changes nothing, and
another machine needs no copy of it.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from agssl.base.errors import SettingsError
from agssl.base.registry import Registry


@dataclass(frozen=True)
class Plugin:
    """A plug-in file as it was read."""

    path: str  # as it was given
    source: bytes

    @cached_property
    def sha256(self) -> str:
        """The hash of its content: two files with the same content are one plug-in."""
        return hashlib.sha256(self.source).hexdigest()

    @property
    def module(self) -> str:
        """What Python calls it."""
        return f"agssl_plugin_{Path(self.path).stem}_{self.sha256[:12]}"

    def __str__(self) -> str:
        return f"{Path(self.path).name} {self.sha256[:12]}"


_loaded: dict[str, Plugin] = {}  # by the names of their modules


def load_plugin(path: str | Path, registries: Iterable[Registry[Any]]) -> Plugin:
    """Run a plug-in file, unless one with the same content was run before.

    Args:
        path: the Python file. It may import what is installed, but no file beside it.
        registries: the file must add something to one of them.

    Raises:
        SettingsError: the file can't be read, raises, or registers nothing.
    """
    try:
        plugin = Plugin(str(path), Path(path).read_bytes())
    except FileNotFoundError as error:
        raise SettingsError(
            f"the plug-in {path} does not exist; give a Python file, as in --plugin degree.py"
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"the plug-in {path} can't be read: {reason}; give a Python file") from error
    if not _is_loaded(plugin):
        registries = list(registries)
        before = [set(registry) for registry in registries]
        _run(plugin)
        if before == [set(registry) for registry in registries]:
            kinds = ", ".join(registry.kind for registry in registries)
            raise SettingsError(
                f"the plug-in {path} registers nothing of its own ({kinds}); end it with a line like "
                'TASKS.add("degree", DegreeRank)'
            )
        _loaded[plugin.module] = plugin
    return plugin


def loaded_plugins() -> tuple[Plugin, ...]:
    """All plug-ins of this process, in the order in which they were loaded."""
    return tuple(_loaded.values())


def take_plugins(plugins: Iterable[Plugin]) -> None:
    """In a worker: load what `loaded_plugins` gave in the process that it works for."""
    for plugin in plugins:
        if not _is_loaded(plugin):
            _run(plugin)
            _loaded[plugin.module] = plugin


def plugin_hashes(*kinds: type) -> list[str]:
    """The hashes of the plug-ins that these classes are defined in; classes from elsewhere add nothing."""
    return sorted({_loaded[kind.__module__].sha256 for kind in kinds if kind.__module__ in _loaded})


def _is_loaded(plugin: Plugin) -> bool:
    return plugin.sha256 in (other.sha256 for other in _loaded.values())


def _run(plugin: Plugin) -> None:
    module = ModuleType(plugin.module)
    module.__file__ = plugin.path
    sys.modules[plugin.module] = module  # dataclasses and pickle look a class's module up by its name
    try:
        exec(compile(plugin.source, plugin.path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[plugin.module]
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        raise SettingsError(
            f"the plug-in {plugin.path} fails{_line(error, plugin.path)}: {what}; mend the file"
        ) from error


def _line(error: BaseException, path: str) -> str:
    """Where in the file an error came up."""
    if isinstance(error, SyntaxError):
        return ""  # its message says so
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f" in line {lines[-1]}" if lines else ""
