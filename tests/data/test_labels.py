"""Labels as users have them: of any type, missing, several at once, or no classes at all."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl import AGSSL, read_graph
from agssl.base.errors import GraphError
from agssl.data.convert import to_graph
from agssl.data.labels import clean_labels
from agssl.data.packed import open_packed, write_packed
from reference.graphs import blocks_graph

FAST = {"method": "gcn", "hidden": 8, "epochs": 20, "lr": 0.05}
KINDS: dict[str, list[Any]] = {
    "bool": [True, False],
    "int": [3, 10],
    "float": [1.0, 2.0],
    "digits in text": ["1", "2"],
    "distinct texts of one number": ["1", "01"],
    "text": ["b", "a"],
}


def triple(values: list[Any], **how: Any) -> tuple[Any, Any, Any]:
    graph = blocks_graph(classes=2)
    return graph.adjacency(), graph.x, np.array([values[y] for y in graph.y], **how)


@pytest.mark.parametrize("values", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("how", [{}, {"dtype": object}], ids=["array", "objects"])
def test_classes_keep_their_type_and_names_and_scores_agree(
    values: list[Any], how: dict[str, Any], tmp_path: Path
) -> None:
    graph = triple(values, **how)
    model = AGSSL(**FAST).fit(graph)
    model.save(tmp_path / "model")
    for one in (model, AGSSL.load(tmp_path / "model")):
        assert sorted(one.classes_.tolist()) == sorted(values)
        assert {type(c) for c in one.classes_.tolist()} == {type(v) for v in values}
        assert set(one.predict().tolist()) <= set(values)
        share = float(np.mean(one.predict() == graph[2]))
        assert share > 0.6
        assert one.score(graph, graph[2]) == pytest.approx(share) == one.score(graph)


def test_nodes_whose_truth_is_missing_do_not_count_in_a_score() -> None:
    graph = triple(["a", "b"])
    model = AGSSL(**FAST).fit(graph)
    truth = model.predict().astype(object)
    truth[:7] = [None, float("nan"), "", "unknown", "NA", "?", -1]
    assert model.score(graph, truth) == 1


def test_a_table_has_the_types_that_its_text_looks_like(tmp_path: Path) -> None:
    def classes(*labels: str) -> list[Any]:
        rows = [f"n{i},{i},{label}" for i, label in enumerate(labels * 2)]
        (tmp_path / "t.csv").write_text("\n".join(["id,f,label", *rows]))
        return read_graph(tmp_path / "t.csv", knn=1).class_values.tolist()

    assert classes("10", "2", "") == [2, 10]
    assert classes("01", "1", "?") == ["01", "1"]
    assert classes("True", "False") == [False, True]
    assert classes("10000000000000001", "10000000000000002") == ["10000000000000001", "10000000000000002"]


def test_types_survive_packing_and_pyg(tmp_path: Path) -> None:
    graph = to_graph(triple([True, False]))
    write_packed(graph, tmp_path / "packed")
    assert open_packed(tmp_path / "packed").class_values.tolist() == [False, True]
    pytest.importorskip("torch_geometric")
    assert to_graph(graph.to_pyg()).class_values.tolist() == [False, True]


def test_words_for_missing_are_missing_and_it_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    y = ["a", "b", "?", "NaN", "Unknown", "?", "N/A", "null", "None", "", None]
    with caplog.at_level(logging.WARNING):
        labels = clean_labels(y)
    assert labels.names == ("a", "b") and labels.numbers.tolist() == [0, 1] + [-1] * 9
    (message,) = caplog.messages
    assert message.startswith("7 labels look missing: '?' (2), ") and "taken as unlabelled" in message


def test_usual_signs_of_no_label_and_named_classes_say_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert clean_labels(["a", "b", "", None, float("nan")]).numbers.tolist() == [0, 1, -1, -1, -1]
    assert clean_labels(["none", "some", ""], ["none", "some"]).numbers.tolist() == [0, 1, -1]
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["A", "B", "A|B", "B"], "several labels, 'A|B'"),
        (["A;B", "B;C", "C;A", "A;C"], "several labels, 'A;B'"),
        ([["A"], ["A", "B"], ["B"]], "several labels"),
        ([0.31, 0.7, 1.2, 3.3], "measured number"),
        ([f"{i / 7:.3f}" for i in range(60)], "60 different numbers"),
        ([1000 + 37 * i for i in range(60)], "60 different numbers"),
    ],
)
def test_what_is_no_class_is_refused_with_what_is_supported(y: list[Any], message: str) -> None:
    with pytest.raises(GraphError, match="supported is one label per node") as error:
        clean_labels(y)
    assert message in str(error.value).replace("\n", " ")


@pytest.mark.parametrize(
    "y",
    [
        ["Physics, applied", "Physics, nuclear", "Chemistry"],
        ["C|C++", "Java"],
        ["0.5", "1.0", "1.5", "2.0"] * 5,
        [i % 40 for i in range(200)],
    ],
)
def test_unusual_names_are_classes(y: list[Any]) -> None:
    assert len(clean_labels(y).names) == len(set(y))


def test_graphs_of_several_types_are_refused_with_what_is_supported() -> None:
    pyg = pytest.importorskip("torch_geometric.data")
    data = pyg.HeteroData()
    data["paper"].num_nodes, data["author"].num_nodes = 3, 2
    with pytest.raises(GraphError, match="2 node types and 0 edge types; supported is one type of nodes"):
        to_graph(data)


def test_errors_about_values_are_value_errors() -> None:
    with pytest.raises(ValueError, match="one class"):
        clean_labels(["a", "a"])
    with pytest.raises(ValueError, match="hidden = -3"):
        AGSSL(hidden=-3).fit(blocks_graph())
