"""Figures are drawn from a run and hold its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from agssl.explain.groups import Group
from agssl.explain.plots import check_plotting, training_curves, weights_by_group

pytest.importorskip("matplotlib")


def test_the_heatmap_shows_every_mean_weight() -> None:
    groups = [Group("1", 30, {"par": 0.25, "dgi": 0.75}), Group("2-3", 5, {"par": 0.6, "dgi": 0.4})]
    figure = weights_by_group(groups, "degree")
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.25", "0.75", "0.60", "0.40"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["par", "dgi"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1  (30)", "2-3  (5)"]


def test_curves_of_all_stages_are_drawn_and_the_last_student_s_error() -> None:
    student = {"val_accuracy": [0.4, 0.6], "train_mse": [0.3, 0.2], "val_mse": [0.5, 0.4]}
    history = {"teacher par": {"val_accuracy": [0.1, 0.2, 0.3]}, "student": student}
    left, right = training_curves(history).axes
    assert [line.get_label() for line in left.get_lines()] == ["teacher par", "student"]
    np.testing.assert_allclose(left.get_lines()[0].get_ydata(), [0.1, 0.2, 0.3])
    np.testing.assert_allclose(right.get_lines()[1].get_ydata(), [0.5, 0.4])


def test_a_plain_gcn_has_curves_too() -> None:
    assert len(training_curves({"gcn": {"val_accuracy": [0.5]}}).axes[0].get_lines()) == 1
    check_plotting()
