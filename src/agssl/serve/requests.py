"""What a request asks for, checked: every mistake is a `BadRequest` that says what to mend."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from agssl.base.errors import AgsslError
from agssl.data.new_nodes import Edges, Known, NewNodes
from agssl.data.validate import as_features, numbered_features
from agssl.serve.predictor import Asked

OPTIONS = ("nodes", "new", "edges", "weights", "proba", "coverage", "by_class")


class BadRequest(AgsslError):
    """A request that can't be answered; `status` says which kind of mistake."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, eq=False)
class PredictRequest:
    """Known nodes by their names, new ones by their rows, and what to tell of them."""

    nodes: tuple[str, ...]
    new: tuple[Mapping[str, Any], ...]
    edges: tuple[Sequence[Any], ...]
    asked: Asked
    proba: bool

    @classmethod
    def parse(cls, body: bytes, most: int) -> PredictRequest:
        """The request in a body; at most so many nodes."""
        value = parse_json(body)
        unknown = [name for name in value if name not in OPTIONS]
        if unknown:
            raise BadRequest(f"{unknown[0]!r} is not understood; a request has {', '.join(OPTIONS)}")
        nodes = tuple(_name(one, "nodes") for one in _list(value, "nodes"))
        new, edges = tuple(_list(value, "new")), tuple(_list(value, "edges"))
        if not nodes and not new:
            raise BadRequest("there is nothing to predict; give nodes, or rows of new ones as new")
        if len(nodes) + len(new) > most:
            raise BadRequest(f"{len(nodes) + len(new)} nodes are asked for, but at most {most} at a time", 413)
        if len(edges) > 100 * most:
            raise BadRequest(f"{len(edges)} edges are given, but at most {100 * most} at a time", 413)
        if edges and not new:
            raise BadRequest("edges are those of new nodes; give their rows as new")
        if not all(isinstance(row, dict) for row in new):
            raise BadRequest('new is a list of objects, as [{"id": "n1", "features": {"age": 31}}]')
        coverage = value.get("coverage")
        if coverage is not None and (isinstance(coverage, bool) or not isinstance(coverage, int | float)):
            raise BadRequest(f"coverage is {coverage!r}, but it is a chance between 0 and 1; 0.9 is usual")
        asked = Asked(_flag(value, "weights"), coverage, _flag(value, "by_class"))
        return cls(nodes, new, edges, asked, _flag(value, "proba"))

    def new_nodes(self, known: Known) -> NewNodes:
        """The new rows as the model reads them."""
        names = [_name(row.get("id", ""), "id") for row in self.new] if any("id" in row for row in self.new) else None
        if names is not None and not all(names):
            raise BadRequest("some new nodes have an id and others none; give one to each")
        for row in self.new:
            extra = [name for name in row if name not in ("id", "features")]
            if extra or "features" not in row:
                raise BadRequest(f"a new node has an id and features, not {', '.join(map(repr, extra)) or 'id alone'}")
        rows = [row["features"] for row in self.new]
        return known.make(names, _features(rows, known), self._edges())

    def _edges(self) -> Edges | None:
        if not self.edges:
            return None
        for number, edge in enumerate(self.edges):
            if not isinstance(edge, list) or len(edge) not in (2, 3):
                raise BadRequest(
                    f'edge {number} is {str(edge)[:60]!r}, but edges are ["n1", "x7"], or with a weight third'
                )
        weights = None
        if any(len(edge) == 3 for edge in self.edges):
            weights = [_number(edge[2], f"edge {n}") if len(edge) == 3 else 1.0 for n, edge in enumerate(self.edges)]
        source, target = ([_name(edge[side], "edges") for edge in self.edges] for side in (0, 1))
        return Edges(source, target, weights)


def parse_json(body: bytes) -> dict[str, Any]:
    """The JSON object in a body."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is no JSON ({str(error)[:100]}); send an object") from error
    if not isinstance(value, dict):
        raise BadRequest(f"the body is {type(value).__name__}, expected an object")
    return value


def _features(rows: Sequence[Any], known: Known) -> Any:
    """Rows as numbers [m, d]: lists of all features, objects by column, or by the number of a feature."""
    if all(isinstance(row, list) for row in rows):
        lengths = {len(row) for row in rows}
        if lengths != {known.features} or (known.columns is not None and not known.columns.as_they_are):
            if known.columns is not None:
                raise BadRequest(
                    f"the model reads columns by name; give objects with {', '.join(known.columns.names[:8])}"
                )
            raise BadRequest(f"a row has {min(lengths)} features, but the model reads {known.features}")
        return as_features(np.array([[_number(v, f"row {n}") for v in row] for n, row in enumerate(rows)]))
    if not all(isinstance(row, dict) for row in rows):
        raise BadRequest("features are a list of numbers or an object by column, the same for all rows of a request")
    if known.columns is None:
        return numbered_features([_numbered(row, n, known.features) for n, row in enumerate(rows)], known.features)
    names = list(dict.fromkeys(name for row in rows for name in row))
    try:
        # a column of mixed numbers and texts is text, as it would be in a file
        columns = {name: _column([row.get(name) for row in rows], name) for name in names}
        return known.encoded(pa.table(columns), "row {} of new", "new")
    except (pa.ArrowException, UnicodeError) as error:
        raise BadRequest(f"a column of the new nodes can't be read ({error})") from error


def _numbered(row: Mapping[str, Any], number: int, width: int) -> dict[int, float]:
    """The values of a row by the numbers of their features."""
    where, found = f"row {number}", {}
    for name, value in row.items():
        if not (name.isascii() and name.isdecimal() and len(name) < 10 and int(name) < width):
            raise BadRequest(f"{name!r} is no feature; they are numbered from 0 to {width - 1}")
        found[int(name)] = _number(value, where)
    return found


def _column(values: list[Any], name: str) -> pa.Array:
    if any(isinstance(value, list | dict) for value in values):
        raise BadRequest(f"the column {name!r} has a value that is a list or an object; give numbers, texts or null")
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values):
        return pa.array([None if value is None else _number(value, name) for value in values], pa.float64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name, [])
    if not isinstance(found, list):
        raise BadRequest(f"{name} is a list, not {type(found).__name__}")
    return found


def _flag(value: Mapping[str, Any], name: str) -> bool:
    found = value.get(name, False)
    if not isinstance(found, bool):
        raise BadRequest(f"{name} is {str(found)[:40]!r}, but it is true or false")
    return found


def _name(value: Any, what: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadRequest(f"{what} has {str(value)[:40]!r}, but nodes are named by text or whole numbers")
    return str(value)


def _number(value: Any, where: str) -> float:
    try:
        if not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise BadRequest(f"{where} has {str(value)[:40]!r}, which is no finite number")
