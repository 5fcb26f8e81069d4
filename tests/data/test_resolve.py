"""What a user means by a graph's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from agssl.base.errors import DataError
from agssl.data.resolve import find_path, open_graph


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder; commands are given in another one."""
    monkeypatch.setenv("AGSSL_DATA", str(tmp_path / "data"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "data" / "mine" / "small").mkdir(parents=True)
    return tmp_path / "data"


def test_a_path_is_looked_for_here_and_then_below_the_data_folder(data: Path) -> None:
    assert find_path("mine/small") == data / "mine" / "small"
    Path("mine/small").mkdir(parents=True)
    assert find_path("mine/small") == Path("mine/small")
    assert find_path("mine/large") is None


def test_a_plain_word_names_no_folder_of_the_data(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_path("mine") is None
    (data / "mine.csv").touch()
    assert find_path("mine.csv") == data / "mine.csv"
    monkeypatch.delenv("AGSSL_DATA")
    assert find_path("mine.csv") is None


def test_a_graph_below_the_data_folder_opens_by_its_short_path(data: Path) -> None:
    folder = data / "mine" / "small"
    (folder / "edges.csv").write_text("source,target\na,b\nb,a\nb,c\nc,b\n")
    (folder / "nodes.csv").write_text("id,f,label\na,1,x\nb,2,y\nc,3,x\n")
    graph = open_graph("mine/small", split=None)
    assert graph.num_nodes == 3 and graph.name == "small"
    with pytest.raises(DataError, match="mine/large does not exist"):
        open_graph("mine/large")
