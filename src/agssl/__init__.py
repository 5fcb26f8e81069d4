"""Automated graph self-supervised learning by multi-teacher knowledge distillation."""

import typing as _typing

from agssl.base.version import __version__

if _typing.TYPE_CHECKING:
    from agssl.config import Settings
    from agssl.data.datasets import load_dataset
    from agssl.data.graph import Graph
    from agssl.data.readers import read_graph
    from agssl.encoders import ENCODERS, Encoder
    from agssl.estimator import AGSSL
    from agssl.integrate import INTEGRATORS, Integrator
    from agssl.pretext import TASKS, Task
    from agssl.selection import cross_validate, tune

    load = AGSSL.load

__all__ = [
    "AGSSL",
    "ENCODERS",
    "INTEGRATORS",
    "TASKS",
    "Encoder",
    "Graph",
    "Integrator",
    "Settings",
    "Task",
    "__version__",
    "cross_validate",
    "load",
    "load_dataset",
    "read_graph",
    "tune",
]

_HOMES = {
    "AGSSL": "agssl.estimator",
    "ENCODERS": "agssl.encoders",
    "INTEGRATORS": "agssl.integrate",
    "TASKS": "agssl.pretext",
    "Encoder": "agssl.encoders",
    "Graph": "agssl.data.graph",
    "Integrator": "agssl.integrate",
    "Settings": "agssl.config",
    "Task": "agssl.pretext",
    "cross_validate": "agssl.selection",
    "load_dataset": "agssl.data.datasets",
    "read_graph": "agssl.data.readers",
    "tune": "agssl.selection",
}


def __getattr__(name: str) -> _typing.Any:
    """Import public names on first use, so that `agssl --help` needs neither torch nor scikit-learn."""
    from importlib import import_module

    if name == "load":
        return import_module("agssl.estimator").AGSSL.load
    if name not in _HOMES:
        raise AttributeError(f"module 'agssl' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
