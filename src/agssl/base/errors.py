"""Everything that can go wrong because of the user's input, as one small tree of exceptions.

The command line turns any `AgsslError` into one line on stderr and exit code 2. A message names the value,
the cause and the cure. Errors about values, in settings or in a graph, are also `ValueError`s, as scikit-learn's are.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AgsslError(Exception):
    """Base of all errors that a user can cause and cure; its message is one line, whatever went into it."""

    def __str__(self) -> str:
        return " ".join(super().__str__().split())


class GraphError(AgsslError, ValueError):
    """The graph itself is malformed: edges, features, labels or splits that do not fit together."""


class DataError(AgsslError):
    """A file could not be found, read or trusted."""


class SettingsError(AgsslError, ValueError):
    """A setting has a value that makes no sense."""


class TrainingError(AgsslError):
    """Training broke down, for instance by a loss that is not finite."""


class MissingExtraError(AgsslError):
    """An optional package is needed; the message names the extra that brings it."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> SettingsError:
    """The error for a name that is not registered, with the nearest ones that are.

    >>> str(unknown_name("task", "dgl", ["par", "dgi"]))
    "unknown task 'dgl'; did you mean 'dgi'? Known: dgi, par"
    """
    known = sorted(known)
    near = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else "."
    return SettingsError(f"unknown {kind} {name!r}{hint} Known: {', '.join(known)}")
