"""Labelling without a page: tabs, undo, files that change, names of classes."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from agssl import Graph
from agssl.annotate.label_file import LabelFile
from agssl.annotate.names import class_name
from agssl.annotate.refit import enough
from agssl.annotate.session import Learned, Refused, Session
from agssl.base.errors import DataError, SettingsError
from agssl.label.first import first_nodes
from reference.graphs import blocks_graph


def rows(path: Path) -> dict[str, str]:
    with open(path, encoding="utf-8", newline="") as file:
        return {row["id"]: row["label"] for row in csv.DictReader(file)}


@pytest.fixture
def bare() -> Graph:
    """Ninety nodes in three blocks, none with a label."""
    from dataclasses import replace

    graph = blocks_graph(90)
    return replace(graph, y=np.full(90, -1), classes=(), split=None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "labels.csv"


@pytest.fixture
def session(bare: Graph, path: Path):
    file = LabelFile(path)
    yield Session(bare, file)
    file.close()


def test_first_nodes_are_spread_over_the_blocks_and_never_known_ones() -> None:
    graph = blocks_graph(90)
    chosen = first_nodes(graph, np.arange(5), 9)
    assert len(set(chosen.tolist())) == 9 and chosen.min() >= 5
    assert set(graph.y[chosen[:6]].tolist()) == {0, 1, 2}
    assert chosen.tolist() == first_nodes(graph, np.arange(5), 20)[:9].tolist()
    assert len(first_nodes(graph, np.arange(90), 3)) == 0


def test_labels_are_on_disk_when_they_are_acknowledged(session: Session, path: Path) -> None:
    for name in ("ant", 'größer, "kleiner"', "ant"):
        card = session.next("t")
        session.label("t", card["node"], name, None)
        assert rows(path)[card["name"]] == name
    assert len(rows(path)) == 3 and session.counts() == {"ant": 2, 'größer, "kleiner"': 1}


def test_two_tabs_get_different_nodes_and_each_keeps_its_own(session: Session) -> None:
    one, two = session.next("one")["node"], session.next("two")["node"]
    assert one != two and session.next("one")["node"] == one  # as after a reload
    session.label("one", one, "a", None)
    third = session.next("one")["node"]
    assert third not in (one, two) and session.next("two")["node"] == two


def test_a_tab_does_not_overwrite_what_another_has_said(session: Session, path: Path) -> None:
    node = session.next("one")["node"]
    session.label("two", node, "theirs", None)
    with pytest.raises(Refused, match="is labelled theirs by now") as refused:
        session.label("one", node, "ours", None)
    assert refused.value.status == 409 and rows(path) == {str(node): "theirs"}
    session.label("one", node, "ours", "theirs")  # having seen it
    assert rows(path) == {str(node): "ours"}


def test_undo_takes_back_the_tab_s_own_steps_one_by_one(session: Session, path: Path) -> None:
    first = session.next("one")["node"]
    session.label("one", first, "a", None)
    session.label("two", 80, "b", None)
    second = session.next("one")["node"]
    session.skip("one", second)
    assert session.next("one")["node"] != second
    assert session.undo("one") == second and session.next("one")["node"] == second
    assert session.undo("one") == first and rows(path) == {"80": "b"}
    with pytest.raises(Refused, match="nothing left to undo"):
        session.undo("one")
    session.label("two", 80, "c", "b")
    session.label("one", 80, "d", "c")
    with pytest.raises(Refused, match="labelled anew since"):
        session.undo("two")
    assert rows(path) == {"80": "d"}


def test_a_label_can_be_changed_and_taken_away(session: Session, path: Path) -> None:
    session.label("t", 3, "a", None)
    session.label("t", 3, None, "a")
    assert rows(path) == {} and session.label_of(3) is None
    assert session.undo("t") == 3 and rows(path) == {"3": "a"}


def test_labels_of_the_graph_count_and_stay_where_they_are(path: Path) -> None:
    from dataclasses import replace

    graph = replace(blocks_graph(90), classes=("x", "y", "z"))
    known = replace(graph, y=np.where(np.arange(90) < 30, graph.y, -1))
    file = LabelFile(path)
    session = Session(known, file)
    assert sum(session.counts().values()) == 30 and session.next("t")["node"] >= 30
    before = session.label_of(0)
    session.label("t", 0, "other", before)
    assert session.label_of(0) == "other" and sum(session.counts().values()) == 30 and rows(path) == {"0": "other"}
    session.label("t", 0, None, "other")
    assert session.label_of(0) == before
    file.close()


def test_skipped_nodes_come_back_when_nothing_else_is_left(tiny_graph: Graph, path: Path) -> None:
    file = LabelFile(path)
    session = Session(tiny_graph, file)  # only node 11 has no label
    assert session.next("t")["node"] == 11
    session.skip("t", 11)
    assert session.next("t")["node"] == 11
    session.label("t", 11, "a", None)
    assert session.next("t") is None
    file.close()


def test_a_change_by_hand_is_taken_over_and_not_overwritten(session: Session, path: Path) -> None:
    session.label("t", 1, "a", None)
    path.write_text(path.read_text() + "2,by hand\n")
    session.label("t", 3, "b", None)
    assert rows(path) == {"1": "a", "2": "by hand", "3": "b"}
    assert session.label_of(2) == "by hand" and "by hand" in session.counts()
    good = path.read_text()
    path.write_text("id,label\n1,a\n1,b\n")
    with pytest.raises(Refused, match="nothing is written until it can be read"):
        session.label("t", 4, "b", None)
    assert path.read_text() == "id,label\n1,a\n1,b\n"
    path.write_text(good)
    session.label("t", 4, "b", None)
    assert rows(path)["4"] == "b"


def test_a_file_is_for_one_process(session: Session, path: Path) -> None:
    with pytest.raises(DataError, match="another process .* is writing to"):
        LabelFile(path)


def test_a_table_is_never_taken_for_a_file_of_labels(path: Path) -> None:
    text = "id,age,label\na,31,cat\n"
    path.write_text(text)
    with pytest.raises(DataError, match="columns id, age, label, of which only id and label would be left"):
        LabelFile(path)
    assert path.read_text() == text and not path.with_name(".labels.csv.lock").exists()


def test_a_place_that_can_not_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="can't write labels to .*--out"):
        LabelFile(tmp_path / "file" / "labels.csv")


def test_what_was_there_is_gone_on_with(bare: Graph, path: Path) -> None:
    path.write_text("id,label\n5,a\n6,b\n")
    file = LabelFile(path)
    session = Session(bare, file)
    assert session.counts() == {"a": 1, "b": 1}
    assert [one["name"] for one in session.state("t")["recent"]] == ["6", "5"]
    file.close()


def test_what_a_fit_says_is_shown_and_followed(session: Session) -> None:
    probabilities = np.full(90, 0.4)
    session.learn(
        Learned(
            4,
            {"metric": "accuracy", "value": 0.5, "low": 0.2, "high": 0.8},
            1.0,
            [(70, "why")],
            ["ant"] * 90,
            probabilities,
        )
    )
    card = session.next("t")
    assert card["node"] == 70 and card["reason"] == "why" and (card["guess"], card["sure"]) == ("ant", 0.4)
    assert session.state("t")["curve"] == [
        {"labels": 4, "seconds": 1.0, "metric": "accuracy", "value": 0.5, "low": 0.2, "high": 0.8}
    ]
    session.label("t", 70, "bee", None)
    assert session.next("t")["node"] != 70  # there are others, without a reason


@pytest.mark.parametrize("name", ["", "  ", "-1", "?", "Unknown", "x" * 201, "a\0b", "-3"])
def test_a_name_that_could_not_be_read_again_is_refused(name: str) -> None:
    with pytest.raises(SettingsError):
        class_name(name, ["1", "2"] if name == "-3" else ["a", "b"])


def test_names_are_trimmed_and_several_in_one_refused() -> None:
    assert class_name(" red\t fox ") == "red fox" and class_name("</script>", ["a"]) == "</script>"
    assert class_name("25", [str(i) for i in range(25)]) == "25"
    with pytest.raises(SettingsError, match="several labels"):
        class_name("a|b", ["a", "b"])


def test_a_fit_needs_labels_to_hold_out() -> None:
    assert not enough({}) and not enough({"a": 9, "b": 1}) and enough({"a": 2, "b": 2})
