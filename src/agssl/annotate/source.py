"""Which graph is labelled, and where its labels go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from agssl.base.errors import GraphError
from agssl.data.datasets import dataset_spec, is_dataset
from agssl.data.graph import Graph
from agssl.data.label_files import NAME
from agssl.data.resolve import find_path, open_graph


def to_label(text: str, **how: Any) -> tuple[Graph, list[str]]:
    """The graph, with the labels that its table has, and its classes; a named dataset as if nobody knew its labels.

    Args:
        text: for `open_graph`.
        how: for `open_graph`.
    """
    graph = open_graph(text, split=None, require_labels=False, **how)
    if graph.missing is not None:
        raise GraphError(graph.missing)
    if not graph.named:
        return graph, list(graph.classes)
    classes = list(dataset_spec(text).class_names or graph.classes)
    return replace(graph, y=np.full_like(graph.y, -1), classes=(), split=None, splits=()), classes


def label_path(text: str, out: str | None) -> Path:
    """The file for the labels: the one that is named, or else in the graph's folder, or else beside its file."""
    path = None if is_dataset(text) else find_path(text)
    if out is not None:
        found = Path(out)
        return found / NAME if found.is_dir() else found
    if path is None:
        return Path(f"{dataset_spec(text).name}-{NAME}")
    if path.is_dir():
        return path / NAME
    return path.with_name(f"{path.stem}-{NAME}")
