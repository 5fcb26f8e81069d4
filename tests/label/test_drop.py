"""Labels that a file names are left out, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agssl.base.errors import DataError, GraphError
from agssl.data.graph import Graph
from agssl.label.drop import drop_suspects


def test_dropped_nodes_lose_their_label_and_their_part(tiny_graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("node,label\n4,b\n1,a\n2,a\n")
    found = drop_suspects(tiny_graph, tmp_path / "s.csv")
    assert np.flatnonzero(found.y != tiny_graph.y).tolist() == [1, 2, 4] and (found.y[[1, 2, 4]] == -1).all()
    parts = {part: nodes.tolist() for part, nodes in found.split.parts().items()}
    assert parts == {"train": [0, 8], "val": [5, 9], "test": [3, 6, 7, 10]}
    assert (tiny_graph.y[[1, 2, 4]] >= 0).all()  # the one that was given is as it was


def test_an_empty_list_changes_nothing(tiny_graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("node,label\n")
    assert np.array_equal(drop_suspects(tiny_graph, tmp_path / "s.csv").y, tiny_graph.y)


@pytest.mark.parametrize(
    ("text", "message"), [("id\n3\n", "no column node"), ("node\n99\n", "names node '99', which tiny does not have")]
)
def test_a_file_that_does_not_fit_is_refused(tiny_graph: Graph, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        drop_suspects(tiny_graph, tmp_path / "s.csv")
    with pytest.raises(DataError, match="can't read the suspects"):
        drop_suspects(tiny_graph, tmp_path / "none.csv")


def test_a_class_keeps_a_label(tiny_graph: Graph, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("node\n4\n5\n6\n7\n")
    with pytest.raises(GraphError, match="no node is labelled b; keep one"):
        drop_suspects(tiny_graph, tmp_path / "s.csv")
