"""The option `--plugin`, and what plug-ins can add to."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agssl.base.registry import Registry


def add_plugins(parser: argparse.ArgumentParser) -> None:
    """The option itself; `load_plugins` acts on it before the command runs."""
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="FILE.py",
        help="a Python file that registers a task, an encoder or an integration; may be given several times",
    )


def load_plugins(args: argparse.Namespace) -> None:
    """Load the files that the command line names."""
    if not getattr(args, "plugin", None):
        return
    from agssl.base.plugins import load_plugin

    known = registries().values()
    for path in args.plugin:
        load_plugin(path, known)


def registries() -> dict[str, Registry[Any]]:
    """What there is to extend, by the words of `agssl list`."""
    from agssl.encoders import ENCODERS
    from agssl.integrate import INTEGRATORS
    from agssl.pretext import TASKS

    return {"tasks": TASKS, "encoders": ENCODERS, "integrations": INTEGRATORS}


def plugin_plan() -> dict[str, list[str]]:
    """What the plan of a fit says of plug-ins: nothing if there are none."""
    from agssl.base.plugins import loaded_plugins

    named = [str(plugin) for plugin in loaded_plugins()]
    return {"plugins": named} if named else {}


def plugin_record() -> dict[str, list[dict[str, str]]]:
    """What run.json says of plug-ins: nothing if there are none."""
    from agssl.base.plugins import loaded_plugins

    found = [{"path": plugin.path, "sha256": plugin.sha256} for plugin in loaded_plugins()]
    return {"plugins": found} if found else {}
