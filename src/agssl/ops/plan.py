"""Forward plans: which rows of which layer a set of outputs needs, exactly.

An encoder of L hops followed by a head of one or more computes, for some nodes, the same numbers whether it runs on
the whole graph or only on the rows those nodes can see. A loss on few rows (a few labels, 400 node pairs) then costs a
fraction of an epoch. One object describes both cases, so that a network has a single forward pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from agssl.ops.adjacency import relabel_columns, take_rows
from agssl.ops.csr import Csr, identity
from agssl.ops.subgraph import StoredAdjacency

# Cutting rows out costs about as much as a product with what is cut; above this share of the graph it can't pay.
WORTHWHILE = 0.6

Nodes = np.ndarray | None  # sorted nodes; None: all of them


@dataclass(frozen=True, eq=False)
class Hop:
    """One propagation, from the rows of a level to those of the next."""

    matrix: Csr  # [rows above, rows below]
    below: Nodes = None
    above: Nodes = None

    def own(self, rows: Tensor) -> Tensor:
        """Of the rows below, those of the nodes above themselves: what a skip connection or an attention's target is.

        Where both levels are the same nodes, this is `rows` itself and no copy.
        """
        if self.above is None or self.above is self.below:
            return rows
        at = self.above if self.below is None else np.searchsorted(self.below, self.above)
        return rows.index_select(0, torch.from_numpy(at).to(rows.device))


@dataclass(frozen=True, eq=False)
class ForwardPlan:
    """A plan for one forward pass: the nodes of each level, and the propagations between levels."""

    inputs: Nodes  # whose features are to be taken; None also where the caller has taken them already
    blocks: tuple[Csr, ...]  # propagation of each hop of the encoder, first one first
    levels: tuple[Nodes, ...]  # the nodes before the first hop, after it, ..., and those whose hidden rows come out
    head: tuple[Hop, ...]  # propagations from hidden rows to logits, first one first; none: no logits wanted

    @property
    def hidden(self) -> Nodes:
        """The nodes whose hidden representation comes out."""
        return self.levels[-1]

    def hop(self, number: int) -> Hop:
        """A propagation of the encoder."""
        return Hop(self.blocks[number], self.levels[number], self.levels[number + 1])

    def still(self, rows: int, device: torch.device) -> Hop:
        """What takes the place of a propagation in an encoder that reads no neighbours: each node stays as it is."""
        return Hop(identity(rows, device), self.hidden, self.hidden)

    def positions(self, nodes: np.ndarray) -> np.ndarray:
        """Where these nodes stand among the rows of the hidden representation."""
        return nodes if self.hidden is None else np.searchsorted(self.hidden, nodes)


def full_plan(adjacency: Csr, hops: int, head: tuple[Hop, ...] | None = None) -> ForwardPlan:
    """The plan that computes all hidden rows, and what the head gives of them: by default, one hop to all nodes."""
    return ForwardPlan(None, (adjacency,) * hops, (None,) * (hops + 1), (Hop(adjacency),) if head is None else head)


def full_head(adjacency: Csr, hops: int, last: Csr, outputs: Nodes = None) -> tuple[Hop, ...]:
    """The hops of a head that reads all hidden rows: over all nodes, but for the last one, to `outputs`."""
    return (*(Hop(adjacency),) * (hops - 1), Hop(last, None, outputs))


def pruned_plan(
    adjacency: Csr | StoredAdjacency,
    hops: int,
    head: tuple[Csr, np.ndarray] | None,
    hidden: np.ndarray,
    limit: float = WORTHWHILE,
    head_hops: int = 1,
) -> ForwardPlan:
    """The plan for the logits that `head` gives and the hidden rows of `hidden`.

    Args:
        adjacency: propagation of this step. One that is stored elsewhere is never read whole, so `limit` must be 1.
        hops: of the encoder.
        head: rows of the class head's last propagation, over all nodes, and the nodes they belong to; None: no logits.
        hidden: nodes whose hidden representation is wanted.
        limit: a level is not cut where the plan would have more than this share of the nodes.
        head_hops: propagations of the class head, the last one included.
    """
    tops: list[Hop] = []  # of the head, from the last one down, but for the lowest
    block, outputs = (None, None) if head is None else head
    for _ in range(head_hops - 1 if block is not None else 0):
        assert block is not None
        below = _kept(_union(adjacency.rows, block.indices.cpu().numpy()), adjacency.rows, limit)
        tops.append(Hop(block if below is None else relabel_columns(block, below), below, outputs))
        block, outputs = _rows_of(adjacency, below), below
    wanted = _union(adjacency.rows, hidden, *([] if block is None else [block.indices.cpu().numpy()]))
    levels: list[Nodes] = [_kept(wanted, adjacency.rows, limit)]
    if block is not None:
        tops.append(Hop(block if levels[0] is None else relabel_columns(block, wanted), levels[0], outputs))
    blocks: list[Csr] = []
    for _ in range(hops):  # from the last hop down
        above = levels[-1]
        block = _rows_of(adjacency, above)
        if above is None:
            blocks.append(block)
            levels.append(None)
            continue
        below = _union(adjacency.rows, block.indices.cpu().numpy(), above)
        below = above if len(below) == len(above) else below  # one object, so that `Hop.own` knows
        levels.append(_kept(below, adjacency.rows, limit))
        blocks.append(block if levels[-1] is None else relabel_columns(block, below))
    return ForwardPlan(levels[-1], tuple(reversed(blocks)), tuple(reversed(levels)), tuple(reversed(tops)))


def _rows_of(adjacency: Csr | StoredAdjacency, nodes: Nodes) -> Csr:
    """The propagation to these nodes from all."""
    if nodes is None:
        assert isinstance(adjacency, Csr)
        return adjacency
    return take_rows(adjacency, nodes) if isinstance(adjacency, Csr) else adjacency.take(nodes)


def _kept(nodes: np.ndarray, total: int, limit: float) -> Nodes:
    """These nodes, or None (all of them) where they are more than this share."""
    return None if len(nodes) > limit * total else nodes


def _union(nodes: int, *groups: np.ndarray) -> np.ndarray:
    """The sorted distinct members of the groups, in time linear in the number of nodes."""
    seen = np.zeros(nodes, dtype=bool)
    for group in groups:
        seen[group] = True
    return np.flatnonzero(seen)
