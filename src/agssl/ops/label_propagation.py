"""Labels that move along the edges of a graph that may lie on disk: clusters of limited size, and better parts.

A pass goes over all nodes once, block by block: a node takes the label that most of its links lead to, where that has
room (Raghavan et al. 2007; with limits, Meyerhenke, Sanders & Schulz 2017). A pass costs O(N + E) and holds a few
numbers for each node and one block of edges. Nodes of a block move at the same time, each block after the one before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agssl.data.graph import Graph
from agssl.data.packed import row_blocks
from agssl.ops.multilevel import within

BLOCK = 1 << 17  # edges' ends looked at together: few enough to stay in cache
NARROW = 32  # bits of a label in a sorting key


def propagate(
    graph: Graph, labels: np.ndarray, sizes: np.ndarray, bounds: tuple[int, int], draw: np.random.Generator
) -> int:
    """One pass, in place: each node goes to the label that it has the most links with. How many moved.

    Args:
        graph: its edges are read once, in blocks whose order is drawn.
        labels: of each node, int32 [N]; changed.
        sizes: how many nodes each label has; changed.
        bounds: the least that a move may leave behind, 0 to let labels die out, and the most that one may come to.
        draw: of the order, and of one among equals.
    """
    blocks, moved = np.array(list(row_blocks(graph.indptr, BLOCK))).reshape(-1, 2), 0
    least, most = bounds
    for first, last in draw.permutation(blocks):
        links = _Links.of(graph, labels, first, last)
        size = sizes[links.label]
        open_ = (links.gain > 0) & (size < most)
        if not least:  # clusters may end; between equals the larger one wins, else few would
            open_ |= (links.gain == 0) & (size < most) & (size > sizes[labels[first:last]][links.row])
        row, label, gain = links.best(open_, draw)
        old = labels[first:last][row]
        moves = _settled(old, label, gain, sizes, bounds)
        old, label = old[moves], label[moves]
        labels[first + row[moves]] = label
        np.subtract.at(sizes, old, 1)
        np.add.at(sizes, label, 1)
        moved += len(label)
    return moved


def clusters(graph: Graph, most: int, count: int, passes: int, draw: np.random.Generator) -> np.ndarray:
    """The cluster of each node, int32 [N], numbered from 0 without gaps.

    Nodes begin alone. Where more than about `count` clusters would be left in the end (those around a node are full, or
    it has no edges), the small ones are put together by the cluster that they would rather be in.

    Args:
        graph: read once in a pass, and once more.
        most: nodes of a cluster.
        count: how many clusters may be left, about; at least as many as it takes with `most` nodes in each.
        passes: over all nodes.
        draw: of the order, and of one among equals.
    """
    labels = np.arange(graph.num_nodes, dtype=np.int32)
    sizes = np.ones(graph.num_nodes, dtype=np.int32)
    for _ in range(passes):
        if propagate(graph, labels, sizes, (0, most), draw) < graph.num_nodes // 100:
            break
    room = min(most, -(-2 * graph.num_nodes // count))
    if np.count_nonzero(sizes) > count:
        labels = _gathered(_favourites(graph, labels, draw), labels, sizes, room)
    used = np.zeros(graph.num_nodes, dtype=bool)
    used[labels] = True
    return (np.cumsum(used, dtype=np.int32) - 1)[labels]


def sums_by_key(keys: np.ndarray, values: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Each of some keys of 0 or above once, sorted, with the sum of its values; without values, how often it is there.

    >>> sums_by_key(np.array([7, 2, 7]), None)
    (array([2, 7]), array([1., 2.]))
    """
    if values is None:
        keys = np.sort(keys)
    else:
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if values is None:
        return keys[starts], np.diff(starts, append=len(keys)).astype(np.float64)
    return keys[starts], np.add.reduceat(values, starts, dtype=np.float64) if len(keys) else np.empty(0)


def _favourites(graph: Graph, labels: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """The label that each node has more links with than with its own, room or no room; its own where there is none."""
    found = labels.copy()
    for first, last in row_blocks(graph.indptr, BLOCK):
        links = _Links.of(graph, labels, first, last)
        row, label, _ = links.best(links.gain > 0, draw)
        found[first + row] = label
    return found


class _Links(NamedTuple):
    """The links of a range of nodes with each label that they have any with, node by node."""

    row: np.ndarray  # of the range, from 0, rising
    label: np.ndarray
    weight: np.ndarray
    gain: np.ndarray  # the weight, less that with the node's own label

    @classmethod
    def of(cls, graph: Graph, labels: np.ndarray, first: int, last: int) -> _Links:
        """Those of the nodes from `first` to before `last`."""
        start, stop = int(graph.indptr[first]), int(graph.indptr[last])
        key = np.repeat(np.arange(last - first, dtype=np.int64) << NARROW, np.diff(graph.indptr[first : last + 1]))
        key |= labels[graph.indices[start:stop]]
        key, weight = sums_by_key(key, None if graph.weights is None else graph.weights[start:stop])
        row, label = key >> NARROW, key.astype(np.int32)  # the lower half
        inside = np.flatnonzero(label == labels[first:last][row])
        own = np.zeros(last - first)
        own[row[inside]] = weight[inside]
        return cls(row, label, weight, weight - own[row])

    def best(self, open_: np.ndarray, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each node with an open label the one with the most links: its row, the label and the gain.

        Among equals one is drawn: weights are multiplied by numbers that hardly differ.
        """
        some = np.flatnonzero(open_)
        row, score = self.row[some], self.weight[some] * (1 + 1e-6 * draw.random(len(some)))
        if not len(some):
            return row, self.label[some], self.gain[some]
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        highest = np.repeat(np.maximum.reduceat(score, starts), np.diff(starts, append=len(row)))
        won = np.flatnonzero(score == highest)
        some = some[won]
        return row[won], self.label[some], self.gain[some]


def _settled(
    old: np.ndarray, new: np.ndarray, gain: np.ndarray, sizes: np.ndarray, bounds: tuple[int, int]
) -> np.ndarray:
    """Which of some moves at the same time are made: those of the greatest gain, as far as the bounds hold."""
    there, back = (a.astype(np.int64) << NARROW | b for a, b in ((old, new), (new, old)))
    kept = np.flatnonzero((old < new) | ~np.isin(there, back))  # two that change places would gain nothing
    one = np.ones(len(kept), dtype=np.int64)
    fits = within(new[kept], -gain[kept], one, bounds[1] - sizes[new[kept]])
    kept, one = kept[fits], one[fits]
    if bounds[0]:
        kept = kept[within(old[kept], -gain[kept], one, sizes[old[kept]] - bounds[0])]
    return kept


def _gathered(wanted: np.ndarray, labels: np.ndarray, sizes: np.ndarray, room: int) -> np.ndarray:
    """Labels with fewer small clusters: those are lined up by what one of their nodes wants, and put together so.

    A new one begins wherever the sum of their sizes passes another half of `room`; each has at most half of it, so that
    none comes to more than `room`.
    """
    small = np.flatnonzero((sizes > 0) & (2 * sizes <= room))
    if not len(small):
        return labels
    goal = np.arange(len(sizes), dtype=np.int32)
    goal[labels] = wanted
    small = small[np.argsort(goal[small], kind="stable")]
    bins = np.cumsum(sizes[small], dtype=np.int64) // (room // 2)
    goal = np.arange(len(sizes), dtype=np.int32)
    goal[small] = small[np.searchsorted(bins, bins)]  # the first of each
    return goal[labels]
