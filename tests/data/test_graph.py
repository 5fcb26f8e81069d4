"""Graph.from_arrays: what it accepts, what it cleans, what it refuses."""

from __future__ import annotations

import json
import logging
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.data.graph import Graph

X = np.arange(8, dtype=np.float64).reshape(4, 2)
Y = [0, 1, 0, 1]
EDGES = np.array([[0, 1, 2], [1, 2, 3]])


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, np.ndarray]:
    nodes = draw(st.integers(2, 12))
    pairs = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=40))
    return nodes, np.array([*pairs, (0, 1)]).T


@settings(max_examples=60, deadline=None)
@given(edge_lists())
def test_edges_are_symmetric_sorted_and_without_loops_or_duplicates(case: tuple[int, np.ndarray]) -> None:
    nodes, edges = case
    graph = Graph.from_arrays(edges, np.ones((nodes, 1)), np.arange(nodes) % 2, notify=False)
    expected = {frozenset(pair) for pair in edges.T.tolist() if pair[0] != pair[1]}
    found = [frozenset((i, int(j))) for i in range(nodes) for j in graph.neighbours(i)]
    assert set(found) == expected
    assert len(found) == 2 * len(expected) == 2 * graph.num_edges
    assert all((np.diff(graph.neighbours(i)) > 0).all() for i in range(nodes))
    assert (graph.indptr.dtype, graph.indices.dtype) == (np.int64, np.int32)


@settings(max_examples=30, deadline=None)
@given(edge_lists())
def test_cleaning_a_clean_graph_changes_nothing(case: tuple[int, np.ndarray]) -> None:
    nodes, edges = case
    once = Graph.from_arrays(edges, np.eye(nodes), np.arange(nodes) % 2, notify=False)
    twice = Graph.from_arrays(once.adjacency(), once.x, once.y)
    assert once.fingerprint == twice.fingerprint
    assert (once.y == twice.y).all()


def test_many_copies_of_an_edge_are_still_one_edge() -> None:
    graph = Graph.from_arrays(np.repeat([[0], [1]], 256, axis=1), np.ones((2, 1)), [0, 1], notify=False)
    assert graph.num_edges == 1


def test_cleaning_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    edges = np.array([[0, 0, 1, 2, 2], [1, 1, 0, 2, 3]])
    with caplog.at_level(logging.INFO, logger="agssl"):
        Graph.from_arrays(edges, X, Y, name="mine")
    assert caplog.messages == ["mine: made 1 one-way edges two-way, dropped 1 self-loops and 1 duplicates"]


def test_a_clean_graph_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    Graph.from_arrays(np.hstack([EDGES, EDGES[::-1]]), X, Y)
    assert caplog.messages == []


def test_a_scipy_adjacency_with_stored_zeros_works_and_stays_as_it_was() -> None:
    adjacency = sp.csr_matrix(([1.0, 0.0, 5.0], ([0, 1, 2], [1, 3, 3])), shape=(4, 4))
    before = adjacency.copy()
    graph = Graph.from_arrays(adjacency, X, Y, notify=False)
    assert graph.num_edges == 2
    assert (adjacency != before).nnz == 0 and adjacency.nnz == 3


def build(**changes: Any) -> Graph:
    arguments: dict[str, Any] = {"edges": EDGES, "x": X, "y": Y, "notify": False}
    return Graph.from_arrays(**arguments | changes)


@pytest.mark.parametrize(
    ("y", "labels", "classes"),
    [
        ([10, 2, -1, 10], [1, 0, -1, 1], ("2", "10")),
        (np.array([3.0, np.nan, 7.0, -1.0]), [0, -1, 1, -1], ("3", "7")),
        (["10", "2", "", None], [1, 0, -1, -1], ("2", "10")),
        (["b", float("nan"), " a ", "b"], [1, -1, 0, 1], ("a", "b")),
        (np.array(["b", "", "a", "b"]), [1, -1, 0, 1], ("a", "b")),
        ([True, False, None, True], [1, 0, -1, 1], ("False", "True")),
        (np.array([[1], [0], [1], [-1]]), [1, 0, 1, -1], ("0", "1")),
    ],
)
def test_labels_of_every_kind_become_class_numbers(y: Any, labels: list[int], classes: tuple[str, ...]) -> None:
    graph = build(y=y)
    assert graph.y.tolist() == labels
    assert graph.y.dtype == np.int64
    assert graph.classes == classes


def test_given_classes_keep_their_order() -> None:
    assert build(y=["b", "a", "", "b"], classes=["b", "a", "unused"]).y.tolist() == [0, 1, -1, 0]
    assert build(y=[2, 0, -1, 2], classes=["b", "a", "c"]).classes == ("b", "a", "c")


def test_a_graph_to_predict_on_needs_no_labels() -> None:
    assert build(y=[-1] * 4, require_labels=False).num_classes == 0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, sp.coo_matrix, sp.csc_array])
def test_features_are_sparse_below_twelve_percent_and_dense_above(make: Any) -> None:
    few, many = np.zeros((4, 50)), np.zeros((4, 5))
    few[::2, 7] = many[:, :2] = 3.0
    sparse, dense = build(x=make(few)).x, build(x=make(many)).x
    assert isinstance(sparse, sp.csr_matrix) and sparse.dtype == np.float32 and sparse.has_sorted_indices
    assert isinstance(dense, np.ndarray) and dense.dtype == np.float32 and dense.flags.c_contiguous
    assert (sparse.toarray() == few).all() and (dense == many).all()


def test_the_graph_does_not_share_memory_with_its_input() -> None:
    x = np.ones((4, 2), dtype=np.float32)
    graph = build(x=x)
    x[0, 0] = 7
    assert graph.x[0, 0] == 1


def test_info_has_the_promised_keys_and_is_json(tiny_graph: Graph) -> None:
    facts = json.loads(json.dumps(tiny_graph.info(), allow_nan=False))
    expected = ["name", "nodes", "edges", "features", "classes", "density", "homophily", "isolated", "split"]
    assert list(facts) == expected
    assert (facts["nodes"], facts["edges"], facts["classes"]) == (12, 14, 3)
    assert facts["homophily"] == pytest.approx(10 / 12)  # two of the 14 edges end at the unlabelled node
    assert facts["split"] == {"train": 3, "val": 3, "test": 5}


def test_info_counts_isolated_nodes_and_survives_without_features() -> None:
    graph = build(x=None, edges=[[0], [1]], missing="no features here")
    assert graph.info()["isolated"] == 2
    assert graph.info()["density"] is None
    assert graph.info()["missing"] == "no features here"


def test_hiding_the_test_part_leaves_only_training_and_validation_labels(tiny_graph: Graph) -> None:
    hidden = tiny_graph.hide_test()
    assert np.flatnonzero(hidden.y >= 0).tolist() == [0, 1, 4, 5, 8, 9]


def test_dense_columns_of_very_different_scale_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(0)
    people = np.stack([rng.normal(35, 10, 40), rng.normal(60_000, 15_000, 40)], 1)
    ring, y = np.stack([np.arange(40), (np.arange(40) + 1) % 40]), np.arange(40) % 2
    Graph.from_arrays(ring, people, y)
    assert "column 1 of the features varies 2," in caplog.text and "standardise them first" in caplog.text
    caplog.clear()
    Graph.from_arrays(ring, (people - people.mean(0)) / people.std(0), y)
    words = (rng.random((40, 300)) < 0.02) * rng.integers(1, 400, (40, 300))
    Graph.from_arrays(ring, words.astype(float), y)
    Graph.from_arrays(ring, people, y, notify=False)
    assert "varies" not in caplog.text
