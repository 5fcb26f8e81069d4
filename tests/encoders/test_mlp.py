"""The perceptron: against plain torch, and that it never looks at an edge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agssl.base.rng import Rng
from agssl.data.packed import open_packed, write_packed
from agssl.encoders import Network, Shape, blueprint
from agssl.fitting.fit import fit
from agssl.ops.adjacency import Adjacency
from agssl.ops.features import Inputs
from agssl.ops.plan import full_plan
from agssl.train.infer import infer
from agssl.train.problem import Problem
from agssl.train.setup import batches_of
from reference import dense
from reference.graphs import blocks_graph, random_graph
from reference.settings import quick


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("density", [1.0, 0.3])
def test_logits_and_gradients_are_those_of_a_stack_of_linear_maps(layers: int, density: float) -> None:
    graph = random_graph(40, 70, density=density)
    model = Network(Shape(6, 8, 3, layers, encoder="mlp"), Rng(0))
    h = torch.from_numpy(dense.dense_features(graph))
    for layer in model.encoder.layers:
        torch.nn.init.normal_(layer.bias, generator=torch.Generator().manual_seed(1))
        h = torch.relu(torch.nn.functional.linear(h, layer.weight.t(), layer.bias))
    expected = h @ model.head.layer.weight + model.head.layer.bias
    found = model(Inputs.of(graph), full_plan(Adjacency.of(graph, norm="none").normalised, layers)).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    ours, theirs = (torch.autograd.grad(z.cos().sum(), list(model.parameters())) for z in (found, expected))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("batch", ["full", "partition", "neighbour"])
def test_a_head_of_its_own_kind_is_a_linear_one(batch: str) -> None:
    graph = blocks_graph()
    how = quick(method="gcn", encoder="mlp", batch=batch, batch_nodes=20)
    conv, linear = (fit(graph, how.replace(head=head)).fitted.logits for head in ("conv", "linear"))
    np.testing.assert_array_equal(conv, linear)


@pytest.mark.parametrize("layers", [1, 3])
def test_a_step_on_the_labels_reads_the_labelled_rows_alone(layers: int) -> None:
    graph = blocks_graph()
    problem = Problem.of(graph, Shape(graph.num_features, 8, graph.num_classes, layers, encoder="mlp"))
    inputs, plan = problem.plans.training
    assert inputs.rows == len(problem.train_nodes) and all(len(level) == inputs.rows for level in plan.levels)
    step = problem.plans.step(problem.normalised, problem.train_nodes, np.array([0]))
    np.testing.assert_array_equal(step.inputs, np.union1d(problem.train_nodes, [0]))
    evaluated = problem.plans.evaluation
    assert evaluated is not None and evaluated[0].rows == len(problem.eval_nodes)


def test_mini_batches_bring_no_neighbours() -> None:
    graph = blocks_graph()
    how = quick(encoder="mlp", layers=2, batch="neighbour", batch_nodes=20)
    batches = batches_of(graph, how)
    assert batches is not None and batches.seeds == 20
    assert all(len(nodes) == 20 for nodes in batches.epoch(Rng(0)))


def test_edges_are_never_read_of_a_graph_on_disk(tmp_path: Path) -> None:
    graph = random_graph(50, 90)
    write_packed(graph, tmp_path / "packed")
    packed = open_packed(tmp_path / "packed")
    model = Network(Shape(6, 8, 3, 2, encoder="mlp"), Rng(0))
    expected = infer(model, packed).logits
    torn = replace(packed, indices=None)  # reading it would be an error
    np.testing.assert_array_equal(infer(model, torn).logits, expected)
    np.testing.assert_allclose(infer(model, graph).logits, expected, atol=1e-6)


def test_it_sees_no_edge_away() -> None:
    assert blueprint(Shape(6, 8, 3, 3, encoder="mlp")).reach == 0
    assert blueprint(Shape(6, 8, 3, 3, encoder="gcn")).reach == 3
