"""Drawing the parts of a split: each function takes the labelled nodes of each class, in random order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agssl.base.errors import GraphError, SettingsError

if TYPE_CHECKING:
    from agssl.base.rng import Rng
    from agssl.data.graph import Graph

FRACTION = "fraction:0.6/0.2/0.2"
MEASURED = -2  # marks nodes that are held out to measure by, beside the numbers of folds and -1


def by_class(y: np.ndarray, rng: Rng) -> list[np.ndarray]:
    """The labelled nodes of each class that has any, in random order."""
    generator = rng.child("classes").numpy()
    return [generator.permutation(np.flatnonzero(y == label)) for label in np.unique(y[y >= 0])]


def draw_random(graph: Graph, groups: list[np.ndarray], sizes: list[int], rng: Rng) -> list[np.ndarray]:
    """So many of each class, and then so many of all the rest alike."""
    each, val, test = sizes
    _check_classes(graph, groups, each, f"random:{each}/{val}/{test}")
    rest = rng.child("rest").numpy().permutation(np.sort(np.concatenate([group[each:] for group in groups])))
    if len(rest) < val + test:
        raise GraphError(
            f"{graph.name} has {len(rest)} labelled nodes left after {each} per class, too few to validate on {val} "
            f"and to test on {test}; ask for fewer, or for shares: {FRACTION}"
        )
    return [np.concatenate([group[:each] for group in groups]), rest[:val], rest[val : val + test]]


def draw_per_class(graph: Graph, groups: list[np.ndarray], sizes: list[int]) -> list[np.ndarray]:
    """So many of each class for the first two parts, the rest for the third."""
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


def draw_fractions(groups: list[np.ndarray], shares: list[float]) -> list[np.ndarray]:
    """Shares of each class."""
    room = np.array([len(group) for group in groups])
    total = int(room.sum())
    if total <= len(groups):
        raise too_few(total, len(groups))
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


def too_few(nodes: int, classes: int) -> GraphError:
    """The error where labels do not suffice for any split."""
    return GraphError(
        f"there are {nodes} labelled nodes for {classes} classes; label at least one more, so that every class "
        "has a node to train on and one is left to validate on"
    )


def deal_folds(groups: list[np.ndarray], count: int) -> list[np.ndarray]:
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


def hold_out(groups: list[np.ndarray], share: float) -> list[np.ndarray]:
    """One fold (0) with a share of each class, and as many to measure by (`MEASURED`); -1 is the rest.

    Each class keeps a node that is in neither; a graph with few labels has at least one node in each.
    """
    room = np.array([len(group) for group in groups])
    held = _apportion(room * share, room - 1)
    if not held.any():
        held[int(np.argmax(room))] += room.max() > 1
    apart = _apportion(room * share, room - 1 - held)
    if not apart.any():
        apart[int(np.argmax(room - held))] += (room - held).max() > 1
    marks = [np.arange(len(group)) for group in groups]
    return [
        np.where(at < n, 0, np.where(at < n + m, MEASURED, -1)) for at, n, m in zip(marks, held, apart, strict=True)
    ]


def draw_folds(graph: Graph, groups: list[np.ndarray], spec: str, rest: str) -> np.ndarray:
    """The fold of every node, int64 [N], or `MEASURED`, or -1; `spec` is `cv:...` or `holdout:...`."""
    by_turns = spec.startswith("cv")
    dealt = (
        deal_folds(groups, number_of_folds(spec, rest)) if by_turns else hold_out(groups, held_out_share(spec, rest))
    )
    found = spread(graph, groups, dealt)
    if not (found >= 0).any():
        raise too_few(sum(map(len, groups)), len(groups))
    return found


def spread(graph: Graph, groups: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
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


def whole_numbers(spec: str, text: str, count: int) -> list[int]:
    """The numbers of a text such as 20/500/1000."""
    numbers = text.split("/")
    if len(numbers) != count or not all(n.strip().isdecimal() for n in numbers) or int(numbers[0]) < 1:
        shape = "random:20/500/1000" if count == 3 else "per-class:20/30"
        raise SettingsError(f"cannot understand the split {spec!r}; write {count} whole numbers as in {shape}")
    return [int(n) for n in numbers]


def number_of_folds(spec: str, text: str) -> int:
    """The number of a text such as 5."""
    if not text.strip().isdecimal() or int(text) < 2:
        raise SettingsError(f"cannot understand the split {spec!r}; write the number of folds, 2 or more, as in cv:5")
    return int(text)


def held_out_share(spec: str, text: str) -> float:
    """The share of a text such as 0.2."""
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise SettingsError(f"cannot understand the split {spec!r}; write the share to hold out, as in holdout:0.2")
    return share


def part_shares(spec: str, text: str) -> list[float]:
    """The shares of a text such as 0.6/0.2/0.2."""
    try:
        shares = [float(n) for n in text.split("/")]
    except ValueError:
        shares = []
    if len(shares) != 3 or not all(0 <= s < 1 for s in shares) or min(shares[:2]) <= 0 or sum(shares) > 1 + 1e-9:
        raise SettingsError(
            f"cannot understand the split {spec!r}; write three shares that sum to at most 1, as in {FRACTION}"
        )
    return shares
