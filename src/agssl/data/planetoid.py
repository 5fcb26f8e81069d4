"""Reader of the Planetoid files (`ind.cora.x` and its seven siblings), as Yang et al. publish them.

The files are Python pickles, a format that can run code; see `agssl.data.unpickle` for how they are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from agssl.base.errors import DataError
from agssl.data.graph import Graph
from agssl.data.shchur import checked_csr
from agssl.data.splits import Split
from agssl.data.unpickle import Matrix, unpickle

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
_VALIDATION = 500  # nodes after the training nodes, by Planetoid's convention


def read_planetoid(paths: Iterable[Path], *, name: str) -> Graph:
    """The graph in the eight files `ind.<something>.*`, features row-normalised, with the public split.

    Test nodes that the files skip (15 in Citeseer) become nodes without features or label, in no part of the split.
    They keep the edges that the graph gives them (16 in Citeseer), as in the usual loaders.
    """
    files = {path.name.split(".", 2)[-1]: path for path in paths}
    tx, allx = (_matrix(files[part]) for part in ("tx", "allx"))
    train_y, ty, ally = (_one_hot(files[part]) for part in ("y", "ty", "ally"))
    neighbours = unpickle(files["graph"])
    test = _test_index(files["test.index"])
    source, target = _edges(neighbours, files["graph"])
    num_nodes = 1 + int(max(test.max(initial=0), source.max(initial=0)))
    sizes = {len(test), tx.shape[0], len(ty)}
    apart = len({allx.shape[1], tx.shape[1]}) > 1 or len({part.shape[1] for part in (train_y, ty, ally)}) > 1
    few = not len(test) or allx.shape[0] != len(ally) or test.min() < allx.shape[0] or len(train_y) > len(ally)
    far = num_nodes > 2 * (allx.shape[0] + len(test)) or len(np.unique(test)) < len(test)
    if len(sizes) > 1 or apart or few or far:
        raise DataError(f"the files beside {files['graph']} do not fit together; replace them by the published ones")

    rows = np.concatenate([np.arange(allx.shape[0]), test])  # where each stored row belongs
    stored = sp.vstack([allx, tx]).tocoo()
    x = sp.csr_matrix((stored.data, (rows[stored.row], stored.col)), shape=(num_nodes, allx.shape[1]))
    y = np.full(num_nodes, -1, dtype=np.int64)
    y[rows] = np.concatenate([_numbers(ally), _numbers(ty)])

    split = Split(np.arange(len(train_y)), np.arange(len(train_y), len(train_y) + _VALIDATION), np.sort(test))
    classes = range(ally.shape[1])
    edges = np.vstack([source, target])
    return Graph.from_arrays(edges, normalise_rows(x), y, classes=classes, split=split, name=name, notify=False)


def _edges(neighbours: Any, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of all edges, from a dictionary of neighbours."""
    try:
        if not isinstance(neighbours, dict) or not neighbours:
            raise TypeError(f"it is a {type(neighbours).__name__}")
        rows = [np.array(ends, dtype=np.int64).reshape(len(ends)) for ends in neighbours.values()]
        keys = np.fromiter(neighbours, dtype=np.int64, count=len(neighbours))
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{path} holds no dictionary of neighbours ({error}); replace the file by the published one"
        ) from error
    if keys.min() < 0:
        raise DataError(f"{path} has the node {keys.min()}; replace the file by the published one")
    return np.repeat(keys, [len(row) for row in rows]), np.concatenate(rows)


def normalise_rows(x: sp.csr_matrix) -> sp.csr_matrix:
    """Each row divided by its sum; rows of zeros stay."""
    total = np.asarray(x.sum(axis=1, dtype=np.float64)).ravel()
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total != 0)
    return sp.csr_matrix(sp.diags(scale) @ x)


def _matrix(path: Path) -> sp.csr_matrix:
    value = unpickle(path)
    try:
        if not isinstance(value, Matrix):
            raise ValueError(f"it is a {type(value).__name__}")
        parts = value.parts
        return checked_csr(parts["data"], parts["indices"], parts["indptr"], tuple(parts["_shape"]))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path} holds no sparse matrix ({error}); replace the file by the published one") from error


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
    except (OSError, ValueError, OverflowError) as error:
        raise DataError(f"cannot read {path}: {str(error)[:200]}; replace the file by the published one") from error
