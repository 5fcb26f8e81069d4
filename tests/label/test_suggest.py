"""`AGSSL.suggest`: which nodes to label next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agssl import AGSSL, Graph
from agssl.base.errors import GraphError, SettingsError
from agssl.label import suggest as module
from agssl.label.suggest import disagreement, suggest, teacher_answers
from reference.graphs import blocks_graph

FAST = {"tasks": ("clu", "pairdis"), "hidden": 8, "epochs": 30, "lr": 0.05, "alpha": 1.0, "split": "cv:2"}


def partly(labelled: int = 18) -> Graph:
    graph = blocks_graph(90)
    y = np.where(np.arange(90) < labelled, graph.y, -1)
    return replace(graph, y=y, split=None, classes=("ant", "bee", "cat"))


@pytest.fixture(scope="module")
def model() -> AGSSL:
    return AGSSL(**FAST).fit(partly())


def test_suggestions_are_unlabelled_distinct_and_as_many_as_asked_for(model: AGSSL) -> None:
    found = model.suggest(12)
    nodes = [one.index for one in found]
    assert len(set(nodes)) == 12
    assert (model.graph_.y[nodes] < 0).all()
    assert len(model.suggest(100)) == 72  # as many as there are


def test_a_larger_batch_begins_with_the_smaller_one(model: AGSSL) -> None:
    assert model.suggest(12)[:5] == model.suggest(5)


def test_a_batch_asks_about_every_class(model: AGSSL) -> None:
    assert {one.prediction for one in model.suggest(9)} == set(model.classes_)


def test_a_suggestion_says_what_the_model_says(model: AGSSL) -> None:
    said = model.predict_proba()
    for one in model.suggest(6):
        row = said[one.index]
        assert one.probability == pytest.approx(row.max())
        assert one.prediction == model.classes_[row.argmax()] and one.second == model.classes_[np.argsort(-row)[1]]
        assert one.degree == model.graph_.degree[one.index]
        assert one.prediction in one.reason and f"{row.max():.0%}" in one.reason
        answers = teacher_answers(model.fitted_, np.array([one.index]))
        assert one.disagreement == pytest.approx(disagreement(answers)[0])


def test_labels_that_were_added_since_are_not_asked_for_again(model: AGSSL) -> None:
    first = [one.index for one in model.suggest(10)]
    y = model.graph_.y.copy()
    y[first] = 0
    again = [one.index for one in model.suggest(10, replace(model.graph_, y=y))]
    assert not set(first) & set(again)


def test_only_nodes_that_can_be_labelled_are_chosen(model: AGSSL) -> None:
    some, said = np.arange(40, 60), model.predict_proba()
    found = suggest([model.fitted_], said, model.embed(), model.graph_, 30, among=some)
    assert sorted(one.index for one in found) == some.tolist()


def test_a_method_without_teachers_suggests_as_well() -> None:
    model = AGSSL(method="gcn", hidden=8, epochs=10, split="cv:2").fit(partly())
    assert {one.disagreement for one in model.suggest(5)} == {0.0}


def test_a_large_graph_is_sampled_and_the_same_nodes_come_again(model: AGSSL, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CANDIDATES", 10)
    monkeypatch.setattr(module, "TARGETS", 15)
    found = model.suggest(8)
    assert len({one.index for one in found}) == 8
    assert found == model.suggest(8)


def test_what_can_not_be_is_refused(model: AGSSL) -> None:
    with pytest.raises(SettingsError, match="n = 0, but a batch has 1 to 500 nodes"):
        model.suggest(0)
    full = replace(model.graph_, y=np.zeros_like(model.graph_.y))
    with pytest.raises(GraphError, match="every node of blocks has a label"):
        model.suggest(3, full)


def test_a_model_from_a_file_takes_its_graph(model: AGSSL, tmp_path: Path) -> None:
    model.save(tmp_path / "model.agssl")
    loaded = AGSSL.load(tmp_path / "model.agssl")
    assert [one.node for one in loaded.suggest(4, model.graph_)] == [one.node for one in model.suggest(4)]
