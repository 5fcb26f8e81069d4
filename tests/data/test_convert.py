"""Graphs of other packages, there and back."""

from __future__ import annotations

import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from agssl.base.errors import GraphError, MissingExtraError
from agssl.data.convert import to_graph
from agssl.data.graph import Graph
from agssl.data.splits import Split


def same(a: Graph, b: Graph) -> None:
    assert a.fingerprint == b.fingerprint
    assert type(a.x) is type(b.x)
    assert (a.y == b.y).all()
    assert (a.classes, a.name, a.missing) == (b.classes, b.name, b.missing)
    assert (a.node_names is None) == (b.node_names is None)
    if a.node_names is not None and b.node_names is not None:
        assert (a.node_names == b.node_names).all()
    assert (a.split is None) == (b.split is None)
    if a.split is not None and b.split is not None:
        assert a.split.origin == b.split.origin
        for part, nodes in a.split.to_arrays().items():
            assert nodes.tolist() == b.split.to_arrays()[part].tolist()


def example(*, sparse: bool = False, split: bool = True, weights: list[float] | None = None) -> Graph:
    x: Any = sp.random(6, 40, 0.05, "csr", np.float32, np.random.default_rng(0)) if sparse else np.eye(6, 3) + 0.5
    return Graph.from_arrays(
        np.array([[0, 1, 2, 3], [1, 2, 3, 4]]),
        x,
        [0, 2, 1, -1, 0, -1],
        weights=weights,
        classes=["zebra", "ant", "unused", "bee"],
        split=Split(np.array([0, 1]), np.array([2]), np.array([4]), "random:1/1/1 (seed 4)") if split else None,
        name="zoo",
        node_names=list("abcdef"),
        notify=False,
    )


class TestPyG:
    pyg = pytest.importorskip("torch_geometric.data")

    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("split", [False, True])
    def test_there_and_back_loses_nothing(self, sparse: bool, split: bool) -> None:
        graph = example(sparse=sparse, split=split)
        data = graph.to_pyg()
        data.validate()
        same(graph, to_graph(data))

    def test_there_and_back_keeps_the_edge_weights(self) -> None:
        graph = example(weights=[1, 2, 0.3, 4])
        data = graph.to_pyg()
        assert data.edge_weight.shape == (8,)
        same(graph, to_graph(data))

    def test_a_graph_without_features_keeps_saying_so(self) -> None:
        graph = Graph.from_arrays([[0], [1]], None, [0, 1], missing="no features", notify=False)
        same(graph, to_graph(graph.to_pyg()))

    def test_a_plain_data_becomes_a_graph(self) -> None:
        data = self.pyg.Data(
            x=torch.ones(4, 2),
            edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]),
            y=torch.tensor([0, 1, 0, 1]),
            train_mask=torch.tensor([True, True, False, False]),
            val_mask=torch.tensor([False, False, True, False]),
            test_mask=torch.tensor([False, False, False, True]),
        )
        graph = to_graph(data, name="mine")
        assert graph.split is not None
        assert (graph.num_edges, graph.name, graph.split.sizes()) == (3, "mine", {"train": 2, "val": 1, "test": 1})

    def test_a_sparse_adjacency_in_place_of_edges_works(self) -> None:
        adjacency = torch.sparse_coo_tensor(
            torch.tensor([[0, 1], [1, 0]]), torch.ones(2), (3, 3), check_invariants=True
        )
        assert to_graph(self.pyg.Data(x=torch.ones(3, 1), adj_t=adjacency, y=torch.tensor([0, 1, 1]))).num_edges == 1

    def test_what_is_missing_is_named(self) -> None:
        edges, x, y = torch.tensor([[0], [1]]), torch.ones(2, 1), torch.tensor([0, 1])
        for data, message in (
            (self.pyg.Data(edge_index=edges, y=y), "has no x"),
            (self.pyg.Data(x=x, y=y), "has no edge_index"),
            (self.pyg.Data(x=x, edge_index=edges), "has no y"),
            (
                self.pyg.Data(x=x, edge_index=edges, y=y, train_mask=torch.ones(2, 3, dtype=torch.bool)),
                "no part named 'val'",
            ),
        ):
            with pytest.raises(GraphError, match=message):
                to_graph(data)
        assert to_graph(self.pyg.Data(x=x, edge_index=edges), require_labels=False).num_classes == 0


def test_without_pyg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tiny_graph: Graph) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(MissingExtraError, match=r"install .*\[pyg\]"):
        tiny_graph.to_pyg()


class FakeDGL:
    """As much of a DGL graph as the conversion uses; DGL itself has no wheel for current Pythons."""

    ntypes = ("_N",)

    def __init__(self, **ndata: torch.Tensor) -> None:
        self.ndata = ndata
        self.edata: dict[str, torch.Tensor] = {}

    def edges(self) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.tensor([0, 1, 2]), torch.tensor([1, 2, 3])

    def num_nodes(self) -> int:
        return 4


FakeDGL.__module__ = "dgl.heterograph"


def test_a_dgl_graph_becomes_a_graph() -> None:
    masks = {f"{part}_mask": torch.arange(4) == i for i, part in enumerate(("train", "val", "test"))}
    graph = to_graph(FakeDGL(feat=torch.ones(4, 2), label=torch.tensor([0, 1, 0, 1]), **masks))
    assert graph.split is not None
    assert (graph.num_edges, graph.num_features, graph.split.sizes()) == (3, 2, {"train": 1, "val": 1, "test": 1})
    with pytest.raises(GraphError, match="no features"):
        to_graph(FakeDGL(label=torch.tensor([0, 1, 0, 1])))
    with pytest.raises(GraphError, match="no labels"):
        to_graph(FakeDGL(feat=torch.ones(4, 2)))


class TestNetworkX:
    def graph(self) -> Any:
        graph = nx.Graph(name="friends")
        graph.add_node("a", age=3, tall=True, y="p", split="train")
        graph.add_node("b", age=4.5, tall=False, y="q", split="train")
        graph.add_node(3, age=5, tall=True, y="p", split="val")
        graph.add_node((1, 2), age=6, tall=True)
        graph.add_edges_from([("a", "b"), ("b", 3), (3, (1, 2)), (3, 3)])
        return graph

    def test_scalar_attributes_are_features(self, caplog: pytest.LogCaptureFixture) -> None:
        graph = to_graph(self.graph())
        assert graph.node_names is not None and graph.split is not None
        assert graph.x.tolist() == [[3, 1], [4.5, 0], [5, 1], [6, 1]]
        assert graph.y.tolist() == [0, 1, 0, -1]
        assert graph.node_names.tolist() == ["a", "b", "3", "(1, 2)"]
        assert (graph.name, graph.split.sizes()) == ("friends", {"train": 2, "val": 1, "test": 0})
        assert caplog.messages == ["friends: dropped 1 self-loops"]

    def test_a_vector_x_is_the_features(self) -> None:
        graph = nx.DiGraph([(0, 1), (1, 2)])
        for node in graph:
            graph.nodes[node].update(x=[node, 1.0], label=node % 2)
        assert to_graph(graph).x.tolist() == [[0, 1], [1, 1], [2, 1]]
        graph.nodes[2]["x"] = [1.0]
        with pytest.raises(GraphError, match="node '2' has 1 features in 'x', but node '0' has 2"):
            to_graph(graph)

    def test_bad_attributes_are_named(self) -> None:
        graph = self.graph()
        graph.nodes["b"]["age"] = "old"
        with pytest.raises(GraphError, match="node 'b': column 'age' has 'old', but most of it is numbers"):
            to_graph(graph)
        del graph.nodes["b"]["age"]
        assert to_graph(graph).feature_names == ("age", "age missing", "tall")
        with pytest.raises(GraphError, match="no node of graph has the attribute 'y'; the attributes are none"):
            to_graph(nx.path_graph(3))


def test_a_tuple_of_arrays_becomes_a_graph_and_a_graph_stays_one(tiny_graph: Graph) -> None:
    assert to_graph(tiny_graph) is tiny_graph
    again = to_graph((tiny_graph.adjacency(), tiny_graph.x, tiny_graph.y))
    assert again.fingerprint == tiny_graph.fingerprint


@pytest.mark.parametrize("thing", [None, 3, "cora", [1, 2, 3], (1, 2)])
def test_other_things_are_refused(thing: Any) -> None:
    with pytest.raises(GraphError, match="cannot make a graph of a builtins"):
        to_graph(thing)
