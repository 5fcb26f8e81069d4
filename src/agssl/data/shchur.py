"""Reader of the `.npz` layout of Shchur et al.'s GNN benchmark: CSR adjacency, CSR or dense features, labels."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.lib.npyio import NpzFile

from agssl.data.graph import Graph
from agssl.errors import DataError, GraphError


def read_shchur(
    path: Path, *, name: str | None = None, binary: bool = False, require_labels: bool = True, notify: bool = True
) -> Graph:
    """The graph in `path`; nothing pickled is ever read, so names stored that way are left out.

    Args:
        path: file with `adj_data, adj_indices, adj_indptr, adj_shape`, the same for `attr` (or a dense `attr_matrix`),
            `labels`, and optionally `node_names` and `class_names`.
        name: what to call the graph; the file's name by default.
        binary: make every positive feature 1, as the usual loaders of the Amazon and Coauthor graphs do.
        require_labels: as for `Graph.from_arrays`.
        notify: as for `Graph.from_arrays`.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if not isinstance(arrays, NpzFile):
                raise DataError(
                    f"{path} is a single array, not an archive of arrays; expected the layout of gnn-benchmark"
                )
            adjacency = _csr(arrays, "adj", path)
            x = arrays["attr_matrix"] if "attr_matrix" in arrays.files else _csr(arrays, "attr", path)
            y = _labels(arrays, path, adjacency.shape[0], require_labels)
            classes, node_names = _names(arrays, "class_names"), _names(arrays, "node_names")
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(
            f"cannot read {path}: {error}; it must be an .npz file in the layout of gnn-benchmark"
        ) from error
    if binary:
        x = (x > 0).astype(np.float32)
    return Graph.from_arrays(
        adjacency,
        x,
        y,
        classes=classes,
        name=name or path.stem,
        node_names=node_names,
        require_labels=require_labels,
        notify=notify,
    )


def _csr(arrays: NpzFile, prefix: str, path: Path) -> sp.csr_matrix:
    keys = [f"{prefix}_{part}" for part in ("data", "indices", "indptr", "shape")]
    _require(arrays, keys, path)
    data, indices, indptr, shape = (arrays[key] for key in keys)
    try:
        matrix = sp.csr_matrix((data, indices, indptr), shape=tuple(shape))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise GraphError(
            f"{path}: the arrays {prefix}_* form no sparse matrix ({error}); write the file anew"
        ) from error
    return matrix


def _labels(arrays: NpzFile, path: Path, num_nodes: int, required: bool) -> np.ndarray:
    if "labels" not in arrays.files and not required:
        return np.full(num_nodes, -1)
    _require(arrays, ["labels"], path)
    return arrays["labels"]


def _require(arrays: NpzFile, keys: list[str], path: Path) -> None:
    for key in keys:
        if key not in arrays.files:
            raise DataError(f"{path} has no array {key!r}, only {', '.join(arrays.files) or 'none'}; add it")


def _names(arrays: NpzFile, key: str) -> list[str] | None:
    """An optional array of strings; the pickled ones of the Coauthor files count as absent."""
    if key not in arrays.files:
        return None
    try:
        names = arrays[key]
    except ValueError:
        return None
    return names.tolist() if names.dtype.kind == "U" and names.ndim == 1 else None
