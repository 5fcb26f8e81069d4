"""Reader of the `.npz` layout of Shchur et al.'s GNN benchmark: CSR adjacency, CSR or dense features, labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from agssl.base.errors import DataError, GraphError
from agssl.data.arrays import Archive
from agssl.data.graph import Graph
from agssl.data.split_files import splits_from_masks
from agssl.data.splits import PARTS


def read_shchur(
    path: Path,
    *,
    name: str | None = None,
    binary: bool = False,
    require_labels: bool = True,
    notify: bool = True,
    unweighted: bool = False,
) -> Graph:
    """The graph in `path`; nothing pickled is ever read, so names stored that way are left out.

    Args:
        path: file with `adj_data, adj_indices, adj_indptr, adj_shape`, the same for `attr` (or a dense `attr_matrix`),
            `labels`, and optionally `node_names`, `class_names`, and several splits as `train_masks`, `val_masks` and
            `test_masks` [S, N].
        name: what to call the graph; the file's name by default.
        binary: make every positive feature 1, as the usual loaders of the Amazon and Coauthor graphs do.
        require_labels: as for `Graph.from_arrays`.
        notify: as for `Graph.from_arrays`.
        unweighted: ignore the values of the adjacency, beside which are zero.
    """
    arrays = Archive(path)
    adjacency = _csr(arrays, "adj", path)
    x = arrays["attr_matrix"] if "attr_matrix" in arrays else _csr(arrays, "attr", path)
    y = np.full(adjacency.shape[0], -1) if "labels" not in arrays and not require_labels else arrays["labels"]
    classes, node_names = _names(arrays, "class_names"), _names(arrays, "node_names")
    masks = {part: arrays[f"{part}_masks"] for part in PARTS if f"{part}_masks" in arrays and "labels" in arrays}
    if binary:
        x = (x > 0).astype(np.float32)
    return Graph.from_arrays(
        adjacency,
        x,
        y,
        classes=classes,
        splits=splits_from_masks(masks, adjacency.shape[0], str(path)),
        name=name or path.stem,
        node_names=node_names,
        require_labels=require_labels,
        notify=notify,
        unweighted=unweighted,
    )


def _csr(arrays: Archive, prefix: str, path: Path) -> sp.csr_matrix:
    data, indices, indptr, shape = (arrays[f"{prefix}_{part}"] for part in ("data", "indices", "indptr", "shape"))
    try:
        matrix = checked_csr(data, indices, indptr, tuple(shape.tolist()))
    except (ValueError, TypeError, OverflowError) as error:
        raise GraphError(
            f"{path}: the arrays {prefix}_* form no sparse matrix ({error}); write the file anew"
        ) from error
    return matrix


def checked_csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, ...]) -> sp.csr_matrix:
    """The matrix of these arrays, every index checked; SciPy itself would take memory for any shape it is told."""
    if len(shape) != 2 or not all(isinstance(side, int) and side >= 0 for side in shape):
        raise ValueError(f"its shape is {shape}")
    if indptr.ndim != 1 or len(indptr) != shape[0] + 1:
        raise ValueError(f"there are {indptr.size} row starts for {shape[0]} rows")
    if any(array.dtype.kind not in "iu" for array in (indices, indptr)) or data.dtype.kind not in "fiub":
        raise ValueError(f"its types are {data.dtype}, {indices.dtype} and {indptr.dtype}")
    if data.dtype == np.float16:  # which SciPy takes, but can do nothing with
        data = data.astype(np.float32)
    matrix = sp.csr_matrix((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _names(arrays: Archive, key: str) -> list[str] | None:
    """An optional array of strings; the pickled ones of the Coauthor files count as absent."""
    if key not in arrays:
        return None
    try:
        names = arrays[key]
    except DataError:
        return None
    return names.tolist() if names.dtype.kind == "U" and names.ndim == 1 else None
