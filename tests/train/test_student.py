"""The student: whom its nodes trust, and what its history keeps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agssl.config import LAMBDA_FITS
from agssl.integrate import INTEGRATORS
from agssl.train.distill import _weights_record, degree_buckets
from agssl.train.fit import decline, fit
from reference.graphs import blocks_graph
from reference.settings import FIVE
from reference.settings import quick as settings


@pytest.mark.parametrize("name", sorted(INTEGRATORS))
def test_every_scheme_gives_weights_that_sum_to_one(name: str) -> None:
    result = fit(blocks_graph(), settings(integration=name, tasks=("clu", "dgi", "pairsim")))
    assert result.weights.shape == (60, 3)
    torch.testing.assert_close(result.weights.sum(1), torch.ones(60))
    if name == "average":
        torch.testing.assert_close(result.weights, torch.full((60, 3), 1 / 3))


@pytest.mark.parametrize("lambda_fit", LAMBDA_FITS)
def test_the_history_of_the_student_keeps_what_the_figures_need(lambda_fit: str) -> None:
    graph = blocks_graph()
    result = fit(graph, settings(lambda_fit=lambda_fit, beta=2.0, shrinkage=0.0))
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


def test_the_squared_error_is_that_of_the_integrated_teacher() -> None:
    graph = blocks_graph()
    result = fit(graph, settings(integration="average", tasks=("clu", "par"), lambda_fit="train"))
    p = sum(torch.softmax(t.network.logits, dim=1) for t in result.teachers) / 2
    for part, nodes in (("train", graph.split.train), ("val", graph.split.val)):
        errors = [sum((p[i, c].item() - (graph.y[i] == c)) ** 2 for c in range(3)) for i in nodes]
        for record in result.history["student"]:
            assert record[f"{part}_mse"] == pytest.approx(sum(errors) / len(errors), rel=1e-4)
            assert record["lambda0"] == pytest.approx(0.5)


def test_the_mean_weight_by_degree_is_a_mean_over_those_nodes() -> None:
    degree = np.array([0, 1, 1, 5, 6])
    weights = torch.tensor([[1.0, 0.0], [0.2, 0.8], [0.4, 0.6], [0.5, 0.5], [0.9, 0.1]])
    record = _weights_record(weights, degree_buckets(degree))
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
    result = fit(graph, settings(epochs=60, hidden=16, lambda_fit="train"))
    test = torch.from_numpy(graph.split.test)
    accuracy = (result.logits[test].argmax(1) == torch.from_numpy(graph.y)[test]).float().mean()
    assert accuracy > 0.85
    losses = [record["distill"] for record in result.history["student"]]
    assert np.mean(losses[-5:]) < losses[0] / 2


def test_a_second_generation_that_is_clearly_worse_is_told_of() -> None:
    assert decline({"student": 0.9}, 15) is None
    assert decline({"student": 0.9, "student 2": 0.95}, 500) is None
    few, many = 15, 1500
    both = {"student": 0.9, "student 2": 0.86}
    assert decline(both, few) is None  # by chance, for all that is known
    assert "student 2 has 86.0% of the validation nodes right, student 90.0%" in str(decline(both, many))
    assert decline({"student": 1.0, "student 2": 1.0}, few) is None


def test_the_remark_reaches_the_log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    graph = blocks_graph()
    seen: list[int] = []

    def remark(accuracy: dict[str, float], val_nodes: int) -> str:
        seen.append(val_nodes)
        return ", ".join(accuracy)

    monkeypatch.setattr("agssl.train.fit.decline", remark)
    fit(graph, settings(tasks=("clu:clusters=3",), epochs=2, generations=2))
    assert graph.split is not None and seen == [len(graph.split.val)]
    assert "student, student 2" in caplog.text
