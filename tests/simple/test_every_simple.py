"""What holds for every classifier without training."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from agssl.base.errors import SettingsError
from agssl.data.graph import Graph
from agssl.data.synthetic import Synthetic, generate
from agssl.simple import SIMPLE, make_simple
from agssl.simple.base import FOLDS, log_probabilities, stratified_folds
from reference.graphs import blocks_graph, build, permuted

NAMES = ["linear", "lp"]


def predict(name: str, graph: Graph, nodes: np.ndarray | None = None, classes: int | None = None) -> np.ndarray:
    assert graph.split is not None
    nodes = graph.split.train if nodes is None else nodes
    return make_simple(name).fit_predict(graph, nodes, graph.y[nodes], classes or graph.num_classes)


def test_all_are_registered() -> None:
    assert list(SIMPLE) == NAMES and all(entry.summary for entry in SIMPLE.describe())


@pytest.mark.parametrize("name", NAMES)
class TestEvery:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("density", [1.0, 0.4])
    def test_rows_are_log_probabilities_and_better_than_chance(self, name: str, density: float, weighted: bool) -> None:
        graph = blocks_graph(90, density=density, weighted=weighted)
        nodes, others = np.split(np.random.default_rng(0).permutation(90), [30])
        found = predict(name, graph, nodes)
        assert found.dtype == np.float32 and found.shape == (90, 3)
        assert np.exp(found.astype(np.float64)).sum(1) == pytest.approx(1, abs=1e-5)
        assert (found[others].argmax(1) == graph.y[others]).mean() > 0.6
        assert -found[others, graph.y[others]].mean() < np.log(3)  # surer than a guess, and not too sure

    def test_labels_of_other_nodes_are_never_read(self, name: str) -> None:
        graph = blocks_graph()
        assert graph.split is not None
        hidden = np.full_like(graph.y, -1)
        labels = graph.y[graph.split.train]
        told = make_simple(name).fit_predict(replace(graph, y=hidden, split=None), graph.split.train, labels, 3)
        assert (told == predict(name, graph)).all()

    def test_the_same_again_and_under_another_order_of_nodes(self, name: str) -> None:
        graph = blocks_graph()
        order = np.random.default_rng(0).permutation(60)
        first, again = predict(name, graph), predict(name, graph)
        assert (first == again).all()
        assert graph.split is not None
        nodes = np.argsort(order)[graph.split.train]  # the same nodes, in the same order
        turned = permuted(graph, order)
        found = make_simple(name).fit_predict(turned, nodes, turned.y[nodes], 3)
        assert found == pytest.approx(first[order], abs=1e-3)

    def test_classes_without_a_label_are_unlikely_but_possible(self, name: str) -> None:
        found = predict(name, blocks_graph(), np.array([0, 1, 3, 4]), classes=5)
        assert np.isfinite(found).all() and (found[:, 2:] < found[:, :2].max(1, keepdims=True)).all()

    @pytest.mark.parametrize("nodes", [[0], [0, 1], [0, 3, 6]])
    def test_a_label_per_class_or_one_class_alone_will_do(self, name: str, nodes: list[int]) -> None:
        found = predict(name, blocks_graph(), np.array(nodes))
        assert np.isfinite(found).all()

    def test_a_graph_without_edges_or_with_nodes_without_features_will_do(self, name: str) -> None:
        bare = build(20, [], density=0.3)
        x = bare.x.toarray()
        x[5:9] = 0
        assert np.isfinite(predict(name, replace(bare, x=x))).all()
        assert np.isfinite(predict(name, replace(bare, x=type(bare.x)(x)))).all()


@pytest.mark.parametrize("text", ["lp:a=0", "lp:a=1", "lp:iterations=0", "linear:k=-1", "linear:c=-2", "linear:d=1"])
def test_settings_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        make_simple(text)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(SettingsError, match="linear"):
        make_simple("liner")


def test_folds_spread_every_class_and_leave_single_labels_out() -> None:
    labels = np.repeat([0, 1, 2, 3], [1, 2, 5, 23])
    folds = stratified_folds(labels)
    assert folds[0] == -1 and (folds[1:] >= 0).all()
    for label in (1, 2, 3):
        counts = np.bincount(folds[labels == label], minlength=FOLDS)
        assert counts.max() - counts.min() <= 1


def test_nothing_is_less_likely_than_the_floor() -> None:
    logs = log_probabilities(np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert logs[0, 1] == pytest.approx(np.log(1e-6), abs=1e-3) and logs[1].tolist() == pytest.approx([np.log(0.5)] * 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_million_edges_take_seconds(name: str) -> None:
    graph = generate(Synthetic(nodes=100_000, edges=1_000_000, split="random:20/500/1000"))
    began = time.process_time()
    predict(name, graph)
    assert time.process_time() - began < 30
