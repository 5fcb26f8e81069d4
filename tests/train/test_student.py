"""The student: its per-node teacher weights, and what its history keeps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agssl.config import WEIGHTS_FROM
from agssl.integrate import INTEGRATORS
from agssl.train.distill import _weights_record, degree_buckets
from agssl.train.methods import train_method
from agssl.train.worse import clearly_worse
from reference.graphs import blocks_graph
from reference.settings import FIVE
from reference.settings import quick as settings


@pytest.mark.parametrize("name", sorted(INTEGRATORS))
def test_every_scheme_gives_weights_that_sum_to_one(name: str) -> None:
    result = train_method(blocks_graph(), settings(integration=name, tasks=("clu", "dgi", "pairsim")))
    assert result.weights.shape == (60, 3)
    torch.testing.assert_close(result.weights.sum(1), torch.ones(60))
    if name == "average":
        torch.testing.assert_close(result.weights, torch.full((60, 3), 1 / 3))


@pytest.mark.parametrize("weights_from", WEIGHTS_FROM)
def test_the_history_of_the_student_keeps_what_the_figures_need(weights_from: str) -> None:
    graph = blocks_graph()
    result = train_method(graph, settings(weights_from=weights_from, beta=2.0, shrinkage=0.0))
    assert {"student", *(f"teacher {name}" for name in FIVE)} <= set(result.history)
    degrees = {low for low, high in zip((0, 1, 2, 3, 4, 7, 11, 21), (1, 2, 3, 4, 7, 11, 21, 10**9), strict=True)
               if ((graph.degree >= low) & (graph.degree < high)).any()}  # fmt: skip
    for record in result.history["student"]:
        assert {"loss", "task", "distill", "weights"} <= record.keys()
        assert {"train_accuracy", "val_accuracy", "val_loss", "train_mse", "val_mse"} <= record.keys()
        assert sum(record[f"lambda{k}"] for k in range(5)) == pytest.approx(1, abs=1e-5)
        for low in degrees:
            assert sum(record[f"lambda{k}_degree{low}"] for k in range(5)) == pytest.approx(1, abs=1e-5)
        assert all(np.isfinite(value) for value in record.values())
        total = record["task"] + 2 * record["distill"] + record["weights"]
        assert record["loss"] == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("batch", ["full", "partition"])
def test_students_train_with_tasks_of_their_own(batch: str) -> None:
    own = {"par:parts=4": 3.0, "pairsim": 0.5, "dgi": 0.25}
    how = settings(tasks=("clu",), beta=2.0, student_tasks=own, batch=batch, batch_nodes=24)
    result = train_method(blocks_graph(), how)
    for stage in ("student", "student 2"):
        for record in result.history[stage]:
            total = record["task"] + 2 * record["distill"] + record["weights"]
            total += sum(weight * record[name] for name, weight in own.items())
            assert record["loss"] == pytest.approx(total, rel=1e-4)
            assert all(record[name] > 0 for name in own)
    plain = train_method(blocks_graph(), how.replace(student_tasks=None))
    assert torch.equal(plain.teachers[0].network.logits, result.teachers[0].network.logits)
    assert not torch.equal(plain.logits, result.logits)


def test_the_squared_error_is_that_of_the_integrated_teacher() -> None:
    graph = blocks_graph()
    result = train_method(graph, settings(integration="average", tasks=("clu", "par"), weights_from="train"))
    p = sum(torch.softmax(t.network.logits, dim=1) for t in result.teachers) / 2
    for part, nodes in (("train", graph.split.train), ("val", graph.split.val)):
        errors = [sum((p[i, c].item() - (graph.y[i] == c)) ** 2 for c in range(3)) for i in nodes]
        for record in result.history["student"]:
            assert record[f"{part}_mse"] == pytest.approx(sum(errors) / len(errors), rel=1e-4)
            assert record["lambda0"] == pytest.approx(0.5)


def test_the_mean_weight_by_degree_is_a_mean_over_those_nodes() -> None:
    degree = np.array([0, 1, 1, 5, 6])
    weights = torch.tensor([[1.0, 0.0], [0.2, 0.8], [0.4, 0.6], [0.5, 0.5], [0.9, 0.1]])
    record = _weights_record(weights, torch.from_numpy(degree_buckets(degree)))
    assert record == pytest.approx(
        {
            "lambda0": 0.6, "lambda1": 0.4,
            "lambda0_degree0": 1.0, "lambda1_degree0": 0.0,
            "lambda0_degree1": 0.3, "lambda1_degree1": 0.7,
            "lambda0_degree4": 0.7, "lambda1_degree4": 0.3,
        }
    )  # fmt: skip


def test_agssl_learns() -> None:
    graph = blocks_graph(90)
    result = train_method(graph, settings(epochs=60, hidden=16, weights_from="train"))
    test = torch.from_numpy(graph.split.test)
    accuracy = (result.logits[test].argmax(1) == torch.from_numpy(graph.y)[test]).float().mean()
    assert accuracy > 0.85
    losses = [record["distill"] for record in result.history["student"]]
    assert np.mean(losses[-5:]) < losses[0] / 2


def test_clearly_worse_depends_on_how_many_nodes_tell() -> None:
    few, many = 15, 1500
    assert clearly_worse(0.86, 0.9, many) and not clearly_worse(0.86, 0.9, few)  # by chance, for all we know
    assert not clearly_worse(0.95, 0.9, many) and not clearly_worse(1.0, 1.0, few)


@pytest.mark.parametrize("worse", [False, True])
def test_a_second_generation_that_is_clearly_worse_is_left_out(
    worse: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    graph = blocks_graph()
    assert graph.split is not None
    seen: list[tuple[float, float, int]] = []

    def heldout(accuracy: float, before: float, nodes: int) -> bool:
        seen.append((accuracy, before, nodes))
        return worse

    monkeypatch.setattr("agssl.train.worse.clearly_worse", heldout)
    how = settings(tasks=("clu:clusters=3",), epochs=8)
    result = train_method(graph, how.replace(generations=3))
    same = train_method(graph, how.replace(generations=1 if worse else 3))
    assert torch.equal(result.logits, same.logits)
    students = [stage for stage in result.history if stage.startswith("student")]
    assert students == (["student"] if worse else ["student", "student 2", "student 3"])
    assert len(seen) == (1 if worse else 4) and {nodes for *_, nodes in seen} == {len(graph.split.val)}
    first = max(record["val_accuracy"] for record in result.history["student"])
    assert seen[0][1] <= first and (f"{seen[0][0]:.1%}" in caplog.text) == worse
    assert ("student 2 has" in caplog.text) == worse


@pytest.mark.parametrize("batch", ["full", "partition"])
@pytest.mark.parametrize(("name", "apart"), [("both", True), ("local", True), ("stack", False), ("ts", False)])
def test_where_near_labels_teach_other_students_say_what_calibrates(name: str, apart: bool, batch: str) -> None:
    graph = blocks_graph()
    how = settings(integration=name, tasks=("clu", "dgi"), batch=batch, batch_nodes=24)
    result = train_method(graph, how)
    assert graph.split is not None
    assert (result.apart is not None) == apart
    if result.apart is not None:
        nodes = torch.from_numpy(graph.split.val)
        assert result.apart.shape == (len(nodes), 3) and torch.isfinite(result.apart).all()
        assert not torch.equal(result.apart, result.logits[nodes])
        assert "student for calibration 1" not in result.history  # it is no part of the result


def test_students_that_calibrate_do_not_know_the_labels_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from agssl.train import students

    graph, seen = blocks_graph(), []
    lesson = students._lesson

    def spy(context, problem, knowledge, *others):  # type: ignore[no-untyped-def]
        seen.append((problem.val_nodes, knowledge.nodes.numpy(), knowledge.near))
        return lesson(context, problem, knowledge, *others)

    monkeypatch.setattr(students, "_lesson", spy)
    train_method(graph, settings(integration="both", tasks=("clu", "dgi"), generations=1))
    assert graph.split is not None
    whole, *parts = seen
    np.testing.assert_array_equal(whole[0], whole[1])
    assert len(parts) == students.APART
    for asked, told, near in parts:
        assert not np.isin(asked, told).any() and near.shape == (60, len(told))
    np.testing.assert_array_equal(np.sort(np.concatenate([asked for asked, _, _ in parts])), graph.split.val)
