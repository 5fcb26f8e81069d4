"""GraphSAGE against PyG's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agssl.base.rng import Rng
from agssl.encoders import Network, Shape
from agssl.ops.adjacency import Adjacency
from agssl.ops.features import Inputs
from agssl.ops.plan import full_plan
from agssl.train.problem import Problem
from reference import dense
from reference.dense import dense_of
from reference.graphs import build, random_graph


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("density", [1.0, 0.3])
def test_logits_and_gradients_are_those_of_pyg(layers: int, density: float) -> None:
    conv = pytest.importorskip("torch_geometric.nn").SAGEConv
    graph = random_graph(40, 70, density=density)
    model = Network(Shape(6, 8, 3, layers, encoder="sage"), Rng(0))
    ours = [*model.encoder.layers, model.head.layer]
    stack = [conv(6, 8), *(conv(8, 8) for _ in range(layers - 1)), conv(8, 3)]
    for layer, theirs in zip(ours, stack, strict=True):
        torch.nn.init.normal_(layer.bias, generator=torch.Generator().manual_seed(1))
        theirs.lin_l.weight.data = layer.near.detach().t().clone()
        theirs.lin_l.bias.data = layer.bias.detach().clone()
        theirs.lin_r.weight.data = layer.own.detach().t().clone()
    rows = np.repeat(np.arange(40), graph.degree)
    edge_index = torch.from_numpy(np.stack([graph.indices, rows]))
    h = torch.from_numpy(dense.dense_features(graph))
    for theirs in stack[:-1]:
        h = torch.relu(theirs(h, edge_index))
    expected = stack[-1](h, edge_index)
    plan = full_plan(Adjacency.of(graph, norm="mean").normalised, layers)
    found = model(Inputs.of(graph), plan).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    labels = torch.from_numpy(graph.y)
    for logits in (found, expected):
        torch.nn.functional.cross_entropy(logits, labels).backward()
    for layer, theirs in zip(ours, stack, strict=True):
        torch.testing.assert_close(layer.near.grad, theirs.lin_l.weight.grad.t(), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(layer.own.grad, theirs.lin_r.weight.grad.t(), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(layer.bias.grad, theirs.lin_l.bias.grad, atol=1e-5, rtol=1e-5)


def test_a_node_without_neighbours_is_told_by_its_own_row_alone() -> None:
    graph = build(3, [(0, 1)])
    model = Network(Shape(graph.num_features, 4, 2, encoder="sage"), Rng(0))
    plan = full_plan(Adjacency.of(graph, norm="mean").normalised, 1)
    hidden = model(Inputs.of(graph), plan).hidden[0]
    layer = model.encoder.layers[0]
    x = torch.from_numpy(dense.dense_features(graph))
    torch.testing.assert_close(hidden[2], torch.relu(x[2] @ layer.own))
    torch.testing.assert_close(hidden[0], torch.relu(x[0] @ layer.own + x[1] @ layer.near))


def test_with_weights_logits_and_gradients_are_those_of_the_dense_formula() -> None:
    graph = random_graph(40, 70, weighted=True)
    model = Network(Shape(6, 8, 3, 2, encoder="sage"), Rng(0))
    mean = torch.from_numpy(dense.mean_of(graph)).float()
    h = torch.from_numpy(dense.dense_features(graph))
    for layer in model.encoder.layers:
        h = torch.relu(h @ layer.own + mean @ h @ layer.near + layer.bias)
    expected = h @ model.head.layer.own + mean @ h @ model.head.layer.near + model.head.layer.bias
    plan = full_plan(Adjacency.of(graph, norm="mean").normalised, 2)
    found = model(Inputs.of(graph), plan).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    ours, theirs = (torch.autograd.grad(z.cos().sum(), list(model.parameters())) for z in (found, expected))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


def test_the_mean_is_over_neighbours_and_masked_edges_do_not_count() -> None:
    graph = random_graph(30, 60)
    adjacency = Adjacency.of(graph, norm="mean")
    matrix = torch.zeros(30, 30)
    for i in range(30):
        for j in graph.neighbours(i):
            matrix[i, j] = 1 / graph.degree[i]
    torch.testing.assert_close(torch.from_numpy(dense_of(adjacency.normalised)).float(), matrix)
    source, target = np.array([0]), graph.neighbours(0)[:1].astype(np.int64)
    matrix[0, target[0]] = matrix[target[0], 0] = 0
    matrix /= matrix.sum(1, keepdim=True).clamp_min(1e-12)
    torch.testing.assert_close(torch.from_numpy(dense_of(adjacency.without(source, target))).float(), matrix)


def test_a_part_of_a_graph_has_means_over_the_neighbours_that_are_there() -> None:
    graph = random_graph(30, 60)
    problem = Problem.of(graph, Shape(6, 4, 3, encoder="sage"))
    part = problem.part(np.arange(20))
    source = np.array([next(i for i in range(20) if part.graph.degree[i] > 1)])
    target = part.graph.neighbours(int(source[0]))[:1].astype(np.int64)
    for matrix in (part.normalised, part.adjacency.without(source, target)):
        sums = dense_of(matrix).sum(1)
        assert np.logical_or(np.isclose(sums, 1), sums == 0).all()
