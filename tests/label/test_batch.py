"""A batch covers what is unsure, without repeating itself."""

from __future__ import annotations

import numpy as np
import pytest

from agssl.label.batch import alike, choose_batch, coverage, unit
from agssl.label.suggest import disagreement


def naive(
    similarity: np.ndarray, weights: np.ndarray, covered: np.ndarray, favour: np.ndarray, groups: np.ndarray, count: int
) -> list[int]:
    """The same choice by loops over targets, candidates and what was chosen."""
    chosen: list[int] = []
    for _ in range(count):
        best, most = -1, -1.0
        for j in range(similarity.shape[1]):
            if j in chosen:
                continue
            gain = 0.0
            for i in range(similarity.shape[0]):
                before = max([covered[i], *(similarity[i, k] for k in chosen)])
                gain += weights[i] * max(0.0, similarity[i, j] - before)
            asked = sum(groups[k] == groups[j] for k in chosen)
            if gain * favour[j] / (1 + asked) ** 0.5 > most:
                best, most = j, gain * favour[j] / (1 + asked) ** 0.5
        chosen.append(best)
    return chosen


@pytest.mark.parametrize("seed", range(5))
def test_the_greedy_choice_is_that_of_loops(seed: int) -> None:
    draw = np.random.default_rng(seed)
    similarity, weights, covered = draw.random((12, 9)), draw.random(12), draw.random(12) / 2
    favour, groups = draw.random(9) + 0.5, draw.integers(0, 3, 9)
    batch = choose_batch(similarity, weights, covered, favour, groups, 5)
    assert batch.chosen.tolist() == naive(similarity, weights, covered, favour, groups, 5)
    left = covered.copy()
    for at, share in zip(batch.chosen, batch.covered, strict=True):
        now = np.maximum(left, similarity[:, at])
        assert share == pytest.approx((weights * (now - left)).sum() / weights.sum())
        left = now


def test_a_batch_is_spread_over_groups_of_alike_nodes() -> None:
    rows = unit(np.repeat(np.eye(4), 10, axis=0) + np.random.default_rng(0).normal(size=(40, 4)) / 50)
    same, ones = alike(rows, rows, 4), np.ones(40)
    batch = choose_batch(same, ones, np.zeros(40), ones, np.zeros(40, np.int64), 4)
    assert sorted(batch.chosen // 10) == [0, 1, 2, 3]
    known = coverage(rows, rows[:10], 4)
    batch = choose_batch(same, ones, known, ones, np.zeros(40, np.int64), 3)
    assert sorted(batch.chosen // 10) == [1, 2, 3]  # the first group has labels


def test_a_lone_outlier_is_not_worth_a_label_though_the_model_is_most_unsure_of_it() -> None:
    rows = unit(np.vstack([np.repeat([[1.0, 0, 0]], 10, axis=0), np.repeat([[0, 1.0, 0]], 10, axis=0), [[0, 0, 1.0]]]))
    doubt = np.array([0.3] * 10 + [0.1] * 10 + [0.9])
    batch = choose_batch(alike(rows, rows, 4), doubt, np.zeros(21), np.ones(21), np.zeros(21, np.int64), 3)
    assert (batch.chosen // 10).tolist() == [0, 1, 2]


def test_more_than_there_are_gives_all_once() -> None:
    similarity = np.eye(3)
    batch = choose_batch(similarity, np.ones(3), np.zeros(3), np.ones(3), np.zeros(3, np.int64), 9)
    assert sorted(batch.chosen) == [0, 1, 2]


def test_coverage_is_the_largest_similarity_however_many_are_known() -> None:
    draw = np.random.default_rng(1)
    rows, known = unit(draw.normal(size=(7, 5))), unit(draw.normal(size=(1100, 5)))
    assert np.allclose(coverage(rows, known, 3), (np.maximum(rows @ known.T, 0) ** 3).max(1), atol=1e-6)
    assert (coverage(rows, known[:0], 3) == 0).all()


def test_disagreement_is_the_share_outside_the_most_common_answer() -> None:
    answers = np.random.default_rng(2).integers(0, 3, (5, 30))
    expected = [1 - max(column.tolist().count(c) for c in range(3)) / 5 for column in answers.T]
    assert disagreement(answers) == pytest.approx(expected)
    assert disagreement(answers[:0]).tolist() == [0.0] * 30
