"""APPNP and GPR-GNN against PyG's propagation and a dense polynomial."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape, blueprint
from agssl.fitting.fit import fit
from agssl.ops import subgraph
from agssl.ops.adjacency import Adjacency, take_rows
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan, full_head, full_plan, pruned_plan
from agssl.train import planner
from agssl.train.batches import Batches
from agssl.train.evaluate import evaluate
from agssl.train.problem import Problem
from reference import dense
from reference.graphs import blocks_graph, build, random_graph
from reference.settings import quick


def whole(graph: Graph, model: Network) -> ForwardPlan:
    a = Adjacency.of(graph).normalised
    return full_plan(a, 0, full_head(a, model.encoder.head_hops, a))


def own_logits(model: Network, graph: Graph) -> torch.Tensor:
    """Z_0: what the perceptron says of each row."""
    h = torch.from_numpy(dense.dense_features(graph))
    for layer in model.encoder.layers:
        h = torch.relu(h @ layer.weight + layer.bias)
    return h @ model.head.layer.weight


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(("teleport", "steps"), [(0.1, 10), (0.5, 1), (1.0, 3)])
def test_logits_and_gradients_of_appnp_are_those_of_pyg(
    teleport: float, steps: int, layers: int, weighted: bool
) -> None:
    spread = pytest.importorskip("torch_geometric.nn").APPNP(steps, teleport)
    graph = random_graph(40, 70, density=0.5, weighted=weighted)
    model = Network(Shape(6, 8, 3, layers, encoder=f"appnp:teleport={teleport}:steps={steps}"), Rng(0))
    rows = np.repeat(np.arange(40), graph.degree)
    edge_index = torch.from_numpy(np.stack([graph.indices, rows]))
    edge_weight = None if graph.weights is None else torch.from_numpy(graph.weights)
    expected = spread(own_logits(model, graph), edge_index, edge_weight) + model.head.layer.bias
    found = model(Inputs.of(graph), whole(graph, model)).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    ours, theirs = (torch.autograd.grad(z.cos().sum(), list(model.parameters())) for z in (found, expected))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


def test_logits_and_gradients_of_gpr_are_those_of_the_dense_polynomial() -> None:
    graph = random_graph(40, 70, weighted=True)
    model = Network(Shape(6, 8, 3, encoder="gpr:teleport=0.2:steps=4"), Rng(0))
    layer = model.head.layer
    torch.nn.init.normal_(layer.shift, generator=torch.Generator().manual_seed(0))
    a, power = torch.from_numpy(dense.normalised_of(graph)).float(), own_logits(model, graph)
    expected = layer.bias
    for start, shift in zip([0.2, 0.16, 0.128, 0.1024, 0.4096], layer.shift, strict=True):
        expected = expected + (start + shift) * power
        power = a @ power
    found = model(Inputs.of(graph), whole(graph, model)).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    ours, theirs = (torch.autograd.grad(z.cos().sum(), list(model.parameters())) for z in (found, expected))
    for found_gradient, expected_gradient in zip(ours, theirs, strict=True):
        torch.testing.assert_close(found_gradient, expected_gradient, atol=1e-4, rtol=1e-4)


def test_gpr_starts_as_appnp() -> None:
    graph = random_graph(40, 70)
    logits = []
    for name in ("gpr", "appnp"):
        model = Network(Shape(6, 8, 3, encoder=name), Rng(0))
        logits.append(model(Inputs.of(graph), whole(graph, model)).logits)
    torch.testing.assert_close(*logits)


def test_the_coefficients_of_gpr_learn() -> None:
    model = fit(blocks_graph(), quick(method="gcn", encoder="gpr:steps=3", epochs=3)).fitted.model
    assert model.head.layer.shift.all()


def test_hidden_rows_read_no_neighbour_and_logits_as_many_as_there_are_steps() -> None:
    # a path 0-1-...-9: node 0 sees as far as node 3
    graph = build(10, [(i, i + 1) for i in range(9)])
    a, nodes = Adjacency.of(graph).normalised, np.array([0])
    encoder = blueprint(Shape(6, 8, 3, 2, encoder="appnp:steps=3"))
    head = (take_rows(a, nodes), nodes)
    plan = pruned_plan(a, encoder.reach, head, np.array([7]), head_hops=encoder.head_hops)
    assert plan.inputs.tolist() == plan.hidden.tolist() == [0, 1, 2, 3, 7]
    assert [hop.above.tolist() for hop in plan.head] == [[0, 1, 2], [0, 1], [0]]


def test_a_level_of_most_nodes_is_not_cut() -> None:
    graph = build(10, [(i, i + 1) for i in range(9)])
    a, nodes = Adjacency.of(graph).normalised, np.array([4])
    plan = pruned_plan(a, 0, (take_rows(a, nodes), nodes), np.empty(0, dtype=np.int64), head_hops=4)
    assert plan.hidden is None
    assert [hop.below if hop.below is None else hop.below.tolist() for hop in plan.head] == [
        None,
        None,
        [2, 3, 4, 5, 6],
        [3, 4, 5],
    ]


@pytest.mark.parametrize("most", [1 << 23, 10])
@pytest.mark.parametrize("density", [1.0, 0.4])
def test_evaluation_of_a_graph_in_parts_is_that_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, most: int, density: float
) -> None:
    graph = blocks_graph(density=density)
    monkeypatch.setattr(planner, "EVALUATED", most)
    monkeypatch.setattr(subgraph, "BLOCK_ENTRIES", 31)
    whole_problem = Problem.of(graph, Shape(graph.num_features, 8, graph.num_classes, encoder="gpr:steps=3"))
    problem = replace(whole_problem, batches=Batches(graph, "partition", 20, 1))
    assert (problem.plans.evaluation is None) == (most == 10)
    model = Network(problem.shape, Rng(3))
    assert evaluate([problem], [model]) == pytest.approx(evaluate([whole_problem], [model]), rel=1e-5)


def test_a_linear_head_leaves_the_perceptron_alone() -> None:
    shape = Shape(6, 8, 3, head="linear", encoder="appnp")
    assert blueprint(shape).head_hops == 1
    graph = blocks_graph()
    settings = quick(method="gcn", head="linear", epochs=3)
    found, expected = (fit(graph, settings.replace(encoder=name)).fitted.logits for name in ("appnp", "mlp"))
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_propagation_is_that_of_a_gcn_with_its_skip_weight() -> None:
    graph = blocks_graph()
    shapes = [Shape(graph.num_features, 8, 3, skip_weight=0.3, encoder=name) for name in ("gcn", "appnp")]
    a, b = (Problem.of(graph, shape).normalised for shape in shapes)
    assert torch.equal(a.values, b.values)


@pytest.mark.parametrize(
    ("text", "says"),
    [("appnp:teleport=0", "teleport = 0"), ("gpr:teleport=1.5", "gpr: teleport"), ("gpr:steps=0", "at least 1")],
)
def test_settings_out_of_range_are_refused(text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        blueprint(Shape(6, 8, 3, encoder=text))
