"""Labels in a file of their own: `labels.csv` beside the table of nodes, or any that is named."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
import pytest

from agssl import Graph, read_graph
from agssl.base.errors import DataError, GraphError
from agssl.data.label_files import read_label_file, with_label_file
from agssl.data.resolve import open_graph

EDGES = "source,target\na,b\nb,a\nb,c\nc,b\nc,d\nd,c\n"


def folder(path: Path, nodes: str, labels: str | None = None) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / "edges.csv").write_text(EDGES)
    (path / "nodes.csv").write_text(nodes)
    if labels is not None:
        (path / "labels.csv").write_text(labels, encoding="utf-8")
    return path


def named(graph: Graph) -> dict[str, str]:
    return {str(graph.node_names[i]): graph.classes[y] for i, y in enumerate(graph.y.tolist()) if y >= 0}


LABELLED = "id,age,label\na,1,cat\nb,2,\nc,3,dog\nd,4,\n"


def test_labels_beside_the_nodes_complete_and_replace_theirs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = folder(tmp_path / "g", LABELLED, "id,label\nc,cat\nd,ünïque bird\n")
    with caplog.at_level(logging.INFO, "agssl"):
        graph = read_graph(path)
    assert named(graph) == {"a": "cat", "c": "cat", "d": "ünïque bird"}
    assert graph.classes == ("cat", "ünïque bird")  # no node is a dog any more
    assert "2 labels from" in caplog.text and "1 of them in place of other labels" in caplog.text


def test_a_table_without_any_label_is_enough(tmp_path: Path) -> None:
    path = folder(tmp_path / "g", "id,age\na,1\nb,2\nc,3\nd,4\n", "id,label\na,2\nd,10\nb,\n")
    graph = read_graph(path)
    assert named(graph) == {"a": "2", "d": "10"} and graph.classes == ("2", "10") and graph.class_kind == "int"
    (path / "labels.csv").write_text("id,label\na,2\n")
    with pytest.raises(GraphError, match="all labelled nodes are of the one class '2'"):
        read_graph(path)
    assert read_graph(path, require_labels=False).classes == ("2",)


def test_the_file_can_be_left_alone_or_another_named(tmp_path: Path) -> None:
    path = folder(tmp_path / "g", LABELLED, "id,label\nb,cow\n")
    (tmp_path / "other.csv").write_text("label,note,id\nfox,x,b\n")
    assert named(read_graph(path, labels="none")) == {"a": "cat", "c": "dog"}
    assert named(read_graph(path, labels=tmp_path / "other.csv"))["b"] == "fox"
    assert named(open_graph(str(path), labels=str(tmp_path / "other.csv"), split=None))["b"] == "fox"


def test_a_split_may_rest_on_these_labels_and_new_ones_train(tmp_path: Path) -> None:
    nodes = "id,age,label,split\na,1,cat,train\nb,2,,val\nc,3,,\nd,4,dog,train\n"
    path = folder(tmp_path / "g", nodes, "id,label\nb,cat\nc,dog\n")
    graph = read_graph(path)
    assert graph.split.train.tolist() == [0, 2, 3] and graph.split.val.tolist() == [1]
    (path / "labels.csv").write_text("id,label\nc,dog\n")
    with pytest.raises(GraphError, match="node 1 is in the val part of the split but has no label"):
        read_graph(path)


def test_other_formats_take_a_file_that_is_named(tmp_path: Path) -> None:
    nodes = [{"id": i, "age": i, "label": "cat" if i % 2 else "dog"} for i in range(4)]
    links = [{"source": i, "target": i + 1} for i in range(3)]
    (tmp_path / "net.json").write_text(
        json.dumps({"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "links": links})
    )
    (tmp_path / "more.csv").write_text("id,label\n2,cow\n")
    graph = read_graph(tmp_path / "net.json", labels=tmp_path / "more.csv")
    assert named(graph) == {"0": "dog", "1": "cat", "2": "cow", "3": "cat"}


def test_of_a_named_dataset_only_these_labels_count(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("id,label\n0,zero\n1,one\n2,two\n10,zero\n11,one\n12,two\n")
    graph = open_graph("digits", labels=str(tmp_path / "mine.csv"))
    assert (graph.y >= 0).sum() == 6 and graph.classes == ("one", "two", "zero") and not graph.named
    assert graph.split.fold is not None and len(graph.split.test) == 0  # nothing of the truth is left to be measured by


def test_nothing_but_the_labels_changes(tiny_graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("id,label\n11,c\n0,b\n")
    graph = with_label_file(tiny_graph, tmp_path / "mine.csv")
    expected = tiny_graph.y.copy()
    expected[[11, 0]] = 2, 1
    np.testing.assert_array_equal(graph.y, expected)
    assert graph.fingerprint == tiny_graph.fingerprint and graph.split.train.tolist() == [0, 4, 8, 11]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("node,label\na,cat\n", "columns node, label, but labels need the columns id and label"),
        ("", "has the columns none"),
        ("id,label\na,cat\nb,dog\na,dog\n", "line 4: node 'a' is labelled 'dog', but 'cat' above"),
        ('id,label\na,"cat\n', "can't read the labels"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_label_file(tmp_path / "labels.csv")


def test_a_node_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = folder(tmp_path / "g", LABELLED, "id,label\nzz,cat\n")
    with pytest.raises(GraphError, match=r"labels.csv labels node 'zz', which g does not have.*--labels none"):
        read_graph(path)
    with pytest.raises(DataError, match="can't read the labels in .*nowhere.csv"):
        read_graph(path, labels=tmp_path / "nowhere.csv")
