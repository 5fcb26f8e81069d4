"""`AGSSL.check`: labels that networks which had not seen them do not believe."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agssl import AGSSL, Graph
from agssl.base.errors import DataError, GraphError
from agssl.data.splits import Split
from agssl.label.check import check_labels, confident_class, likeliest_other, thresholds
from agssl.store.fitted import judged
from reference.graphs import blocks_graph

FAST = {"method": "gcn", "hidden": 16, "epochs": 60, "lr": 0.05, "split": "cv:5"}
FLIPPED = [3, 10, 32, 47, 71, 88]


def flipped() -> Graph:
    graph = blocks_graph(120)
    y = graph.y.copy()
    y[FLIPPED] = (y[FLIPPED] + 1) % 3
    return replace(graph, y=y, split=None, classes=("ant", "bee", "cat"))


@pytest.fixture(scope="module")
def model() -> AGSSL:
    return AGSSL(**FAST).fit(flipped())


def test_flipped_labels_are_found_with_the_class_they_had(model: AGSSL) -> None:
    found = model.check()
    assert len(found) == 120
    first = found[: len(FLIPPED)]
    hits = [one for one in first if one.index in FLIPPED]
    assert len(hits) >= 5
    assert sum(one.suspect for one in hits) >= 4
    for one in hits:
        assert one.looks_like == model.classes_[one.index % 3] != one.label


def test_no_label_comes_twice_and_the_least_believed_come_first(model: AGSSL) -> None:
    found = model.check()
    assert len({one.index for one in found}) == len(found)
    order = [one.probability for one in found]
    assert order == sorted(order)


def test_doubts_are_those_of_loops_over_held_out_answers(model: AGSSL) -> None:
    graph = model.graph_
    said = judged(model.fitted_, graph.split, "val")
    p, y = said.probabilities, graph.y[said.nodes]
    limits = [np.mean([row[c] for row, label in zip(p, y, strict=True) if label == c]) for c in range(3)]
    expected = set()
    for node, row, label in zip(said.nodes.tolist(), p, y, strict=True):
        sure = [(row[c], c) for c in range(3) if row[c] >= limits[c]]
        if sure and max(sure)[1] != label:
            expected.add(node)
    found = model.check()
    assert {one.index for one in found if one.suspect} == expected
    by_node = dict(zip(said.nodes.tolist(), p, strict=True))
    for one in found:
        row, label = by_node[one.index], graph.y[one.index]
        assert one.probability == pytest.approx(row[label])
        if not one.suspect:
            assert one.other == pytest.approx(max(row[c] for c in range(3) if c != label))
        near = Counter(graph.classes[graph.y[n]] for n in graph.neighbours(one.index))
        assert one.neighbours == near and list(one.neighbours.values()) == sorted(near.values(), reverse=True)


def test_a_class_without_labels_is_never_confident() -> None:
    p, y = np.array([[0.5, 0.1, 0.4], [0.2, 0.1, 0.7]]), np.array([0, 0])
    limits = thresholds(p, y)
    assert limits.tolist() == pytest.approx([0.35, np.inf, np.inf])
    assert confident_class(p, limits).tolist() == [0, -1]
    assert likeliest_other(p, y).tolist() == [2, 2]


def test_without_folds_labels_that_trained_are_not_judged() -> None:
    graph = blocks_graph(90)
    model = AGSSL(**FAST | {"split": "auto"}).fit(graph)
    checked = {one.index for one in model.check()}
    assert checked == set(range(90)) - set(graph.split.train.tolist())


def test_answers_of_several_seeds_are_averaged(model: AGSSL) -> None:
    other = AGSSL(**FAST, random_state=1).fit(flipped())
    both = check_labels([(one.fitted_, one.graph_.split) for one in (model, other)], model.graph_)
    alone = [{one.index: one.probability for one in found} for found in (model.check(), other.check())]
    for one in both:
        assert one.probability == pytest.approx((alone[0][one.index] + alone[1][one.index]) / 2)


def test_a_label_of_a_class_that_is_new_since_the_fit_is_left_out(model: AGSSL) -> None:
    y = model.graph_.y + 1
    y[:5] = 0
    changed = replace(model.graph_, y=y, classes=("aardvark", "ant", "bee", "cat"))
    found = check_labels([(model.fitted_, model.graph_.split)], changed)
    assert len(found) == 115 and {one.label for one in found} == {"ant", "bee", "cat"}


def test_what_can_not_be_checked_is_refused(model: AGSSL, tmp_path: Path) -> None:
    none = Split(np.arange(120), np.array([], np.int64), np.array([], np.int64))
    with pytest.raises(GraphError, match="no label of blocks was held out"):
        check_labels([(replace(model.fitted_, heldout=None), none)], model.graph_)
    model.save(tmp_path / "model.agssl")
    with pytest.raises(DataError, match="a model file does not carry its labels"):
        AGSSL.load(tmp_path / "model.agssl").check()
