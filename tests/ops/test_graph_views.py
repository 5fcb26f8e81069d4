"""Views: other edges between the same nodes, computed once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from agssl.base.errors import GraphError, SettingsError
from agssl.ops import graph_views
from agssl.ops.graph_views import VIEWS, make_view, viewed
from reference.graphs import blocks_graph, edge_list


def test_given_is_the_graph_itself() -> None:
    graph = blocks_graph(weighted=True)
    assert viewed(graph, "given") is graph and list(VIEWS) == ["given", "knn"]


@pytest.mark.parametrize("density", [1.0, 0.3])
def test_knn_links_those_of_which_one_has_the_other_among_its_nearest(density: float) -> None:
    draw = np.random.default_rng(0)
    x = draw.random((60, 40), dtype=np.float32) * (draw.random((60, 40)) < density)  # no two equally near
    graph = replace(blocks_graph(weighted=True), x=x if density == 1 else sp.csr_matrix(x))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosine = unit @ unit.T
    np.fill_diagonal(cosine, -1)
    edges = {(min(i, int(j)), max(i, int(j))) for i in range(60) for j in np.argsort(-cosine[i])[:4]}
    view = viewed(graph, "knn:k=4")
    assert set(edge_list(view)) == edges and view.weights is None
    assert (view.y is graph.y) and (view.x is graph.x) and view.split is graph.split
    assert view.fingerprint != graph.fingerprint and view.adjacency().has_sorted_indices


def test_edges_are_computed_once_for_a_graph_and_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, calls = blocks_graph(), []
    nearest = graph_views.nearest
    monkeypatch.setattr(graph_views, "nearest", lambda x, k: calls.append(k) or nearest(x, k))
    first = viewed(graph, "knn", tmp_path)
    again = viewed(graph, "knn:k=10", tmp_path)
    assert calls == [10] and again.fingerprint == first.fingerprint
    viewed(graph, "knn:k=3", tmp_path)
    viewed(replace(graph, x=graph.x + 1), "knn", tmp_path)
    assert calls == [10, 3, 10]
    for file in tmp_path.iterdir():
        file.write_bytes(b"damaged")
    assert viewed(graph, "knn", tmp_path).fingerprint == first.fingerprint and len(calls) == 4


def test_above_the_limit_neighbours_are_found_approximately(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = blocks_graph()
    exact = set(edge_list(viewed(graph, "knn")))
    monkeypatch.setattr(graph_views, "EXACT_NODES", 59)
    monkeypatch.setattr(graph_views, "nearest", None)
    near = set(edge_list(viewed(graph, "knn")))
    assert len(near & exact) > 0.9 * len(exact)


def test_what_can_be_no_view_is_refused() -> None:
    for text, message in (("moon", "given"), ("kn", "knn"), ("knn:k=0", "at least one"), ("knn:n=3", "k")):
        with pytest.raises(SettingsError, match=message):
            make_view(text)
    with pytest.raises(GraphError, match="no features"):
        viewed(replace(blocks_graph(), missing="there are no features; add them"), "knn")
