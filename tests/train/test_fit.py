"""Whole fits on small graphs: every method, determinism, what is chosen by validation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agssl.base.errors import TrainingError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.encoders import Network, Shape
from agssl.pretext.clu import Clusters
from agssl.pretext.par import Partition
from agssl.train.evaluate import evaluate
from agssl.train.infer import infer
from agssl.train.loop import by_validation
from agssl.train.methods import MethodResult, train_method
from agssl.train.problem import Problem
from reference import dense
from reference.graphs import blocks_graph, permuted
from reference.patience import assert_waits
from reference.settings import quick as settings

METHODS = {
    "gcn": {"method": "gcn"},
    "single": {"method": "single", "tasks": ("pairsim",)},
    "joint": {"method": "joint"},
    "joint pf": {"method": "joint", "strategy": "pf"},
    "autossl": {"method": "autossl"},
    "pareto": {"method": "pareto"},
    "auxts pf": {"method": "auxts", "strategy": "pf"},
    "grand": {"method": "grand", "tasks": (), "encoder": "mixed:k=2"},
    "cpf": {"method": "cpf"},
    "autossl pf": {"method": "autossl", "strategy": "pf", "autossl_objective": "homophily"},
    "autossl es": {"method": "autossl", "autossl_search": "es", "autossl_budget": 2, "tasks": ("clu", "dgi")},
    "agssl": {"method": "agssl"},
    "agssl was": {"method": "agssl", "integration": "was", "tasks": ("clu", "dgi")},
    "agssl crossfit": {"method": "agssl", "weights_from": "crossfit"},
    "agssl train": {"method": "agssl", "weights_from": "train", "integration": "lf"},
    "agssl pf": {"method": "agssl", "strategy": "pf", "integration": "average"},
}


def same(a: MethodResult, b: MethodResult) -> bool:
    """Bit by bit."""
    if (a.weights is None) != (b.weights is None):
        return False
    weights = a.weights is None or b.weights is None or torch.equal(a.weights, b.weights)
    return weights and torch.equal(a.logits, b.logits) and a.history == b.history


@pytest.mark.parametrize("density", [1.0, 0.4])
@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_bits_and_another_does_not(method: str, density: float) -> None:
    graph, how = blocks_graph(density=density), settings(**METHODS[method])
    first = train_method(graph, how, seed=1)
    assert first.logits.shape == (60, 3)
    assert torch.isfinite(first.logits).all()
    assert same(first, train_method(graph, how, seed=1))
    assert not torch.equal(first.logits, train_method(graph, how, seed=2).logits)


@pytest.mark.parametrize("method", METHODS)
def test_no_test_label_reaches_the_result(method: str) -> None:
    graph, how = blocks_graph(), settings(**METHODS[method], class_weight="balanced")
    garbage = graph.y.copy()
    garbage[graph.split.test] = np.random.default_rng(0).integers(3, size=len(graph.split.test))
    assert (garbage != graph.y).any()
    other = Graph(graph.indptr, graph.indices, graph.x, garbage, graph.classes, graph.split, graph.name)
    assert same(train_method(graph, how), train_method(other, how))


def test_labels_of_nodes_in_no_part_of_the_split_are_hidden_too() -> None:
    graph = blocks_graph()
    split = Split(graph.split.train, graph.split.val, graph.split.test[:5])
    hidden = graph.with_split(split).hide_test()
    known = np.flatnonzero(hidden.y >= 0)
    assert known.tolist() == sorted([*split.train, *split.val])
    np.testing.assert_array_equal(hidden.y[known], graph.y[known])
    problem = Problem.of(graph, Shape(8, 4, 3))
    assert (problem.graph.y[graph.split.test] == -1).all()


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_training_nodes_is_irrelevant(method: str) -> None:
    graph, how = blocks_graph(), settings(**METHODS[method])
    split = Split(graph.split.train[::-1], np.roll(graph.split.val, 3), graph.split.test)
    assert same(train_method(graph, how), train_method(graph.with_split(split), how))


@pytest.mark.parametrize("layers", [1, 2])
def test_relabelling_the_nodes_permutes_the_result_and_changes_nothing_else(layers: int) -> None:
    graph = blocks_graph()
    order = np.random.default_rng(3).permutation(60)
    how = settings(method="gcn", dropout=0.0, input_dropout=0.0, epochs=8, layers=layers)
    here, there = train_method(graph, how), train_method(permuted(graph, order), how)
    torch.testing.assert_close(here.logits[order], there.logits, atol=1e-4, rtol=1e-4)
    for a, b in zip(here.history["gcn"], there.history["gcn"], strict=True):
        assert a == pytest.approx(b, abs=1e-4)


@pytest.mark.parametrize("strategy", ["jt", "pf"])
@pytest.mark.parametrize("integration", ["lf", "ts", "average", "weighted"])
def test_relabelling_the_nodes_permutes_a_whole_run(monkeypatch, integration: str, strategy: str) -> None:
    graph = blocks_graph()
    order = np.random.default_rng(3).permutation(60)
    for kind in (Partition, Clusters):  # METIS and k-means depend on the order of nodes; what is made of them may not

        def prepare(self, g: Graph, rng: Rng, own=kind.prepare) -> dict[str, np.ndarray]:
            labels = own(self, graph, rng)["labels"]
            return {"labels": labels if np.array_equal(g.indices, graph.indices) else labels[order]}

        monkeypatch.setattr(kind, "prepare", prepare)
    off = {"dropout": 0.0, "input_dropout": 0.0, "student_dropout": 0.0}
    how = settings(tasks=("par:parts=6", "clu:clusters=4"), integration=integration, strategy=strategy, epochs=6, **off)
    here, there = train_method(graph, how), train_method(permuted(graph, order), how)
    assert here.weights is not None and there.weights is not None
    torch.testing.assert_close(here.logits[order], there.logits, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(here.weights[order], there.weights, atol=1e-3, rtol=1e-3)
    for stage, records in here.history.items():
        for a, b in zip(records, there.history[stage], strict=True):
            assert a == pytest.approx(b, abs=1e-3, rel=1e-3)


@pytest.mark.parametrize("method", ["gcn", "joint", "agssl"])
def test_the_result_is_that_of_the_best_validation_epoch(method: str) -> None:
    graph = blocks_graph()
    result = train_method(
        graph, settings(method=method, epochs=15, lr=0.3)
    )  # so fast that the last epoch is not the best
    history = list(result.history.values())[-1]
    top = max(history, key=lambda r: (r["val_accuracy"], -r["val_loss"]))
    assert result.best["epoch"] == top["epoch"] < 14
    val = torch.from_numpy(graph.split.val)
    labels = torch.from_numpy(graph.y)[val]
    accuracy = (result.logits[val].argmax(1) == labels).float().mean().item()
    assert accuracy == pytest.approx(top["val_accuracy"])
    loss = torch.nn.functional.cross_entropy(result.logits[val], labels).item()
    assert loss == pytest.approx(top["val_loss"], rel=1e-4)
    np.testing.assert_allclose(infer(result.model, graph).logits, result.logits, atol=1e-6)


@pytest.mark.parametrize("head", ["conv", "linear"])
@pytest.mark.parametrize("layers", [1, 2])
def test_the_returned_model_computes_the_returned_logits(head: str, layers: int) -> None:
    graph = blocks_graph()
    result = train_method(graph, settings(method="gcn", head=head, layers=layers))
    last = None if head == "conv" else np.eye(60)
    hidden, logits = dense.gcn(result.model, dense.normalised_of(graph), graph.x, last)
    torch.testing.assert_close(logits.detach(), result.logits, atol=1e-5, rtol=1e-5)
    found = infer(result.model, graph)
    np.testing.assert_allclose(found.hidden, hidden.detach(), atol=1e-5)
    np.testing.assert_allclose(found.logits, result.logits, atol=1e-6)


def test_patience_stops_the_fit() -> None:
    result = train_method(blocks_graph(), settings(method="gcn", epochs=400, patience=4))
    assert_waits(4, [by_validation(record) for record in result.history["gcn"]])
    assert len(result.history["gcn"]) < 400


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_that_breaks_names_the_epoch_and_the_loss(method: str) -> None:
    with pytest.raises(TrainingError, match=r"loss (is|are) not finite at epoch \d+"):
        train_method(blocks_graph(), settings(**METHODS[method], lr=1e30, epochs=5))


def test_a_fit_that_breaks_in_its_last_epoch_is_noticed_too() -> None:
    with pytest.raises(TrainingError, match="epoch 0"):
        train_method(blocks_graph(), settings(method="gcn", lr=1e30, epochs=1))


def test_extreme_features_are_noticed() -> None:
    graph = blocks_graph()
    huge = Graph(graph.indptr, graph.indices, graph.x * np.float32(1e38), graph.y, graph.classes, graph.split)
    with pytest.raises(TrainingError, match="extreme features"):
        train_method(huge, settings(method="gcn"))


def test_the_watcher_sees_every_epoch_of_every_stage() -> None:
    seen: list[str] = []
    result = train_method(
        blocks_graph(), settings(weights_from="train"), watch=lambda stage, record: seen.append(stage)
    )
    assert seen == [stage for stage, history in result.history.items() for _ in history]


def test_prepared_targets_are_shared_through_the_cache(tmp_path) -> None:
    graph = blocks_graph()
    train_method(graph, settings(weights_from="train"), cache=tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) >= 4
    stamps = [f.stat().st_mtime_ns for f in files]
    again = train_method(graph, settings(weights_from="train"), seed=5, cache=tmp_path)
    assert [f.stat().st_mtime_ns for f in sorted(tmp_path.iterdir())] == stamps
    assert same(again, train_method(graph, settings(weights_from="train"), seed=5))


def test_a_balanced_loss_weighs_rare_classes_up() -> None:
    graph = blocks_graph()
    split = Split(np.array([0, 3, 6, 9, 1, 2]), graph.split.val, np.array([], dtype=np.int64))
    problem = Problem.of(graph.with_split(split), Shape(8, 4, 3), balanced=True)
    assert problem.class_weight.tolist() == pytest.approx([6 / (3 * 4), 6 / 3, 6 / 3])
    even = torch.zeros(6, 3)
    assert problem.task_loss(even).item() == pytest.approx(np.log(3), rel=1e-5)


@pytest.mark.parametrize("density", [1.0, 0.4])
def test_evaluation_of_needed_rows_equals_evaluation_of_all(density: float) -> None:
    graph = blocks_graph(density=density)
    for changes in ({}, {"head": "linear"}, {"skip_weight": 0.4}):
        problem = Problem.of(graph, Shape(8, 4, 3, **changes))
        model = Network(problem.shape, Rng(0))
        logits, measured = problem.logits(model), evaluate([problem], [model])
        for part, nodes in (("train", problem.train_nodes), ("val", problem.val_nodes)):
            right = (logits[nodes].argmax(1).numpy() == graph.y[nodes]).mean()
            assert measured[f"{part}_accuracy"] == pytest.approx(right)
        expected = torch.nn.functional.cross_entropy(logits[problem.val_nodes], problem.labels[problem.val_nodes])
        assert measured["val_loss"] == pytest.approx(expected.item(), rel=1e-5)
