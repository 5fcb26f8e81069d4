"""A graph as a folder of arrays that are memory-mapped when read: for graphs near or past the size of memory.

| file | holds |
|---|---|
| `meta.json` | format, version, name, sizes, names of the classes, where the graph is from |
| `indptr.npy`, `indices.npy` | the symmetric CSR adjacency: int64 [N + 1], int32 [2E] |
| `x.npy`, or `x_indptr.npy`, `x_indices.npy`, `x_data.npy` | features, dense float32 [N, d] or CSR |
| `y.npy` | labels, int64 [N], -1 for unlabelled |
| `weights.npy` | weights of the edges, float32 [2E] beside `indices`, in a folder of version 2 |
| `split.npz`, `splits.npz`, `node_names.npy` | where the graph has them; in `splits.npz` are masks [S, N] by part |

A folder is there in full or not at all. Opening reads the adjacency once, to check it, and nothing of the features.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import scipy.sparse as sp

from agssl.base.atomic import atomic_folder, write_json
from agssl.base.errors import DataError, GraphError
from agssl.data.arrays import Archive
from agssl.data.columns import Columns
from agssl.data.graph import Features, Graph
from agssl.data.labels import KINDS
from agssl.data.split_files import splits_from_masks
from agssl.data.splits import PARTS, Split, check_split
from agssl.data.validate import check_node_names
from agssl.data.weights import LEAST, MOST

FORMAT = "agssl-graph"
PLAIN, WEIGHTED = 1, 2  # versions; a program that knows only the first refuses weights, and does not drop them
PIECE = 1 << 22  # entries handled at a time
META = "meta.json"


class ArrayWriter:
    """An `.npy` file that grows along its first axis; its length need not be known before."""

    def __init__(self, path: Path, dtype: type | np.dtype, tail: tuple[int, ...] = ()) -> None:
        self.dtype, self.tail, self.length = np.dtype(dtype), tail, 0
        self._file = open(path, "wb")  # noqa: SIM115 - closed on exit
        self._header()

    def _header(self) -> None:
        # NumPy leaves room in the header for the first axis to grow, so that it can be written again in place
        shape = (self.length, *self.tail)
        header = {"descr": self.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)

    def __enter__(self) -> ArrayWriter:
        return self

    def append(self, rows: np.ndarray) -> None:
        """Add rows at the end."""
        assert rows.shape[1:] == self.tail
        self._file.write(np.ascontiguousarray(rows, dtype=self.dtype).data)
        self.length += len(rows)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        start = self._file.tell()
        self._file.seek(0)
        self._header()
        assert start >= self._file.tell()
        self._file.close()


def write_packed(graph: Graph, folder: str | os.PathLike[str]) -> None:
    """Write a graph as a packed folder, piece by piece, so that a memory-mapped one need not fit into memory."""
    arrays = {"indptr": graph.indptr, "indices": graph.indices, "y": graph.y}
    if isinstance(graph.x, np.ndarray):
        arrays["x"] = graph.x
    else:
        arrays |= {f"x_{part}": getattr(graph.x, part) for part in ("indptr", "indices", "data")}
    arrays |= {} if graph.weights is None else {"weights": graph.weights}
    with atomic_folder(folder) as staging:
        for name, array in arrays.items():
            step = max(1, PIECE // max(1, int(np.prod(array.shape[1:]))))
            with ArrayWriter(staging / f"{name}.npy", array.dtype, array.shape[1:]) as file:
                for start in range(0, len(array), step):
                    file.append(array[start : start + step])
        seal(staging, graph)


def seal(folder: Path, graph: Graph, source: Mapping[str, Any] | None = None) -> None:
    """Write what makes a folder with all the large arrays a packed graph.

    Args:
        folder: has the adjacency, features and labels in it.
        graph: the sizes, and everything else; the values of its adjacency and features are not read.
        source: where the graph is from.
    """
    if graph.split is not None:
        np.savez(folder / "split.npz", **graph.split.to_arrays())  # type: ignore[arg-type]
    if graph.splits:
        masks = {part: np.zeros((len(graph.splits), graph.num_nodes), dtype=bool) for part in PARTS}
        for number, split in enumerate(graph.splits):
            for part in PARTS:
                masks[part][number, getattr(split, part)] = True
        np.savez_compressed(folder / "splits.npz", **masks)  # type: ignore[arg-type]
    if graph.node_names is not None:
        np.save(folder / "node_names.npy", graph.node_names, allow_pickle=False)
    meta = {
        "format": FORMAT,
        "version": PLAIN if graph.weights is None else WEIGHTED,
        "name": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "features": graph.num_features,
        "sparse": (folder / "x_indptr.npy").exists(),
        "classes": list(graph.classes),
        "class_kind": graph.class_kind,
        "split": None if graph.split is None else graph.split.origin,
        "missing": graph.missing,
        "source": dict(source or {}),
        **({} if graph.columns is None else {"columns": graph.columns.to_dict()["columns"]}),
    }
    write_json(folder / META, meta)


def stored_in(graph: Graph) -> Path | None:
    """The packed folder whose adjacency and features a graph has mapped; None where any of them is in memory."""
    x = (graph.x,) if isinstance(graph.x, np.ndarray) else (graph.x.indptr, graph.x.indices, graph.x.data)
    weights = () if graph.weights is None else (graph.weights,)
    folders = {_mapped_from(array) for array in (graph.indptr, graph.indices, *x, *weights)}
    return folders.pop() if len(folders) == 1 else None


def _mapped_from(array: np.ndarray) -> Path | None:
    """The folder of the file that an array is all of."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
        owner = owner.base
    if not isinstance(owner, np.memmap) or owner.filename is None or owner.shape != array.shape:
        return None
    return Path(owner.filename).parent


def is_packed(folder: Path) -> bool:
    """Whether a folder has the layout of a packed graph."""
    return (folder / META).is_file() and (folder / "indptr.npy").is_file()


def open_packed(folder: str | os.PathLike[str], *, name: str | None = None) -> Graph:
    """The graph in a packed folder, its arrays memory-mapped (copy on write: the files never change).

    Args:
        folder: written by `write_packed`, `agssl data pack` or `agssl data generate`.
        name: what to call the graph; by default the name it was packed with.

    Raises:
        DataError: a file is missing, damaged, of another version, or does not fit the others.
    """
    folder = Path(folder)
    meta = _read_meta(folder)
    nodes, columns = meta["nodes"], meta["features"]
    indptr = _load(folder, "indptr", "i", (nodes + 1,))
    indices = _load(folder, "indices", "i", (2 * meta["edges"],))
    _check_rows(folder, indptr, indices, nodes, nodes, "indices")
    weights = _weights(folder, indptr, len(indices)) if meta["version"] == WEIGHTED else None
    _check_symmetric(folder, indptr, indices, weights)
    y = _load(folder, "y", "i", (nodes,))
    if nodes and (y.min() < -1 or y.max() >= len(meta["classes"])):
        raise _bad(folder, "y.npy", f"a label is outside -1..{len(meta['classes']) - 1}")
    try:
        names = None
        if (folder / "node_names.npy").exists():
            names = check_node_names(_load(folder, "node_names", "U", (nodes,)), nodes)
        split, splits = _split(folder, meta, y), _splits(folder, y)
    except GraphError as error:
        raise _bad(folder, "split.npz, splits.npz or node_names.npy", str(error)) from error
    x = _features(folder, nodes, columns, meta["sparse"])
    classes = tuple(meta["classes"])
    kind, name, encoding = meta.get("class_kind", "str"), name or meta["name"], _columns(folder, meta)
    about = (split, name, names, meta["missing"], weights, kind, encoding, splits)
    return Graph(indptr, indices, x, y, classes, *about)


def _read_meta(folder: Path) -> dict[str, Any]:
    try:
        meta = json.loads((folder / META).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise _bad(folder, META, str(error)) from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise _bad(folder, META, f"it does not say format {FORMAT!r}")
    if meta.get("version") not in (PLAIN, WEIGHTED):
        raise DataError(
            f"{folder} has version {meta.get('version')!r} of the packed format, this program reads up to {WEIGHTED}; "
            "pack the graph again, or update agssl"
        )
    whole = {key: meta.get(key) for key in ("nodes", "edges", "features")}
    for key, value in whole.items():
        if type(value) is not int or not 0 <= value < 2**40 or (key == "nodes" and not 0 < value < 2**31):
            raise _bad(folder, META, f"{key} is {value!r}")
    classes = meta.get("classes")
    if not isinstance(classes, list) or not all(isinstance(c, str) for c in classes) or len({*classes}) < len(classes):
        raise _bad(folder, META, "classes is not a list of distinct names")
    if meta.get("class_kind", "str") not in list(KINDS):
        raise _bad(folder, META, f"class_kind is {meta['class_kind']!r}")
    for key, kinds in (("sparse", bool), ("name", str), ("split", str | None), ("missing", str | None)):
        if key not in meta or not isinstance(meta[key], kinds):
            raise _bad(folder, META, f"{key} is {meta.get(key, 'missing')!r}")
    return meta


def _columns(folder: Path, meta: dict[str, Any]) -> Columns | None:
    """How columns of a table became the features, where they did."""
    if "columns" not in meta:
        return None
    try:
        columns = Columns.from_dict(meta)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise _bad(folder, META, f"columns: {error}") from error
    if len(columns.features) == meta["features"]:
        return columns
    raise _bad(folder, META, "columns do not make the features")


def _load(folder: Path, name: str, kind: str = "", shape: tuple[int, ...] = ()) -> np.ndarray:
    """One array, memory-mapped; of this kind and shape where these are given."""
    path = folder / f"{name}.npy"
    try:
        array = np.load(path, mmap_mode="c", allow_pickle=False)
    except Exception as error:  # NumPy's parser of headers raises almost anything
        raise _bad(folder, path.name, " ".join(str(error).split())) from error
    if kind and (array.dtype.kind != kind or array.shape != shape):
        raise _bad(folder, path.name, f"it has {array.dtype} {array.shape}, but {META} asks for {shape}")
    if kind == "i" and array.dtype not in (np.int32, np.int64):
        raise _bad(folder, path.name, f"its type is {array.dtype}, expected int32 or int64")
    return np.asarray(array)  # a plain array that keeps the map alive


def _weights(folder: Path, indptr: np.ndarray, entries: int) -> np.ndarray:
    """The weights of the edges, each in the range that `check_weights` allows."""
    weights = _load(folder, "weights", "f", (entries,))
    if weights.dtype != np.float32:
        raise _bad(folder, "weights.npy", f"its type is {weights.dtype}, expected float32")
    for first, last in row_blocks(indptr):
        block = weights[indptr[first] : indptr[last]]
        odd = np.flatnonzero(~((block >= np.float32(LEAST)) & (block <= np.float32(MOST))))
        if len(odd):
            raise _bad(folder, "weights.npy", f"the weight {block[odd[0]]} is not positive and finite")
    return weights


def _features(folder: Path, nodes: int, columns: int, sparse: bool) -> Features:
    if not sparse:
        x = _load(folder, "x", "f", (nodes, columns))
        if x.dtype != np.float32:
            raise _bad(folder, "x.npy", f"its type is {x.dtype}, expected float32")
        return x
    indptr = _load(folder, "x_indptr", "i", (nodes + 1,))
    stored = int(indptr[-1])
    indices = _load(folder, "x_indices", "i", (stored,))
    data = _load(folder, "x_data", "f", (stored,))
    _check_rows(folder, indptr, indices, nodes, columns, "x_indices")
    if data.dtype != np.float32:
        raise _bad(folder, "x_data.npy", f"its type is {data.dtype}, expected float32")
    return sp.csr_matrix((data, indices, indptr), shape=(nodes, columns), copy=False)


def _split(folder: Path, meta: dict[str, Any], y: np.ndarray) -> Split | None:
    if meta["split"] is None:
        return None
    try:
        with np.load(folder / "split.npz", allow_pickle=False) as arrays:
            return check_split(Split.from_arrays({name: arrays[name] for name in arrays.files}, meta["split"]), y)
    except GraphError:
        raise
    except Exception as error:  # NumPy's parser of headers raises almost anything
        raise _bad(folder, "split.npz", " ".join(str(error).split())) from error


def _splits(folder: Path, y: np.ndarray) -> tuple[Split, ...]:
    path = folder / "splits.npz"
    if not path.exists():
        return ()
    arrays = Archive(path)
    splits = splits_from_masks({part: arrays[part] for part in PARTS if part in arrays}, len(y), path.name)
    return tuple(check_split(split, y) for split in splits)


def _check_rows(folder: Path, indptr: np.ndarray, indices: np.ndarray, rows: int, columns: int, name: str) -> None:
    """Refuse a CSR that would read outside its arrays, or whose rows are not sorted."""
    start, stop = int(indptr[0]), int(indptr[-1])
    if start != 0 or stop != len(indices) or (np.diff(indptr) < 0).any():
        raise _bad(folder, f"{name}.npy", "the row pointers beside it do not rise from 0 to its length")
    for first, last in row_blocks(indptr):
        block = indices[indptr[first] : indptr[last]]
        if len(block) and (block.min() < 0 or block.max() >= columns):
            raise _bad(folder, f"{name}.npy", f"an entry is outside 0..{columns - 1}")
        rising = np.diff(block) > 0
        starts = indptr[first + 1 : last] - indptr[first]
        rising[starts[(starts > 0) & (starts < len(block))] - 1] = True
        if not rising.all():
            raise _bad(folder, f"{name}.npy", "a row is not sorted, or has an entry twice")


def _check_symmetric(folder: Path, indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray | None) -> None:
    """Refuse self-loops and edges without their reverse of the same weight, found by sums of hashes in O(1) memory."""
    balance = np.uint64(0)
    for first, last in row_blocks(indptr):
        source = np.repeat(np.arange(first, last, dtype=np.int64), np.diff(indptr[first : last + 1]))
        target = indices[indptr[first] : indptr[last]].astype(np.int64)
        if (source == target).any():
            raise _bad(folder, "indices.npy", f"node {source[source == target][0]} has an edge to itself")
        low, high = np.minimum(source, target), np.maximum(source, target)
        mixed = _mix((low << 32 | high).view(np.uint64))
        if weights is not None:
            bits = np.ascontiguousarray(weights[indptr[first] : indptr[last]]).view(np.uint32)
            mixed = _mix(mixed ^ bits.astype(np.uint64))
        down = source > target
        with np.errstate(over="ignore"):
            balance += mixed[~down].sum(dtype=np.uint64) - mixed[down].sum(dtype=np.uint64)
    if balance != 0:
        lacks = "an edge lacks its reverse" + ("" if weights is None else ", or this has another weight")
        raise _bad(folder, "indices.npy", lacks)


def _mix(keys: np.ndarray) -> np.ndarray:
    """Well-spread 64-bit values of 64-bit keys (multiply and xor-shift)."""
    for factor, shift in ((0x9E3779B97F4A7C15, 29), (0xBF58476D1CE4E5B9, 32), (0x94D049BB133111EB, 31)):
        keys = keys * np.uint64(factor)
        keys ^= keys >> np.uint64(shift)
    return keys


def row_blocks(indptr: np.ndarray, most: int = PIECE) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of rows with about `most` entries (or rows) each; a longer row is a range of its own."""
    rows, first = len(indptr) - 1, 0
    while first < rows:
        last = int(np.searchsorted(indptr, indptr[first] + most, side="right")) - 1
        last = min(max(last, first + 1), first + most, rows)
        yield first, last
        first = last


def _bad(folder: Path, file: str, reason: str) -> DataError:
    return DataError(f"cannot use the packed graph {folder}: {file}: {reason}; pack or generate it again")
