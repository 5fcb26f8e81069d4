"""The network against PyG's and against a dense one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Output, Shape, joined
from agssl.encoders.gcn import GraphConvolution
from agssl.ops import tiles
from agssl.ops.adjacency import Adjacency
from agssl.ops.csr import identity
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan, Hop, full_plan
from reference import dense
from reference.graphs import random_graph


def whole(graph: Graph, layers: int = 1, head: str = "conv") -> ForwardPlan:
    a = Adjacency.of(graph).normalised
    return full_plan(a, layers, (Hop(a if head == "conv" else identity(graph.num_nodes)),))


def every_layer(model: Network) -> list[GraphConvolution]:
    return [*model.encoder.layers, model.head.layer]


def permutation(n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    return order, torch.argsort(order)


def gradients(model: Network, loss: torch.Tensor) -> list[torch.Tensor]:
    return list(torch.autograd.grad(loss, list(model.parameters())))


def score(output: Output) -> torch.Tensor:
    """A number that depends on everything that comes out."""
    total = output.logits.cos().sum() + joined(output.hidden).sin().sum()
    return total if output.corrupted is None else total + joined(output.corrupted).square().sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("density", [1.0, 0.3])
def test_logits_and_gradients_are_those_of_pyg(layers: int, density: float, weighted: bool) -> None:
    conv = pytest.importorskip("torch_geometric.nn").GCNConv
    graph = random_graph(40, 70, density=density, weighted=weighted)
    model = Network(Shape(6, 8, 3, layers), Rng(0))
    for bias in [layer.bias for layer in every_layer(model)]:
        torch.nn.init.normal_(bias, generator=torch.Generator().manual_seed(1))
    stack = [conv(6, 8), *(conv(8, 8) for _ in range(layers - 1)), conv(8, 3)]
    copies = zip(stack, every_layer(model), strict=True)
    for theirs, ours in copies:
        theirs.lin.weight.data = ours.weight.detach().t().clone()
        theirs.bias.data = ours.bias.detach().clone()
    rows = np.repeat(np.arange(40), graph.degree)
    edge_index = torch.from_numpy(np.stack([rows, graph.indices]))
    edge_weight = None if graph.weights is None else torch.from_numpy(graph.weights)
    h = torch.from_numpy(dense.dense_features(graph))
    for layer in stack[:-1]:
        h = torch.relu(layer(h, edge_index, edge_weight))
    expected = stack[-1](h, edge_index, edge_weight)

    found = model(Inputs.of(graph), whole(graph, layers)).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)

    labels = torch.from_numpy(graph.y)
    torch.nn.functional.cross_entropy(found, labels).backward()
    torch.nn.functional.cross_entropy(expected, labels).backward()
    for ours, theirs in zip(every_layer(model), stack, strict=True):
        torch.testing.assert_close(ours.weight.grad, theirs.lin.weight.grad.t(), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ours.bias.grad, theirs.bias.grad, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("head", ["conv", "linear"])
@pytest.mark.parametrize("layers", [1, 3])
def test_the_forward_pass_is_the_dense_one_in_double_precision(head: str, layers: int, weighted: bool) -> None:
    graph = random_graph(density=0.4, weighted=weighted)
    model = Network(Shape(6, 8, 3, layers, head), Rng(0)).double()
    output = model(Inputs.of(graph), whole(graph, layers, head))
    # Â is stored in single precision
    a = dense.normalised_of(graph).astype(np.float32)
    last = None if head == "conv" else np.eye(graph.num_nodes)
    hidden, logits = dense.gcn(model, a, dense.dense_features(graph), last)
    torch.testing.assert_close(joined(output.hidden), hidden, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(output.logits, logits, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("density", [1.0, 0.3])
def test_the_corrupted_view_is_the_graph_with_shuffled_features(layers: int, density: float) -> None:
    graph = random_graph(density=density)
    model = Network(Shape(6, 8, 3, layers), Rng(0))
    order, inverse = permutation(graph.num_nodes)
    both = model(Inputs.of(graph), whole(graph, layers), permutation=(order, inverse))
    shuffled = replace(graph, x=graph.x[order.numpy()])
    alone = model(Inputs.of(shuffled), whole(graph, layers))
    torch.testing.assert_close(joined(both.corrupted), joined(alone.hidden), atol=1e-6, rtol=1e-5)
    clean = model(Inputs.of(graph), whole(graph, layers))
    torch.testing.assert_close(joined(both.hidden), joined(clean.hidden), atol=1e-6, rtol=1e-5)
    assert clean.corrupted is None


@pytest.mark.parametrize("density", [1.0, 0.3])
def test_dropout_is_off_without_a_stream_and_on_with_one(density: float) -> None:
    graph = random_graph(density=density)
    model, plan, inputs = Network(Shape(6, 8, 3), Rng(0)), whole(graph), Inputs.of(graph)
    assert torch.equal(model(inputs, plan).logits, model(inputs, plan).logits)
    assert torch.equal(model(inputs, plan, Rng(1)).logits, model(inputs, plan, Rng(1)).logits)
    assert not torch.equal(model(inputs, plan, Rng(1)).logits, model(inputs, plan, Rng(2)).logits)
    assert not torch.equal(model(inputs, plan, Rng(1)).logits, model(inputs, plan).logits)


def test_a_pretext_head_reads_hidden_states_before_dropout() -> None:
    graph = random_graph()
    model = Network(Shape(6, 8, 3, dropout=0.9, input_dropout=0.0), Rng(0))
    inputs, plan = Inputs.of(graph), whole(graph)
    noisy, clean = model(inputs, plan, Rng(1)), model(inputs, plan)
    assert torch.equal(joined(noisy.hidden), joined(clean.hidden))
    assert not torch.equal(noisy.logits, clean.logits)


def test_dropout_is_unbiased_in_expectation() -> None:
    graph = random_graph(density=0.5)
    model = Network(Shape(6, 16, 3, input_dropout=0.0), Rng(0))
    inputs, plan = Inputs.of(graph), whole(graph)
    with torch.no_grad():
        draws = torch.stack([model(inputs, plan, Rng(s)).logits for s in range(500)])
        expected = model(inputs, plan).logits
    assert ((draws.mean(0) - expected).abs() <= 5 * draws.std(0) / 500**0.5 + 1e-6).all()


@pytest.mark.parametrize("rng", [None, Rng(4)], ids=["without dropout", "with dropout"])
@pytest.mark.parametrize("corrupt", [False, True])
@pytest.mark.parametrize("density", [1.0, 0.3])
def test_tiles_change_nothing(monkeypatch, rng: Rng | None, corrupt: bool, density: float) -> None:
    graph = random_graph(density=density, features=100)
    # only input dropout: that of hidden rows is drawn tile by tile, so that its masks differ
    model = Network(Shape(100, 2 * tiles.TILE, 3, dropout=0.0), Rng(0))
    inputs, plan = Inputs.of(graph), whole(graph)
    shuffle = permutation(graph.num_nodes) if corrupt else None
    one = model(inputs, plan, rng, shuffle)
    monkeypatch.setattr(tiles, "CACHED_BYTES", 0)
    two = model(inputs, plan, rng, shuffle)
    assert (len(one.hidden), len(two.hidden)) == (1, 2)
    torch.testing.assert_close(one.logits, two.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(joined(one.hidden), joined(two.hidden), atol=1e-5, rtol=1e-5)
    for a, b in zip(gradients(model, score(one)), gradients(model, score(two)), strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


def test_hidden_dropout_is_applied_to_every_tile(monkeypatch) -> None:
    monkeypatch.setattr(tiles, "CACHED_BYTES", 0)
    graph = random_graph(density=0.5)
    model = Network(Shape(6, 2 * tiles.TILE, 3, input_dropout=0.0), Rng(0))
    inputs, plan = Inputs.of(graph), whole(graph)
    with torch.no_grad():
        draws = torch.stack([model(inputs, plan, Rng(s)).logits for s in range(300)])
        expected = model(inputs, plan).logits
    assert ((draws.mean(0) - expected).abs() <= 5 * draws.std(0) / 300**0.5 + 1e-6).all()


def test_tiles_have_masks_of_their_own(monkeypatch) -> None:
    monkeypatch.setattr(tiles, "CACHED_BYTES", 0)
    graph = random_graph(density=0.5)
    model = Network(Shape(6, 2 * tiles.TILE, 3, input_dropout=0.0), Rng(0))
    with torch.no_grad():  # the second tile is the first one, and the head takes their difference
        model.encoder.layers[0].weight[:, tiles.TILE :] = model.encoder.layers[0].weight[:, : tiles.TILE]
        model.head.layer.weight[tiles.TILE :] = -model.head.layer.weight[: tiles.TILE]
    inputs, plan = Inputs.of(graph), whole(graph)
    assert model(inputs, plan).logits.abs().max() < 1e-5
    assert model(inputs, plan, Rng(1)).logits.abs().max() > 0.01


def test_batch_norm_follows_its_formula() -> None:
    graph = random_graph()
    model = Network(Shape(6, 8, 3, 2, norm="batch", dropout=0.0, input_dropout=0.0), Rng(0))
    plan, inputs = whole(graph, 2), Inputs.of(graph)
    a = torch.from_numpy(dense.normalised_of(graph)).float()

    h = torch.from_numpy(graph.x)
    for layer in model.encoder.layers:
        h = a @ (h @ layer.weight) + layer.bias
        h = torch.relu((h - h.mean(0)) / (h.var(0, unbiased=False) + 1e-5).sqrt())
    before = model.encoder.norms[0].running_mean.clone()
    output = model(inputs, plan, Rng(0))
    torch.testing.assert_close(joined(output.hidden), h, atol=1e-4, rtol=1e-4)
    assert not torch.equal(model.encoder.norms[0].running_mean, before)


@pytest.mark.parametrize("density", [1.0, 0.4])
def test_layer_norm_and_skip_connections_follow_their_formula(density: float) -> None:
    graph = random_graph(density=density)
    model = Network(Shape(6, 8, 3, 2, norm="layer", residual=True), Rng(0))
    a = torch.from_numpy(dense.normalised_of(graph)).float()
    h = torch.from_numpy(dense.dense_features(graph))
    for layer, norm in zip(model.encoder.layers, model.encoder.norms, strict=True):
        h = a @ (h @ layer.inner.weight) + h @ layer.skip + layer.bias
        h = (h - h.mean(1, keepdim=True)) / (h.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        h = torch.relu(h * norm.weight + norm.bias)
    expected = a @ (h @ model.head.layer.weight) + model.head.layer.bias
    found = model(Inputs.of(graph), whole(graph, 2))
    torch.testing.assert_close(joined(found.hidden), h, atol=1e-4, rtol=1e-4)
    ours, theirs = (torch.autograd.grad(z.cos().sum(), list(model.parameters())) for z in (found.logits, expected))
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def test_batch_norm_uses_running_averages_in_evaluation() -> None:
    graph = random_graph()
    model = Network(Shape(6, 8, 3, norm="batch"), Rng(0))
    plan, inputs = whole(graph), Inputs.of(graph)
    model(inputs, plan, Rng(0))
    state = {name: value.clone() for name, value in model.state_dict().items()}
    assert torch.equal(model(inputs, plan).logits, model(inputs, plan).logits)
    for name, value in model.state_dict().items():
        assert torch.equal(value, state[name]), f"evaluation must not change {name}"


def test_the_same_seed_gives_the_same_weights() -> None:
    shape = Shape(6, 8, 3, 2)
    a, b, c = Network(shape, Rng(0)), Network(shape, Rng(0)), Network(shape, Rng(1))
    assert all(torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))
    assert not torch.equal(a.encoder.layers[0].weight, c.encoder.layers[0].weight)
    assert not torch.equal(a.encoder.layers[1].weight, c.encoder.layers[1].weight)


def test_weights_are_glorot_and_biases_zero() -> None:
    model = Network(Shape(300, 200, 7), Rng(0))
    bound = (6 / 500) ** 0.5
    weight = model.encoder.layers[0].weight
    assert 0.98 * bound < weight.abs().max() <= bound
    assert abs(weight.std().item() - bound / 3**0.5) < 0.01 * bound
    assert not model.encoder.layers[0].bias.any()
    assert not model.head.layer.bias.any()


@pytest.mark.parametrize("classes", [2, 15, 16, 17])
def test_any_number_of_classes_comes_out(classes: int) -> None:
    graph = random_graph()
    model = Network(Shape(6, 8, classes), Rng(0))
    _, logits = dense.gcn(model, dense.normalised_of(graph), graph.x)
    torch.testing.assert_close(model(Inputs.of(graph), whole(graph)).logits, logits, atol=1e-5, rtol=1e-5)
