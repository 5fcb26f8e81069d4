"""Graph attention against PyG's and against a dense one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape, blueprint
from agssl.encoders.gat import Attention
from agssl.ops.adjacency import Adjacency
from agssl.ops.attention import attend
from agssl.ops.csr import Csr
from agssl.ops.features import Inputs
from agssl.ops.plan import full_plan
from reference import dense
from reference.dense import dense_of
from reference.graphs import build, random_graph


def walk(graph: Graph, skip_weight: float = 0.0) -> Csr:
    return Adjacency.of(graph, skip_weight=skip_weight, norm="walk").normalised


def dense_attention(p: torch.Tensor, rows: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """What `attend` gives, by matrices [n, m]."""
    found = []
    for part, s, t in zip(rows.chunk(source.shape[1], 1), source.t(), target.t(), strict=True):
        scores = torch.nn.functional.leaky_relu(t[:, None] + s[None, :], 0.2)
        scores = (scores + p.log()).masked_fill(p == 0, -torch.inf)
        found.append(torch.softmax(scores, 1).nan_to_num(0) @ part)
    return torch.cat(found, 1)


@pytest.mark.parametrize("heads", [1, 2, 8])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("density", [1.0, 0.3])
def test_logits_and_gradients_are_those_of_pyg(layers: int, density: float, heads: int) -> None:
    conv = pytest.importorskip("torch_geometric.nn").GATConv
    graph = random_graph(40, 70, density=density)
    model = Network(Shape(6, 8, 3, layers, encoder=f"gat:heads={heads}"), Rng(0))
    ours = [*model.encoder.layers, model.head.layer]
    stack = [conv(width, 8 // heads, heads) for width in (6, *[8] * (layers - 1))] + [conv(8, 3, 1)]
    for layer, theirs in zip(ours, stack, strict=True):
        torch.nn.init.normal_(layer.bias, generator=torch.Generator().manual_seed(1))
        theirs.lin.weight.data = layer.weight.detach().t().clone()
        theirs.bias.data = layer.bias.detach().clone()
        theirs.att_src.data = layer.source.detach()[None].clone()
        theirs.att_dst.data = layer.target.detach()[None].clone()
    rows = np.repeat(np.arange(40), graph.degree)
    edge_index = torch.from_numpy(np.stack([graph.indices, rows]))
    h = torch.from_numpy(dense.dense_features(graph))
    for theirs in stack[:-1]:
        h = torch.relu(theirs(h, edge_index))
    expected = stack[-1](h, edge_index)
    found = model(Inputs.of(graph), full_plan(walk(graph), layers)).logits
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    labels = torch.from_numpy(graph.y)
    for logits in (found, expected):
        torch.nn.functional.cross_entropy(logits, labels).backward()
    for layer, theirs in zip(ours, stack, strict=True):
        pairs = [
            (layer.weight.grad, theirs.lin.weight.grad.t()),
            (layer.bias.grad, theirs.bias.grad),
            (layer.source.grad[None], theirs.att_src.grad),
            (layer.target.grad[None], theirs.att_dst.grad),
        ]
        for a, b in pairs:
            torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("skip_weight", [0.0, 0.3])
@pytest.mark.parametrize("masked", [False, True])
def test_edge_weights_and_skip_weight_multiply_the_attention(skip_weight: float, masked: bool) -> None:
    graph = random_graph(30, 60, weighted=True)
    adjacency = Adjacency.of(graph, skip_weight=skip_weight, norm="walk")
    a = adjacency.without(np.array([0]), graph.neighbours(0)[:1].astype(np.int64)) if masked else adjacency.normalised
    draw = torch.Generator().manual_seed(0)
    given = [
        torch.randn(*size, generator=draw, dtype=torch.float64).requires_grad_() for size in [(30, 6), (30, 2), (30, 2)]
    ]
    found, expected = attend(a, *given), dense_attention(torch.from_numpy(dense_of(a)).double(), *given)
    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(*(torch.autograd.grad(z.cos().sum(), given) for z in (found, expected)), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_attention_without_scores_is_the_propagation_itself() -> None:
    graph = random_graph(30, 60, weighted=True)
    a, rows = walk(graph, skip_weight=0.2), torch.randn(30, 4)
    found = attend(a, rows, torch.zeros(30, 2), torch.zeros(30, 2))
    torch.testing.assert_close(found, torch.from_numpy(dense_of(a)).float() @ rows, atol=1e-5, rtol=1e-5)


def test_high_scores_neither_overflow_nor_vanish() -> None:
    graph = random_graph(30, 60)
    source = torch.zeros(30, 1)
    source[3] = 2000.0  # far above all others: exp would overflow with it, and underflow for those that do not see it
    neighbour = int(graph.neighbours(3)[0])
    adjacency = Adjacency.of(graph, norm="walk")
    masked = adjacency.without(np.array([3]), np.array([neighbour]))
    for a in (adjacency.normalised, masked):
        found = attend(a, torch.ones(30, 1), source, torch.zeros(30, 1))
        torch.testing.assert_close(found, torch.ones(30, 1))


def test_a_row_without_edges_gathers_nothing() -> None:
    a = Csr(torch.tensor([0, 0, 2], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32), torch.zeros(2), 2)
    rows = torch.ones(2, 2, requires_grad=True)
    found = attend(a, rows, torch.zeros(2, 1), torch.zeros(2, 1))
    found.sum().backward()
    assert not found.any() and not rows.grad.any()


def test_entries_of_the_walk_are_means_over_a_node_and_its_neighbours() -> None:
    graph = build(4, [(0, 1), (0, 2)])
    expected = [[1 / 3, 1 / 3, 1 / 3, 0], [1 / 2, 1 / 2, 0, 0], [1 / 2, 0, 1 / 2, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(dense_of(walk(graph)), expected, rtol=1e-6)


def test_heads_share_the_hidden_columns_and_classes_have_one() -> None:
    model = Network(Shape(6, 8, 3, 2, encoder="gat:heads=4"), Rng(0))
    assert [layer.heads for layer in model.encoder.layers] == [4, 4]
    assert isinstance(model.head.layer, Attention) and model.head.layer.heads == 1


@pytest.mark.parametrize(("text", "says"), [("gat:heads=3", "3 heads can't share 8"), ("gat:heads=0", "at least 1")])
def test_heads_that_do_not_divide_the_width_are_refused(text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        blueprint(Shape(6, 8, 3, encoder=text))
