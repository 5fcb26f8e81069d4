"""Malformed graphs, each refused by name: the message says what is wrong with which node, edge or entry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from agssl.base.errors import AgsslError, GraphError
from agssl.data.graph import Graph
from agssl.data.readers import read_graph
from agssl.data.splits import Split

X = np.arange(8, dtype=np.float64).reshape(4, 2)
Y = [0, 1, 0, 1]
EDGES = np.array([[0, 1, 2], [1, 2, 3]])
TRAIN, VAL, TEST = np.array([0]), np.array([1]), np.array([2])


def with_value(value: Any, node: int = 1, column: int = 1) -> np.ndarray:
    x = X.copy()
    x[node, column] = value
    return x


def sparse_with_value(value: float) -> sp.csr_matrix:
    return sp.csr_matrix(([1.0, value, 2.0], ([0, 2, 3], [0, 1, 1])), shape=(4, 2))


def broken_csr() -> sp.csr_matrix:
    matrix = sp.csr_matrix(np.eye(4, 2))
    matrix.indices[0] = 77
    return matrix


MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    # edges
    "edge to a node that is not there": ({"edges": [[0, 1], [1, 99]]}, "edge 1 points at node 99, but the graph has 4"),
    "edge from a node that is not there": ({"edges": [[4, 1], [1, 2]]}, "edge 0 points at node 4, but the graph has 4"),
    "negative node id": ({"edges": [[0, -3], [1, 2]]}, "edge 1 has the negative node id -3"),
    "fractional node id": ({"edges": [[0, 1.5], [1, 2]]}, "edge 1 has the node id 1.5"),
    "node id that is not a number": ({"edges": [[0, np.nan], [1, 2]]}, "edge 1 has the node id nan"),
    "infinite node id": ({"edges": [[0, 1], [1, np.inf]]}, "edge 1 has the node id inf"),
    "node id beyond 64 bits": ({"edges": [[0, 1], [1, 1e300]]}, "edge 1 has the node id 1e.300"),
    "node id at the end of 64 bits": ({"edges": [[0, 1], [1, 2**63 - 1]]}, "edge 1 points at node 9223372036854775807"),
    "edges by name": ({"edges": [["a"], ["b"]]}, "edges have the type <U1; give whole numbers"),
    "edges of truth values": ({"edges": np.array([[True], [False]])}, "edges have the type bool"),
    "edges of complex numbers": ({"edges": np.array([[0j], [1j]])}, "edges have the type complex128"),
    "edges standing upright": ({"edges": EDGES.T}, r"shape \(3, 2\), expected \(2, E\).*transpose"),
    "edges with three ends": ({"edges": np.zeros((3, 5), int)}, r"edges have shape \(3, 5\)"),
    "a flat list of edges": ({"edges": [0, 1, 2]}, r"edges have shape \(3,\)"),
    "edges in three dimensions": ({"edges": np.zeros((2, 3, 1), int)}, r"edges have shape \(2, 3, 1\)"),
    "adjacency of another size": ({"edges": sp.eye(3)}, r"adjacency has shape \(3, 3\), but there are 4 nodes"),
    "adjacency that is not square": ({"edges": sp.csr_matrix((4, 5))}, r"adjacency has shape \(4, 5\)"),
    # features
    "no nodes": ({"x": np.empty((0, 2)), "y": [], "require_labels": False}, "the graph has no nodes"),
    "fewer rows than labels": ({"x": X[:3]}, "3 rows of features but 4 labels"),
    "more rows than labels": ({"x": np.vstack([X, X])}, "8 rows of features but 4 labels"),
    "one-dimensional features": ({"x": X[:, 0]}, r"features have shape \(4,\)"),
    "three-dimensional features": ({"x": X[:, :, None]}, r"features have shape \(4, 2, 1\)"),
    "no feature columns": ({"x": np.empty((4, 0))}, "no features"),
    "features that are texts": ({"x": np.full((4, 2), "a")}, "features have the type <U1"),
    "features that are objects": ({"x": np.full((4, 2), {}, dtype=object)}, "features have the type object"),
    "features that are complex": ({"x": X + 0j}, "features have the type complex128"),
    "features that are dates": ({"x": X.astype("datetime64[s]")}, "features have the type datetime64"),
    "a feature that is not a number": ({"x": with_value(np.nan)}, "feature 1 of node 1 is nan"),
    "an infinite feature": ({"x": with_value(-np.inf)}, "feature 1 of node 1 is -inf"),
    "an infinite sparse feature": ({"x": sparse_with_value(np.inf)}, "feature 1 of node 2 is inf"),
    "a sparse feature that is not a number": ({"x": sparse_with_value(np.nan)}, "feature 1 of node 2 is nan"),
    "a feature beyond 32-bit floats": ({"x": with_value(1e39)}, "feature 1 of node 1 is 1e.39, which is too large"),
    "a sparse feature beyond 32-bit floats": ({"x": sparse_with_value(1e39)}, "feature 1 of node 2 is 1e.39"),
    "sparse features with a column out of range": ({"x": broken_csr()}, "sparse features are malformed"),
    # labels
    "labels of one class": ({"y": [0, 0, -1, 0]}, "the one class '0'"),
    "no labels": ({"y": [-1, None, "", float("nan")]}, "none of the 4 nodes has a label"),
    "a negative label": ({"y": np.array([0, 1, -2, 0])}, "label of node 2 is -2"),
    "a negative label in text": ({"y": ["0", "1", "-2", "0"]}, "label of node 2 is -2"),
    "a fractional label": ({"y": np.array([0, 0.5, 1, 0])}, "label of node 1 is 0.5"),
    "an infinite label": ({"y": np.array([0, np.inf, 1, 0])}, "label of node 1 is inf"),
    "a label beyond whole floats": ({"y": np.array([0, 1e300, 1, 0])}, "label of node 1 is 1e.300"),
    "one-hot labels": ({"y": np.eye(4)}, r"labels have shape \(4, 4\).*argmax"),
    "a label without a class name": ({"y": np.array([0, 1, 5, 0]), "classes": ["a", "b"]}, "label of node 2 is 5, but"),
    "a class name that is not known": ({"y": ["a", "b", "z", "a"], "classes": ["a", "b"]}, "label of node 2 is 'z'"),
    "two classes of one name": ({"classes": ["a", "a"]}, "class names must be distinct"),
    # names and sizes
    "a number of nodes that does not fit": ({"num_nodes": 5}, "num_nodes is 5"),
    "two nodes of one name": ({"node_names": ["a", "b", "a", "c"]}, "'a' occurs 2 times"),
    "too few node names": ({"node_names": ["a"]}, "1 node names for 4 nodes"),
    # splits
    "a negative edge weight": ({"weights": [1, -1, 2]}, "edge 1, of nodes 1 and 2, has the weight -1"),
    "an edge weight of zero": ({"weights": [1, 0, 2]}, "edge 1, of nodes 1 and 2, has the weight 0"),
    "an infinite edge weight": ({"weights": [1, np.inf, 2]}, "edge 1, of nodes 1 and 2, has the weight inf"),
    "an edge weight that is not a number": ({"weights": [1, np.nan, 2]}, "has the weight nan"),
    "edge weights that are texts": ({"weights": ["1", "2", "3"]}, "edge weights have the type <U1"),
    "too few edge weights": ({"weights": [1, 2]}, "but there are 3 edges"),
    "a split with a node that is not there": ({"split": Split(TRAIN, np.array([9]), TEST)}, "val part .* has node 9"),
    "a split with a negative node": ({"split": Split(TRAIN, np.array([-1]), TEST)}, "val part .* has node -1"),
    "a node in two parts": ({"split": Split(TRAIN, VAL, VAL)}, "node 1 is in val and in test"),
    "a node twice in a part": ({"split": Split(np.array([0, 0]), VAL, TEST)}, "node 0 is twice in the train part"),
    "a split without training nodes": ({"split": Split(np.array([], int), VAL, TEST)}, "train part .* is empty"),
    "a split without validation nodes": ({"split": Split(TRAIN, np.array([], int), TEST)}, "val part .* is empty"),
    "an unlabelled training node": ({"y": [-1, 1, 0, 1], "split": Split(TRAIN, VAL, TEST)}, "node 0 .* has no label"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_graph_is_refused_by_name(kind: str) -> None:
    changes, message = MALFORMED[kind]
    arguments: dict[str, Any] = {"edges": EDGES, "x": X, "y": Y, "notify": False}
    with pytest.raises(GraphError, match=message) as caught:
        Graph.from_arrays(**arguments | changes)
    assert "\n" not in str(caught.value)


def test_there_are_at_least_forty_kinds() -> None:
    assert len(MALFORMED) >= 40


def archive(**changes: Any) -> dict[str, Any]:
    ring = sp.csr_matrix(np.roll(np.eye(4), 1, axis=1))
    arrays = {"labels": np.array(Y), "attr_matrix": X}
    arrays |= {f"adj_{part}": np.asarray(getattr(ring, part)) for part in ("data", "indices", "indptr", "shape")}
    return {name: value for name, value in (arrays | changes).items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"labels": None}, "no array 'labels'", id="no labels"),
        pytest.param({"adj_indptr": None}, "no array 'adj_indptr'", id="no row starts"),
        pytest.param({"adj_indptr": np.array([0, 4, 2, 3, 4])}, "form no sparse matrix", id="falling row starts"),
        pytest.param({"adj_indptr": np.array([0, 1])}, "2 row starts for 4 rows", id="too few row starts"),
        pytest.param({"adj_indices": np.array([9, 1, 2, 3])}, "form no sparse matrix", id="column out of range"),
        pytest.param({"adj_indices": np.ones(4)}, "its types are", id="fractional columns"),
        pytest.param({"adj_data": np.array(["a"] * 4)}, "its types are", id="weights that are texts"),
        pytest.param({"adj_data": np.array([1, -1, 1, 1])}, "has the weight -1", id="negative weight"),
        pytest.param({"adj_data": np.array([1, np.nan, 1, 1])}, "has the weight nan", id="weight that is no number"),
        pytest.param({"adj_shape": np.array([4])}, "its shape is", id="shape of one side"),
        pytest.param({"adj_shape": np.array([-4, 4])}, "its shape is", id="negative shape"),
        pytest.param({"adj_shape": np.array([10**12, 4])}, "row starts for 1000000000000 rows", id="huge shape"),
        pytest.param({"labels": np.array([{}], dtype=object)}, "pickled objects", id="pickled labels"),
    ],
)
def test_a_malformed_archive_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "g.npz", **archive(**changes))
    with pytest.raises(AgsslError, match=message):
        read_graph(tmp_path / "g.npz")
