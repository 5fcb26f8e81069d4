"""What holds of the pretext tasks on any graph."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape
from agssl.ops.adjacency import Adjacency
from agssl.pretext.dgi import infonce_loss, jsd_loss
from agssl.pretext.prepare import make_task
from agssl.train.network import WeightedTask, forward
from agssl.train.problem import Problem
from reference.graphs import edge_list, graphs

pytestmark = pytest.mark.filterwarnings("ignore:Number of distinct clusters")
seeds = st.integers(0, 10_000)
any_graph = graphs(min_nodes=4)


def prepared(text: str, graph: Graph) -> tuple:
    task, adjacency = make_task(text), Adjacency.of(graph)
    return task, adjacency, task.prepare(graph, Rng(0))


def network_of(graph: Graph) -> nx.Graph:
    made = nx.empty_graph(graph.num_nodes)
    made.add_edges_from(edge_list(graph))
    return made


@given(graph=any_graph, parts=st.integers(2, 4))
def test_par_numbers_the_parts_without_gaps(graph: Graph, parts: int) -> None:
    labels = prepared(f"par:parts={parts}", graph)[2]["labels"]
    assert len(labels) == graph.num_nodes
    assert set(labels.tolist()) == set(range(labels.max() + 1)) and labels.max() < parts


@given(graph=any_graph, seed=seeds)
def test_clu_gives_equal_nodes_equal_clusters(graph: Graph, seed: int) -> None:
    copies = np.random.default_rng(seed).integers(3, size=graph.num_nodes)
    x = np.random.default_rng(seed).normal(size=(3, 4)).astype(np.float32)[copies]
    labels = prepared("clu:clusters=3", Graph(graph.indptr, graph.indices, x, graph.y, graph.classes))[2]["labels"]
    for kind in set(copies.tolist()):
        assert len(set(labels[copies == kind].tolist())) == 1


@given(scores=st.lists(st.floats(-50, 50), min_size=1, max_size=20))
def test_jsd_is_least_for_scores_that_tell_the_graphs_apart(scores: list[float]) -> None:
    clean = torch.tensor(scores, dtype=torch.float64)
    assert jsd_loss(clean, -clean) >= 0
    torch.testing.assert_close(jsd_loss(0 * clean, 0 * clean).item(), math.log(2))
    assert jsd_loss(clean + 1, -clean - 1) <= jsd_loss(clean, -clean)


@given(scores=st.lists(st.floats(-50, 50), min_size=1, max_size=20), shift=st.floats(-20, 20))
def test_infonce_ignores_a_shift_and_is_least_for_equal_scores(scores: list[float], shift: float) -> None:
    clean = torch.tensor(scores, dtype=torch.float64)
    torch.testing.assert_close(infonce_loss(clean + shift), infonce_loss(clean))
    assert infonce_loss(clean) >= math.log(len(scores)) - 1e-9


@given(graph=any_graph, seed=seeds)
def test_pairdis_labels_are_distances(graph: Graph, seed: int) -> None:
    task, adjacency, targets = prepared("pairdis:pairs=12", graph)
    batch = task.sample(targets, adjacency, Rng(seed))
    pairs = batch.nodes[batch.data["at"].numpy()]
    hops = dict(nx.all_pairs_shortest_path_length(network_of(graph)))
    for (i, j), label in zip(pairs.T.tolist(), batch.data["labels"].tolist(), strict=True):
        assert i != j and label == min(hops[i].get(j, 99), 4) - 1


@given(graph=any_graph, seed=seeds)
def test_pairsim_tells_masked_edges_from_non_edges(graph: Graph, seed: int) -> None:
    task, adjacency, targets = prepared("pairsim:pairs=6", graph)
    batch, linked = task.sample(targets, adjacency, Rng(seed)), network_of(graph)
    pairs = batch.nodes[batch.data["at"].numpy()] if len(batch.nodes) else np.zeros((2, 0), int)
    for (i, j), label in zip(pairs.T.tolist(), batch.data["labels"].tolist(), strict=True):
        assert i != j and linked.has_edge(i, j) == bool(label)
    assert len(batch.masked[0]) <= max(6, graph.num_edges // 2) and len(batch.masked[0]) * 2 <= graph.num_edges


@given(graph=any_graph, seed=seeds)
def test_dgi_shuffles_by_a_permutation_and_contrasts_distinct_nodes(graph: Graph, seed: int) -> None:
    task, adjacency, targets = prepared("dgi:samples=3:whole=2", graph)
    batch = task.sample(targets, adjacency, Rng(seed))
    assert sorted(batch.permutation.tolist()) == list(range(graph.num_nodes))
    chosen = batch.data["chosen"].tolist()
    assert len(set(chosen)) == len(chosen) == 3


@pytest.mark.parametrize("text", ["par:parts=2", "clu:clusters=2", "dgi", "pairdis", "pairsim"])
@given(graph=any_graph, seed=seeds)
def test_a_loss_is_finite_not_negative_and_the_same_again(text: str, graph: Graph, seed: int) -> None:
    split = type("S", (), {"train": np.array([0, 1]), "val": np.array([2]), "test": np.array([3])})
    graph = Graph(graph.indptr, graph.indices, graph.x, graph.y, graph.classes, split)  # type: ignore[arg-type]
    problem = Problem(graph, Shape(graph.num_features, 4, 2))
    task, _, targets = prepared(text, graph)
    model, head = Network(problem.shape, Rng(seed)), task.head(4, targets, Rng(seed))
    values = []
    for _ in range(2):
        _, views, (batch,) = forward(problem, model, [WeightedTask(text, task, targets, 1.0)], True, Rng(seed))
        values.append(task.loss(head, views, batch, targets).item())
    assert values[0] == values[1] and math.isfinite(values[0])
    assert values[0] >= 0 or text == "pairsim"  # which scores nothing where there is nothing to mask
