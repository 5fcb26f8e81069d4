"""Views: what a model reads as the edges between the same nodes, as given or from their features alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from agssl.base.array_cache import Arrays, cached_arrays
from agssl.base.errors import GraphError, SettingsError
from agssl.base.registry import Registry
from agssl.base.rng import Rng
from agssl.base.spec import Spec
from agssl.data.graph import Graph
from agssl.data.knn import knn_to
from agssl.data.validate import clean_edges
from agssl.ops.grown import Grown
from agssl.ops.neighbours import nearest, nearly_nearest

VERSION = 1  # raise it when a view's edges change their meaning
EXACT_NODES = 50_000  # up to which the nearest neighbours are found exactly

GIVEN = "given"


class View(Protocol):
    """A way to link the nodes of a graph."""

    name: ClassVar[str]

    def settings(self) -> dict[str, Any]:
        """What it was constructed with."""

    def edges(self, graph: Graph) -> Arrays:
        """The symmetric CSR adjacency, `indptr` and `indices`."""


class Given:
    """The edges that the graph has."""

    name: ClassVar[str] = GIVEN

    def settings(self) -> dict[str, Any]:
        """None."""
        return {}

    def edges(self, graph: Graph) -> Arrays:
        """Those of the graph itself."""
        return {"indptr": graph.indptr, "indices": graph.indices}


class Knn:
    """Each node and the nodes whose features are most like its own, by cosine.

    An edge is there where one of its ends has the other among its k nearest. Nodes without features have no edges, and
    nodes that have nothing in common are not linked.

    Args:
        k: nearest nodes of each.
    """

    name: ClassVar[str] = "knn"

    def __init__(self, k: int = 10) -> None:
        if k < 1:
            raise SettingsError(f"view 'knn': k = {k}, but at least one neighbour is needed; 10 is a good start")
        self.k = k

    def settings(self) -> dict[str, Any]:
        """The number of neighbours."""
        return {"k": self.k}

    def edges(self, graph: Graph) -> Arrays:
        """Exact up to `EXACT_NODES` nodes, nearly so above."""
        if graph.num_nodes <= EXACT_NODES:
            found = nearest(graph.x, self.k)
        else:
            found = nearly_nearest(graph.x, self.k, Rng(0).child("view", self.name))
        indptr, indices, *_ = clean_edges(found.edges(), graph.num_nodes, None)
        return {"indptr": indptr, "indices": indices}


VIEWS: Registry[type[View]] = Registry("view", "agssl.views")
VIEWS.add(GIVEN, Given)
VIEWS.add("knn", Knn)


def make_view(text: str) -> View:
    """A view by name, with settings after colons.

    >>> make_view("knn:k=20").settings()
    {'k': 20}
    """
    return Spec.parse(text).build(VIEWS)


def viewed(graph: Graph, view: str, cache: Path | None = None) -> Graph:
    """The same nodes, features, labels and splits with the edges of a view, which have no weights.

    Args:
        graph: where `view` is "given", it is given back itself.
        view: see `make_view`.
        cache: folder for edges that were computed, so that this is done once; None: in memory.
    """
    how = make_view(view)
    if how.name == GIVEN:
        return graph
    if graph.missing is not None:
        raise GraphError(graph.missing)
    about = json.dumps([VERSION, graph.fingerprint, how.name, how.settings()], sort_keys=True, default=str)
    key = hashlib.blake2b(about.encode(), digest_size=12).hexdigest()
    path = None if cache is None else cache / f"view-{how.name}-{key}.npz"
    edges = cached_arrays(path, lambda: how.edges(graph))
    return replace(graph, indptr=edges["indptr"], indices=edges["indices"], weights=None)


def viewed_grown(grown: Grown, view: str, graph: Graph | None) -> Grown:
    """New nodes in a view: nearest neighbours are found for them among all nodes, and old nodes keep theirs.

    Args:
        grown: the new nodes with their given edges.
        view: see `make_view`.
        graph: the old nodes in this view; None where there are none.
    """
    if view == GIVEN:
        return grown
    how = make_view(view)
    if not isinstance(how, Knn):
        raise SettingsError(f"view {how.name!r} has no edges for new nodes; give the grown graph as a whole")
    found, last = [], 0
    for count in grown.sizes:  # those of other groups are no neighbours
        rows = grown.x[last : (last := last + count)]
        ends, far = knn_to(rows[:0] if graph is None else graph.x, rows, how.k)
        found.append(Grown(graph, rows, ends[:, far < 1]))
    return Grown.together(found)
