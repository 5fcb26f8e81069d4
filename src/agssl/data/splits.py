"""Which labelled nodes train, which validate, which test.

A split is asked for by a short text, recorded with every run, and travels with the graph:

| text | meaning |
|---|---|
| `public` | the one that came with the data; of several, number seed mod S |
| `public:3` | number 3, counted from 0, of several that came with the data |
| `random` or `random:20/500/1000` | 20 per class to train, 500 to validate, 1000 to test, drawn by seed |
| `per-class:20/30` | 20 per class to train, 30 per class to validate, all the rest to test |
| `fraction:0.6/0.2/0.2` | shares of the labelled nodes, class by class |
| `cv:5` | no part is set aside: all labelled nodes train, and each is held out once, in one of five folds |
| `holdout:0.2` | all labelled nodes train in the end; before, a fifth is held out to choose by, another to measure by |
| `authors` | the one fixed split that the paper's authors ship of Computers, Photo, CS and Physics |
| a path to `.npz`, `.json` or `.csv` | masks or index lists named train, val, test |
| `benchmark` | `public` if there is one, else `random` where enough nodes are labelled, else `fraction:0.6/0.2/0.2` |
| `auto` | `public` if there is one; for a named dataset `benchmark`; else no label is wasted: `cv:5`, or from 2,000 \
labelled nodes on `holdout:0.2` |

In `random`, the training nodes are drawn class by class and the other two parts from all the rest alike, as is usual
for the Amazon and Coauthor graphs; the other kinds draw every part class by class.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agssl.base.errors import GraphError, SettingsError, unknown_name
from agssl.data.draw import (
    FRACTION,
    MEASURED,
    by_class,
    draw_folds,
    draw_fractions,
    draw_per_class,
    draw_random,
    part_shares,
    whole_numbers,
)

if TYPE_CHECKING:
    from agssl.base.rng import Rng
    from agssl.data.graph import Graph

PARTS = ("train", "val", "test")
PUBLIC = "public"  # origin of a split that came with the data; one of several has its number after it
RANDOM = "random:20/500/1000"
FOLDS, HELD_OUT = 5, 0.2
PLENTY = 2000  # labelled nodes from which one held-out fifth measures well enough, at a fifth of the cost
KINDS = ("auto", "public", "benchmark", "authors", "random", "per-class", "fraction", "cv", "holdout")


@dataclass(frozen=True, eq=False)
class Split:
    """Three sets of node indices, each sorted. They are disjoint, but where nodes are held out in turn.

    Then `val` are those that train as well: the networks of fold f train without the nodes of that fold, and the final
    ones with all of `train`. What measures them is the nodes of the fold, too, or nodes of their own (`measure`).
    """

    train: np.ndarray  # int64 [n_train]
    val: np.ndarray  # int64 [n_val]
    test: np.ndarray  # int64 [n_test]
    origin: str = PUBLIC  # the text that asked for it, with the seed where one was used
    fold: np.ndarray | None = None  # int64 [n_val]: in which fold each node of `val` is held out
    measure: np.ndarray | None = None  # int64 [n]: nodes that no fold trains on or chooses by; None: those of `val`

    def sizes(self) -> dict[str, int]:
        """How many nodes each part has."""
        return {"train": len(self.train), "val": len(self.val), "test": len(self.test)}

    def parts(self) -> dict[str, np.ndarray]:
        """The three parts by name."""
        return {part: getattr(self, part) for part in PARTS}

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The parts by name, and the folds if there are any, for a file; the origin is text and goes elsewhere."""
        more = {"fold": self.fold, "measure": self.measure}
        return self.parts() | {name: array for name, array in more.items() if array is not None}

    def judges(self, part: str) -> np.ndarray:
        """The nodes of a part by which a fit is measured: held-out ones may have others to choose by."""
        return self.measure if part == "val" and self.measure is not None else self.parts()[part]

    def folds(self) -> list[Split]:
        """What to train and to choose by, once for each fold; without folds, the split itself."""
        if self.fold is None:
            return [self]
        held = [self.val[self.fold == number] for number in np.unique(self.fold)]
        known = self.train if self.measure is None else np.setdiff1d(self.train, self.measure)
        origin, measure = self.origin, self.measure
        return [Split(np.setdiff1d(known, nodes), nodes, self.test, origin, measure=measure) for nodes in held]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], origin: str = PUBLIC) -> Split:
        """A split from index lists or boolean masks named train, val and test (the last may be absent)."""
        missing = [part for part in PARTS[:2] if part not in arrays]
        if missing:
            found = ", ".join(arrays) or "nothing"
            raise GraphError(
                f"the split has no part named {missing[0]!r}, only {found}; name the parts train, val and test"
            )
        train, val, test = (_indices(part, arrays.get(part, np.empty(0, np.int64))) for part in PARTS)
        fold = None if "fold" not in arrays else _fold(arrays["fold"], arrays["val"], val)
        measure = None if "measure" not in arrays else _indices("measure", arrays["measure"])
        return cls(train, val, test, origin, fold, measure)


def _fold(values: np.ndarray, nodes: np.ndarray, val: np.ndarray) -> np.ndarray:
    """The fold of each node of `val`, in its order, from those of `nodes`."""
    fold = np.asarray(values)
    if fold.shape != val.shape or fold.dtype.kind not in "iu":
        raise GraphError(
            f"the folds of the split are {fold.dtype} of shape {fold.shape}, but val has {len(val)} nodes; give each "
            "the number of its fold"
        )
    return fold.astype(np.int64)[np.argsort(np.asarray(nodes), kind="stable")]


def _indices(part: str, values: np.ndarray) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise GraphError(
            f"the {part} part of the split has shape {array.shape}, expected one dimension; "
            "choose one split, as in mask[:, 0]"
        )
    if array.dtype.kind == "b":
        return np.flatnonzero(array)
    if array.size and array.dtype.kind not in "iu":
        raise GraphError(
            f"the {part} part of the split has the type {array.dtype}; give node indices or a boolean mask"
        )
    return np.sort(array.astype(np.int64))


def check_split(split: Split, y: np.ndarray) -> Split:
    """The split itself, if it fits the labels `y` [N]: in range, disjoint, labelled, train and val not empty."""
    if split.fold is not None:
        for one in split.folds():
            check_split(one, y)
        return split
    taken = np.full(len(y), -1, dtype=np.int8)
    for number, part in enumerate(PARTS):
        nodes = getattr(split, part)
        if not len(nodes) and part != "test":
            raise GraphError(f"the {part} part of the split is empty; give it at least one labelled node")
        outside = nodes[(nodes < 0) | (nodes >= len(y))]
        if len(outside):
            raise GraphError(
                f"the {part} part of the split has node {outside[0]}, but the graph has {len(y)} nodes; "
                "count nodes from 0"
            )
        again = nodes[taken[nodes] >= 0]
        if len(again):
            other = PARTS[taken[again[0]]]
            raise GraphError(
                f"node {again[0]} is in {other} and in {part}; a node may be in one part of the split only"
            )
        if len(np.unique(nodes)) < len(nodes):
            unique, counts = np.unique(nodes, return_counts=True)
            raise GraphError(f"node {unique[counts > 1][0]} is twice in the {part} part of the split; list it once")
        bare = nodes[y[nodes] < 0]
        if len(bare):
            raise GraphError(
                f"node {bare[0]} is in the {part} part of the split but has no label; "
                "label it or leave it out of the split"
            )
        taken[nodes] = number
    return split


def make_split(spec: str, graph: Graph, rng: Rng, root: str | os.PathLike[str] | None = None) -> Split:
    """The split that the text `spec` asks for (see the table above), checked against the graph.

    Args:
        spec: `auto`, `public[:number]`, `benchmark`, `authors`, `random[:a/b/c]`, `per-class:a/b`, `fraction:a/b/c`,
            `cv[:k]`, `holdout[:a]`, or a path.
        graph: for its labels, its public splits and its node names.
        rng: all that the draw depends on, beside the labels; its seed also chooses among public splits.
        root: folder with the raw files of datasets, in place of AGSSL_DATA; `authors` is looked for there.
    """
    kind, _, rest = spec.strip().partition(":")
    if kind in ("auto", "benchmark") and not rest:
        return _auto(graph, rng, benchmark=kind == "benchmark" or graph.named)
    if kind == "public":
        return _public(graph, rest, rng)
    if kind == "authors" and not rest:
        from agssl.data.authors import authors_split

        return check_split(authors_split(graph, root), graph.y)
    if Path(spec).suffix.lower() in (".npz", ".json", ".csv"):
        from agssl.data.split_files import read_split

        return check_split(read_split(Path(spec), graph.num_nodes, graph.node_names), graph.y)
    if kind not in KINDS[4:]:
        raise unknown_name("split", spec, KINDS)
    groups = by_class(graph.y, rng)
    if kind in ("cv", "holdout"):
        rest = rest or str(FOLDS if kind == "cv" else HELD_OUT)
        fold = draw_folds(graph, groups, spec.strip(), rest)
        train, val = np.sort(np.concatenate(groups)), np.flatnonzero(fold >= 0)
        measure = None if kind == "cv" else np.flatnonzero(fold == MEASURED)
        origin, none = f"{kind}:{rest} (seed {rng.seed})", np.empty(0, np.int64)
        return check_split(Split(train, val, none, origin, fold[val], measure), graph.y)
    if kind == "random":
        rest = rest or RANDOM.partition(":")[2]
        parts = draw_random(graph, groups, whole_numbers(spec, rest, 3), rng)
    elif kind == "per-class":
        parts = draw_per_class(graph, groups, whole_numbers(spec, rest, 2))
    else:
        parts = draw_fractions(groups, part_shares(spec, rest))
    train, val, test = (np.sort(part) for part in parts)
    return check_split(Split(train, val, test, f"{kind}:{rest} (seed {rng.seed})"), graph.y)


def public_origin(number: int | str) -> str:
    """The origin of one of several splits that came with the data.

    >>> public_origin(3)
    'public (split 3)'
    """
    return f"{PUBLIC} (split {number})"


def _brought(graph: Graph) -> tuple[Split, ...]:
    """The splits that came with the data; where one of several was chosen, this one."""
    if graph.splits or graph.split is None:
        return graph.splits
    origin = graph.split.origin
    return (graph.split,) if origin == PUBLIC or origin.startswith(f"{PUBLIC} (") else ()


def _public(graph: Graph, number: str, rng: Rng) -> Split:
    """The split that came with the data: of several, the one with that number, or else the seed's."""
    found = _brought(graph)
    if not found:
        raise SettingsError(
            f"{graph.name} came without a split of its own; ask for another one, as in --split {RANDOM}"
        )
    if not number:
        return found[rng.seed % len(found)]
    chosen = [split for split in found if split.origin == public_origin(number)]
    if not chosen:
        several = f"brings {len(found)}, so ask for one of public:0 to public:{len(found) - 1}"
        only = f"has one only, {found[0].origin}; ask for public"
        raise SettingsError(f"the split public:{number} is not there: {graph.name} {several if graph.splits else only}")
    return chosen[0]


def _auto(graph: Graph, rng: Rng, benchmark: bool) -> Split:
    if _brought(graph):
        return _public(graph, "", rng)
    counts = np.unique(graph.y[graph.y >= 0], return_counts=True)[1]
    if not benchmark:
        return make_split(f"cv:{FOLDS}" if counts.sum() < PLENTY else f"holdout:{HELD_OUT}", graph, rng)
    train, val, test = whole_numbers(RANDOM, RANDOM.partition(":")[2], 3)
    enough = len(counts) > 0 and counts.min() >= train and counts.sum() >= train * len(counts) + val + test
    return make_split(RANDOM if enough else FRACTION, graph, rng)
