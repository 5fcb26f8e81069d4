"""What a user means by a graph's name: a named dataset, or a path to a graph of their own."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from agssl.base.errors import DataError, SettingsError, unknown_name
from agssl.data.columns import Columns, TableOptions
from agssl.data.datasets import DATASETS, dataset_spec, is_dataset, read_dataset
from agssl.data.fetch import Say, data_folders
from agssl.data.graph import Graph
from agssl.data.label_files import NONE, with_label_file
from agssl.data.readers import read_graph
from agssl.data.splits import make_split

log = logging.getLogger("agssl")


def find_path(text: str) -> Path | None:
    """Where a graph of the user's own is: here, or else (a file, or what is in a folder) below AGSSL_DATA."""
    path, root = Path(text), data_folders().root
    if path.exists():
        return path
    named = root is not None and (path.suffix or len(path.parts) > 1)
    return root / path if root is not None and named and (root / path).exists() else None


def open_graph(
    text: str,
    /,  # or the option `text`, which names columns, would be taken for it
    *,
    split: str | None = "auto",
    seed: int = 0,
    knn: int | None = None,
    knn_metric: str = "cosine",
    label: str = "label",
    weight: str | None = None,
    unweighted: bool = False,
    require_labels: bool = True,
    say: Say = log.info,
    columns: Columns | None = None,
    labels: str | None = None,
    **options: Any,
) -> Graph:
    """The graph that `text` names, with a split; a dataset's name comes before a file of the same name.

    Args:
        text: a dataset's name, or a path for `read_graph`, which may begin below AGSSL_DATA.
        split: see `agssl.data.splits`; None leaves the split that came with the data, if any.
        seed: of the draw, where the split is drawn.
        knn: for `read_graph`.
        knn_metric: for `read_graph`.
        label: for `read_graph`.
        weight: for `read_graph`; named datasets have no edge weights.
        unweighted: for `read_graph`.
        require_labels: for `read_graph`.
        say: gets a line for each file that has to be fetched.
        columns: for `read_graph`.
        labels: for `read_graph`; of a named dataset, which has its own, they are then the only ones.
        options: for `read_graph`.
    """
    if is_dataset(text):
        if knn is not None:
            raise SettingsError(f"knn is {knn}, but the dataset {text} brings its own edges; leave knn out")
        if weight is not None:
            raise SettingsError(f"weight is {weight!r}, but the dataset {text} has no edge weights; leave weight out")
        for given in TableOptions.of(options).given():
            raise SettingsError(f"{given} is for tables, but the dataset {text} brings its own features; leave it out")
        graph = read_dataset(dataset_spec(text), data_folders(), say)
        if labels not in (None, NONE):
            graph = with_label_file(graph, Path(labels), required=require_labels)
    elif (path := find_path(text)) is not None:
        weights: dict[str, Any] = {"weight": weight, "unweighted": unweighted, "columns": columns, "labels": labels}
        how = weights | options
        graph = read_graph(path, knn=knn, knn_metric=knn_metric, label=label, require_labels=require_labels, **how)
    elif "/" in text or "\\" in text or Path(text).suffix:
        raise DataError(f"{text} does not exist; check the path, or name a dataset: {', '.join(DATASETS)}")
    else:
        raise unknown_name("dataset", text, DATASETS)
    if split is None:
        return graph
    from agssl.base.rng import Rng

    return graph.with_split(make_split(split, graph, Rng(seed).child("split")))
