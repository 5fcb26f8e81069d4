"""The reader of OGB's raw layout, on a small graph in that layout."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pytest

from agssl.base.errors import AgsslError, DataError
from agssl.data.ogb import read_ogb

FILES = {
    "raw/edge.csv.gz": "0,1\n1,2\n2,3\n1,0\n",
    "raw/node-feat.csv.gz": "0.5,-1\n1,2\n3,4\n5,6\n",
    "raw/node-label.csv.gz": "2\n0\n1\n2\n",
    "raw/num-node-list.csv.gz": "4\n",
    "raw/num-edge-list.csv.gz": "4\n",
    "split/time/train.csv.gz": "0\n1\n",
    "split/time/valid.csv.gz": "2\n",
    "split/time/test.csv.gz": "3\n",
}


def write(folder: Path, **changes: str | None) -> Path:
    for name, text in (FILES | changes).items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(gzip.compress(text.encode()))
    return folder


def zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for file in folder.rglob("*.gz"):
            archive.write(file, Path("arxiv") / file.relative_to(folder))
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_folder_and_zip_file_are_read_alike(tmp_path: Path, packed: bool) -> None:
    path = write(tmp_path / "g")
    graph = read_ogb(zipped(path, tmp_path / "arxiv.zip") if packed else path, name="mini")
    assert graph.split is not None
    assert (graph.name, graph.num_edges, graph.classes, graph.missing) == ("mini", 3, ("0", "1", "2"), None)
    assert graph.x.tolist() == [[0.5, -1], [1, 2], [3, 4], [5, 6]]
    assert graph.x.dtype == np.float32
    assert graph.y.tolist() == [2, 0, 1, 2]
    assert [part.tolist() for part in graph.split.to_arrays().values()] == [[0, 1], [2], [3]]


def test_without_the_features_the_graph_says_what_is_missing(tmp_path: Path) -> None:
    graph = read_ogb(write(tmp_path, **{"raw/node-feat.csv.gz": None}), name="mini")
    assert graph.num_features == 0
    assert graph.missing is not None and "lacks raw/node-feat.csv.gz; add that file" in graph.missing


def test_an_empty_label_is_unlabelled_and_a_split_is_optional(tmp_path: Path) -> None:
    gone = {f"split/time/{part}.csv.gz": None for part in ("train", "valid", "test")}
    graph = read_ogb(write(tmp_path, **{"raw/node-label.csv.gz": '2\n0\n""\n1\n'}, **gone), name="mini")
    assert graph.y.tolist() == [2, 0, -1, 1]
    assert graph.split is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("raw/edge.csv.gz", "0,1\n1\n"),
        ("raw/edge.csv.gz", "0,1\n1,99\n"),
        ("raw/edge.csv.gz", "0,x\n"),
        ("raw/node-feat.csv.gz", "1,2\n"),
        ("raw/node-label.csv.gz", None),
        ("split/time/valid.csv.gz", None),
        ("split/time/valid.csv.gz", "0\n"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, text: str | None) -> None:
    with pytest.raises(AgsslError):
        read_ogb(write(tmp_path, **{name: text}), name="mini")


def test_what_is_no_archive_of_that_layout_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_text("no zip")
    with pytest.raises(DataError, match="cannot read"):
        read_ogb(tmp_path / "bad.zip", name="mini")
    zipped(write(tmp_path / "g"), tmp_path / "good.zip")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a/b", "c")
    with pytest.raises(DataError, match="no raw/edge.csv.gz in it"):
        read_ogb(tmp_path / "other.zip", name="mini")
    path = write(tmp_path / "cut") / "raw/edge.csv.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DataError, match="cannot read"):
        read_ogb(tmp_path / "cut", name="mini")
