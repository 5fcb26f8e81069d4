"""What every registered task must fulfil, another package's as well."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape
from agssl.ops.adjacency import Adjacency
from agssl.ops.csr import from_scipy
from agssl.ops.features import Inputs
from agssl.ops.plan import full_plan, pruned_plan
from agssl.pretext import TASKS, Task, TaskSample, View, Views
from agssl.pretext.base import Targets
from agssl.pretext.prepare import make_task
from agssl.pretext.views import StepContext
from agssl.train.network import WeightedTask, forward
from agssl.train.problem import Problem
from reference.graphs import permuted, random_graph
from reference.watching import Largest

EVERY = [
    *TASKS,
    "dgi:estimator=infonce",
    "pairsim:target=feature",
    "gmi:weights=adaptive",
    "mvgrl:encoder=shared:tolerance=0.1",
    "grace:nodes=12",
    "gca:centrality=pagerank",
    "bgrl:nodes=12",
]
WIDTH = 8

pytestmark = pytest.mark.parametrize("text", EVERY)


def network(graph: Graph) -> Network:
    return Network(Shape(graph.num_features, WIDTH, graph.num_classes, dropout=0.0, input_dropout=0.0), Rng(7))


def targets_of(task: Task, graph: Graph) -> Targets:
    return task.prepare(graph, Rng(0).child("prepare"))


def views_of(graph: Graph, model: Network, batch: TaskSample) -> Views:
    """The forward pass that a batch asks for, by the plainest plan."""
    adjacency = Adjacency.of(graph)
    a = adjacency.normalised if batch.masked is None else adjacency.without(*batch.masked)
    shuffle = None
    if batch.permutation is not None:
        order = torch.from_numpy(batch.permutation)
        shuffle = (order, torch.argsort(order))
    plan = full_plan(a, 1)
    return Views(model(Inputs.of(graph), plan, None, shuffle), plan, source_of(graph, model))


def source_of(graph: Graph, model: Network) -> StepContext:
    train = np.sort(graph.split.train)
    return StepContext(
        model, Inputs.of(graph), Adjacency.of(graph).normalised, (train, torch.from_numpy(graph.y[train]))
    )


def head_of(task: Task, targets: Targets, model: Network, rng: Rng) -> torch.nn.Module:
    head = task.head(WIDTH, targets, rng)
    task.start(head, model.encoder, rng)
    return head


def step(graph: Graph, text: str, seed: int = 0) -> tuple[torch.Tensor, Network, torch.nn.Module]:
    task, model = make_task(text), network(graph)
    targets = targets_of(task, graph)
    head = head_of(task, targets, model, Rng(seed).child("head"))
    batch = task.sample(targets, Adjacency.of(graph), Rng(seed).child("sample"))
    return task.loss(head, views_of(graph, model, batch), batch, targets), model, head


@pytest.mark.parametrize("density", [1.0, 0.3])
def test_the_loss_is_a_finite_scalar(text: str, density: float) -> None:
    loss, *_ = step(random_graph(40, 60, density=density), text)
    assert loss.shape == ()
    assert torch.isfinite(loss)


def test_gradients_reach_the_encoder_and_the_head(text: str) -> None:
    loss, model, head = step(random_graph(40, 60), text)
    loss.backward()
    used = [p for p in head.parameters() if p.requires_grad]  # a head may hold a copy that is not trained
    for parameter in (model.encoder.layers[0].weight, model.encoder.layers[0].bias, *used):
        assert parameter.grad is not None
        assert torch.isfinite(parameter.grad).all()
        assert parameter.grad.abs().sum() > 0
    # Unless a task says so, its loss has no business with the class head.
    assert (model.head.layer.weight.grad is not None) == make_task(text).needs_classes


def test_a_step_is_deterministic_under_a_seed(text: str) -> None:
    graph = random_graph(40, 60)
    losses = [step(graph, text, seed=3)[0] for _ in range(2)]
    assert torch.equal(*losses)
    assert not torch.equal(losses[0], step(graph, text, seed=4)[0])


def test_prepared_targets_are_arrays_and_deterministic(text: str) -> None:
    graph = random_graph(40, 60)
    first, second = (targets_of(make_task(text), graph) for _ in range(2))
    assert list(first) == list(second)
    for name, array in first.items():
        assert isinstance(array, np.ndarray)
        assert array.dtype.kind in "ifb", "only plain numbers can be stored without pickle"
        np.testing.assert_array_equal(array, second[name])


def relabel(targets: Targets, order: np.ndarray) -> Targets:
    """Targets for the graph whose node i was node order[i]: node numbers renamed, values by node moved."""
    new = np.argsort(order)
    moved = {}
    for name, array in targets.items():
        if name in ("labels", "lengths"):
            moved[name] = array[order]
        elif name in ("similarity", "features", "scale", "edges", "indptr", "indices", "values"):
            moved[name] = array
        elif not name.startswith(("up_", "pool_", "coarse_")):
            moved[name] = new[array]
    if "values" in targets:
        moved |= stored("", matrix_of(targets, "", len(order))[order][:, order])
    if "up_values" in targets:
        groups = len(targets["pool_indptr"]) - 1
        moved |= stored("up_", matrix_of(targets, "up_", groups)[order])
        moved |= stored("pool_", matrix_of(targets, "pool_", len(order))[:, order])
        moved |= stored("coarse_", matrix_of(targets, "coarse_", groups))
    return moved


def matrix_of(targets: Targets, prefix: str, columns: int) -> sp.csr_matrix:
    values, indices, indptr = (targets[f"{prefix}{part}"] for part in ("values", "indices", "indptr"))
    return sp.csr_matrix((values, indices, indptr), (len(indptr) - 1, columns))


def stored(prefix: str, matrix: sp.csr_matrix) -> Targets:
    return {
        f"{prefix}values": matrix.data,
        f"{prefix}indices": matrix.indices,
        f"{prefix}indptr": matrix.indptr,
    }


def relabel_batch(batch: TaskSample, order: np.ndarray) -> TaskSample:
    new = np.argsort(order)
    data = dict(batch.data)
    nodes = None if batch.nodes is None else np.sort(new[batch.nodes])
    for name, value in data.items():
        if name in ("at", "pairs", "apart"):  # positions among the sorted nodes
            data[name] = torch.from_numpy(np.searchsorted(nodes, new[batch.nodes[value.numpy()]]))
        elif name in ("chosen", "ends"):
            data[name] = torch.from_numpy(new[value.numpy()])
        elif name == "priority":
            data[name] = value[order]
    masked = None if batch.masked is None else tuple(new[ends] for ends in batch.masked)
    shuffle = None if batch.permutation is None else new[batch.permutation[order]]
    return TaskSample(nodes, masked, shuffle, data, tuple(relabel_view(view, order) for view in batch.views))


def relabel_view(view: View, order: np.ndarray) -> View:
    new, adjacency = np.argsort(order), view.adjacency
    if adjacency is not None:
        parts = (adjacency.values.numpy(), adjacency.indices.numpy(), adjacency.indptr.numpy())
        moved = sp.csr_matrix(parts, (len(order), len(order)))[order][:, order]
        adjacency = from_scipy(moved, symmetric=True)
    return View(
        None if view.nodes is None else np.sort(new[view.nodes]),
        adjacency,
        view.columns,
        None if view.masked is None else view.masked[order],
        None if view.order is None else new[view.order[order]],
        None if view.scale is None else view.scale[order],
    )


def test_relabelling_the_nodes_changes_nothing_else(text: str) -> None:
    graph = random_graph(40, 60, density=0.5)
    order = np.random.default_rng(5).permutation(40)
    other = permuted(graph, order)
    task, model = make_task(text), network(graph)
    targets = targets_of(task, graph)
    head = head_of(task, targets, model, Rng(0))
    batch = task.sample(targets, Adjacency.of(graph), Rng(1))
    moved = relabel_batch(batch, order)
    views, other_views = views_of(graph, model, batch), views_of(other, model, moved)
    torch.testing.assert_close(views.hidden()[order], other_views.hidden(), atol=1e-5, rtol=1e-5)
    if batch.permutation is not None:
        torch.testing.assert_close(views.corrupted()[order], other_views.corrupted(), atol=1e-5, rtol=1e-5)
    here = task.loss(head, views, batch, targets)
    other_targets = relabel(targets, order)
    other_head = head_of(task, other_targets, model, Rng(0))
    there = task.loss(other_head, other_views, moved, other_targets)
    torch.testing.assert_close(here, there, atol=1e-5, rtol=1e-5)


def test_a_pruned_pass_gives_the_same_loss(text: str) -> None:
    graph = random_graph(60, 60)
    task, model = make_task(text), network(graph)
    targets = targets_of(task, graph)
    head = head_of(task, targets, model, Rng(0))
    batch = task.sample(targets, Adjacency.of(graph), Rng(1))
    if batch.nodes is None or not len(batch.nodes):
        return  # reads every node, or none: there is nothing to prune
    if "pairs" in task.settings():
        task = type(task)(**(task.settings() | {"pairs": 8}))
        batch = task.sample(targets, Adjacency.of(graph), Rng(1))
    adjacency = Adjacency.of(graph)
    a = adjacency.normalised if batch.masked is None else adjacency.without(*batch.masked)
    plan = pruned_plan(a, 1, None, batch.nodes, limit=2.0)
    assert plan.hidden.tolist() == batch.nodes.tolist()
    pruned = task.loss(head, Views(model(Inputs.of(graph), plan), plan, source_of(graph, model)), batch, targets)
    torch.testing.assert_close(pruned, task.loss(head, views_of(graph, model, batch), batch, targets))


def test_another_task_beside_it_does_not_change_its_draws(text: str) -> None:
    graph = random_graph(60, 90)
    problem = Problem.of(graph, network(graph).shape)
    other = "clu" if text != "clu" else "pairdis"
    weighted = [WeightedTask(t, make_task(t), targets_of(make_task(t), graph), 1.0) for t in (other, text)]
    _, _, alone = forward(problem, network(graph), weighted[1:], True, Rng(0))
    _, _, together = forward(problem, network(graph), weighted, True, Rng(0))
    assert_same_batch(alone[0], together[1])


def assert_same_batch(a: TaskSample, b: TaskSample) -> None:
    for left, right in ((a.nodes, b.nodes), (a.permutation, b.permutation)):
        np.testing.assert_array_equal(left, right)
    assert (a.masked is None) == (b.masked is None)
    if a.masked is not None and b.masked is not None:
        np.testing.assert_array_equal(a.masked, b.masked)
    assert a.data.keys() == b.data.keys()
    for name, value in a.data.items():
        assert torch.equal(value, b.data[name])
    assert len(a.views) == len(b.views)
    for one, two in zip(a.views, b.views, strict=True):
        for part in ("nodes", "columns", "masked", "order", "scale"):
            np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
        assert (one.adjacency is None) == (two.adjacency is None)
        if one.adjacency is not None and two.adjacency is not None:
            assert torch.equal(one.adjacency.indices, two.adjacency.indices)


class Counted(Views):
    """Counts the passes that a loss asks for beside the step's own."""

    passes: ClassVar[list[tuple[View, bool]]] = []  # and whether gradients will go back through it

    def _encoded(self, view: View, *args: Any, **kwargs: Any) -> Any:
        self.passes.append((view, torch.is_grad_enabled()))
        return super()._encoded(view, *args, **kwargs)


@pytest.mark.parametrize(("nodes", "edges"), [(14, 12), (40, 60), (900, 3000)])
def test_a_step_takes_no_more_than_the_task_says_it_needs(text: str, nodes: int, edges: int) -> None:
    graph = random_graph(nodes, edges)
    task, model = make_task(text), network(graph)
    needs, targets = task.needs(graph, WIDTH), targets_of(task, graph)
    head = head_of(task, targets, model, Rng(0))
    sample = task.sample(targets, Adjacency.of(graph), Rng(1))
    own = views_of(graph, model, sample)
    Counted.passes.clear()
    task.loss(head, Counted(own.output, own.plan, own.source), sample, targets)

    def within(count: int | None, limit: int | None) -> bool:
        return (nodes if count is None else count) <= (nodes if limit is None else limit)

    assert within(None if sample.nodes is None else len(sample.nodes), needs.nodes)
    assert sample.permutation is None or needs.shuffles
    assert sum(learns for _, learns in Counted.passes) <= needs.views
    assert sum(not learns for _, learns in Counted.passes) <= needs.frozen_views
    for view, _ in Counted.passes:
        assert within(None if view.nodes is None else len(view.nodes), needs.view_nodes)
    drawn = [view.adjacency.nnz for view in sample.views if view.adjacency is not None]
    assert sum(drawn) + sum(len(a) for name, a in targets.items() if name.endswith("indices")) <= needs.entries
    encoder = sum(p.numel() for p in model.parameters())
    assert sum(p.numel() for p in head.parameters()) <= needs.parameters + needs.encoders * encoder


@pytest.fixture(scope="module")
def large_graph() -> Graph:
    return replace(random_graph(20_000, 60_000, seed=1), name="large")


def test_memory_grows_with_nodes_and_edges_only(text: str, large_graph: Graph) -> None:
    task, model, graph = make_task(text), network(large_graph), large_graph
    size = graph.num_nodes + 2 * graph.num_edges  # 140,000, where N x N would be 400,000,000
    adjacency = Adjacency.of(graph)
    tracemalloc.start()
    targets = task.prepare(graph, Rng(0))
    batch = task.sample(targets, adjacency, Rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # a constant for every node and edge, and one for the blocks of similarities that are looked at together
    assert peak < 200 * size + 64e6
    with Largest() as largest:
        head = head_of(task, targets, model, Rng(0))
        loss = task.loss(head, views_of(graph, model, batch), batch, targets)
        loss.backward()
    assert largest.elements <= 2 * WIDTH * size
