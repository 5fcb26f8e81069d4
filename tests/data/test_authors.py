"""`--split authors`: the one fixed split that the paper's authors ship of four graphs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agssl import load_dataset
from agssl.base.errors import DataError, SettingsError
from agssl.base.rng import Rng
from agssl.data.authors import WITH_AUTHORS
from agssl.data.splits import make_split
from reference.graphs import blocks_graph

DATA = os.environ.get("AGSSL_DATA", "")
needs_data = pytest.mark.skipif(not (Path(DATA) / "splits").is_dir(), reason="AGSSL_DATA with the authors' splits")


@needs_data
@pytest.mark.parametrize("name", WITH_AUTHORS)
def test_it_is_the_files_nodes_whatever_the_seed(name: str) -> None:
    graph = load_dataset(name, split="authors")
    stored = np.load(Path(DATA) / "splits" / f"{name}.npz")
    assert graph.split is not None and graph.split.origin == "authors"
    for part, nodes in graph.split.parts().items():
        assert set(nodes.tolist()) == set(stored[part].tolist())
    assert np.bincount(graph.y[graph.split.train]).tolist() == [20] * graph.num_classes
    other = make_split("authors", graph, Rng(7).child("split"))
    assert all(np.array_equal(a, b) for a, b in zip(other.parts().values(), graph.split.parts().values(), strict=True))


@needs_data
def test_it_is_found_in_the_folder_that_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGSSL_DATA")
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path))
    assert load_dataset("photo", split="authors", root=DATA).split.origin == "authors"  # type: ignore[union-attr]


def test_other_graphs_have_none() -> None:
    for graph in (blocks_graph(), replace(blocks_graph(), name="photo"), load_dataset("digits")):
        with pytest.raises(SettingsError, match=f"not for {graph.name}; ask for another one, as in --split random"):
            make_split("authors", graph, Rng(0))


def test_an_absent_file_and_a_changed_one_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AGSSL_DATA", str(tmp_path))
    graph = replace(blocks_graph(), name="photo", named=True)
    with pytest.raises(DataError, match=r"authors of photo is not here: splits/photo\.npz"):
        make_split("authors", graph, Rng(0))
    (tmp_path / "splits").mkdir()
    np.savez(tmp_path / "splits" / "photo.npz", train=[0], val=[1], test=[2])
    with pytest.raises(DataError, match=r"photo\.npz"):
        make_split("authors", graph, Rng(0))
