"""Trust measured, confidence calibrated, prediction sets: against loops and by construction."""

from __future__ import annotations

import numpy as np
import pytest

from agssl.base.errors import SettingsError
from agssl.data.graph import Graph
from agssl.integrate.calibration import Confidence
from agssl.integrate.sets import Conformal, adaptive_scores, measure_sets, node_scores, quantile, smoothed
from agssl.integrate.trust import measure_trust
from agssl.metrics import calibration_error, log_loss
from reference.graphs import random_graph


def test_trust_is_what_loops_say() -> None:
    draw, (teachers, nodes, classes) = np.random.default_rng(0), (4, 60, 3)
    logits, truth = draw.normal(size=(teachers, nodes, classes)), draw.integers(0, classes, nodes)
    weights = draw.dirichlet(np.ones(teachers), nodes)
    weights[:5] = 1 / teachers  # ties
    found = measure_trust(weights, logits, truth, best=2)
    pairs, trusted, single, majority, apart = [], [], [], [], 0
    for i in range(nodes):
        said = [int(logits[k, i].argmax()) for k in range(teachers)]
        if len(set(said)) == 1:
            continue
        apart += 1
        best = [k for k in range(teachers) if weights[i, k] == max(weights[i])]
        trusted.append(np.mean([said[k] == truth[i] for k in best]))
        single.append(said[2] == truth[i])
        majority.append(max(range(classes), key=said.count) == truth[i])
        wins = [
            1.0 if weights[i, a] > weights[i, b] else 0.5 if weights[i, a] == weights[i, b] else 0.0
            for a in range(teachers)
            for b in range(teachers)
            if said[a] == truth[i] != said[b]
        ]
        pairs += [np.mean(wins)] if wins else []
    assert found["disagreement"] == pytest.approx(apart / nodes)
    assert found["pairs_right"] == pytest.approx(np.mean(pairs)) and found["nodes"] == len(pairs)
    assert found["pairs_right_se"] == pytest.approx(np.std(pairs, ddof=1) / np.sqrt(len(pairs)))
    shares = [found[name] for name in ("most_trusted", "best_single", "majority")]
    assert shares == pytest.approx([np.mean(trusted), np.mean(single), np.mean(majority)])
    assert sum(one["count"] for one in found["reliability"]) == apart * teachers


def test_weights_that_know_the_truth_have_all_pairs_right() -> None:
    draw = np.random.default_rng(1)
    logits, truth = draw.normal(size=(3, 50, 4)), draw.integers(0, 4, 50)
    right = (logits.argmax(-1) == truth).T + 0.01
    found = measure_trust(right / right.sum(1, keepdims=True), logits, truth, best=0)
    assert found["pairs_right"] == 1.0
    assert found["most_trusted"] >= max(found["best_single"], found["majority"])


def test_where_teachers_agree_there_is_nothing_to_tell() -> None:
    logits = np.tile(np.random.default_rng(2).normal(size=(1, 9, 3)), (4, 1, 1))
    found = measure_trust(np.full((9, 4), 0.25), logits, np.zeros(9, int), best=0)
    assert found["disagreement"] == 0 and found["pairs_right"] is None and found["most_trusted"] is None
    assert found["effective_teachers"] == pytest.approx(4)


def timid(count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Logits of a model that is right far more often than it says, and labels."""
    draw = np.random.default_rng(seed)
    logits = draw.normal(size=(count, 4))
    odds = np.exp(4 * logits)
    labels = np.array([draw.choice(4, p=row / row.sum()) for row in odds])
    return logits.astype(np.float32), labels


def test_confidence_is_found_and_leaves_answers_as_they_are() -> None:
    logits, labels = timid(2000)
    confidence = Confidence.fitted(logits, labels)
    assert confidence.temperature == pytest.approx(0.25, rel=0.1)
    other, truth = timid(2000, seed=4)
    assert calibration_error(truth, confidence(other)) < 0.03 < calibration_error(truth, Confidence()(other))
    assert log_loss(truth, confidence(other)) < log_loss(truth, Confidence()(other))
    np.testing.assert_array_equal(confidence(other).argmax(1), other.argmax(1))


def test_held_out_nodes_are_judged_by_a_temperature_without_their_labels() -> None:
    logits, labels = timid(40)
    before = Confidence.fitted(logits, labels)
    flipped = labels.copy()
    flipped[3::5] = (flipped[3::5] + 1) % 4  # one part
    after = Confidence.fitted(logits, flipped)
    assert before.parts[3] == after.parts[3]
    assert before.parts[2] != after.parts[2]
    expected = np.exp(logits[8] / before.parts[3]) / np.exp(logits[8] / before.parts[3]).sum()
    np.testing.assert_allclose(before.heldout(logits)[8], expected, rtol=1e-5)


def test_few_labels_that_are_all_right_make_nobody_certain() -> None:
    logits = np.tile([[1.0, 0.0]], (6, 1)).astype(np.float32)
    assert 0.1 < Confidence.fitted(logits, np.zeros(6, int)).temperature < 1
    assert Confidence.fitted(logits[:1], np.zeros(1, int)) == Confidence()


def test_scores_are_the_mass_of_likelier_classes() -> None:
    draw = np.random.default_rng(5)
    p, u = draw.dirichlet(np.ones(5), 20), draw.random(20)
    found = adaptive_scores(p, u)
    for i in range(20):
        for c in range(5):
            likelier = sum(p[i, d] for d in range(5) if p[i, d] > p[i, c])
            assert found[i, c] == pytest.approx(likelier + u[i] * p[i, c])


def test_smoothing_is_the_mean_of_the_neighbours() -> None:
    graph, scores = random_graph(12, 20, seed=0), np.random.default_rng(6).random((12, 3))
    found = smoothed(scores, graph, 0.5)
    for i in range(12):
        near = list(graph.neighbours(i))
        expected = scores[i] if not near else (scores[i] + np.mean([scores[j] for j in near], axis=0)) / 2
        np.testing.assert_allclose(found[i], expected)


def worlds(seed: int, nodes: int = 1500) -> tuple[Graph, np.ndarray]:
    """A graph with labels, and probabilities that are far too sure."""
    draw = np.random.default_rng(seed)
    p = draw.dirichlet(np.full(4, 0.7), nodes)
    y = np.array([draw.choice(4, p=row) for row in p])
    sure = p**3 / (p**3).sum(1, keepdims=True)
    graph = random_graph(nodes, 3 * nodes, seed=seed)
    return Graph.from_arrays(graph.adjacency(), graph.x, y, notify=False), sure


@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_sets_hold_the_truth_as_often_as_asked_though_the_model_is_too_sure(coverage: float) -> None:
    found = []
    for seed in range(4):
        graph, p = worlds(seed)
        nodes = np.arange(0, 1500, 3)
        sets = Conformal.fitted(p, graph, nodes, p[nodes]).sets(p, graph, coverage)
        rest = np.setdiff1d(np.arange(1500), nodes)
        found.append(measure_sets(sets[rest], graph.y[rest], coverage)["coverage"])
    assert np.mean(found) == pytest.approx(coverage, abs=0.02)


def test_by_class_every_class_is_covered() -> None:
    held = []
    for seed in range(4):
        graph, p = worlds(seed)
        p = p * np.array([0.05, 1, 1, 1])  # the first class is hardly ever believed in
        p /= p.sum(1, keepdims=True)
        nodes = np.arange(0, 1500, 2)
        sets = Conformal.fitted(p, graph, nodes, p[nodes]).sets(p, graph, 0.9, by_class=True)
        rest = np.arange(1, 1500, 2)
        held.append([sets[rest, c][graph.y[rest] == c].mean() for c in range(4)])
    assert np.abs(np.mean(held, axis=0) - 0.9).max() < 0.05


def test_too_few_held_out_nodes_leave_every_class_in() -> None:
    graph, p = worlds(0)
    sets = Conformal.fitted(p, graph, np.arange(5), p[:5]).sets(p, graph, 0.9)
    assert sets.all()
    assert quantile(np.arange(9.0), 0.9) == 8.0


def test_a_coverage_that_is_no_chance_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"coverage = 90, but it is a chance between 0 and 1; 0\.9"):
        Conformal(np.zeros(3, np.float32), np.zeros(3, np.int64), 0.0).thresholds(90, 2)


def test_the_draws_of_a_node_do_not_depend_on_how_many_follow() -> None:
    graph, p = worlds(0)
    few = random_graph(100, 0, seed=0)
    np.testing.assert_allclose(node_scores(p[:100], few, 0.0), node_scores(p, graph, 0.0)[:100])
