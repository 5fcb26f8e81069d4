"""The named datasets, ready to use: `load_dataset("cora")`."""

from __future__ import annotations

import hashlib
import logging
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from agssl.base.errors import DataError
from agssl.base.registry import Registry
from agssl.data import fetch as files
from agssl.data.catalog import ARXIV_CONTENT_SHA256, ARXIV_WITHOUT_FEATURES, SPECS, DatasetSpec
from agssl.data.fetch import DataFolders, Say, data_folders
from agssl.data.graph import Graph
from agssl.data.splits import make_split

log = logging.getLogger("agssl")

DATASETS: Registry[DatasetSpec] = Registry("dataset", "agssl.datasets")
for _spec in SPECS:
    DATASETS.add(_spec.name, _spec)

_ALIASES = {alias: spec.name for spec in SPECS for alias in spec.aliases}

DIGITS_NEIGHBOURS = 10
DIGITS_METRIC = "euclidean"


def dataset_spec(name: str) -> DatasetSpec:
    """The dataset of that name or alias, in any case; an unknown name gets the nearest known ones."""
    key = name.strip().lower()
    return DATASETS[_ALIASES.get(key, key)]


def is_dataset(name: str) -> bool:
    """Whether `dataset_spec` knows the name."""
    key = name.strip().lower()
    return _ALIASES.get(key, key) in DATASETS


def load_dataset(
    name: str, *, split: str = "auto", seed: int = 0, root: str | os.PathLike[str] | None = None, say: Say = log.info
) -> Graph:
    """A named dataset, cleaned, with a split.

    For many seeds, load once and draw the further splits with `make_split(text, graph, Rng(seed).child("split"))`.

    Args:
        name: cora, citeseer, pubmed, photo, computers, cs, physics, ogbn-arxiv or digits.
        split: see `agssl.data.splits`; `auto` is the public split where there is one, else 20 per class / 500 / 1000.
        seed: of the draw, where the split is drawn.
        root: folder with the raw files, in place of AGSSL_DATA.
        say: gets a line for each file that has to be fetched.

    Example:
        >>> graph = load_dataset("digits")  # built in: handwritten digits, each linked to the ten most like it
        >>> graph.num_nodes, len(graph.classes), graph.split.sizes()
        (1797, 10, {'train': 200, 'val': 500, 'test': 1000})
    """
    from agssl.base.rng import Rng

    graph = read_dataset(dataset_spec(name), data_folders(root), say)
    return graph.with_split(make_split(split, graph, Rng(seed).child("split"), root))


def get_dataset(name: str, *, root: str | os.PathLike[str] | None = None, say: Say = log.info) -> list[Path]:
    """See that all files of a dataset are on this machine, and say where; none for the one that is built in."""
    spec = dataset_spec(name)
    return files.fetch(spec.name, spec.files, data_folders(root), say)


def where(spec: DatasetSpec, folders: DataFolders) -> str:
    """In one word, where a dataset's files are: built-in, AGSSL_DATA, cache, partial or absent; unchecked."""
    if not spec.files:
        return "built-in"
    places = (("AGSSL_DATA", folders.root), ("cache", folders.cache))
    for place, folder in places:
        if folder is not None and all((folder / file.path).is_file() for file in spec.files):
            return place
    known = [*spec.files, *([ARXIV_WITHOUT_FEATURES] if spec.layout == "ogb" else [])]
    some = any((folder / file.path).is_file() for _, folder in places if folder for file in known)
    return "partial" if some else "absent"


def read_dataset(spec: DatasetSpec, folders: DataFolders, say: Say = log.info) -> Graph:
    """The dataset with its public split, if it has one, and no other."""
    return replace(_read(spec, folders, say), named=True)


def _read(spec: DatasetSpec, folders: DataFolders, say: Say) -> Graph:
    if spec.layout == "digits":
        return _digits(spec.name)
    if spec.layout == "ogb":
        return _arxiv(spec, folders, say)
    paths = files.fetch(spec.name, spec.files, folders, say)
    if spec.layout == "planetoid":
        from agssl.data.planetoid import read_planetoid

        return read_planetoid(paths, name=spec.name)
    from agssl.data.shchur import read_shchur

    return read_shchur(paths[0], name=spec.name, binary=True, notify=False, unweighted=True)


def _digits(name: str) -> Graph:
    """scikit-learn's handwritten digits, each linked to the ten most like it."""
    from sklearn.datasets import load_digits

    from agssl.data.knn import knn_edges

    pixels, y = load_digits(return_X_y=True)
    x = (pixels / 16).astype(np.float32)
    edges = knn_edges(x, DIGITS_NEIGHBOURS, DIGITS_METRIC)
    return Graph.from_arrays(edges, x, y, name=name, notify=False)


def _arxiv(spec: DatasetSpec, folders: DataFolders, say: Say) -> Graph:
    """The published zip file if it is here, else OGB's unpacked folder, else the graph alone, else a download."""
    from agssl.data.ogb import is_ogb, read_ogb, read_without_features

    archive = spec.files[0]
    path = files.find(archive, folders)
    if path is not None:
        return read_ogb(path, name=spec.name, notify=False)
    for folder in (folders.root, folders.cache):
        unpacked = folder / Path(archive.path).parent if folder else None
        if unpacked is not None and is_ogb(unpacked):
            graph = read_ogb(unpacked, name=spec.name, notify=False)
            _check_unpacked(graph, spec, unpacked)
            return graph
    path = files.find(ARXIV_WITHOUT_FEATURES, folders)
    if path is not None:
        missing = (
            f"{spec.name} has no node features here: {path.name} has the graph, labels and split, but not "
            f"{archive.path}; run `agssl data get {spec.name}`, or put that file ({archive.url}) below AGSSL_DATA or "
            f"{folders.cache}"
        )
        return read_without_features(path, name=spec.name, missing=missing)
    return read_ogb(files.fetch(spec.name, [archive], folders, say)[0], name=spec.name, notify=False)


def _check_unpacked(graph: Graph, spec: DatasetSpec, folder: Path) -> None:
    """The unpacked files have no published checksums, so what was read from them is checked instead.

    That covers the edges, labels and split; of the features, only the width can be known.
    """
    digest = hashlib.sha256()
    parts = graph.split.to_arrays().values() if graph.split is not None else ()
    for array in (graph.indptr, graph.indices, graph.y, *parts):
        digest.update(np.ascontiguousarray(array, dtype="<i8").data)
    width_is_right = graph.missing is not None or graph.num_features == spec.features
    if digest.hexdigest() != ARXIV_CONTENT_SHA256 or not width_is_right:
        raise DataError(
            f"{folder} is not {spec.name} as published: the SHA-256 of its edges, labels and split is "
            f"{digest.hexdigest()}, expected {ARXIV_CONTENT_SHA256}, with {spec.features} features; replace it by the "
            "published files, or pass the folder's path to read it as a graph of your own"
        )
