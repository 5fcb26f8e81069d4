"""Edge weights on entry: every form of input, what becomes of directions and duplicates, and what is refused."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.errors import DataError, GraphError, SettingsError
from agssl.data.convert import to_graph
from agssl.data.graph import Graph
from agssl.data.packed import open_packed, write_packed
from agssl.data.readers import read_graph
from agssl.data.resolve import open_graph
from reference.graphs import blocks_graph

NODES = "id,f,label\na,1,x\nb,2,y\nc,3,x\nd,4,y\n"
EDGES = [("a", "b", 0.5), ("b", "c", 2.0), ("c", "d", 3.0)]
EXPECTED = [[0, 0.5, 0, 0], [0.5, 0, 2, 0], [0, 2, 0, 3], [0, 0, 3, 0]]
X, Y = np.arange(1.0, 5)[:, None], ["x", "y", "x", "y"]


def text(rows: list[tuple[Any, ...]], header: str = "source,target,weight") -> str:
    return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def folder_of(tmp_path: Path, edges: str) -> Path:
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_text(edges)
    return tmp_path


def as_csv(path: Path) -> Any:
    return folder_of(path, text(EDGES))


def as_tsv(path: Path) -> Any:
    (path / "nodes.csv").write_text(NODES)
    (path / "edges.tsv").write_text(text(EDGES).replace(",", "\t"))
    return path


def as_parquet(path: Path) -> Any:
    (path / "nodes.csv").write_text(NODES)
    columns = dict(zip(("source", "target", "weight"), zip(*EDGES, strict=True), strict=True))
    pq.write_table(pa.table({name: list(values) for name, values in columns.items()}), path / "edges.parquet")
    return path


def matrix() -> sp.csr_matrix:
    return sp.csr_matrix(np.triu(EXPECTED))


def as_npz(path: Path) -> Any:
    parts = {f"adj_{k}": getattr(matrix(), k) for k in ("data", "indices", "indptr", "shape")}
    np.savez(path / "g.npz", attr_matrix=X, labels=np.array([0, 1, 0, 1]), **parts)
    return path / "g.npz"


def network(kind: Callable[[], Any] = nx.Graph) -> Any:
    graph = kind()
    for node, f, label in zip("abcd", X[:, 0], Y, strict=True):
        graph.add_node(node, f=float(f), label=label)
    graph.add_weighted_edges_from(EDGES)
    return graph


def as_graphml(path: Path) -> Any:
    nx.write_graphml(network(), path / "g.graphml")
    return path / "g.graphml"


def as_packed(path: Path) -> Any:
    write_packed(Graph.from_arrays(matrix(), X, Y, notify=False), path / "packed")
    return path / "packed"


FILES = [as_csv, as_tsv, as_parquet, as_npz, as_graphml, as_packed]


@pytest.mark.parametrize("write", FILES)
def test_weights_in_files_are_used_and_ignored_on_request(write: Callable[[Path], Any], tmp_path: Path) -> None:
    path = write(tmp_path)
    graph = read_graph(path)
    assert graph.weights is not None and graph.weights.dtype == np.float32
    np.testing.assert_array_equal(graph.adjacency().toarray(), EXPECTED)
    plain = read_graph(path, unweighted=True)
    assert plain.weights is None
    np.testing.assert_array_equal(plain.adjacency().toarray(), np.array(EXPECTED) > 0)


def pyg(**more: Any) -> Any:
    data = pytest.importorskip("torch_geometric.data").Data
    return data(x=torch.ones(4, 1), y=torch.tensor([0, 1, 0, 1]), **more)


ENDS = torch.tensor([[0, 1, 2], [1, 2, 3]])
WEIGHTS = torch.tensor([0.5, 2, 3])


class FakeDGL:
    """As much of a DGL graph as the conversion uses."""

    ntypes = ("_N",)

    def __init__(self) -> None:
        self.edata = {"weight": WEIGHTS}
        self.ndata = {"feat": torch.ones(4, 1), "label": torch.tensor([0, 1, 0, 1])}

    def edges(self) -> tuple[torch.Tensor, ...]:
        return tuple(ENDS)

    def num_nodes(self) -> int:
        return 4


FakeDGL.__module__ = "dgl.heterograph"

OBJECTS: dict[str, Callable[[], Any]] = {
    "csr": lambda: (matrix(), X, Y),
    "csc": lambda: (matrix().tocsc(), X, Y),
    "coo": lambda: (matrix().tocoo(), X, Y),
    "csr array": lambda: (sp.csr_array(matrix()), X, Y),
    "edge_weight": lambda: pyg(edge_index=ENDS, edge_weight=WEIGHTS),
    "edge_weight [E, 1]": lambda: pyg(edge_index=ENDS, edge_weight=WEIGHTS[:, None]),
    "adj_t": lambda: pyg(adj_t=torch.sparse_coo_tensor(ENDS.flip(0), WEIGHTS, (4, 4), check_invariants=True)),
    "networkx": network,
    "networkx, directed": lambda: network(nx.DiGraph),
    "networkx, several edges": lambda: network(nx.MultiGraph),
    "dgl": FakeDGL,
}


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_weights_of_objects_are_used_and_ignored_on_request(make: Callable[[], Any]) -> None:
    np.testing.assert_array_equal(to_graph(make()).adjacency().toarray(), EXPECTED)
    assert to_graph(make(), unweighted=True).weights is None
    assert to_graph(to_graph(make()), unweighted=True).weights is None


def test_edge_attr_is_not_taken_for_a_weight_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    assert to_graph(pyg(edge_index=ENDS, edge_attr=WEIGHTS[:, None])).weights is None
    assert "edge_attr of the PyG Data is not used; set data.edge_weight" in caplog.text


def test_another_column_can_be_named(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, text([(*edge, 7 - i) for i, edge in enumerate(EDGES)], "source,target,weight,calls"))
    graph = read_graph(folder, weight="calls")
    assert graph.weights is not None and sorted(set(graph.weights.tolist())) == [5, 6, 7]
    with pytest.raises(DataError, match="no column 'cals'; it has source, target, weight, calls"):
        read_graph(folder, weight="cals")
    many = network()
    nx.set_edge_attributes(many, {edge: i + 1 for i, edge in enumerate(many.edges)}, "calls")
    nx.write_graphml(many, tmp_path / "g.graphml")
    other = read_graph(tmp_path / "g.graphml", weight="calls")
    assert other.weights is not None and sorted(set(other.weights.tolist())) == [1, 2, 3]
    with pytest.raises(GraphError, match="no edge has the attribute 'cals'"):
        read_graph(tmp_path / "g.graphml", weight="cals")
    with pytest.raises(SettingsError, match="knn = 2 makes edges without weights"):
        read_graph(tmp_path / "nodes.csv", knn=2, weight="calls")
    with pytest.raises(SettingsError, match="digits has no edge weights"):
        open_graph("digits", weight="calls")


@pytest.mark.parametrize("column", ["Weight", "WEIGHT", "weights"])
def test_the_column_of_weights_is_found_in_any_case(column: str, tmp_path: Path) -> None:
    rows = [(*edge, 7 - i) for i, edge in enumerate(EDGES)]
    graph = read_graph(folder_of(tmp_path, text(rows, f"source,target,calls,{column}")))
    named = read_graph(tmp_path, weight=column)
    assert graph.weights is not None and graph.fingerprint == named.fingerprint
    many = nx.relabel_nodes(network(), str)
    nx.set_edge_attributes(many, {edge: i + 1 for i, edge in enumerate(many.edges)}, column)
    for *_, values in many.edges(data=True):
        values.pop("weight", None)
    nx.write_graphml(many, tmp_path / "g.graphml")
    other = read_graph(tmp_path / "g.graphml")
    assert other.weights is not None and sorted(set(other.weights.tolist())) == [1, 2, 3]


def test_numbers_of_edges_that_are_not_read_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [(*edge, "friend") for edge in EDGES]
    folder = folder_of(tmp_path, text(rows, "source,target,strength,kind"))
    assert read_graph(folder).weights is None
    assert (
        "edges.csv: strength is not read; if it is the weight of the edges, name it: --weight strength" in caplog.text
    )
    caplog.clear()
    assert read_graph(folder, weight="strength").weights is not None
    assert read_graph(folder, unweighted=True).weights is None
    assert "not read" not in caplog.text


def test_duplicates_add_up_and_of_two_directions_the_larger_counts(caplog: pytest.LogCaptureFixture) -> None:
    #               a-b    b-a   a-b  twice the same   one way  loop
    edges = np.array([[0, 1, 0, 1, 2, 2, 3], [1, 0, 1, 2, 1, 3, 3]])
    graph = Graph.from_arrays(edges, X, Y, weights=[1, 5, 1.5, 2, 2, 4, 9], name="g")
    expected = [[0, 5, 0, 0], [5, 0, 2, 0], [0, 2, 0, 4], [0, 0, 4, 0]]
    np.testing.assert_array_equal(graph.adjacency().toarray(), expected)
    assert caplog.messages == [
        "g: made 1 one-way edges two-way, dropped 1 self-loops, added the weights of 1 duplicates, took the larger "
        "weight of 1 edges whose two directions differ"
    ]
    several = network(nx.MultiGraph)
    several.add_edge("a", "b", weight=1.0)
    np.testing.assert_array_equal(to_graph(several).adjacency().toarray()[0], [0, 1.5, 0, 0])


def test_weights_that_are_all_equal_count_as_none() -> None:
    edges = np.array([[0, 1, 1, 1], [1, 2, 2, 3]])  # one of them twice
    plain = Graph.from_arrays(edges, X, Y, notify=False)
    for value in (1, 0.25, True):
        equal = Graph.from_arrays(edges, X, Y, weights=[value] * 4, notify=False)
        assert equal.weights is None and equal.fingerprint == plain.fingerprint
    ones = sp.coo_matrix((np.ones(4), edges), shape=(4, 4))
    assert Graph.from_arrays(ones, X, Y, notify=False).fingerprint == plain.fingerprint
    weighted = Graph.from_arrays(edges, X, Y, weights=[1, 1, 1, 2], notify=False)
    assert weighted.fingerprint != plain.fingerprint == weighted.unweighted().fingerprint


@given(n=st.integers(1, 8), data=st.data())
@settings(max_examples=60, deadline=None)
def test_symmetrising_follows_the_rule_entry_by_entry(n: int, data: st.DataObject) -> None:
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    found = data.draw(st.lists(st.tuples(ends, st.sampled_from([0.1, 0.5, 1.0, 7.0])), max_size=20))
    given_way = np.zeros((n, n))
    for (i, j), weight in found:
        given_way[i, j] += weight if i != j else 0
    edges = np.array([pair for pair, _ in found], dtype=np.int64).reshape(-1, 2).T
    graph = Graph.from_arrays(
        edges, np.ones((n, 1)), [0] * n, weights=[w for _, w in found], require_labels=False, notify=False
    )
    if graph.weights is None:
        used = [w for (i, j), w in found if i != j]
        assert len(set(used)) <= 1 or len(set(np.maximum(given_way, given_way.T)[given_way > 0])) == 1
        return
    expected = np.maximum(given_way, given_way.T)
    np.testing.assert_allclose(graph.adjacency().toarray(), expected, rtol=1e-6)
    np.testing.assert_array_equal(graph.adjacency().toarray(), graph.adjacency().toarray().T)
    np.testing.assert_allclose(graph.weighted_degree, expected.sum(1), rtol=1e-6)


@pytest.mark.parametrize("value", ["0", "-2", "nan", "inf", "-inf", "1e30", "1e-30", "heavy", "", "0,5", "1_000"])
def test_a_bad_weight_in_a_table_is_named_with_line_cause_and_cure(tmp_path: Path, value: str) -> None:
    cell = f'"{value}"' if "," in value else value
    folder = folder_of(tmp_path, text([*EDGES[:2], ("c", "d", cell)]))
    with pytest.raises(GraphError, match=r"edges.csv line 4: edge 2 has .*; .* ignore all weights \(--unweighted") as e:
        read_graph(folder)
    cause = {"heavy": "no number", "0,5": "no number", "1_000": "no number", "": "has no weight", "1e30": "must lie in"}
    cause |= {"1e-30": "must lie in"}
    assert cause.get(value, "positive and finite") in str(e.value)
    assert read_graph(folder, unweighted=True).num_edges == 3


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, 1e16, 1e-16])
def test_a_bad_weight_of_arrays_is_named_with_its_edge(value: float) -> None:
    with pytest.raises(GraphError, match="edge 1, of nodes 1 and 2, has the weight"):
        Graph.from_arrays([[0, 1, 2], [1, 2, 3]], X, Y, weights=[1, value, 2])
    with pytest.raises(GraphError, match="edge 1, of nodes 'b' and 'c', has the weight"):
        Graph.from_arrays([[0, 1, 2], [1, 2, 3]], X, Y, weights=[1, value, 2], node_names=list("abcd"))
    if value:  # a zero is no entry of a sparse matrix
        adjacency = sp.csr_matrix(([1, value, 2], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
        with pytest.raises(GraphError, match="edge 1, of nodes 1 and 2"):
            Graph.from_arrays(adjacency, X, Y)
        assert Graph.from_arrays(adjacency, X, Y, unweighted=True).weights is None
    graph = network()
    graph["b"]["c"]["weight"] = value
    with pytest.raises(GraphError, match="edge 1, of nodes 'b' and 'c'"):
        to_graph(graph)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"shape \(2,\), but there are 3 edges"),
        (np.ones((3, 2)), r"shape \(3, 2\)"),
        (["1", "2", "3"], "type <U1, expected real numbers"),
        ([1j, 2, 3], "type complex128"),
        ([None, 2, 3], "type object"),
    ],
)
def test_weights_of_another_shape_or_type_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_arrays([[0, 1, 2], [1, 2, 3]], X, Y, weights=weights)


def test_an_adjacency_with_values_takes_no_second_weights() -> None:
    with pytest.raises(GraphError, match="give one of the two"):
        Graph.from_arrays(matrix(), X, Y, weights=[1, 2, 3])


@pytest.mark.parametrize(
    ("value", "message"), [(None, "has no 'weight', but others have"), ("x", "which is no number")]
)
def test_a_networkx_edge_without_a_number_is_named(value: Any, message: str) -> None:
    graph = network()
    graph["c"]["d"]["weight"] = value
    with pytest.raises(GraphError, match=f"edge 2, of nodes 'c' and 'd',.*{message}"):
        to_graph(graph)


def test_weights_far_from_that_of_a_self_loop_are_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="agssl"):
        Graph.from_arrays([[0, 1], [1, 2]], X, Y, weights=[4000, 6000])
    assert "edge weights are 5e+03 on average, but a node counts itself with weight 1" in caplog.text


def test_facts_and_changed_graphs_keep_the_weights() -> None:
    graph = blocks_graph(weighted=True)
    assert graph.weights is not None
    about = graph.info()["weights"]
    assert about["min"] == graph.weights.min() < about["mean"] < about["max"] == graph.weights.max()
    assert "weights" not in graph.unweighted().info()
    assert graph.split is not None
    for other in (graph.with_split(graph.split), graph.with_labels(graph.y), graph.hide_test()):
        assert other.weights is graph.weights


def test_a_packed_graph_has_its_weights_on_disk_and_sends_only_its_folder(tmp_path: Path) -> None:
    graph = blocks_graph(weighted=True)
    write_packed(graph, tmp_path / "g")
    stored = open_packed(tmp_path / "g")
    assert stored.fingerprint == graph.fingerprint
    assert len(pickle.dumps(stored)) < 4000
    again, plain = pickle.loads(pickle.dumps(stored)), pickle.loads(pickle.dumps(stored.unweighted()))
    assert again.fingerprint == graph.fingerprint and plain.weights is None
    write_packed(graph.unweighted(), tmp_path / "plain")
    assert '"version": 1' in (tmp_path / "plain/meta.json").read_text()  # which every version of the program reads
    assert open_packed(tmp_path / "plain").weights is None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda w: w + (np.arange(len(w)) == 0), "this has another weight"),
        (lambda w: np.where(np.arange(len(w)) == 3, -1, w), "the weight -1.0 is not positive"),
        (lambda w: np.where(np.arange(len(w)) == 3, np.nan, w), "the weight nan is not positive"),
        (lambda w: w[:-1], "asks for"),
        (lambda w: w.astype(np.float16), "expected float32"),
    ],
)
def test_damaged_weights_of_a_packed_graph_are_refused(damage: Callable, message: str, tmp_path: Path) -> None:
    graph = blocks_graph(weighted=True)
    write_packed(graph, tmp_path / "g")
    found = damage(graph.weights)
    np.save(tmp_path / "g/weights.npy", found if found.dtype == np.float16 else found.astype(np.float32))
    with pytest.raises(DataError, match=message):
        open_packed(tmp_path / "g")


def test_a_graph_with_other_weights_has_another_fingerprint() -> None:
    graph = blocks_graph(weighted=True)
    assert graph.weights is not None
    assert replace(graph, weights=graph.weights * 2).fingerprint != graph.fingerprint
