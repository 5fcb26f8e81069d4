"""Reader of the Planetoid files (`ind.cora.x` and its seven siblings), as Yang et al. publish them.

The files are Python pickles, a format that can run code. They are read by an unpickler that knows the few NumPy, SciPy
and collections names that they need and refuses every other.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.errors import DataError

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
_VALIDATION = 500  # nodes after the training nodes, by Planetoid's convention

# The pickles name things where they lived in Python 2 and SciPy 0.x; resolving them here keeps those imports out.
_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


class _Unpickler(pickle.Unpickler):
    """Builds arrays, CSR matrices, lists and dictionaries, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which such a file never needs") from None


def unpickle(path: Path) -> Any:
    """The object in a Planetoid file.

    Raises:
        DataError: the file is damaged, or asks for anything but plain data.
    """
    try:
        with open(path, "rb") as file:
            return _Unpickler(file, encoding="latin1").load()
    except Exception as error:  # a damaged pickle can raise almost anything
        raise DataError(f"cannot read {path}: {error}; replace the file by the published one") from error


def read_planetoid(paths: Iterable[Path], *, name: str) -> Graph:
    """The graph in the eight files `ind.<something>.*`, features row-normalised, with the public split.

    Test nodes that the files skip (15 in Citeseer) become nodes without features or label, in no part of the split.
    They keep the edges that the graph gives them (16 in Citeseer), as in the usual loaders.
    """
    files = {path.name.split(".", 2)[-1]: path for path in paths}
    tx, allx = (_matrix(files[part]) for part in ("tx", "allx"))
    train_y, ty, ally = (_one_hot(files[part]) for part in ("y", "ty", "ally"))
    neighbours = unpickle(files["graph"])
    if not isinstance(neighbours, dict):
        raise DataError(f"{files['graph']} holds no dictionary of neighbours; replace the file by the published one")
    test = _test_index(files["test.index"])
    if len(test) != tx.shape[0] or len(test) != len(ty) or allx.shape[0] != len(ally) or test.min() < allx.shape[0]:
        raise DataError(f"the files beside {files['graph']} do not fit together; replace them by the published ones")

    num_nodes = int(max(test.max(), max(neighbours, default=0))) + 1
    rows = np.concatenate([np.arange(allx.shape[0]), test])  # where each stored row belongs
    stored = sp.vstack([allx, tx]).tocoo()
    x = sp.csr_matrix((stored.data, (rows[stored.row], stored.col)), shape=(num_nodes, allx.shape[1]))
    y = np.full(num_nodes, -1, dtype=np.int64)
    y[rows] = np.concatenate([_numbers(ally), _numbers(ty)])

    degree = [len(v) for v in neighbours.values()]
    source = np.repeat(np.fromiter(neighbours, dtype=np.int64), degree)
    target = np.concatenate([np.asarray(v, dtype=np.int64) for v in neighbours.values()])
    split = Split(np.arange(len(train_y)), np.arange(len(train_y), len(train_y) + _VALIDATION), np.sort(test))
    edges = np.vstack([source, target])
    classes = range(ally.shape[1])
    return Graph.from_arrays(edges, normalise_rows(x), y, classes=classes, split=split, name=name, notify=False)


def normalise_rows(x: sp.csr_matrix) -> sp.csr_matrix:
    """Each row divided by its sum; rows of zeros stay."""
    total = np.asarray(x.sum(axis=1, dtype=np.float64)).ravel()
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total != 0)
    return sp.csr_matrix(sp.diags(scale) @ x)


def _matrix(path: Path) -> sp.csr_matrix:
    value = unpickle(path)
    try:
        # rebuilt from its parts: the old pickle fills in attributes that today's class no longer has
        matrix = sp.csr_matrix((value.data, value.indices, value.indptr), shape=value._shape)
        matrix.check_format(full_check=True)
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(f"{path} holds no sparse matrix ({error}); replace the file by the published one") from error
    return matrix


def _one_hot(path: Path) -> np.ndarray:
    value = unpickle(path)
    if not isinstance(value, np.ndarray) or value.ndim != 2 or value.dtype.kind not in "iuf":
        raise DataError(f"{path} holds no table of labels; replace the file by the published one")
    return value


def _numbers(one_hot: np.ndarray) -> np.ndarray:
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)


def _test_index(path: Path) -> np.ndarray:
    try:
        return np.array([int(line) for line in path.read_text().split()], dtype=np.int64)
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {path}: {error}; replace the file by the published one") from error
