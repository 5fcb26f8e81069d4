"""Packed folders: what goes in comes out, and what can't be right is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from agssl import read_graph
from agssl.base.errors import DataError
from agssl.data import packed
from agssl.data.graph import Graph
from agssl.data.packed import ArrayWriter, open_packed, write_packed
from reference.graphs import graphs


def same(a: Graph, b: Graph) -> bool:
    return (
        a.fingerprint == b.fingerprint
        and type(a.x) is type(b.x)
        and np.array_equal(a.y, b.y)
        and (a.classes, a.name, a.missing) == (b.classes, b.name, b.missing)
    )


def test_a_graph_comes_back_as_it_was(tiny_graph: Graph, tmp_path: Path) -> None:
    write_packed(tiny_graph, tmp_path / "packed")
    back = open_packed(tmp_path / "packed")
    assert same(tiny_graph, back) and back.split.sizes() == tiny_graph.split.sizes()
    named = Graph.from_arrays(
        np.array([[0, 1], [1, 2]]), sp.eye(3, 9), ["a", "", "b"], node_names=["u", "v", "w"], notify=False
    )
    write_packed(named, tmp_path / "named")
    back = open_packed(tmp_path / "named")
    assert same(named, back) and back.split is None and back.node_names.tolist() == ["u", "v", "w"]


@hypothesis_settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs())
def test_any_graph_makes_the_round_trip(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> None:
    graph = replace(graph, split=None)  # a split of so few nodes may lack a part
    folder = tmp_path_factory.mktemp("trip") / "packed"
    write_packed(graph, folder)
    assert same(graph, open_packed(folder))


def test_arrays_are_mapped_and_changes_to_them_never_reach_the_files(tiny_graph: Graph, tmp_path: Path) -> None:
    write_packed(tiny_graph, tmp_path / "packed")
    graph = open_packed(tmp_path / "packed")
    base = graph.x
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    graph.x[:] = 0
    assert open_packed(tmp_path / "packed").fingerprint == tiny_graph.fingerprint


def test_the_reader_knows_a_packed_folder(tiny_graph: Graph, tmp_path: Path) -> None:
    write_packed(tiny_graph, tmp_path / "packed")
    assert read_graph(tmp_path / "packed").fingerprint == tiny_graph.fingerprint


def test_an_array_grows_piece_by_piece(tmp_path: Path) -> None:
    rows = np.arange(24, dtype=np.float32).reshape(12, 2)
    with ArrayWriter(tmp_path / "a.npy", np.float32, (2,)) as file:
        for part in np.array_split(rows, 5):
            file.append(part)
    assert np.array_equal(np.load(tmp_path / "a.npy"), rows)


def meta(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "meta.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def without(key: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        known = json.loads((folder / "meta.json").read_bytes())
        (folder / "meta.json").write_text(json.dumps({name: known[name] for name in known if name != key}))

    return change


def array(name: str, edit: Callable[[np.ndarray], object]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        values = np.load(folder / f"{name}.npy")
        result = edit(values)
        np.save(folder / f"{name}.npy", values if result is None else result)

    return change


def put(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(data) and None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (put("meta.json", b"{"), "meta.json"),
        (put("meta.json", b"[" * 100_000), "meta.json"),
        (put("meta.json", b"[]"), "does not say format"),
        (meta(version=3), "version 3 of the packed format"),
        (meta(nodes=13), "indptr.npy"),
        (meta(nodes=-1), "nodes is -1"),
        (meta(nodes=True), "nodes is True"),
        (meta(edges=10**18), "edges is"),
        (meta(features=6), "x.npy"),
        (meta(classes=["a", "a"]), "distinct names"),
        (meta(classes=["a"]), "a label is outside -1..0"),
        (meta(sparse=True), "x_indptr.npy"),
        (meta(name=7), "name is 7"),
        (lambda folder: (folder / "x.npy").unlink(), "x.npy"),
        (put("indices.npy", b"no array"), "indices.npy"),
        (put("indices.npy", b"\x93NUMPY\x01\x00\x02\x00{\n"), "indices.npy"),
        (put("split.npz", b"no archive"), "split.npz"),
        (without("split"), "split is 'missing'"),
        (lambda folder: (folder / "x.npy").write_bytes((folder / "x.npy").read_bytes()[:-8]), "x.npy"),
        (array("y", lambda y: np.array([object()] * len(y))), "y.npy"),
        (array("y", lambda y: y.astype(float)), "y.npy"),
        (array("x", lambda x: x.astype(np.float64)), "expected float32"),
        (array("indptr", lambda p: p.__setitem__(1, 99)), "row pointers"),
        (array("indices", lambda i: i.__setitem__(0, 12)), "outside 0..11"),
        (array("indices", lambda i: i.__setitem__(0, -1)), "outside 0..11"),
        (array("indices", lambda i: i.__setitem__(slice(0, 2), i[1::-1].copy())), "not sorted"),
        (array("indices", lambda i: i.__setitem__(0, 0)), "an edge to itself"),
        (array("indices", lambda i: i.__setitem__(1, 5)), "lacks its reverse"),
    ],
)
def test_damage_is_refused_in_one_line(
    damage: Callable[[Path], None], message: str, tiny_graph: Graph, tmp_path: Path
) -> None:
    folder = tmp_path / "packed"
    write_packed(tiny_graph, folder)
    damage(folder)
    with pytest.raises(DataError, match=message) as caught:
        open_packed(folder)
    assert "\n" not in str(caught.value)


def test_checks_do_not_depend_on_the_size_of_pieces(
    tiny_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "PIECE", 3)
    test_a_graph_comes_back_as_it_was(tiny_graph, tmp_path)
    array("indices", lambda i: i.__setitem__(-1, 5))(tmp_path / "packed")
    with pytest.raises(DataError, match="reverse|not sorted"):
        open_packed(tmp_path / "packed")


def test_a_failed_write_leaves_nothing(tiny_graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(packed, "seal", fail)
    with pytest.raises(KeyboardInterrupt):
        write_packed(tiny_graph, tmp_path / "packed")
    assert list(tmp_path.iterdir()) == []
