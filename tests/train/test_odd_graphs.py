"""Graphs that are legal but unusual train with all five tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.train.fit import fit
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


ODD = [
    isolated, components, edgeless, one_edge, complete, star, class_without_labels, class_without_any_node,
    one_label_a_class, one_label, more_classes_than_hidden, single_feature, same_features, no_feature_of_some_nodes,
    four_nodes, nothing_to_test,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("setting", ["jt", "pf"])
@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_an_odd_graph_trains(make, setting: str) -> None:
    graph = make()
    result = fit(graph, Settings(epochs=2, hidden=8, folds=2, setting=setting))
    assert result.logits.shape == (graph.num_nodes, graph.num_classes)
    assert torch.isfinite(result.logits).all()
    assert result.weights.shape == (graph.num_nodes, 5)
    torch.testing.assert_close(result.weights.sum(1), torch.ones(graph.num_nodes))


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_an_odd_graph_trains_jointly_with_every_variant(make) -> None:
    tasks = ("par", "clu", "dgi:estimator=infonce", "pairdis", "pairsim:target=feature")
    how = Settings(method="joint", tasks=tasks, epochs=2, hidden=8, layers=2, norm="batch", head="linear")
    assert torch.isfinite(fit(make(), how).logits).all()


def test_the_graphs_are_what_their_names_say() -> None:
    assert (isolated().degree == 0).sum() == 18
    assert not edge_list(edgeless())
    assert len(set(class_without_labels().y[class_without_labels().split.train])) == 2
