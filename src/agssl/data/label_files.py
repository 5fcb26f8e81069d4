"""Labels in a file of their own (`id,label`), as `agssl label` writes them: beside the table of nodes, or anywhere."""

from __future__ import annotations

import csv
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from agssl.base.errors import DataError, GraphError
from agssl.data.graph import Graph
from agssl.data.labels import clean_labels, read_labels
from agssl.data.splits import Split, check_split

log = logging.getLogger("agssl")

NAME = "labels.csv"  # in the folder of a graph
NONE = "none"  # in place of a path: leave such a file alone
HEADER = ("id", "label")


def find_label_file(graph: Path, labels: str | None) -> Path | None:
    """The file with labels of a graph: the one that is named, else `labels.csv` in its folder, if it is there.

    Args:
        graph: path of the graph.
        labels: a path; None for that of the folder; "none" for no file at all.
    """
    if labels is not None:
        return None if labels == NONE else Path(labels)
    path = graph / NAME
    return path if graph.is_dir() and path.is_file() else None


def read_label_file(path: str | Path, to_write: bool = False) -> dict[str, str]:
    """Labels by the ids of their nodes, in the order of the file; a row without a label says nothing.

    Args:
        path: the file.
        to_write: it is going to be replaced, so it may have no other columns, which would be lost.

    Raises:
        DataError: it can't be read, has other columns, or says two things of one node.
    """
    found: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, strict=True)
            header = [cell.strip() for cell in next(rows, [])]
            if not set(HEADER) <= set(header):
                raise DataError(
                    f"{path} has the columns {', '.join(header) or 'none'}, but labels need the columns id and label; "
                    f"rename them, or leave the file out with --labels {NONE}"
                )
            if to_write and tuple(header) != HEADER:
                raise DataError(
                    f"{path} has the columns {', '.join(header[:8])}, of which only id and label would be left; "
                    "name another file with --out"
                )
            node_at, label_at = (header.index(name) for name in HEADER)
            for row in rows:
                cells = [row[at].strip() if at < len(row) else "" for at in (node_at, label_at)]
                node, label = cells
                if not label:
                    continue
                if found.setdefault(node, label) != label:
                    raise DataError(
                        f"{path} line {rows.line_num}: node {node!r} is labelled {label!r}, but {found[node]!r} above; "
                        "keep one of them"
                    )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"can't read the labels in {path}: {error}; give a CSV file with id,label") from error
    return found


def with_label_file(graph: Graph, path: Path, split: Split | None = None, required: bool = True) -> Graph:
    """The graph with the labels of a file: in place of those it has, or beside them; of a named dataset, these alone.

    Args:
        graph: with labels or without.
        path: see `read_label_file`.
        split: the one that came with the data; labels of nodes in none of its parts train.
        required: as for `Graph.from_arrays`.
    """
    found = read_label_file(path)
    nodes = nodes_of(graph, found, path)
    names = np.full(graph.num_nodes, "", dtype=object)
    splits: tuple[Split, ...] = ()
    if graph.named:  # the published labels are the truth that one wants to do without
        split = None
    else:
        known = np.flatnonzero(graph.y >= 0)
        names[known] = np.array(graph.classes, dtype=object)[graph.y[known]]
        split, splits = split or graph.split, graph.splits
    before = names[nodes]
    names[nodes] = list(found.values())
    changed = int(((before != "") & (before != names[nodes])).sum())
    instead = f", {changed} of them in place of other labels" if changed else ""
    log.info("%d labels from %s%s", len(found), path, instead)
    labels, classes, kind = clean_labels(read_labels(names.tolist()), required=required)
    grown = [check_split(_grown(one, nodes), labels) for one in (*splits, *([split] if split else []))]
    split = grown.pop() if split else None
    labelled = replace(graph, y=labels, classes=classes, class_kind=kind)
    return replace(labelled, split=split, splits=tuple(grown), named=False)


def nodes_of(graph: Graph, found: Mapping[str, str], path: str | Path) -> np.ndarray:
    """Numbers of the nodes that a file names, int64 [n], in its order."""
    if graph.node_names is None:
        place = {name: int(name) for name in found if name.isdecimal() and int(name) < graph.num_nodes}
    else:
        place = {name: at for at, name in enumerate(graph.node_names.tolist()) if name in found}
    for name in found:
        if name not in place:
            raise GraphError(
                f"{path} labels node {name!r}, which {graph.name} does not have; is it of another graph? "
                f"(--labels {NONE} leaves it out)"
            )
    return np.array([place[name] for name in found], dtype=np.int64)


def _grown(split: Split, nodes: np.ndarray) -> Split:
    """The split with those of the nodes that no part of it has among the training nodes."""
    taken = np.concatenate([*split.parts().values(), *([] if split.measure is None else [split.measure])])
    return replace(split, train=np.union1d(split.train, np.setdiff1d(nodes, taken)))
