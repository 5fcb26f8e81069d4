from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from agssl.base.errors import SettingsError
from agssl.explain.layout import _near, flat_map
from agssl.metrics import calibration_error
from agssl.report import arrays, figures
from reference.graphs import edge_list, graphs
from reference.page import edges_of, unpack


def answers(nodes: int = 200, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(1)
    return draw.integers(classes, size=nodes), draw.dirichlet(np.full(classes, 0.4), size=nodes)


def test_confusion_is_that_of_scikit_learn() -> None:
    truth, probabilities = answers()
    found = figures.confusion(truth, probabilities.argmax(1), 4)
    assert np.array_equal(found, confusion_matrix(truth, probabilities.argmax(1)))


def test_the_gaps_of_the_reliability_diagram_make_up_the_calibration_error() -> None:
    truth, probabilities = answers()
    bins = figures.reliability(truth, probabilities)
    gap = sum(b["nodes"] * abs(b["accuracy"] - b["confidence"]) for b in bins) / len(truth)
    assert sum(b["nodes"] for b in bins) == len(truth)
    assert gap == pytest.approx(calibration_error(truth, probabilities), abs=1e-12)
    assert all(b["low"] <= b["confidence"] <= b["high"] for b in bins)


def test_agreement_and_changes_count_node_by_node() -> None:
    draw = np.random.default_rng(2)
    said, truth = draw.integers(3, size=(4, 50)), draw.integers(3, size=50)
    naive = [[sum(a == b for a, b in zip(one, two, strict=True)) / 50 for two in said] for one in said]
    assert np.allclose(figures.agreement(said), naive)
    student, best = said[0] == truth, said[1] == truth
    found = figures.changes(student, best)
    assert found["rescued"] == sum(s and not b for s, b in zip(student, best, strict=True))
    assert found["spoiled"] == sum(b and not s for s, b in zip(student, best, strict=True))
    assert sum(found.values()) == 50
    for row in figures.by_teachers_right(student, said[1:] == truth):
        nodes = [i for i in range(50) if sum(said[k][i] == truth[i] for k in (1, 2, 3)) == row["teachers"]]
        assert (row["nodes"], row["right"]) == (len(nodes), sum(bool(student[i]) for i in nodes))


@given(graphs())
def test_every_edge_is_packed_once(graph) -> None:  # type: ignore[no-untyped-def]
    counts, steps = arrays.half_edges(graph.indptr, graph.indices)
    assert edges_of(counts, steps) == set(edge_list(graph))


@given(st.lists(st.sampled_from(["uint8", "int8", "uint16", "int16", "uint32"]), max_size=6), st.integers(0, 9))
def test_arrays_survive_packing(kinds: list[str], size: int) -> None:
    draw = np.random.default_rng(size)
    given_ = {f"{k}": draw.integers(0, 100, size=(size, 3)).astype(kind) for k, kind in enumerate(kinds)}
    found = unpack(*arrays.pack(given_))
    assert list(found) == list(given_)
    assert all(np.array_equal(found[name], given_[name]) for name in given_)


def test_shares_keep_four_digits_and_places_the_shape() -> None:
    draw = np.random.default_rng(3)
    values = draw.random(1000)
    assert np.abs(arrays.shares(values) / arrays.SHARE - values).max() <= 0.5 / arrays.SHARE
    points = draw.normal(size=(500, 2)) * [3, 1]
    placed = arrays.places(points).astype(float)
    assert placed[:, 0].min() <= 2 and placed[:, 0].max() >= arrays.PLACE - 2
    scale = np.ptp(placed, axis=0) / np.ptp(points, axis=0)
    assert scale[0] == pytest.approx(scale[1], rel=1e-3)
    assert np.array_equal(arrays.places(np.zeros((3, 2)))[0], arrays.places(np.zeros((3, 2)))[2])


@pytest.mark.parametrize("count", [2, 127, 128, 40_000])
def test_class_numbers_fit_their_type(count: int) -> None:
    values = np.array([-1, 0, count - 1])
    assert np.array_equal(arrays.small(values, count), values)


def test_a_map_is_always_the_same_and_keeps_classes_apart() -> None:
    draw = np.random.default_rng(4)
    which = np.arange(240) % 4
    hidden = 6 * np.eye(4, 12)[which] + draw.normal(size=(240, 12))
    placed = flat_map(hidden, landmarks=120)
    assert np.array_equal(placed, flat_map(hidden, landmarks=120))
    centres = np.stack([placed[which == k].mean(0) for k in range(4)])
    nearest = np.linalg.norm(placed[:, None] - centres, axis=2).argmin(1)
    assert (nearest == which).mean() > 0.95


def test_landmarks_stay_where_they_were_placed() -> None:
    draw = np.random.default_rng(5)
    points, placed = draw.normal(size=(20, 3)), draw.normal(size=(20, 2))
    assert np.allclose(_near(points, points, placed), placed)


def test_maps_of_few_or_equal_nodes_do_not_fail() -> None:
    assert flat_map(np.zeros((5, 3))).shape == (5, 2)
    assert np.isfinite(flat_map(np.random.default_rng(0).normal(size=(4, 1)))).all()
    assert flat_map(np.random.default_rng(0).normal(size=(30, 3)), "pca").shape == (30, 2)
    with pytest.raises(SettingsError, match="unknown map 'umap'"):
        flat_map(np.zeros((5, 3)), "umap")
