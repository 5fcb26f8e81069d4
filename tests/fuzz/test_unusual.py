"""Graphs that are legal but unusual train with all five tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.ops import distance
from agssl.train.methods import train_method
from reference.graphs import blocks_graph, build, edge_list


def path(n: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(n - 1)]


def isolated() -> Graph:
    return build(30, path(12))


def components() -> Graph:
    return build(30, [(i, i + 1) for i in range(29) if i % 5 != 4])


def edgeless() -> Graph:
    return build(24, [])


def one_edge() -> Graph:
    return build(24, [(0, 1)])


def complete() -> Graph:
    return build(16, [(i, j) for i in range(16) for j in range(i)])


def star() -> Graph:
    return build(24, [(0, i) for i in range(1, 24)])  # no two nodes are three hops apart


def class_without_labels() -> Graph:
    graph = blocks_graph()
    train = np.array([n for n in graph.split.train if graph.y[n] != 2])
    return graph.with_split(Split(train, graph.split.val, graph.split.test))


def class_without_any_node() -> Graph:
    graph = blocks_graph()
    return replace(graph, classes=(*graph.classes, "never"))


def one_label_a_class() -> Graph:
    graph = blocks_graph()
    return graph.with_split(Split(np.array([0, 1, 2]), graph.split.val, graph.split.test))


def one_label() -> Graph:
    graph = blocks_graph()
    return graph.with_split(Split(np.array([0]), graph.split.val, graph.split.test))


def more_classes_than_hidden() -> Graph:
    return build(80, path(80), classes=19)


def single_feature() -> Graph:
    return build(30, path(30), features=1)


def same_features() -> Graph:
    graph = build(30, path(30))
    return replace(graph, x=np.ones_like(graph.x))


def no_feature_of_some_nodes() -> Graph:
    graph = build(30, path(30), density=0.3)
    dense = graph.x.toarray()
    dense[::3] = 0
    return replace(graph, x=type(graph.x)(dense))


def four_nodes() -> Graph:
    graph = build(4, path(4), classes=2)
    return graph.with_split(Split(np.array([0, 1]), np.array([2]), np.array([3])))


def nothing_to_test() -> Graph:
    graph = blocks_graph()
    return graph.with_split(Split(graph.split.train, graph.split.val, np.empty(0, dtype=np.int64)))


def one_node_a_component() -> Graph:
    return build(12, [], features=3)


def loops_only() -> Graph:
    return _tidied(np.vstack([np.arange(20)] * 2), np.random.default_rng(0).normal(size=(20, 3)))


def duplicate_nodes() -> Graph:
    x = np.repeat(np.random.default_rng(0).normal(size=(2, 3)), 10, axis=0)  # each node ten times, edges included
    return _tidied(np.array([(i, 10 + j) for i in range(10) for j in range(10)]).T, x)


def duplicate_edges() -> Graph:
    return _tidied(np.repeat([[0, 1, 2], [1, 2, 3]], 100, axis=1), np.random.default_rng(0).normal(size=(20, 3)))


def feature_of_1e30() -> Graph:
    x = np.random.default_rng(0).normal(size=(20, 3))
    x[4, 1] = 1e30
    return _tidied(np.array(path(20)).T, x)


def column_of_1e30() -> Graph:
    x = np.random.default_rng(0).normal(size=(20, 3))
    x[:, 1] *= 1e30
    return _tidied(np.array(path(20)).T, x)


def tiny_features() -> Graph:
    return _tidied(np.array(path(20)).T, np.random.default_rng(0).normal(size=(20, 3)) * 1e-38)


def two_nodes_of_many_features() -> Graph:
    x = np.random.default_rng(0).normal(size=(2, 2000))
    split = Split(np.array([0]), np.array([1]), np.empty(0, dtype=np.int64))
    return Graph.from_arrays([[0], [1]], x, [0, 1], split=split, notify=False)


def names_of_every_script() -> Graph:
    names = ["../up", "<b>", "a,b", 'q"', "\u202e", "é", "", " ", "\0", "x" * 500, *map(str, range(10))]
    graph = _tidied(np.array(path(20)).T, np.random.default_rng(0).normal(size=(20, 3)))
    return replace(graph, node_names=np.array(names))


def _tidied(edges: np.ndarray, x: np.ndarray) -> Graph:
    """A graph of two classes by the front door, with a split."""
    n = len(x)
    split = Split(np.arange(0, n // 2), np.arange(n // 2, 3 * n // 4), np.arange(3 * n // 4, n))
    return Graph.from_arrays(edges, x, np.arange(n) % 2, split=split, notify=False)


ODD = [
    one_node_a_component, loops_only, duplicate_nodes, duplicate_edges, feature_of_1e30, column_of_1e30, tiny_features,
    two_nodes_of_many_features, names_of_every_script,
    isolated, components, edgeless, one_edge, complete, star, class_without_labels, class_without_any_node,
    one_label_a_class, one_label, more_classes_than_hidden, single_feature, same_features, no_feature_of_some_nodes,
    four_nodes, nothing_to_test,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("strategy", ["jt", "pf"])
@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_an_odd_graph_trains(make, strategy: str) -> None:
    graph = make()
    result = train_method(graph, Settings(teachers=("paper",), epochs=2, hidden=8, folds=2, strategy=strategy))
    assert result.logits.shape == (graph.num_nodes, graph.num_classes)
    assert torch.isfinite(result.logits).all()
    assert result.weights.shape == (graph.num_nodes, 5)
    torch.testing.assert_close(result.weights.sum(1), torch.ones(graph.num_nodes))


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_an_odd_graph_trains_jointly_with_every_variant(make) -> None:
    tasks = ("par", "clu", "dgi:estimator=infonce", "pairdis", "pairsim:target=feature")
    how = Settings(method="joint", tasks=tasks, epochs=2, hidden=8, layers=2, norm="batch", head="linear")
    assert torch.isfinite(train_method(make(), how).logits).all()


def test_the_graphs_are_what_their_names_say() -> None:
    assert len(ODD) >= 15
    assert np.abs(feature_of_1e30().x).max() == np.float32(1e15)
    assert loops_only().num_edges == 0
    assert duplicate_edges().num_edges == 3
    assert (isolated().degree == 0).sum() == 18
    assert not edge_list(edgeless())
    assert len(set(class_without_labels().y[class_without_labels().split.train])) == 2


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_a_star_of_a_hundred_thousand_leaves_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "WORK", 1_000_000)  # every search sees the whole star: a few will do
    leaves = 100_000
    x = np.random.default_rng(0).normal(size=(leaves + 1, 2))
    edges = np.vstack([np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1)])
    split = Split(np.arange(10), np.arange(10, 20), np.arange(20, 30))
    graph = Graph.from_arrays(edges, x, np.arange(leaves + 1) % 2, split=split, notify=False)
    assert graph.degree.max() == leaves
    result = train_method(graph, Settings(teachers=("paper",), epochs=1, hidden=4, alpha=1.0, generations=1))
    assert torch.isfinite(result.logits).all()
    assert result.weights.shape == (leaves + 1, 5)
