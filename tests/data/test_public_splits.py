"""Graphs that bring several splits: one is chosen by the seed or by number, whatever file or object they come in."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from agssl import AGSSL, read_graph
from agssl.base.errors import DataError, GraphError, SettingsError
from agssl.base.rng import Rng
from agssl.data.convert import to_graph
from agssl.data.graph import Graph
from agssl.data.packed import open_packed, write_packed
from agssl.data.resolve import open_graph
from agssl.data.splits import Split, make_split
from agssl.ops.subgraph import induced

NODES, SPLITS = 12, 3


def masks() -> dict[str, np.ndarray]:
    """Split s trains on every fourth node from s on, validates on the next ones, tests on those after them."""
    part_of = (np.arange(NODES)[None, :] - np.arange(SPLITS)[:, None]) % 4
    return {f"{part}_masks": part_of == number for number, part in enumerate(("train", "val", "test"))}


def write(path: Path, **changes: Any) -> Path:
    ring = sp.csr_matrix((np.ones(NODES), (np.arange(NODES), (np.arange(NODES) + 1) % NODES)), shape=(NODES, NODES))
    ring = (ring + ring.T).tocsr()
    arrays = {f"adj_{part}": getattr(ring, part) for part in ("data", "indices", "indptr", "shape")}
    arrays |= {"attr_matrix": np.eye(NODES, 4) + 0.5, "labels": np.arange(NODES) // 2 % 2} | masks() | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return read_graph(write(tmp_path / "ring.npz"))


def lists(split: Split | None) -> list[list[int]]:
    assert split is not None
    return [nodes.tolist() for nodes in split.to_arrays().values()]


@pytest.mark.parametrize("how", ["auto", "public"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 7])
def test_a_seed_has_the_split_of_its_number_and_begins_anew_after_the_last(graph: Graph, how: str, seed: int) -> None:
    split = make_split(how, graph, Rng(seed).child("split"))
    number = seed % SPLITS
    assert split.origin == f"public (split {number})"
    assert lists(split) == [np.flatnonzero(mask[number]).tolist() for mask in masks().values()]


def test_one_can_be_asked_for_by_number_whatever_the_seed(graph: Graph) -> None:
    assert make_split("public:2", graph, Rng(0)).origin == "public (split 2)"
    with pytest.raises(SettingsError, match="public:3 is not there: ring brings 3.*public:0 to public:2"):
        make_split("public:3", graph, Rng(0))
    with pytest.raises(SettingsError, match="public:x is not there"):
        make_split("public:x", graph, Rng(0))


def test_none_is_settled_until_one_is_chosen_and_then_the_others_are_gone(graph: Graph) -> None:
    assert graph.split is None and len(graph.splits) == SPLITS
    chosen = graph.with_split(make_split("public:1", graph, Rng(0)))
    assert chosen.splits == ()
    for how in ("auto", "public", "public:1"):
        assert make_split(how, chosen, Rng(0)) is chosen.split
    with pytest.raises(SettingsError, match=r"has one only, public \(split 1\)"):
        make_split("public:0", chosen, Rng(0))
    drawn = graph.with_split(make_split("fraction:0.5/0.3/0.2", graph, Rng(0)))
    with pytest.raises(SettingsError, match="without a split of its own"):
        make_split("public", drawn, Rng(0))


def test_a_graph_with_one_split_has_no_number_to_ask_for(graph: Graph) -> None:
    one = graph.with_split(Split(np.array([0]), np.array([1]), np.array([2])))
    with pytest.raises(SettingsError, match="has one only, public; ask for public"):
        make_split("public:0", one, Rng(0))


def test_splits_change_nothing_that_is_cached_by_the_graphs_content(tmp_path: Path, graph: Graph) -> None:
    bare = read_graph(write(tmp_path / "bare.npz", train_masks=None, val_masks=None, test_masks=None))
    assert bare.splits == () and bare.fingerprint == graph.fingerprint
    assert make_split("benchmark", bare, Rng(0)).origin.startswith("fraction")
    assert make_split("auto", bare, Rng(0)).origin.startswith("cv:5")


def test_other_labels_and_parts_of_a_graph_have_none_of_them(graph: Graph) -> None:
    assert graph.with_labels(np.arange(NODES) % 3).splits == ()
    assert induced(graph, np.arange(5)).splits == ()


def test_the_command_line_and_the_estimator_choose_by_seed(tmp_path: Path) -> None:
    path = write(tmp_path / "ring.npz")
    assert open_graph(str(path), seed=5).split.origin == "public (split 2)"  # type: ignore[union-attr]
    model = AGSSL(method="gcn", epochs=2, random_state=4).fit(read_graph(path))
    assert model.graph_.split.origin == "public (split 1)"
    model = AGSSL(method="gcn", epochs=2, random_state=4).fit(open_graph(str(path), seed=2))
    assert model.graph_.split.origin == "public (split 2)"  # one that was chosen stays


def test_masks_of_zeros_and_ones_are_masks(tmp_path: Path, graph: Graph) -> None:
    numbers = {name: mask.astype(np.uint8) for name, mask in masks().items()}
    other = read_graph(write(tmp_path / "numbers.npz", **numbers))
    assert [lists(split) for split in other.splits] == [lists(split) for split in graph.splits]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"val_masks": None}, "no part named 'val'"),
        ({"val_masks": np.zeros((SPLITS, NODES), dtype=bool)}, "val part of the split is empty"),
        ({"val_masks": masks()["val_masks"][:2]}, r"val masks have shape \(2, 12\)"),
        ({"train_masks": masks()["train_masks"].T}, r"train masks have shape \(12, 3\)"),
        ({"test_masks": masks()["train_masks"]}, "is in train and in test"),
        ({"test_masks": np.full((SPLITS, NODES), 2)}, "test masks are no masks but int64"),
        ({"labels": np.where(np.arange(NODES) == 8, -1, np.arange(NODES) % 2)}, "node 8 is in the train part"),
    ],
)
def test_masks_that_make_no_split_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        read_graph(write(tmp_path / "bad.npz", **changes))


def test_a_graph_to_predict_on_may_lack_the_labels_that_its_splits_are_of(tmp_path: Path) -> None:
    assert read_graph(write(tmp_path / "new.npz", labels=None), require_labels=False).splits == ()


def test_pyg_masks_of_two_dimensions_there_and_back(graph: Graph) -> None:
    data = graph.to_pyg()
    assert data.train_mask.shape == (NODES, SPLITS) and data.train_mask.dtype == torch.bool
    back = to_graph(data)
    assert back.split is None and [lists(split) for split in back.splits] == [lists(split) for split in graph.splits]
    assert make_split("auto", back, Rng(4)).origin == "public (split 1)"
    data.val_mask = data.val_mask[:, 0]
    with pytest.raises(GraphError, match="the PyG Data: the val masks have shape"):
        to_graph(data)


def test_packing_and_other_processes_keep_them(graph: Graph, tmp_path: Path) -> None:
    write_packed(graph, tmp_path / "packed")
    for back in (opened := open_packed(tmp_path / "packed"), pickle.loads(pickle.dumps(opened))):
        assert back.split is None and [lists(s) for s in back.splits] == [lists(s) for s in graph.splits]
        assert [s.origin for s in back.splits] == [f"public (split {number})" for number in range(SPLITS)]
    chosen = opened.with_split(opened.splits[1])
    again = pickle.loads(pickle.dumps(chosen))
    assert again.splits == () and lists(again.split) == lists(graph.splits[1])
    np.savez(tmp_path / "packed" / "splits.npz", train=np.ones((1, 3), dtype=bool))
    with pytest.raises(DataError, match="splits.npz"):
        open_packed(tmp_path / "packed")
