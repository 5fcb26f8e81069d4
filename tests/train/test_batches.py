"""Mini-batches: what a part of a graph is, which parts an epoch has, and that everything trains on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import agssl.ops.subgraph as subgraph
import agssl.train.batches as scale
import agssl.train.infer as inference
import agssl.train.planner as planner
from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.config import Settings, effective
from agssl.data.graph import Graph
from agssl.data.packed import open_packed, write_packed
from agssl.encoders import Network, Shape
from agssl.ops.subgraph import induced
from agssl.pretext.base import NO_NODES, TASKS, Part
from agssl.pretext.prepare import make_task
from agssl.store.checkpoints import CheckpointStore
from agssl.train.batches import Batches
from agssl.train.evaluate import evaluate
from agssl.train.loop import Schedule
from agssl.train.methods import train_method
from agssl.train.problem import Problem
from reference import dense
from reference.graphs import blocks_graph, edge_list
from reference.settings import quick as settings

MODES = ("partition", "neighbour")


def shape_of(graph: Graph, **changes) -> Shape:
    return Shape(graph.num_features, 6, graph.num_classes, **changes)


def batched(graph: Graph, mode: str, nodes: int = 20, **changes) -> Problem:
    problem = Problem.of(graph, shape_of(graph, **changes))
    return replace(problem, batches=Batches(problem.graph, mode, nodes, problem.shape.layers))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_part_gathers_as_much_as_the_whole_graph_does(monkeypatch, weighted: bool) -> None:
    graph = blocks_graph(weighted=weighted)
    monkeypatch.setattr(subgraph, "BLOCK_ENTRIES", 23)
    problem, full = batched(graph, "partition"), dense.normalised_of(graph)
    np.testing.assert_allclose(problem.stored.sums, full.sum(1), rtol=1e-6)
    nodes = np.arange(10, 45)
    csr = problem.part(nodes).normalised
    matrix = sp.csr_matrix((csr.values.numpy(), csr.indices.numpy(), csr.indptr.numpy()), (35, 35)).toarray()
    cut = full[np.ix_(nodes, nodes)]
    np.testing.assert_allclose(matrix, cut * (full[nodes].sum(1) / cut.sum(1))[:, None], rtol=1e-5)
    product = csr.transposed_product(torch.eye(35))
    np.testing.assert_allclose(product.numpy(), matrix.T, rtol=1e-5)
    whole = problem.part(np.arange(60)).normalised
    np.testing.assert_allclose(whole.values, Problem.of(graph, problem.shape).normalised.values, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_node_of_a_part_keeps_as_much_of_itself_as_in_the_whole_graph(weighted: bool) -> None:
    graph, nodes = blocks_graph(weighted=weighted), np.arange(10, 45)
    plain = batched(graph, "partition").part(nodes).normalised
    kept = batched(graph, "partition", skip_weight=0.3).part(nodes).normalised
    a, b = (
        sp.csr_matrix((m.values.numpy(), m.indices.numpy(), m.indptr.numpy()), (35, 35)).toarray()
        for m in (plain, kept)
    )
    np.testing.assert_allclose(b, 0.7 * a + 0.3 * np.eye(35), rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_masked_edges_of_a_part_are_gone_from_its_propagation(weighted: bool) -> None:
    graph = blocks_graph(weighted=weighted)
    part = batched(graph, "partition").part(np.arange(10, 45))
    source, target = np.array([edge_list(part.graph)[0]]).T
    csr = part.adjacency.without(source, target)
    matrix = sp.csr_matrix((csr.values.numpy(), csr.indices.numpy(), csr.indptr.numpy()), (35, 35)).toarray()
    assert matrix[source[0], target[0]] == matrix[target[0], source[0]] == 0
    before = part.normalised.values.numpy()
    assert (csr.values.numpy() > before).sum() > 0  # the others of both ends count more, as their degree is lower


@pytest.mark.parametrize("nodes", [7, 20, 59, 60, 1000])
def test_the_groups_of_an_epoch_hold_every_node_once_and_are_dealt_anew(nodes: int) -> None:
    batches = Batches(blocks_graph(), "partition", nodes, 1)
    first = list(batches.epoch(Rng(0).child(0)))
    assert len(first) == batches.steps == -(-60 // nodes)
    np.testing.assert_array_equal(np.sort(np.concatenate(first)), np.arange(60))
    again, other = list(batches.epoch(Rng(0).child(0))), list(batches.epoch(Rng(0).child(1)))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert len(first) == 1 or not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("nodes", [2, 20, 40, 59, 60])
def test_an_epoch_of_neighbours_has_the_steps_of_one_of_parts_and_no_larger_ones(nodes: int, layers: int) -> None:
    batches = Batches(blocks_graph(), "neighbour", nodes, layers)
    sets = list(batches.epoch(Rng(0)))
    assert len(sets) == batches.steps == Batches(blocks_graph(), "partition", nodes, layers).steps
    assert all((np.diff(some) > 0).all() for some in sets)
    alone = {1: 9, 2: 41}[layers]  # a seed and its neighbours, which are not cut down further
    assert max(len(some) for some in sets) <= max(nodes, alone)


def test_seeds_of_an_epoch_are_distinct_and_every_node_is_one_equally_often(monkeypatch) -> None:
    monkeypatch.setattr(scale, "hood", lambda graph, seeds, fanouts, draw: seeds)
    batches = Batches(blocks_graph(), "neighbour", 20, 1)  # three steps of two seeds
    epochs = [np.concatenate(list(batches.epoch(Rng(0).child(epoch)))) for epoch in range(1000)]
    assert all(len(np.unique(seeds)) == 6 for seeds in epochs)
    assert abs(np.bincount(np.concatenate(epochs), minlength=60) - 100).max() < 40  # four deviations of 9.5


@pytest.mark.parametrize("nodes", [20, 30])
def test_a_node_is_seen_no_more_than_once_an_epoch_on_average(nodes: int) -> None:
    batches = Batches(blocks_graph(), "neighbour", nodes, 1)
    seen = [sum(len(some) for some in batches.epoch(Rng(epoch))) for epoch in range(50)]
    assert 0.3 < np.mean(seen) / 60 <= 1


@pytest.mark.parametrize("mode", MODES)
def test_every_part_has_labelled_nodes_and_those_that_were_wanted(mode: str) -> None:
    problem = batched(blocks_graph(), mode)
    wanted = np.array([3, 44])
    parts = [part for part, _ in problem.steps(Rng(0), True, lambda rng: [wanted, NO_NODES], problem.val_nodes)]
    assert len(parts) == problem.batches.steps > 1
    for part in parts:
        assert set(problem.train_nodes.tolist()) <= set(part.nodes.tolist())  # there are fewer than a step would see
        assert set(problem.val_nodes.tolist()) <= set(part.nodes.tolist())
        assert set(wanted.tolist()) <= set(part.nodes.tolist())
        np.testing.assert_array_equal(part.nodes[part.train_nodes], problem.train_nodes)
        np.testing.assert_array_equal(part.labels.numpy(), problem.graph.y[part.nodes])


def test_without_labels_none_are_added() -> None:
    problem = batched(blocks_graph(), "partition", 10)
    parts = [part.nodes for part, _ in problem.steps(Rng(0), False)]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(60))


def test_classes_weigh_in_a_part_as_they_do_in_the_whole() -> None:
    problem = Problem.of(blocks_graph(), shape_of(blocks_graph()), balanced=True)
    part = problem.part(np.arange(10))
    assert torch.equal(part.class_weight, problem.class_weight)


@pytest.mark.parametrize("norm", ["none", "batch"])
@pytest.mark.parametrize("head", ["conv", "linear"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("density", [1.0, 0.4])
@pytest.mark.parametrize("weighted", [False, True])
def test_inference_block_by_block_is_the_dense_network(monkeypatch, density, layers, head, norm, weighted) -> None:
    graph = blocks_graph(density=density, weighted=weighted)
    model = Network(shape_of(graph, layers=layers, head=head, norm=norm), Rng(1))
    monkeypatch.setattr(subgraph, "BLOCK_ENTRIES", 37)
    monkeypatch.setattr(inference, "ON_DISK", 100)
    found = inference.infer(model, graph)
    if norm == "none":
        last = np.eye(60) if head == "linear" else None
        hidden, logits = dense.gcn(model, dense.normalised_of(graph), dense.dense_features(graph), last)
    else:  # running averages at their start: a scale of 1 / sqrt(1 + eps)
        model_ = Network(shape_of(graph, layers=layers, head=head), Rng(1))
        last = np.eye(60) if head == "linear" else None
        hidden, logits = dense.gcn(model_, dense.normalised_of(graph), dense.dense_features(graph), last)
    np.testing.assert_allclose(found.hidden, hidden.detach(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.logits, logits.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("head", ["conv", "linear"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("density", [1.0, 0.4])
@pytest.mark.parametrize("most", [1 << 23, 10])
@pytest.mark.parametrize("weighted", [False, True])
def test_evaluation_is_that_of_the_whole_graph(monkeypatch, head, layers, density, most, weighted) -> None:
    graph = blocks_graph(density=density, weighted=weighted)
    monkeypatch.setattr(planner, "EVALUATED", most)
    monkeypatch.setattr(subgraph, "BLOCK_ENTRIES", 31)
    problem = batched(graph, "partition", head=head, layers=layers)
    assert (problem.plans.evaluation is None) == (most == 10)
    model = Network(problem.shape, Rng(3))
    expected = evaluate([Problem.of(graph, problem.shape)], [model])
    assert evaluate([problem], [model]) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("task", "strategy"),
    [(task, how) for task in sorted(TASKS) for how in ("jt", "pf") if how == "jt" or not TASKS[task].needs_classes],
)
def test_every_task_trains_in_mini_batches(task: str, strategy: str, mode: str) -> None:
    how = settings(method="single", tasks=(task,), strategy=strategy, batch=mode, batch_nodes=24)
    first = train_method(blocks_graph(), how, seed=1)
    assert torch.isfinite(first.logits).all()
    again = train_method(blocks_graph(), how, seed=1)
    assert torch.equal(first.logits, again.logits)
    assert first.history == again.history
    moved = [record[task] for record in first.history[f"teacher {task}"] if task in record]
    assert len(set(moved)) > 1


@pytest.mark.parametrize("integration", ["lf", "ts", "average", "random", "weighted", "was"])
def test_every_integration_trains_in_mini_batches(integration: str) -> None:
    how = settings(integration=integration, tasks=("clu", "pairdis"), batch="partition", batch_nodes=24)
    result = train_method(blocks_graph(), how, seed=1)
    torch.testing.assert_close(result.weights.sum(1), torch.ones(60))
    record = result.history["student"][-1]
    assert record["lambda0"] + record["lambda1"] == pytest.approx(1, abs=1e-4)
    assert all(np.isfinite(value) for value in record.values())


@pytest.mark.parametrize("changes", [{}, {"batch": "partition"}, {"batch": "neighbour"}])
def test_the_student_has_a_dropout_of_its_own(changes: dict) -> None:
    how = settings(tasks=("clu",), batch_nodes=24, dropout=0.1, student_dropout=0.3, **changes)
    result = train_method(blocks_graph(), how, seed=1)
    assert result.model.shape.dropout == effective(how)["student_dropout"] == 0.3
    assert result.teachers[0].network.model.shape.dropout == 0.1
    assert "student_dropout" not in effective(how.replace(method="gcn"))


def test_settled_weights_of_a_part_are_those_of_its_nodes() -> None:
    how = settings(integration="random", tasks=("clu", "dgi"), generations=1)
    whole = train_method(blocks_graph(), how, seed=1)
    parts = train_method(blocks_graph(), how.replace(batch="partition", batch_nodes=24), seed=1)
    assert torch.equal(whole.weights, parts.weights)
    epochs = [whole.history["student"][-1], parts.history["student"][-1]]
    assert epochs[0]["lambda0"] == pytest.approx(epochs[1]["lambda0"], rel=1e-5)


def test_mini_batches_learn_what_the_whole_graph_teaches() -> None:
    graph = blocks_graph()
    how = settings(method="gcn", epochs=60, patience=None, batch="partition", batch_nodes=24)
    result = train_method(graph, how, seed=0)
    assert (result.logits.argmax(1).numpy() == graph.y)[graph.split.test].mean() > 0.8


def test_no_test_label_reaches_a_mini_batch() -> None:
    graph, how = blocks_graph(), settings(tasks=("clu", "dgi"), batch="partition", batch_nodes=24)
    garbage = graph.y.copy()
    garbage[graph.split.test] = (garbage[graph.split.test] + 1) % 3
    assert torch.equal(train_method(graph, how).logits, train_method(replace(graph, y=garbage), how).logits)


def stop_after(stage: str, epoch: int, graph: Graph, how: Settings, checkpoints: CheckpointStore) -> None:
    """Train until that epoch of that stage, and no further."""

    class Stopped(Exception):
        pass

    def watch(current: str, record: dict) -> None:
        if (current, record["epoch"]) == (stage, epoch):
            raise Stopped

    with pytest.raises(Stopped):
        train_method(graph, how, seed=1, watch=watch, checkpoints=checkpoints)


def test_a_stopped_training_in_mini_batches_goes_on(tmp_path: Path) -> None:
    graph, how = blocks_graph(), settings(method="single", tasks=("pairsim",), batch="partition", batch_nodes=24)
    checkpoints = CheckpointStore(tmp_path, every=0, min_seconds=0)
    stop_after("teacher pairsim", 1, graph, how, checkpoints)
    assert torch.equal(
        train_method(graph, how, seed=1, checkpoints=checkpoints).logits, train_method(graph, how, seed=1).logits
    )
    other = how.replace(batch_nodes=30)
    assert torch.equal(
        train_method(graph, other, seed=1, checkpoints=checkpoints).logits, train_method(graph, other, seed=1).logits
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_stopped_student_goes_on_to_the_same_records(tmp_path: Path, mode: str) -> None:
    how = settings(tasks=("clu", "dgi"), student_tasks={"clu": 2.0, "pairdis": 1.0}, batch=mode, batch_nodes=60)
    graph = blocks_graph(600)
    checkpoints = CheckpointStore(tmp_path, every=0, min_seconds=0)
    stop_after("student", 1, graph, how, checkpoints)
    assert train_method(graph, how, seed=1, checkpoints=checkpoints).history == train_method(graph, how, seed=1).history


@pytest.mark.parametrize(
    ("density", "weighted", "mode"),
    [(1.0, False, "partition"), (0.4, False, "partition"), (1.0, True, "partition"), (1.0, True, "neighbour")],
)
def test_a_graph_on_disk_gives_the_same_bits(tmp_path: Path, density: float, weighted: bool, mode: str) -> None:
    graph = blocks_graph(density=density, weighted=weighted)
    write_packed(graph, tmp_path / "packed")
    how = settings(tasks=("par", "pairdis"), batch=mode, batch_nodes=24)
    mapped = open_packed(tmp_path / "packed").with_split(graph.split)
    assert torch.equal(train_method(graph, how).logits, train_method(mapped, how).logits)


def test_pairs_of_a_part_are_pairs_of_the_pool_with_true_distances() -> None:
    graph = blocks_graph()
    task = make_task("pairdis")
    targets = task.prepare(graph, Rng(0))
    nodes = np.arange(5, 40)
    mine = task.restrict(targets, Part(induced(graph, nodes), nodes), Rng(0))
    for name, pool in targets.items():
        inside = {(i, j) for i, j in pool.T.tolist() if 5 <= i < 40 and 5 <= j < 40}
        assert {(nodes[i], nodes[j]) for i, j in mine[name].T} == inside


def test_epochs_and_patience_count_steps() -> None:
    graph = blocks_graph()
    how = Batches(graph, "partition", 6, 1).schedule(Schedule(epochs=500, patience=100))  # ten steps per epoch
    assert (how.epochs, how.patience) == (50, 10)
    how = Batches(graph, "partition", 2, 1).schedule(Schedule(epochs=500, patience=100))
    assert (how.epochs, how.patience) == (20, 5)  # never fewer: each epoch is evaluated only once
    how = Batches(graph, "neighbour", 6, 1).schedule(Schedule(epochs=500, patience=100))
    assert (how.epochs, how.patience) == (50, 15)
    how = Batches(graph, "neighbour", 60, 1).schedule(Schedule(epochs=500, patience=100))
    assert (how.epochs, how.patience) == (500, 100)  # one step an epoch: the whole graph
    how = Batches(graph, "partition", 2, 1).schedule(Schedule(epochs=3, patience=None))
    assert (how.epochs, how.patience) == (3, None)


def test_autossl_says_that_it_needs_the_whole_graph() -> None:
    with pytest.raises(SettingsError, match="autossl searches on the whole graph"):
        settings(method="autossl", batch="partition")
