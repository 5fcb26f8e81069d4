"""Which labelled nodes train, which validate, which test.

A split is asked for by a short text, recorded with every run, and travels with the graph:

| text | meaning |
|---|---|
| `public` | the one that came with the data; of several, number seed mod S |
| `public:3` | number 3, counted from 0, of several that came with the data |
| `random` or `random:20/500/1000` | 20 per class to train, 500 to validate, 1000 to test, drawn by seed |
| `per-class:20/30` | 20 per class to train, 30 per class to validate, all the rest to test |
| `fraction:0.6/0.2/0.2` | shares of the labelled nodes, class by class |
| a path to `.npz`, `.json` or `.csv` | masks or index lists named train, val, test |
| `auto` | `public` if there is one, else `random` where enough nodes are labelled, else `fraction:0.6/0.2/0.2` |

In `random`, the training nodes are drawn class by class and the other two parts from all the rest alike, as is usual
for the Amazon and Coauthor graphs; the other kinds draw every part class by class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agssl.base.errors import GraphError, SettingsError, unknown_name

if TYPE_CHECKING:
    from agssl.base.rng import Rng
    from agssl.data.graph import Graph

PARTS = ("train", "val", "test")
PUBLIC = "public"  # origin of a split that came with the data; one of several has its number after it
RANDOM = "random:20/500/1000"
FRACTION = "fraction:0.6/0.2/0.2"


@dataclass(frozen=True, eq=False)
class Split:
    """Three disjoint sets of node indices, each sorted."""

    train: np.ndarray  # int64 [n_train]
    val: np.ndarray  # int64 [n_val]
    test: np.ndarray  # int64 [n_test]
    origin: str = PUBLIC  # the text that asked for it, with the seed where one was used

    def sizes(self) -> dict[str, int]:
        """How many nodes each part has."""
        return {"train": len(self.train), "val": len(self.val), "test": len(self.test)}

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The three parts by name, for a file of arrays; the origin is text and goes elsewhere."""
        return {part: getattr(self, part) for part in PARTS}

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
        return cls(train, val, test, origin)


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


def make_split(spec: str, graph: Graph, rng: Rng) -> Split:
    """The split that the text `spec` asks for (see the table above), checked against the graph.

    Args:
        spec: `auto`, `public[:number]`, `random[:a/b/c]`, `per-class:a/b`, `fraction:a/b/c`, or a path.
        graph: for its labels, its public splits and its node names.
        rng: all that the draw depends on, beside the labels; its seed also chooses among public splits.
    """
    kind, _, rest = spec.strip().partition(":")
    if kind == "auto" and not rest:
        return _auto(graph, rng)
    if kind == "public":
        return _public(graph, rest, rng)
    if Path(spec).suffix.lower() in (".npz", ".json", ".csv"):
        from agssl.data.split_files import read_split

        return check_split(read_split(Path(spec), graph.num_nodes, graph.node_names), graph.y)
    if kind not in ("random", "per-class", "fraction"):
        raise unknown_name("split", spec, ["auto", "public", "random", "per-class", "fraction"])
    groups = _by_class(graph.y, rng)
    if kind == "random":
        rest = rest or RANDOM.partition(":")[2]
        parts = _random(graph, groups, _whole(spec, rest, 3), rng)
    elif kind == "per-class":
        parts = _per_class(graph, groups, _whole(spec, rest, 2))
    else:
        parts = _fraction(groups, _shares(spec, rest))
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


def _auto(graph: Graph, rng: Rng) -> Split:
    if _brought(graph):
        return _public(graph, "", rng)
    counts = np.unique(graph.y[graph.y >= 0], return_counts=True)[1]
    train, val, test = _whole(RANDOM, RANDOM.partition(":")[2], 3)
    enough = len(counts) > 0 and counts.min() >= train and counts.sum() >= train * len(counts) + val + test
    return make_split(RANDOM if enough else FRACTION, graph, rng)


def _by_class(y: np.ndarray, rng: Rng) -> list[np.ndarray]:
    """The labelled nodes of each class that has any, in random order."""
    generator = rng.child("classes").numpy()
    return [generator.permutation(np.flatnonzero(y == label)) for label in np.unique(y[y >= 0])]


def _random(graph: Graph, groups: list[np.ndarray], sizes: list[int], rng: Rng) -> list[np.ndarray]:
    each, val, test = sizes
    _check_classes(graph, groups, each, f"random:{each}/{val}/{test}")
    rest = rng.child("rest").numpy().permutation(np.sort(np.concatenate([group[each:] for group in groups])))
    if len(rest) < val + test:
        raise GraphError(
            f"{graph.name} has {len(rest)} labelled nodes left after {each} per class, too few to validate on {val} "
            f"and to test on {test}; ask for fewer, or for shares: {FRACTION}"
        )
    return [np.concatenate([group[:each] for group in groups]), rest[:val], rest[val : val + test]]


def _per_class(graph: Graph, groups: list[np.ndarray], sizes: list[int]) -> list[np.ndarray]:
    train, val = sizes
    _check_classes(graph, groups, train + val, f"per-class:{train}/{val}")
    cuts = (slice(0, train), slice(train, train + val), slice(train + val, None))
    return [np.concatenate([group[cut] for group in groups]) for cut in cuts]


def _check_classes(graph: Graph, groups: list[np.ndarray], needed: int, spec: str) -> None:
    for group in groups:
        if len(group) < needed:
            name = graph.classes[graph.y[group[0]]]
            raise GraphError(
                f"class {name!r} has {len(group)} labelled nodes, but the split {spec} takes {needed} of each class; "
                f"label more nodes, ask for fewer, or for shares: {FRACTION}"
            )


def _fraction(groups: list[np.ndarray], shares: list[float]) -> list[np.ndarray]:
    room = np.array([len(group) for group in groups])
    total = int(room.sum())
    if total <= len(groups):
        raise GraphError(
            f"there are {total} labelled nodes for {len(groups)} classes; label at least one more, so that every class "
            "has a node to train on and one is left to validate on"
        )
    # the others may not take the last node of a class: each class keeps one to train on
    train = np.maximum(_apportion(room * shares[0], room), 1)
    val = _apportion(room * shares[1], room - train)
    if not val.any():
        donor = int(np.argmax(room - train)) if (room > train).any() else int(np.argmax(train))
        val[donor], train[donor] = 1, min(train[donor], room[donor] - 1)
    left = room - train - val
    test = left if sum(shares) > 1 - 1e-9 else _apportion(room * shares[2], left)
    ends = np.cumsum([train, val, test], axis=0)
    starts = np.vstack([np.zeros_like(room), ends[:2]])
    return [np.concatenate([g[a:b] for g, a, b in zip(groups, starts[i], ends[i], strict=True)]) for i in range(3)]


def _apportion(quota: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Whole numbers near `quota` with its rounded sum, the largest remainders rounded up first, none above `room`."""
    counts = np.minimum(np.floor(quota + 1e-9).astype(np.int64), room)
    for index in np.argsort(counts - quota, kind="stable"):
        if counts.sum() >= round(float(quota.sum())):
            break
        counts[index] += counts[index] < room[index]
    return counts


def _whole(spec: str, text: str, count: int) -> list[int]:
    numbers = text.split("/")
    if len(numbers) != count or not all(n.strip().isdecimal() for n in numbers) or int(numbers[0]) < 1:
        shape = "random:20/500/1000" if count == 3 else "per-class:20/30"
        raise SettingsError(f"cannot understand the split {spec!r}; write {count} whole numbers as in {shape}")
    return [int(n) for n in numbers]


def _shares(spec: str, text: str) -> list[float]:
    try:
        shares = [float(n) for n in text.split("/")]
    except ValueError:
        shares = []
    if len(shares) != 3 or not all(0 <= s < 1 for s in shares) or min(shares[:2]) <= 0 or sum(shares) > 1 + 1e-9:
        raise SettingsError(
            f"cannot understand the split {spec!r}; write three shares that sum to at most 1, as in {FRACTION}"
        )
    return shares
