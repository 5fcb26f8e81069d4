"""A pass over a pruned plan gives the numbers and gradients of a pass over the whole graph."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Output, Shape, joined
from agssl.ops.adjacency import Adjacency, take_rows
from agssl.ops.csr import Csr, identity
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan, Hop, full_plan, pruned_plan
from reference.graphs import build, graphs, random_graph


class Elsewhere(torch.Tensor):
    """A tensor that behaves as if it lay on another device: it must be fetched before NumPy can read it."""

    is_cpu = False

    def numpy(self) -> np.ndarray:
        raise TypeError("can't convert a tensor of another device to numpy; use Tensor.cpu() first")

    def cpu(self) -> torch.Tensor:
        return self.as_subclass(torch.Tensor)


def plans(
    graph: Graph, layers: int, head: str, outputs: np.ndarray, hidden: np.ndarray
) -> tuple[ForwardPlan, ForwardPlan]:
    """The pruned plan, whatever it costs, and the whole one."""
    a = Adjacency.of(graph).normalised
    last = a if head == "conv" else identity(graph.num_nodes)
    pruned = pruned_plan(a, layers, (take_rows(last, outputs), outputs), hidden, limit=2.0)
    return pruned, full_plan(a, layers, (Hop(last),))


def gradients(model: Network, output: Output, out_rows: torch.Tensor, hidden_rows: torch.Tensor) -> list[torch.Tensor]:
    model.zero_grad()
    logits = output.logits
    assert logits is not None
    loss = logits[out_rows].cos().sum() + joined(output.hidden)[hidden_rows].sin().sum()
    loss.backward()
    return [p.grad.clone() for p in model.parameters()]


@pytest.mark.parametrize("head", ["conv", "linear"])
@pytest.mark.parametrize("layers", [1, 2])
@given(graph=graphs(max_nodes=14, min_nodes=2), data=st.data())
@settings(max_examples=25, deadline=None)
def test_pruning_changes_neither_values_nor_gradients(layers: int, head: str, graph: Graph, data) -> None:
    some = st.sets(st.integers(0, graph.num_nodes - 1), max_size=graph.num_nodes)
    outputs = np.array(data.draw(st.permutations(sorted(data.draw(some)))), dtype=np.int64)
    hidden = np.array(sorted(data.draw(some)), dtype=np.int64)
    pruned, whole = plans(graph, layers, head, outputs, hidden)
    model = Network(Shape(graph.num_features, 5, 3, layers, head), Rng(0))
    inputs = Inputs.of(graph)

    cut, full = model(inputs, pruned), model(inputs, whole)
    torch.testing.assert_close(cut.logits, full.logits[outputs], atol=1e-5, rtol=1e-5)
    at = pruned.positions(hidden)
    torch.testing.assert_close(joined(cut.hidden)[at], joined(full.hidden)[hidden], atol=1e-5, rtol=1e-5)

    ours = gradients(model, cut, torch.arange(len(outputs)), torch.from_numpy(at))
    theirs = gradients(model, full, torch.from_numpy(outputs), torch.from_numpy(hidden))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


def test_only_what_is_seen_is_read() -> None:
    # a path 0-1-2-3-4-5: with one layer and a propagating head, node 0 sees as far as node 2
    graph = build(6, [(i, i + 1) for i in range(5)])
    a = Adjacency.of(graph).normalised
    plan = pruned_plan(a, 1, (take_rows(a, np.array([0])), np.array([0])), np.empty(0, dtype=np.int64))
    assert plan.inputs.tolist() == [0, 1, 2]
    assert plan.hidden.tolist() == [0, 1]


def test_a_plan_of_most_of_the_graph_is_not_cut() -> None:
    graph = random_graph(30, 200)
    a = Adjacency.of(graph).normalised
    plan = pruned_plan(a, 1, (a, np.arange(30)), np.arange(30))
    assert plan.inputs is None
    assert plan.hidden is None
    assert plan.blocks == (a,)
    assert plan.positions(np.array([3, 7])).tolist() == [3, 7]


def test_a_plan_without_head_gives_no_logits() -> None:
    graph = random_graph()
    plan = pruned_plan(Adjacency.of(graph).normalised, 1, None, np.array([1, 4]))
    output = Network(Shape(6, 5, 3), Rng(0))(Inputs.of(graph), plan)
    assert output.logits is None
    assert len(output.hidden[0]) == 2


def test_a_plan_can_be_cut_on_another_device() -> None:
    graph = random_graph()
    a = Adjacency.of(graph).normalised
    away = Csr(*(part.as_subclass(Elsewhere) for part in (a.indptr, a.indices, a.values)), a.columns, a.symmetric)
    nodes = np.array([1, 4])
    cut = pruned_plan(away, 2, (take_rows(away, nodes), nodes), nodes, limit=2.0)
    expected = pruned_plan(a, 2, (take_rows(a, nodes), nodes), nodes, limit=2.0)
    assert cut.inputs.tolist() == expected.inputs.tolist()
    for ours, theirs in zip(
        [*cut.blocks, cut.head[0].matrix], [*expected.blocks, expected.head[0].matrix], strict=True
    ):
        assert torch.equal(ours.indices.cpu(), theirs.indices)
        assert torch.equal(ours.values.cpu(), theirs.values)
