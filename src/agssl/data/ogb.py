"""Reader of the Open Graph Benchmark's raw layout for node classification, unpacked or still in its zip file.

raw/edge.csv.gz  raw/node-feat.csv.gz  raw/node-label.csv.gz  split/<scheme>/{train,valid,test}.csv.gz
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from pathlib import Path

import numpy as np

from agssl.base.errors import DataError
from agssl.base.system import free_memory, size_text
from agssl.data.arrays import Archive
from agssl.data.graph import Graph
from agssl.data.splits import Split

EDGES = "raw/edge.csv.gz"
FEATURES = "raw/node-feat.csv.gz"
LABELS = "raw/node-label.csv.gz"

Place = Path | zipfile.Path


def is_ogb(folder: Path) -> bool:
    """Whether the folder has the raw layout."""
    return (folder / EDGES).is_file()


def read_ogb(path: Path, *, name: str, require_labels: bool = True, notify: bool = True) -> Graph:
    """The graph in a folder or zip file of that layout, with its split as the public one.

    Without a features file the graph has no features, and its `missing` says what to provide.
    """
    place = _root(path)
    y = _read(place / LABELS, np.float64)[:, 0]  # floats, because OGB writes a missing label as an empty cell
    features = place / FEATURES
    missing = None if features.exists() else f"{name} has no node features: {path} lacks {FEATURES}; add that file"
    return Graph.from_arrays(
        _read(place / EDGES, np.int64).T,
        None if missing else _read(features, np.float32),
        y,
        split=_split(place),
        name=name,
        missing=missing,
        require_labels=require_labels,
        notify=notify,
    )


def read_without_features(path: Path, *, name: str, missing: str) -> Graph:
    """ogbn-arxiv from one `.npz` with edges, labels and the split, but no features."""
    arrays = Archive(path)
    edges, y = arrays["edge_index"], arrays["y"]
    parts = {part: arrays[f"{key}_idx"] for part, key in (("train", "train"), ("val", "valid"), ("test", "test"))}
    return Graph.from_arrays(edges, None, y, split=Split.from_arrays(parts), name=name, missing=missing, notify=False)


def _root(path: Path) -> Place:
    """The place that has `raw/` in it: the folder itself, or the one folder inside a zip file."""
    if path.is_dir():
        return path
    try:
        root = zipfile.Path(path)
        inside = [root, *(child for child in root.iterdir() if child.is_dir())]
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise DataError(f"cannot read {path}: {error}; replace the file") from error
    for place in inside:
        if (place / EDGES).exists():
            return place
    raise DataError(f"{path} has no {EDGES} in it; expected the layout of the Open Graph Benchmark")


def _split(place: Place) -> Split | None:
    folder = place / "split"
    schemes = sorted((child for child in folder.iterdir() if child.is_dir()), key=str) if folder.exists() else []
    if not schemes:
        return None
    words = (("train", "train"), ("val", "valid"), ("test", "test"))
    return Split.from_arrays({part: _read(schemes[0] / f"{word}.csv.gz", np.int64)[:, 0] for part, word in words})


def _read(place: Place, dtype: type) -> np.ndarray:
    """A table of numbers without header, as an array [rows, columns]."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        with place.open("rb") as packed, gzip.open(packed) as file:
            options = csv.ReadOptions(autogenerate_column_names=True, block_size=1 << 24)
            table = csv.read_csv(_Bounded(file, place), read_options=options)
        columns = [column.cast(pa.from_numpy_dtype(np.dtype(dtype))) for column in table.columns]
    except (
        OSError,
        EOFError,
        KeyError,
        ValueError,
        zlib.error,
        zipfile.BadZipFile,
        NotImplementedError,
        RuntimeError,
    ) as error:  # ArrowInvalid is a ValueError
        raise DataError(f"cannot read {place}: {error}; replace the file by the published one") from error
    array = np.empty((table.num_rows, len(columns)), dtype=dtype)
    for i, column in enumerate(columns):
        array[:, i] = column.to_numpy()
    return array


class _Bounded(io.RawIOBase):
    """An unpacked stream that ends in an error once it is larger than the free memory: a few bytes may unpack to any
    number.
    """

    def __init__(self, stream: gzip.GzipFile, place: Place) -> None:
        super().__init__()
        self.stream, self.place, self.room = stream, place, free_memory()
        self.taken = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        data = self.stream.read(size)
        self.taken += len(data)
        if self.room is not None and self.taken > self.room:
            raise DataError(f"{self.place} unpacks to more than the {size_text(self.room)} of memory that is free")
        return data
