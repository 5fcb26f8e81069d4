"""Each loss against a loop over nodes or pairs, on the hidden states of a dense network."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape
from agssl.ops.adjacency import Adjacency
from agssl.ops.features import Inputs
from agssl.ops.plan import full_plan
from agssl.pretext import Task, TaskSample, Views
from agssl.pretext.base import Targets
from agssl.pretext.pairdis import CLASSES
from agssl.pretext.prepare import make_task
from agssl.train.network import WeightedTask, forward
from agssl.train.problem import Problem
from reference import dense, losses
from reference.graphs import build, edge_list, random_graph

WIDTH = 5


def tiny() -> Graph:
    """Two components, an isolated node, distances up to five."""
    return build(14, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 2), (6, 7), (7, 8), (8, 9), (10, 11), (11, 12)])


def network(graph: Graph) -> Network:
    shape = Shape(graph.num_features, WIDTH, graph.num_classes, dropout=0.0, input_dropout=0.0)
    return Network(shape, Rng(2)).double()


class Case:
    """A task on the tiny graph: our loss of one step, and the dense hidden states to compute it from."""

    def __init__(self, text: str) -> None:
        self.graph = tiny()
        self.task: Task = make_task(text)
        adjacency, model = Adjacency.of(self.graph), network(self.graph)
        self.targets: Targets = self.task.prepare(self.graph, Rng(0))
        self.head = self.task.head(WIDTH, self.targets, Rng(1)).double()
        for parameter in self.head.parameters():
            torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(4))
        self.batch: TaskSample = self.task.sample(self.targets, adjacency, Rng(3))
        masked: tuple[tuple[int, int], ...] = ()
        a = adjacency.normalised
        if self.batch.masked is not None:
            a = adjacency.without(*self.batch.masked)
            masked = tuple((int(i), int(j)) for i, j in zip(*self.batch.masked, strict=True))
        shuffle = None
        plan = full_plan(a, 1)
        exact = dense.normalised_of(self.graph, masked)
        x = self.graph.x
        self.hidden = dense.gcn(model, exact, x)[0].detach().numpy()
        if self.batch.permutation is not None:
            order = torch.from_numpy(self.batch.permutation)
            shuffle = (order, torch.argsort(order))
            self.corrupted = dense.gcn(model, exact, x[self.batch.permutation])[0].detach().numpy()
        inputs = Inputs(torch.from_numpy(x).double())
        batch = self.batch
        if "labels" in batch.data and batch.data["labels"].is_floating_point():
            data = dict(batch.data) | {"labels": batch.data["labels"].double()}
            batch = TaskSample(batch.nodes, batch.masked, batch.permutation, data)
        self.loss = self.task.loss(
            self.head, Views(model(inputs, plan, None, shuffle), plan), batch, self.targets
        ).item()

    @property
    def pairs(self) -> list[tuple[int, int]]:
        assert self.batch.nodes is not None
        return [tuple(pair) for pair in self.batch.nodes[self.batch.data["at"].numpy()].T.tolist()]

    def scores(self, rows: list) -> list[list[float]]:
        weight, bias = (p.detach().numpy() for p in self.head.parameters())
        return [losses.linear(row, weight, bias) for row in rows]

    def pair_scores(self) -> list[list[float]]:
        return self.scores([losses.difference(self.hidden[i], self.hidden[j]) for i, j in self.pairs])


@pytest.mark.parametrize("text", ["par:parts=3", "clu:clusters=4"])
def test_par_and_clu_are_cross_entropy_over_all_nodes(text: str) -> None:
    case = Case(text)
    assert len(case.targets["labels"]) == 14
    expected = losses.cross_entropy(case.scores(list(case.hidden)), case.targets["labels"])
    assert case.loss == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("text", ["dgi", "dgi:whole=5:samples=6"])
@pytest.mark.parametrize("estimator", ["jsd", "infonce"])
def test_dgi_contrasts_nodes_with_the_summary_over_nodes(text: str, estimator: str) -> None:
    case = Case(f"{text}:estimator={estimator}")
    chosen = case.batch.data["chosen"].tolist()
    assert len(chosen) == (14 if text == "dgi" else 6)
    weight = case.head.weight.detach().numpy()
    formula = losses.dgi_jsd if estimator == "jsd" else losses.dgi_infonce
    assert case.loss == pytest.approx(formula(case.hidden, case.corrupted, weight, chosen), rel=1e-5)


def test_dgi_shuffles_all_rows_anew_every_step() -> None:
    task, adjacency = make_task("dgi"), Adjacency.of(tiny())
    one, two = (task.sample({}, adjacency, Rng(0).child(epoch)).permutation for epoch in range(2))
    assert sorted(one.tolist()) == list(range(14))
    assert one.tolist() != two.tolist()


def true_classes(graph: Graph, pairs: list[tuple[int, int]]) -> list[int]:
    other = nx.Graph(edge_list(graph))
    other.add_nodes_from(range(graph.num_nodes))
    lengths = dict(nx.all_pairs_shortest_path_length(other))
    return [min(lengths[i].get(j, 99), 4) - 1 for i, j in pairs]


def test_pairdis_is_cross_entropy_on_true_distances() -> None:
    case = Case("pairdis:pairs=40")
    labels = true_classes(case.graph, case.pairs)
    assert case.batch.data["labels"].tolist() == labels
    assert case.loss == pytest.approx(losses.cross_entropy(case.pair_scores(), labels), rel=1e-5)


def test_pairdis_draws_the_same_number_of_every_class() -> None:
    case = Case("pairdis:pairs=40")
    assert torch.bincount(case.batch.data["labels"]).tolist() == [10] * CLASSES


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([(i, j) for i in range(8) for j in range(i)], [40]),  # complete: distance 1 only
        ([(0, i) for i in range(1, 8)], [20, 20]),  # a star: 1 and 2
        ([], [0, 0, 0, 40]),  # no edge: all unreachable
    ],
)
def test_pairdis_leaves_out_classes_that_do_not_occur(edges: list[tuple[int, int]], expected: list[int]) -> None:
    graph = build(8, edges)
    task, adjacency = make_task("pairdis:pairs=40"), Adjacency.of(graph)
    targets = task.prepare(graph, Rng(0))
    batch = task.sample(targets, adjacency, Rng(0))
    assert torch.bincount(batch.data["labels"]).tolist() == expected
    assert task.head(WIDTH, targets, Rng(0)).out_features == CLASSES


def test_pairs_are_drawn_anew_every_step() -> None:
    graph = tiny()
    adjacency = Adjacency.of(graph)
    for text in ("pairdis:pairs=8", "pairsim:pairs=4", "pairsim:target=feature:pairs=8"):
        task = make_task(text)
        targets = task.prepare(graph, Rng(0))
        one, two = (task.sample(targets, adjacency, Rng(0).child(epoch)) for epoch in range(2))
        assert one.nodes[one.data["at"]].tolist() != two.nodes[two.data["at"]].tolist()


def test_pairsim_link_is_binary_cross_entropy_on_masked_edges_and_non_edges() -> None:
    case = Case("pairsim:pairs=4")
    edges = set(edge_list(case.graph))
    labels = [float((min(pair), max(pair)) in edges) for pair in case.pairs]
    assert labels == [1.0] * 4 + [0.0] * 4
    assert case.batch.data["labels"].tolist() == labels
    assert [tuple(e) for e in np.stack(case.batch.masked).T.tolist()] == case.pairs[:4]
    expected = losses.binary_cross_entropy([s[0] for s in case.pair_scores()], labels)
    assert case.loss == pytest.approx(expected, rel=1e-5)


def test_pairsim_feature_is_the_squared_error_of_cosine_similarity() -> None:
    case = Case("pairsim:target=feature:pairs=10")
    assert case.batch.masked is None
    assert len(case.pairs) == 20
    x = case.graph.x.astype(np.float64)
    cosine = [x[i] @ x[j] / np.linalg.norm(x[i]) / np.linalg.norm(x[j]) for i, j in case.pairs]
    terms = [(score[0] - truth) ** 2 for score, truth in zip(case.pair_scores(), cosine, strict=True)]
    assert case.loss == pytest.approx(sum(terms) / len(terms), rel=1e-5)


def test_pairsim_masks_no_more_than_half_of_the_edges() -> None:
    graph = tiny()
    task, adjacency = make_task("pairsim"), Adjacency.of(graph)
    batch = task.sample(task.prepare(graph, Rng(0)), adjacency, Rng(0))
    assert len(batch.masked[0]) == graph.num_edges // 2
    assert len({tuple(sorted(e)) for e in np.stack(batch.masked).T.tolist()}) == graph.num_edges // 2


@pytest.mark.parametrize("edges", [[], [(0, 1)], [(i, j) for i in range(8) for j in range(i)]])
def test_pairsim_has_a_finite_loss_where_one_kind_of_pair_is_missing(edges: list[tuple[int, int]]) -> None:
    graph = build(8, edges)
    task, adjacency = make_task("pairsim"), Adjacency.of(graph)
    targets = task.prepare(graph, Rng(0))
    batch = task.sample(targets, adjacency, Rng(0))
    plan = full_plan(adjacency.without(*batch.masked), 1)
    views = Views(network(graph).float()(Inputs.of(graph), plan), plan)
    loss = task.loss(task.head(WIDTH, targets, Rng(0)), views, batch, targets)
    assert torch.isfinite(loss)
    loss.backward()


@pytest.mark.parametrize("edge_weights", [False, True])
@pytest.mark.parametrize("beside", [[], ["par", "dgi"]], ids=["alone", "in joint training"])
def test_masked_edges_are_absent_from_the_propagation_of_their_step(beside: list[str], edge_weights: bool) -> None:
    graph = random_graph(40, 60, weighted=edge_weights)
    problem = Problem.of(graph, network(graph).shape)
    tasks = [make_task(text) for text in [*beside, "pairsim:pairs=10"]]
    weighted = [WeightedTask(t.name, t, t.prepare(graph, Rng(0)), 1.0) for t in tasks]
    model = network(graph).float()
    output, views, batches = forward(problem, model, weighted, True, Rng(1))
    masked = tuple((int(i), int(j)) for i, j in np.stack(batches[-1].masked).T)
    assert len(masked) == 10
    reduced = dense.normalised_of(graph, masked)
    hidden, logits = dense.gcn(model, reduced, graph.x)
    nodes = np.arange(40) if views.plan.hidden is None else views.plan.hidden
    torch.testing.assert_close(views.hidden(nodes), hidden[nodes], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(output.logits, logits[graph.split.train], atol=1e-5, rtol=1e-5)
    untouched = dense.gcn(model, dense.normalised_of(graph), graph.x)[0]
    assert not torch.allclose(hidden[nodes], untouched[nodes], atol=1e-4)


def test_a_masked_edge_can_not_be_felt_at_its_other_end() -> None:
    # a path 0-1-2: with the edge (1, 2) masked, the features of 2 do not reach 0 or 1
    graph = build(3, [(0, 1), (1, 2)])
    plan = full_plan(Adjacency.of(graph).without(np.array([1]), np.array([2])), 1)
    x = torch.from_numpy(graph.x).double().requires_grad_()
    model = network(graph)
    a = plan.blocks[0]
    matrix = torch.sparse_csr_tensor(a.indptr, a.indices, a.values.double(), (3, 3)).to_dense()
    hidden = torch.relu(matrix @ x @ model.encoder.layers[0].weight)
    torch.testing.assert_close(hidden, model(Inputs(x.detach()), plan).hidden[0])
    (gradient,) = torch.autograd.grad(hidden[:2].sum(), x)
    assert gradient[:2].abs().sum() > 0
    assert not gradient[2].any()


def test_clu_labels_are_those_of_k_means_on_the_features() -> None:
    x = np.zeros((12, 6), dtype=np.float32)
    x[np.arange(12), np.arange(12) % 3] = 5  # three clean clusters
    graph = tiny()
    graph = build(12, edge_list(graph)[:6])
    graph = Graph(graph.indptr, graph.indices, x, graph.y, graph.classes, graph.split)
    labels = make_task("clu:clusters=3").prepare(graph, Rng(0))["labels"]
    for cluster in range(3):
        assert len(set(labels[np.arange(12) % 3 == cluster])) == 1
    assert sorted(set(labels)) == [0, 1, 2]


def test_the_size_of_a_head_is_the_number_of_classes_that_occur() -> None:
    graph = build(14, [])  # METIS is free to leave parts empty
    for text in ("par:parts=14", "clu:clusters=14"):
        task = make_task(text)
        targets = task.prepare(graph, Rng(0))
        present = sorted(set(targets["labels"].tolist()))
        assert present == list(range(len(present)))
        assert task.head(WIDTH, targets, Rng(0)).out_features == len(present)
