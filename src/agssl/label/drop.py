"""Labels left out of a fit: those of nodes that a file names."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

from agssl.base.errors import DataError, GraphError
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.store.run_writer import node_names


def drop_suspects(graph: Graph, path: str | Path) -> Graph:
    """The graph without the labels of the suspects in a file, and they in no part of a split that came with the data.

    Args:
        graph: with labels.
        path: CSV with a column `node`, as `agssl check -o` writes it; rows whose `suspect` is false do not count.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"can't read the suspects in {path}: {error}; write them with agssl check -o") from error
    if rows and "node" not in rows[0]:
        raise DataError(f"{path} has no column node; write it with agssl check RUN -o FILE")
    place = {name: index for index, name in enumerate(node_names(graph))}
    named = [row["node"] for row in rows if row.get("suspect") != "false"]
    unknown = [name for name in named if name not in place]
    if unknown:
        raise DataError(f"{path} names node {unknown[0]!r}, which {graph.name} does not have; is it of another graph?")
    nodes = np.array(sorted({place[name] for name in named}), dtype=np.int64)
    y = graph.y.copy()
    y[nodes] = -1
    lost = np.setdiff1d(graph.y, y)
    if len(lost):
        raise GraphError(f"without the suspects of {path} no node is labelled {graph.classes[lost[0]]}; keep one")
    split = None if graph.split is None else _without(graph.split, nodes)
    return replace(graph, y=y, split=split, splits=tuple(_without(one, nodes) for one in graph.splits))


def _without(split: Split, nodes: np.ndarray) -> Split:
    stays = ~np.isin(split.val, nodes)
    fold = None if split.fold is None else split.fold[stays]
    measure = None if split.measure is None else np.setdiff1d(split.measure, nodes)
    train, test = (np.setdiff1d(part, nodes) for part in (split.train, split.test))
    return Split(train, split.val[stays], test, split.origin, fold, measure)
