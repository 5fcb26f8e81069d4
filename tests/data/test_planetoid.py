"""The reader of Planetoid files, on a small set in that format and on hostile files."""

from __future__ import annotations

import os
import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from agssl.base.errors import DataError
from agssl.data.planetoid import normalise_rows, read_planetoid
from agssl.data.unpickle import unpickle
from fuzz.corpus import old_pickle


def write(folder: Path, **changes: Any) -> list[Path]:
    """506 nodes in two classes: 4 to train, 500 to validate, 2 to test, and node 505 missing between them."""
    n_all, eye = 504, np.eye(2, dtype=np.int32)
    allx = sp.random(n_all, 30, 0.1, "csr", np.float32, np.random.default_rng(0))
    graph = defaultdict(list, {i: [(i + 1) % 507] for i in range(507) if i not in (504, 505)})
    graph[504] = graph[505] = []
    content = {
        "allx": allx,
        "x": allx[:4],
        "tx": sp.csr_matrix(np.eye(2, 30, dtype=np.float32) * 4),
        "ally": eye[np.arange(n_all) % 2],
        "y": eye[np.arange(4) % 2],
        "ty": eye[[1, 0]],
        "graph": graph,
    } | changes
    paths = []
    for part, value in content.items():
        paths.append(folder / f"ind.toy.{part}")
        paths[-1].write_bytes(value if isinstance(value, bytes) else old_pickle(value))
    paths.append(folder / "ind.toy.test.index")
    paths[-1].write_text("506\n504\n")
    return paths


def test_a_set_in_the_format_is_read_in_order(tmp_path: Path) -> None:
    graph = read_planetoid(write(tmp_path), name="toy")
    assert graph.split is not None
    assert graph.num_nodes == 507
    assert graph.split.sizes() == {"train": 4, "val": 500, "test": 2}
    assert graph.split.test.tolist() == [504, 506]
    x = sp.csr_matrix(graph.x).toarray()
    assert x[506, 0] == 1 and x[504, 1] == 1  # rows of tx in the order of test.index, divided by their sum
    assert graph.y[[506, 504]].tolist() == [1, 0]


def test_a_node_that_the_files_skip_has_neither_features_nor_label(tmp_path: Path) -> None:
    graph = read_planetoid(write(tmp_path), name="toy")
    x = sp.csr_matrix(graph.x).toarray()
    assert graph.y[505] == -1
    assert not x[505].any()


def test_rows_sum_to_one_and_empty_rows_stay(tmp_path: Path) -> None:
    x = normalise_rows(sp.csr_matrix(np.array([[1.0, 3.0], [0.0, 0.0]])))
    assert x.toarray().tolist() == [[0.25, 0.75], [0, 0]]


class Evil:
    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize(
    "evil",
    [
        Evil(os.system, ("touch pwned",)),
        Evil(eval, ("1+1",)),
        Evil(getattr, ("", "join")),
        Evil(np.load, ("x",)),
        {"graph": [Evil(os.system, ("touch pwned",))]},
    ],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_wants_to_run_code_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evil: Any, protocol: int
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ind.toy.graph"
    path.write_bytes(pickle.dumps(evil, protocol=protocol))
    with pytest.raises(DataError, match="which such a file never needs"):
        unpickle(path)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("content", [b"", b"junk", b"\x80\x02}q\x00(", b"cnumpy\nndarray\n(I1\ntR."])
def test_a_damaged_pickle_is_a_plain_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f").write_bytes(content)
    try:
        value = unpickle(tmp_path / "f")
    except DataError:
        return
    assert isinstance(value, np.ndarray)


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("graph", [1, 2], "no dictionary of neighbours"),
        ("allx", [1, 2], "no sparse matrix"),
        ("ty", [1, 2], "no table of labels"),
        ("ty", np.eye(3), "do not fit together"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path: Path, part: str, value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_planetoid(write(tmp_path, **{part: value}), name="toy")
