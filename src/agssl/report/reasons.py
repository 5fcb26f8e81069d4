"""What the page keeps of why nodes are predicted as they are: the strongest features and neighbours of some nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from agssl.data.columns import Column
from agssl.data.graph import Graph
from agssl.explain.reasons import Reasoner
from agssl.store.fitted import FittedModel

MOST = 600  # nodes that are explained where not told otherwise, at some milliseconds each
KEPT = 6  # features and neighbours of each
_WORK = 2e10  # multiplications, after which no further node is explained: many hops see the whole graph


def wanted(logits: np.ndarray, right: np.ndarray, labelled: np.ndarray, most: int) -> np.ndarray:
    """Which nodes to explain, sorted: all where they are few, else those that one would ask about.

    In turn: those that are wrong, the surest first; labelled ones by how unsure they are; unlabelled ones likewise.

    Args:
        logits: [N, C].
        right: bool [N], False also where it is not known.
        labelled: bool [N], whether it is known.
        most: how many.
    """
    if len(logits) <= most:
        return np.arange(len(logits))
    highest = np.partition(logits, -2, axis=1)[:, -2:]
    unsure = np.argsort(highest[:, 1] - highest[:, 0], kind="stable")
    wrong, known = labelled & ~right, labelled & right
    queues = [unsure[::-1][wrong[unsure[::-1]]], unsure[known[unsure]], unsure[~labelled[unsure]]]
    dealt = [queue[at] for at in range(most) for queue in queues if at < len(queue)]
    return np.sort(np.array(dealt[:most], dtype=np.int64))


def reasons_of(
    fitted: FittedModel, graph: Graph, classes: np.ndarray, nodes: np.ndarray
) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """The features that are named, and the arrays that name them.

    Args:
        fitted: the model.
        graph: its graph.
        classes: of each node, the class that it was given, [N].
        nodes: which to explain.

    Returns:
        `features`, with the `name` and `kind` of each; and `why_node` [M], `why_other` [M] (the second class),
        `why_feature`, `why_moved`, `why_value` [M, KEPT], `why_near`, `why_pull` [M, KEPT]. -1 fills rows up.
    """
    reasoner, work = Reasoner(fitted.model, graph), 0.0
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ("feature", "moved", "value", "near", "pull")}
    done: list[tuple[int, int]] = []
    for node in nodes.tolist():
        if work > _WORK:
            break
        found = reasoner.explain(node, int(classes[node]))
        work += found.work
        done.append((node, found.second))
        feature, moved = _strongest(np.arange(len(found.features)), found.features)
        near, pull = _strongest(found.nodes[found.nodes != node], found.by_node[found.nodes != node])
        rows["feature"].append(feature)
        rows["moved"].append(moved)
        rows["value"].append(_values(graph, node, feature))
        rows["near"].append(near)
        rows["pull"].append(pull)
    named = np.unique([k for row in rows["feature"] for k in row if k >= 0]).astype(np.int64)
    columns, at = _columns(graph), np.array(done, dtype=np.int32).reshape(-1, 2)
    about = [_named(columns, int(k)) for k in named]
    table = {name: np.array(values).reshape(-1, KEPT) for name, values in rows.items()}
    scales = np.array([one.pop("scale") for one in about] or [1.0])
    shifts = np.array([one.pop("mean") for one in about] or [0.0])
    place = np.where(table["feature"] < 0, -1, np.searchsorted(named, table["feature"]))
    told = table["value"] * scales[place] + shifts[place]  # as the table had them, before they were standardised
    return about, {
        "why_node": at[:, 0].copy(),
        "why_other": at[:, 1].copy(),
        "why_feature": place.astype(np.int32),
        "why_value": told.astype(np.float32),
        "why_moved": table["moved"].astype(np.float32),
        "why_near": table["near"].astype(np.int32),
        "why_pull": table["pull"].astype(np.float32),
    }


def _strongest(names: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The strongest few, strongest first, and what they add; -1 and 0 fill up."""
    order = np.argsort(-np.abs(values), kind="stable")[:KEPT]
    order = order[values[order] != 0]
    left = KEPT - len(order)
    return np.pad(names[order], (0, left), constant_values=-1), np.pad(values[order], (0, left))


def _values(graph: Graph, node: int, features: np.ndarray) -> np.ndarray:
    row = graph.x[node]
    row = np.asarray(row.todense()).ravel() if sp.issparse(row) else np.asarray(row)
    return np.where(features < 0, 0.0, row[features])


def _columns(graph: Graph) -> list[tuple[Column, str]]:
    """The column behind each feature, and the feature's name; none where features have no names."""
    used = () if graph.columns is None else graph.columns.used
    return [(column, feature) for column in used for feature in column.features]


def _named(columns: list[tuple[Column, str]], feature: int) -> dict[str, Any]:
    """The name of a feature, what its values are (`number`, or `yes` for one that is there or not), and its units."""
    if not columns:
        return {"name": f"feature {feature}", "kind": "number", "mean": 0.0, "scale": 1.0}
    column, name = columns[feature]
    if column.kind == "number" and name == column.name:
        return {"name": name, "kind": "number", "mean": column.mean, "scale": column.scale}
    kind = "number" if column.kind == "date" and not name.endswith(" missing") else "yes"
    return {"name": name, "kind": kind, "mean": 0.0, "scale": 1.0}
