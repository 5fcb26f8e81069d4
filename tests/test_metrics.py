"""Metrics against scikit-learn's and against loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from agssl.metrics import accuracy, calibration_error, evaluate, log_loss, macro_f1


def case(seed: int, nodes: int, classes: int, sharp: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    scores = np.exp(sharp * draw.normal(size=(nodes, classes)))
    return draw.integers(classes, size=nodes), scores / scores.sum(1, keepdims=True)


cases = st.builds(
    case, st.integers(0, 10_000), st.integers(1, 60), st.integers(2, 6), st.sampled_from([0.1, 1.0, 2.5, 30.0])
)


def naive_macro_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    scores = []
    for label in {*truth.tolist(), *predicted.tolist()}:
        both = sum((truth == label) & (predicted == label))
        scores.append(2 * both / (sum(truth == label) + sum(predicted == label)))
    return float(sum(scores) / len(scores))


def naive_log_loss(truth: np.ndarray, probabilities: np.ndarray) -> float:
    return sum(-math.log(max(probabilities[i, label], 1e-12)) for i, label in enumerate(truth)) / len(truth)


@given(cases)
@settings(max_examples=40, deadline=None)
def test_metrics_are_what_their_definitions_say(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    truth, probabilities = drawn
    predicted = probabilities.argmax(1)
    assert accuracy(truth, probabilities) == pytest.approx(sk.accuracy_score(truth, predicted))
    assert macro_f1(truth, probabilities) == pytest.approx(naive_macro_f1(truth, predicted), abs=1e-12)
    assert log_loss(truth, probabilities) == pytest.approx(naive_log_loss(truth, probabilities), abs=1e-12)


def naive_calibration_error(truth: np.ndarray, probabilities: np.ndarray, bins: int) -> float:
    total = 0.0
    for b in range(bins):
        inside = []
        for i in range(len(truth)):
            confidence = max(probabilities[i])
            last = b == bins - 1 and confidence >= 1
            if b / bins <= confidence < (b + 1) / bins or last:
                inside.append((confidence, probabilities[i].argmax() == truth[i]))
        if inside:
            confidence = sum(c for c, _ in inside) / len(inside)
            right = sum(r for _, r in inside) / len(inside)
            total += len(inside) / len(truth) * abs(confidence - right)
    return total


@given(cases, st.sampled_from([1, 4, 15]))
@settings(max_examples=60, deadline=None)
def test_calibration_error_is_the_mean_gap_over_bins(drawn: tuple[np.ndarray, np.ndarray], bins: int) -> None:
    truth, probabilities = drawn
    expected = naive_calibration_error(truth, probabilities, bins)
    assert calibration_error(truth, probabilities, bins) == pytest.approx(expected, abs=1e-9)


def test_certainty_falls_into_the_last_bin() -> None:
    sure = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert calibration_error(np.array([0, 1]), sure) == 0
    assert calibration_error(np.array([1, 0]), sure) == 1


def test_log_loss_is_finite_for_a_sure_mistake() -> None:
    assert log_loss(np.array([0]), np.array([[0.0, 1.0]])) == pytest.approx(-math.log(1e-12))


def test_evaluation_leaves_out_unlabelled_nodes() -> None:
    truth, probabilities = case(0, 30, 4)
    some = truth.copy()
    some[::3] = -1
    known = some >= 0
    found = evaluate(some, probabilities)
    assert set(found) == {"accuracy", "macro_f1", "log_loss", "ece"}
    assert found["accuracy"] == accuracy(truth[known], probabilities[known])
    assert found["macro_f1"] == macro_f1(truth[known], probabilities[known])
    assert found["log_loss"] == log_loss(truth[known], probabilities[known])
    assert found["ece"] == calibration_error(truth[known], probabilities[known])


def test_without_any_label_there_is_nothing_to_measure() -> None:
    found = evaluate(np.array([-1, -1]), np.full((2, 2), 0.5))
    assert all(np.isnan(value) for value in found.values())
