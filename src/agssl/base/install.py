"""How an optional package gets into the environment that this one is in."""

from __future__ import annotations

import shlex
from importlib import metadata
from pathlib import Path

from agssl.base.errors import MissingExtraError

ROOT = Path(__file__).resolve().parents[3]  # of the source tree, where the package runs from one


def install_line(extra: str) -> str:
    """The command that brings an extra: by the source tree where there is one, else by the names of its packages.

    The package itself is on no index, so its name alone would bring nothing.
    """
    if (ROOT / "pyproject.toml").is_file() and (ROOT / "src/agssl").is_dir():
        return f"pip install -e {shlex.quote(f'{ROOT}[{extra}]')}"
    return f"pip install {shlex.join(packages(extra))}"


def packages(extra: str) -> list[str]:
    """What an extra asks for, as this package's metadata has it.

    >>> packages("tune")
    ['optuna>=4']
    """
    found = []
    for line in metadata.requires("agssl") or ():
        name, _, marker = line.partition(";")
        if marker.replace("'", '"').replace(" ", "") == f'extra=="{extra}"':
            found.append(name.strip())
    return found


def missing_extra(what: str, extra: str) -> MissingExtraError:
    """The error for something that needs a package of an extra; `what` says both."""
    return MissingExtraError(f"{what}; install it with: {install_line(extra)}")
