"""Which graph is labelled, and where its labels go."""

from __future__ import annotations

from pathlib import Path

import pytest

from agssl.annotate.source import label_path, to_label
from agssl.base.errors import DataError
from reference.page import write_graph


def test_a_named_dataset_is_shown_without_its_truth() -> None:
    graph, classes = to_label("digits")
    assert classes == [str(digit) for digit in range(10)]
    assert (graph.y == -1).all() and graph.classes == () and graph.split is None and graph.splits == ()


def test_classes_that_files_only_number_have_names(data_root: Path) -> None:
    assert "Neural Networks" in to_label("cora")[1]


def test_labels_of_a_table_count(tmp_path: Path) -> None:
    graph, classes = to_label(str(write_graph(tmp_path / "graph")), labels="none")
    assert (graph.y >= 0).sum() == 56 and classes == list(graph.classes) and len(classes) == 3


def test_where_labels_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "people.csv").write_text("id\n")
    (tmp_path / "net.graphml").write_text("")
    assert label_path("folder", None) == Path("folder/labels.csv")
    assert label_path("people.csv", None) == Path("people-labels.csv")
    assert label_path("net.graphml", None) == Path("net-labels.csv")
    assert label_path("digits", None) == Path("digits-labels.csv")
    assert label_path("folder", "mine.csv") == Path("mine.csv")
    assert label_path("people.csv", "folder") == Path("folder/labels.csv")


def test_a_run_is_no_graph(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no nodes.csv"):
        to_label(str(tmp_path))
