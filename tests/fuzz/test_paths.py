"""Names in archives, configs, splits and runs lead nowhere but where they should."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest

from agssl.base.errors import DataError
from agssl.cli.fit import _run_name
from agssl.config import Settings
from agssl.data.arrays import Archive
from agssl.data.fetch import DataFolders, RemoteFile, below, fetch
from agssl.data.ogb import read_ogb
from agssl.data.readers import read_graph
from agssl.store.run import Run
from fuzz.corpus import write_ogb, write_tables

EVIL = ["../../evil", "/tmp/agssl-evil", "a/../../../evil", "C:\\evil", "..\\evil"]


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("name", [*EVIL, "", "."])
def test_a_dataset_can_not_name_a_file_outside_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="not below its folder"):
        below(tmp_path / "cache", name)
    home = tmp_path / "home"
    home.write_bytes(b"x")
    evil = RemoteFile(name, "0" * 64, home.as_uri())
    with pytest.raises(DataError):
        fetch("evil", [evil], DataFolders(None, tmp_path / "cache"), say=lambda line: None)
    assert files(tmp_path) == {"home"}


@pytest.mark.parametrize("name", EVIL)
def test_an_archive_of_a_graph_writes_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "ogb.zip"
    write_ogb(path)
    link = zipfile.ZipInfo("toy/raw/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, b"evil")
        archive.writestr(link, "../../../etc/passwd")
    assert read_ogb(path, name="toy", notify=False).num_nodes == 24
    assert files(tmp_path) == {"in", "in/ogb.zip"}


@pytest.mark.parametrize("name", EVIL)
def test_an_archive_of_arrays_writes_nothing(tmp_path: Path, name: str) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(3))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr(f"{name}.npy", buffer.getvalue())
    archive_ = Archive(tmp_path / "a.npz")
    for key in archive_:
        assert archive_[key].tolist() == [0, 1, 2]
    assert files(tmp_path) == {"a.npz"}


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = 1 << 20
    for module in ("agssl.data.arrays", "agssl.data.ogb"):
        monkeypatch.setattr(f"{module}.free_memory", lambda: room)
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(4 * room, dtype=np.uint8))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.npy", buffer.getvalue())
    assert (tmp_path / "a.npz").stat().st_size < room // 8
    with pytest.raises(DataError, match=r"unpacks to 4 MB, but 1 MB of memory is free"):
        Archive(tmp_path / "a.npz")["labels"]
    raw = tmp_path / "folder" / "raw"
    raw.mkdir(parents=True)
    for name in ("edge", "node-label"):
        (raw / f"{name}.csv.gz").write_bytes(gzip.compress(b"0,0\n" * room))
    with pytest.raises(DataError, match="unpacks to more than the 1 MB"):
        read_ogb(tmp_path / "folder", name="bomb")


@pytest.mark.parametrize("name", ["../../x", "/abs", ".hidden", "a/b", "a b;rm", "\u202eevil", "...", "-flag"])
def test_a_graphs_name_makes_a_plain_folder(name: str) -> None:
    made = _run_name(name, Settings())
    assert "/" not in made and "\\" not in made and not made.startswith((".", "-"))
    assert Path("runs", made).parent == Path("runs")


def test_node_names_that_look_like_paths_are_just_names(tmp_path: Path) -> None:
    write_tables(tmp_path / "g")
    for file in ("nodes.csv", "edges.csv"):
        text = (tmp_path / "g" / file).read_text()
        (tmp_path / "g" / file).write_text(text.replace("n3,", "../../evil,").replace(",n3\n", ",../../evil\n"))
    before = files(tmp_path)
    graph = read_graph(tmp_path / "g")
    assert graph.node_names is not None and graph.node_names[3] == "../../evil"
    assert files(tmp_path) == before


@pytest.mark.parametrize("seeds", [["../../evil"], [0.5], [None], [[0]], "0"])
def test_a_run_can_not_name_a_folder_outside_itself(tmp_path: Path, seeds: object) -> None:
    about = {"format": "agssl-run", "schema": 1, "seeds": seeds, "graph": {}}
    (tmp_path / "run.json").write_text(json.dumps(about))
    with pytest.raises(DataError, match="seeds is"):
        Run.open(tmp_path)


def test_a_pipe_in_the_place_of_a_table_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "nodes.csv")
    with pytest.raises(DataError, match="has no nodes.csv"):
        read_graph(tmp_path)
