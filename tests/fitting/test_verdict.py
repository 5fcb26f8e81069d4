"""What a result is worth."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.splits import Split, make_split
from agssl.fitting.baselines import baselines, logistic_regression
from agssl.fitting.verdict import verdict
from agssl.metrics import wilson_interval
from reference.graphs import blocks_graph


def result(right: float, classes: int = 3) -> dict[str, object]:
    return {"test": {"accuracy": right}, "val": {"accuracy": right}, "predicted_classes": classes}


def test_wilson_agrees_with_the_published_example() -> None:
    low, high = wilson_interval(81 / 263, 263)  # Newcombe (1998), Table I, method 3
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert wilson_interval(0.0, 5)[0] == 0 and wilson_interval(1.0, 5)[1] == 1


def test_seeds_that_measure_the_same_nodes_do_not_narrow_the_interval() -> None:
    graph = blocks_graph(300)
    split = make_split("per-class:20/20", graph, Rng(0))
    one, ten = (verdict(graph, [split] * n, [result(0.8)] * n)["estimate"] for n in (1, 10))
    assert one == ten
    assert (one["low"], one["high"]) == wilson_interval(0.8, len(split.test))
    drawn = [make_split("random:20/60/60", graph, Rng(seed)) for seed in range(5)]
    several = verdict(graph, drawn, [result(0.8)] * 5)
    distinct = len(np.unique(np.concatenate([s.test for s in drawn])))
    assert 60 < distinct < 300
    assert several["estimate"]["low"] == wilson_interval(0.8, distinct)[0]
    assert several["labels"] == {"train": 60, "choose": 60, "measure": 60}


def test_warnings_name_what_is_wrong_and_a_good_model_has_none() -> None:
    graph = blocks_graph(300)
    split = make_split("per-class:20/20", graph, Rng(0))
    assert verdict(graph, [split], [result(1.0)])["warnings"] == []
    texts = verdict(graph, [split], [result(0.1, classes=1)])["warnings"]
    assert [text.split(": ")[0].split(" ")[0] for text in texts] == ["the", "the", "it"]
    few = Split(split.train, split.val, split.test[:9])
    assert "only 9 nodes" in verdict(graph, [few], [result(1.0)])["warnings"][0]
    none = Split(split.train, split.val, split.test[:0])
    found = verdict(graph, [none], [result(1.0)])
    assert found["estimate"]["measured_on"] == "val" and "no test nodes" in found["warnings"][-1]


@pytest.mark.parametrize("sparse", [False, True])
def test_baselines_read_training_labels_only(sparse: bool) -> None:
    graph = blocks_graph(300)
    x = sp.csr_matrix(graph.x) if sparse else graph.x
    split = make_split("per-class:20/20", graph, Rng(0))
    hidden = np.full_like(graph.y, -1)
    hidden[split.train] = graph.y[split.train]
    seen, blind = (Graph(graph.indptr, graph.indices, x, y, graph.classes) for y in (graph.y, hidden))
    predicted = logistic_regression(blind, split.train, split.test)
    np.testing.assert_array_equal(predicted, logistic_regression(seen, split.train, split.test))
    found = baselines(seen, [split], "test")
    assert found["logistic_regression"] == pytest.approx((predicted.argmax(1) == graph.y[split.test]).mean())
    assert found["majority"] == pytest.approx((graph.y[split.test] == 0).mean())


def test_scales_of_columns_and_the_size_of_the_graph_do_not_spoil_the_regression() -> None:
    graph = blocks_graph(300)
    split = make_split("per-class:20/20", graph, Rng(0))
    plain = baselines(graph, [split], "test")["logistic_regression"]
    scaled = Graph(graph.indptr, graph.indices, graph.x * np.float32([1e5, *[1] * 7]), graph.y, graph.classes)
    assert baselines(scaled, [split], "test")["logistic_regression"] == pytest.approx(plain, abs=0.02)
    few = logistic_regression(graph, split.train, split.test, work=30 * 8 * 3)  # of 60 training nodes
    assert (few.argmax(1) == graph.y[split.test]).mean() > 0.5
