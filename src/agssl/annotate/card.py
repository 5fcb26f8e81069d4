"""What a person sees of a node: its columns in the words of the table, its text, its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from agssl.base.rng import Rng
from agssl.data.columns import Column
from agssl.data.graph import Graph

FEATURES = 14  # that are shown
NEIGHBOURS = 14
LONGEST = 4000  # characters of a text
CELL = 200  # characters of another cell
SAMPLE = 5000  # rows by which it is told what is usual


@dataclass(frozen=True, eq=False)
class Cards:
    """Cards of the nodes of a graph."""

    graph: Graph

    def columns(self, node: int) -> dict[str, Any]:
        """The node's features, the most unusual ones where there are many, and its texts in full."""
        about, x = self.graph.columns, _row(self.graph.x, node)
        far = np.abs(x - self._usual[0]) / self._usual[1]
        if about is None:
            return self._numbered(x, far)
        shown: list[tuple[float, dict[str, Any]]] = []
        texts: list[dict[str, str]] = []
        start = 0
        for column in about.columns:
            stop = start + len(column.features)
            text = self._cell(column, node, x[start:stop])
            if column.kind == "text" or (column.kind == "dropped" and len(text) > CELL):
                texts += [{"name": column.name, "text": text[:LONGEST]}] if text else []
            elif column.kind != "dropped" or text:
                unusual = float(far[start:stop].max(initial=-1.0))  # what is no feature comes last
                entry = {"name": column.name, "value": text[:CELL] or "missing", "feature": column.kind != "dropped"}
                shown.append((unusual, entry))
            start = stop
        kept = {id(entry) for _, entry in sorted(shown, key=lambda item: -item[0])[:FEATURES]}
        features = [entry for _, entry in shown if id(entry) in kept]
        return {"features": features, "hidden": len(shown) - len(features), "texts": texts}

    def title(self, node: int) -> str:
        """A few words of the node's text, if it has any."""
        about = self.graph.columns
        raw = None if about is None else about.raw
        if about is None or raw is None:
            return ""
        for kind in ("text", "dropped"):
            for column in about.columns:
                if column.kind == kind and (text := _text(raw, column.name, node)) and not _is_number(text):
                    return text[:CELL]
        return ""

    def near(self, node: int) -> list[int]:
        """Its neighbours, those of the heaviest edges first, then those with the fewest neighbours themselves."""
        first, last = self.graph.indptr[node], self.graph.indptr[node + 1]
        nodes = self.graph.indices[first:last].astype(np.int64)
        weights = np.ones(len(nodes)) if self.graph.weights is None else self.graph.weights[first:last]
        order: list[int] = nodes[np.lexsort((self.graph.degree[nodes], -weights))].tolist()
        return order

    def links(self, nodes: list[int]) -> list[tuple[int, int]]:
        """The edges among some nodes, by their places in the list."""
        place = {node: at for at, node in enumerate(nodes)}
        found = []
        for at, node in enumerate(nodes):
            near = self.graph.neighbours(node)
            for other in near[np.isin(near, nodes)].tolist():
                if place[other] > at:
                    found.append((at, place[other]))
        return found

    def _numbered(self, x: np.ndarray, far: np.ndarray) -> dict[str, Any]:
        """Features without names: the most unusual ones that are not zero."""
        there = np.flatnonzero(x)
        best = np.sort(there[np.argsort(-far[there], kind="stable")][:FEATURES])
        features = [{"name": f"feature {at}", "value": f"{x[at]:.4g}", "feature": True} for at in best.tolist()]
        return {"features": features, "hidden": len(there) - len(best), "texts": []}

    def _cell(self, column: Column, node: int, values: np.ndarray) -> str:
        raw = None if self.graph.columns is None else self.graph.columns.raw
        if raw is not None:
            return _text(raw, column.name, node)
        return f"{values[0]:.6g}" if column.as_it_is else ""

    @cached_property
    def _usual(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each feature over some nodes; 1 where all are alike."""
        n = self.graph.num_nodes
        some = np.sort(Rng(0).child("cards").numpy().choice(n, min(n, SAMPLE), replace=False))
        rows = _dense(self.graph.x[some])
        deviation = rows.std(0)
        return rows.mean(0), np.where(deviation > 0, deviation, 1)


def _row(x: Any, node: int) -> np.ndarray:
    return _dense(x[[node]])[0]


def _dense(x: Any) -> np.ndarray:
    found: np.ndarray = x.toarray() if sp.issparse(x) else np.asarray(x)
    return found


def _text(raw: Any, name: str, node: int) -> str:
    value = raw[name][node].as_py() if name in raw.column_names else None
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value).strip()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
