"""Automated graph self-supervised learning by multi-teacher knowledge distillation."""

from typing import TYPE_CHECKING, Any

from agssl.base.version import __version__

if TYPE_CHECKING:
    from agssl.data.datasets import load_dataset
    from agssl.data.graph import Graph
    from agssl.data.readers import read_graph
    from agssl.estimator import AGSSL

__all__ = ["AGSSL", "Graph", "__version__", "load_dataset", "read_graph"]


_HOMES = {
    "AGSSL": "agssl.estimator",
    "Graph": "agssl.data.graph",
    "load_dataset": "agssl.data.datasets",
    "read_graph": "agssl.data.readers",
}


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that `agssl --help` needs neither torch nor scikit-learn."""
    if name not in _HOMES:
        raise AttributeError(f"module 'agssl' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
