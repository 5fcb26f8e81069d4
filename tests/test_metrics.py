"""Metrics against scikit-learn's and against loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from agssl.config.fields import METRICS
from agssl.metrics import (
    Decision,
    Measured,
    accuracy,
    average_precision,
    balanced_accuracy,
    calibration_error,
    decided,
    evaluate,
    find_threshold,
    log_loss,
    macro_f1,
    measure,
    per_class,
    resampled,
    roc_auc,
)


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
    assert set(found) == {*METRICS, "ece"}
    assert found["accuracy"] == accuracy(truth[known], probabilities[known])
    assert found["macro_f1"] == macro_f1(truth[known], probabilities[known])
    assert found["log_loss"] == log_loss(truth[known], probabilities[known])
    assert found["ece"] == calibration_error(truth[known], probabilities[known])


def test_without_any_label_there_is_nothing_to_measure() -> None:
    found = evaluate(np.array([-1, -1]), np.full((2, 2), 0.5))
    assert all(np.isnan(value) for value in found.values())


def with_ties(seed: int, nodes: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    scores = draw.integers(1, 4, size=(nodes, classes)).astype(float)  # few values, so that many are equal
    truth = np.append(np.arange(classes), draw.integers(classes, size=nodes - classes))
    return truth, scores / scores.sum(1, keepdims=True)


tied = st.builds(with_ties, st.integers(0, 10_000), st.integers(8, 80), st.integers(2, 6))
both_kinds = st.one_of(tied, st.builds(with_ties, st.integers(0, 10_000), st.integers(2, 9), st.just(2)))


@given(both_kinds)
@settings(max_examples=60, deadline=None)
def test_metrics_are_those_of_scikit_learn_with_ties_too(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    truth, p = drawn
    classes = p.shape[1]
    rows = np.eye(classes, dtype=int)[truth]
    if classes == 2:
        assert roc_auc(truth, p) == pytest.approx(sk.roc_auc_score(truth, p[:, 1]))
        for k in (0, 1):
            expected = sk.average_precision_score(truth == k, p[:, k])
            assert average_precision(truth, p, Decision(k)) == pytest.approx(expected)
    else:
        assert roc_auc(truth, p) == pytest.approx(sk.roc_auc_score(truth, p, multi_class="ovr"))
        assert average_precision(truth, p) == pytest.approx(sk.average_precision_score(rows, p))
    predicted = p.argmax(1)
    assert balanced_accuracy(truth, p) == pytest.approx(sk.balanced_accuracy_score(truth, predicted))
    assert macro_f1(truth, p) == sk.f1_score(truth, predicted, average="macro")
    expected = sk.precision_recall_fscore_support(truth, predicted, labels=range(classes), zero_division=0)
    for found, theirs in zip(per_class(truth, predicted, classes).values(), expected, strict=True):
        np.testing.assert_allclose(found, theirs)


def test_ranked_metrics_are_over_the_classes_that_are_there() -> None:
    truth, p = with_ties(1, 60, 4)
    some = truth != 2
    found = [sk.roc_auc_score(truth[some] == k, p[some, k]) for k in (0, 1, 3)]
    assert roc_auc(truth[some], p[some]) == pytest.approx(np.mean(found))
    one = truth == 2
    assert math.isnan(roc_auc(truth[one], p[one])) and math.isnan(average_precision(truth[one], p[one]))


def test_a_threshold_decides_and_metrics_of_decisions_follow_it() -> None:
    truth, p = np.array([0, 0, 1, 1]), np.array([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.2, 0.8]])
    assert decided(p).tolist() == [0, 0, 0, 1]
    low = Decision(positive=1, threshold=0.35)
    assert decided(p, low).tolist() == [0, 0, 1, 1]
    assert measure("accuracy", truth, p) == 0.75 and measure("accuracy", truth, p, low) == 1.0
    assert measure("macro_f1", truth, p, low) == measure("balanced_accuracy", truth, p, low) == 1.0
    assert measure("log_loss", truth, p, low) == measure("log_loss", truth, p)
    other = Decision(positive=0, threshold=0.65)
    assert decided(p, other).tolist() == [0, 0, 1, 1]


@given(st.builds(with_ties, st.integers(0, 10_000), st.integers(2, 40), st.just(2)))
@settings(max_examples=60, deadline=None)
def test_thresholds_are_the_best_of_all(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    positive, scores = drawn[0] == 1, drawn[1][:, 1]
    tried = [scores >= t for t in np.unique(scores)]
    rows = [(sk.precision_score(positive, x), sk.recall_score(positive, x), sk.f1_score(positive, x)) for x in tried]
    best = find_threshold(positive, scores, "f1")
    assert best.threshold is not None
    assert sk.f1_score(positive, scores >= best.threshold) == pytest.approx(max(f1 for *_, f1 in rows))
    assert best.precision == pytest.approx(sk.precision_score(positive, scores >= best.threshold))
    sure = find_threshold(positive, scores, "precision:0.7")
    enough = [recall for precision, recall, _ in rows if precision >= 0.7]
    if enough:
        assert sure.precision is not None and sure.precision >= 0.7 and sure.recall == pytest.approx(max(enough))
    else:
        assert sure.precision == pytest.approx(max(precision for precision, *_ in rows))
    given_ = find_threshold(positive, scores, 0.5)
    assert given_.threshold == 0.5
    assert given_.recall == pytest.approx(sk.recall_score(positive, scores >= 0.5, zero_division=0))


def test_resampled_values_spread_as_an_accuracy_does() -> None:
    draw = np.random.default_rng(0)
    right = draw.random(400) < 0.8
    p = np.where(right[:, None], [0.9, 0.1], [0.1, 0.9])
    one = Measured(np.arange(400), np.zeros(400, dtype=int), p)
    found = resampled("accuracy", [one])
    assert len(found) == 1000 and found.mean() == pytest.approx(right.mean(), abs=0.005)
    assert found.std() == pytest.approx(math.sqrt(0.8 * 0.2 / 400), rel=0.15)
    # another seed that says the same of the same nodes tells nothing new
    np.testing.assert_array_equal(found, resampled("accuracy", [one, one]))


def test_every_metric_has_a_name_and_no_other() -> None:
    truth, p = case(0, 30, 3)
    assert all(math.isfinite(measure(name, truth, p)) for name in METRICS)
    with pytest.raises(ValueError, match="no metric 'acuracy'"):
        measure("acuracy", truth, p)
