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
| `holdout:0.2` | all labelled nodes train in the end; a fifth is held out first, to choose and to measure by |
| a path to `.npz`, `.json` or `.csv` | masks or index lists named train, val, test |
| `benchmark` | `public` if there is one, else `random` where enough nodes are labelled, else `fraction:0.6/0.2/0.2` |
| `auto` | `public` if there is one; for a named dataset `benchmark`; else no label is wasted: `cv:5`, or from 2,000 \
labelled nodes on `holdout:0.2` |

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
FOLDS, HELD_OUT = 5, 0.2
PLENTY = 2000  # labelled nodes from which one held-out fifth measures well enough, at a fifth of the cost
KINDS = ("auto", "public", "benchmark", "random", "per-class", "fraction", "cv", "holdout")


@dataclass(frozen=True, eq=False)
class Split:
    """Three sets of node indices, each sorted. They are disjoint, but where nodes are held out in turn.

    Then `val` are those that train as well: the networks of fold f train without the nodes of that fold, and the final
    ones with all of `train`.
    """

    train: np.ndarray  # int64 [n_train]
    val: np.ndarray  # int64 [n_val]
    test: np.ndarray  # int64 [n_test]
    origin: str = PUBLIC  # the text that asked for it, with the seed where one was used
    fold: np.ndarray | None = None  # int64 [n_val]: in which fold each node of `val` is held out

    def sizes(self) -> dict[str, int]:
        """How many nodes each part has."""
        return {"train": len(self.train), "val": len(self.val), "test": len(self.test)}

    def parts(self) -> dict[str, np.ndarray]:
        """The three parts by name."""
        return {part: getattr(self, part) for part in PARTS}

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The parts by name, and the folds if there are any, for a file; the origin is text and goes elsewhere."""
        return self.parts() | ({} if self.fold is None else {"fold": self.fold})

    def folds(self) -> list[Split]:
        """What to train and to choose by, once for each fold; without folds, the split itself."""
        if self.fold is None:
            return [self]
        held = [self.val[self.fold == number] for number in np.unique(self.fold)]
        return [Split(np.setdiff1d(self.train, nodes), nodes, self.test, self.origin) for nodes in held]

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
        return cls(train, val, test, origin, fold)


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


def make_split(spec: str, graph: Graph, rng: Rng) -> Split:
    """The split that the text `spec` asks for (see the table above), checked against the graph.

    Args:
        spec: `auto`, `public[:number]`, `benchmark`, `random[:a/b/c]`, `per-class:a/b`, `fraction:a/b/c`, `cv[:k]`,
            `holdout[:a]`, or a path.
        graph: for its labels, its public splits and its node names.
        rng: all that the draw depends on, beside the labels; its seed also chooses among public splits.
    """
    kind, _, rest = spec.strip().partition(":")
    if kind in ("auto", "benchmark") and not rest:
        return _auto(graph, rng, benchmark=kind == "benchmark" or graph.named)
    if kind == "public":
        return _public(graph, rest, rng)
    if Path(spec).suffix.lower() in (".npz", ".json", ".csv"):
        from agssl.data.split_files import read_split

        return check_split(read_split(Path(spec), graph.num_nodes, graph.node_names), graph.y)
    if kind not in KINDS[3:]:
        raise unknown_name("split", spec, KINDS)
    groups = _by_class(graph.y, rng)
    if kind in ("cv", "holdout"):
        rest = rest or str(FOLDS if kind == "cv" else HELD_OUT)
        fold = _deal(groups, _count(spec, rest)) if kind == "cv" else _hold_out(groups, _share(spec, rest))
        dealt = _spread(graph, groups, fold)
        train, val = np.sort(np.concatenate(groups)), np.flatnonzero(dealt >= 0)
        if not len(val):
            raise _too_few(len(train), len(groups))
        origin = f"{kind}:{rest} (seed {rng.seed})"
        return check_split(Split(train, val, np.empty(0, np.int64), origin, dealt[val]), graph.y)
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


def _auto(graph: Graph, rng: Rng, benchmark: bool) -> Split:
    if _brought(graph):
        return _public(graph, "", rng)
    counts = np.unique(graph.y[graph.y >= 0], return_counts=True)[1]
    if not benchmark:
        return make_split(f"cv:{FOLDS}" if counts.sum() < PLENTY else f"holdout:{HELD_OUT}", graph, rng)
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
        raise _too_few(total, len(groups))
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


def _too_few(nodes: int, classes: int) -> GraphError:
    return GraphError(
        f"there are {nodes} labelled nodes for {classes} classes; label at least one more, so that every class "
        "has a node to train on and one is left to validate on"
    )


def _deal(groups: list[np.ndarray], count: int) -> list[np.ndarray]:
    """The fold of each node of each class: dealt out in turn, the next class where the last one ended.

    The only node of a class is held out nowhere (-1), so that every network has seen every class.
    """
    folds, start = [], 0
    for group in groups:
        if len(group) == 1:
            folds.append(np.array([-1]))
            continue
        folds.append((start + np.arange(len(group))) % count)
        start += len(group)
    return folds


def _hold_out(groups: list[np.ndarray], share: float) -> list[np.ndarray]:
    """One fold with a share of each class, one node of it at least where it can spare one."""
    room = np.array([len(group) for group in groups])
    held = _apportion(room * share, room - 1)
    if not held.any():
        held[int(np.argmax(room))] += room.max() > 1
    return [np.where(np.arange(len(group)) < n, 0, -1) for group, n in zip(groups, held, strict=True)]


def _spread(graph: Graph, groups: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
    """Values of the nodes of each class as an array over all nodes, -1 elsewhere."""
    found = np.full(graph.num_nodes, -1, dtype=np.int64)
    found[np.concatenate(groups)] = np.concatenate(values)
    return found


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


def _count(spec: str, text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 2:
        raise SettingsError(f"cannot understand the split {spec!r}; write the number of folds, 2 or more, as in cv:5")
    return int(text)


def _share(spec: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise SettingsError(f"cannot understand the split {spec!r}; write the share to hold out, as in holdout:0.2")
    return share


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
