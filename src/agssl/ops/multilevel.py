"""A graph cut into parts of about equal size with few edges between them, without METIS.

The scheme is that of METIS (Karypis & Kumar 1998). Coarsening: nodes that are strongly linked become one, again and
again. Growing: in the coarsest graph, each part grows from a node along the strongest links. Refinement: on the way
back, level by level, nodes move to the part that they have more links with, as long as the parts stay balanced.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from agssl.ops.coarsen import matched, merged

SLACK = 1.05  # the largest part over the mean, where parts are large
LEAST = 0.7  # the smallest part over the mean, about
COARSEST = 3  # nodes per part in the coarsest graph, at least so many
CHUNKS = 8  # of nodes that move at the same time; links are counted anew after each
PASSES = 8  # over all nodes of a level


def multilevel_parts(a: sp.csr_matrix, parts: int, seed: int = 0, sizes: np.ndarray | None = None) -> np.ndarray:
    """The part of every node, int64 [N]; the same for the same seed. No part is empty where there are nodes enough.

    Args:
        a: the symmetric adjacency with weights of edges, without loops.
        parts: how many, from 1 to N.
        seed: of the draws.
        sizes: how much each node counts in its part, int64 [N]; one each by default.
    """
    draw = np.random.default_rng(seed)
    a = a.astype(np.float64)
    sizes = np.ones(a.shape[0], dtype=np.int64) if sizes is None else sizes
    n = int(sizes.sum())
    most = max(int(SLACK * n / parts), -(-n // parts))  # nodes in a part
    least = max(1, int(LEAST * n / parts))
    levels = [(a, sizes)]
    groups: list[np.ndarray] = []
    heaviest = max(1, 3 * n // (2 * COARSEST * parts))  # as in METIS: half as much again as the mean
    while a.shape[0] > 2 * COARSEST * parts:
        group = _paired(a, levels[-1][1], heaviest, draw)
        if group.max() + 1 > 0.95 * len(group):
            break
        a = merged(a, group)
        groups.append(group)
        levels.append((a, np.bincount(group, weights=levels[-1][1]).astype(np.int64)))
    labels = _grown(*levels[-1], parts, draw)
    for level in range(len(levels) - 1, -1, -1):
        labels = refined(*levels[level], labels, (least, most), parts, draw)
        if level:
            labels = labels[groups[level - 1]]
    return labels


def cut_weight(a: sp.csr_matrix, labels: np.ndarray) -> float:
    """The weight of the edges between parts, each edge once."""
    rows = np.repeat(labels, np.diff(a.indptr))
    return float(a.data[rows != labels[a.indices]].sum()) / 2


def _paired(a: sp.csr_matrix, sizes: np.ndarray, heaviest: int, draw: np.random.Generator) -> np.ndarray:
    """Groups of one or two nodes, none beyond `heaviest`: by their link, else by the neighbour that they share."""
    n = a.shape[0]
    rows = np.repeat(np.arange(n), np.diff(a.indptr))
    light = sizes[rows] + sizes[a.indices] <= heaviest
    allowed = sp.csr_matrix((a.data * light, a.indices, a.indptr), shape=a.shape, copy=True)
    allowed.eliminate_zeros()
    group = matched(allowed, sizes, draw)
    alone = np.flatnonzero((np.bincount(group)[group] == 1) & (2 * sizes <= heaviest))
    favourite = np.full(n, -1)  # the strongest link of each; isolated nodes all have none, and so pair up
    order = np.lexsort((a.data, rows))
    favourite[rows[order]] = a.indices[order]
    alone = alone[np.lexsort((draw.random(len(alone)), favourite[alone]))]
    first, at = [], 0
    same = favourite[alone[1:]] == favourite[alone[:-1]]
    while at < len(same):
        if same[at]:
            first.append(at)
            at += 1
        at += 1
    group[alone[np.array(first, dtype=np.int64) + 1]] = group[alone[first]]
    return np.unique(group, return_inverse=True)[1]


def _grown(a: sp.csr_matrix, sizes: np.ndarray, parts: int, draw: np.random.Generator) -> np.ndarray:
    """Parts that grow one after the other, each by the free node most strongly linked to it for its size."""
    n = a.shape[0]
    labels, free = np.full(n, -1), np.ones(n, dtype=bool)
    order, at = draw.permutation(n), 0
    left, nodes = int(sizes.sum()), n
    edge = np.zeros(n)  # links of each free node to all parts so far
    for part in range(parts):
        goal, weight = left / (parts - part), 0
        link = np.zeros(n)
        while nodes > parts - part - 1:  # one node for each part to come
            best = int(np.argmax(np.where(free, link, -1.0)))
            if link[best] <= 0 or not free[best]:
                if weight == 0 and (edge[free] > 0).any():  # begin beside what is taken, so that no holes are left
                    best = int(np.argmax(np.where(free, edge, -1.0)))
                else:
                    while not free[order[at]]:
                        at += 1
                    best = int(order[at])
            if weight and abs(weight + sizes[best] - goal) > abs(weight - goal):
                break
            labels[best], free[best] = part, False
            weight, nodes = weight + int(sizes[best]), nodes - 1
            row = slice(a.indptr[best], a.indptr[best + 1])
            link[a.indices[row]] += a.data[row] / sizes[a.indices[row]] ** 0.5
            edge[a.indices[row]] += a.data[row]
        left -= weight
    return np.where(labels < 0, parts - 1, labels)


def refined(
    a: sp.csr_matrix,
    sizes: np.ndarray,
    labels: np.ndarray,
    bounds: tuple[int, int],
    parts: int,
    draw: np.random.Generator,
) -> np.ndarray:
    """The labels after moves of nodes that lower the cut, or that empty parts which are too large; the best seen.

    Args:
        a: weights between nodes.
        sizes: how much each node counts.
        labels: the part of each.
        bounds: the least and the most that a part should have.
        parts: how many there are.
        draw: of the order of moves.
    """
    labels = labels.copy()
    best, least = labels.copy(), (np.inf, np.inf)
    for _ in range(PASSES + 1):
        weight = np.bincount(labels, weights=sizes, minlength=parts)
        state = (np.maximum(weight - bounds[1], 0).sum(), cut_weight(a, labels))
        if state >= least:
            break
        best, least = labels.copy(), state
        for nodes in np.array_split(draw.permutation(a.shape[0]), CHUNKS):
            _move(a, sizes, labels, bounds, parts, np.sort(nodes))
    return best


def _move(
    a: sp.csr_matrix, sizes: np.ndarray, labels: np.ndarray, bounds: tuple[int, int], parts: int, nodes: np.ndarray
) -> None:
    """Moves those of `nodes` that gain by it, in place, the best first, as long as the bounds hold."""
    n, (least, most) = len(labels), bounds
    weight = np.bincount(labels, weights=sizes, minlength=parts)
    member = sp.csr_matrix((np.ones(n), labels, np.arange(n + 1)), shape=(n, parts))
    links = (a[nodes] @ member).tocsr()
    own = np.zeros(len(nodes))
    row = np.repeat(np.arange(len(nodes)), np.diff(links.indptr))
    inside = links.indices == labels[nodes][row]
    own[row[inside]] = links.data[inside]
    room = most - weight
    open_ = ~inside & (sizes[nodes][row] <= room[links.indices])
    row, part, gain = row[open_], links.indices[open_].astype(np.int64), links.data[open_] - own[row[open_]]
    full = weight[labels[nodes]] > most
    if full.any() and room.max() > 0:  # out of a part that is too large, even to one without a link
        some = np.flatnonzero(full)
        lightest = np.argsort(weight, kind="stable")[: len(some)]
        row = np.concatenate([row, some])
        part = np.concatenate([part, lightest[np.arange(len(some)) % len(lightest)]])
        gain = np.concatenate([gain, -own[some]])
    # the best part of each node: most gain, then the lightest
    order = np.lexsort((weight[part], -gain, row))
    order = order[np.flatnonzero(np.diff(row[order], prepend=-1))]
    row, part, gain = row[order], part[order], gain[order]
    lighter = weight[part] + sizes[nodes[row]] < weight[labels[nodes[row]]]
    wanted = (gain > 0) | full[row] | ((gain == 0) & lighter)
    row, part, gain = row[wanted], part[wanted], gain[wanted]
    size = sizes[nodes[row]]
    fits = within(part, -gain, size, room[part])
    old = labels[nodes[row]]
    fits &= within(old, -gain, size, (weight - least)[old])
    labels[nodes[row[fits]]] = part[fits]


def within(key: np.ndarray, rank: np.ndarray, size: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Which of some items fit into the room of their key (the same for all items of a key), taken by rank."""
    order = np.lexsort((rank, key))
    total = np.cumsum(size[order])
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    before = np.repeat(total[starts] - size[order][starts], np.diff(np.append(starts, len(order))))
    fits = np.zeros(len(key), dtype=bool)
    fits[order] = total - before <= room[order]
    return fits
