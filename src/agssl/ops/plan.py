"""Forward plans: which rows of which layer a set of outputs needs, exactly.

An encoder of L hops followed by a propagating head computes, for some nodes, the same numbers whether it runs on the
whole graph or only on the rows those nodes can see. A loss on few rows (a few labels, 400 node pairs) then costs a
fraction of an epoch. One object describes both cases, so that a network has a single forward pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from agssl.ops.adjacency import relabel_columns, take_rows
from agssl.ops.csr import Csr
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
    head: Csr | None  # propagation from hidden rows to logits; None: no logits wanted
    outputs: Nodes = None  # whose logits come out

    @property
    def hidden(self) -> Nodes:
        """The nodes whose hidden representation comes out."""
        return self.levels[-1]

    def hop(self, number: int) -> Hop:
        """A propagation of the encoder."""
        return Hop(self.blocks[number], self.levels[number], self.levels[number + 1])

    @property
    def last_hop(self) -> Hop:
        """The propagation of the class head."""
        assert self.head is not None
        return Hop(self.head, self.hidden, self.outputs)

    def positions(self, nodes: np.ndarray) -> np.ndarray:
        """Where these nodes stand among the rows of the hidden representation."""
        return nodes if self.hidden is None else np.searchsorted(self.hidden, nodes)


def full_plan(adjacency: Csr, hops: int) -> ForwardPlan:
    """The plan that computes everything."""
    return ForwardPlan(None, (adjacency,) * hops, (None,) * (hops + 1), adjacency)


def pruned_plan(
    adjacency: Csr | StoredAdjacency,
    hops: int,
    head: tuple[Csr, np.ndarray] | None,
    hidden: np.ndarray,
    limit: float = WORTHWHILE,
) -> ForwardPlan:
    """The plan for the logits that `head` gives and the hidden rows of `hidden`.

    Args:
        adjacency: propagation of this step. One that is stored elsewhere is never read whole, so `limit` must be 1.
        hops: of the encoder.
        head: rows of the propagation (or of I, for a head that does not propagate), one per wanted output, and the
            nodes these are; None: no logits.
        hidden: nodes whose hidden representation is wanted besides.
        limit: compute all rows of a level where the plan would have more than this share of the nodes.
    """
    last, outputs = (None, None) if head is None else head
    wanted = _union(adjacency.rows, hidden, *([] if last is None else [last.indices.cpu().numpy()]))
    if len(wanted) > limit * adjacency.rows:
        assert isinstance(adjacency, Csr)
        return ForwardPlan(None, (adjacency,) * hops, (None,) * (hops + 1), last, outputs)
    blocks: list[Csr] = []
    levels: list[Nodes] = [wanted]
    for _ in range(hops):  # from the last hop down
        above = levels[-1]
        if above is None:
            assert isinstance(adjacency, Csr)
            blocks.append(adjacency)
            levels.append(None)
            continue
        block = take_rows(adjacency, above) if isinstance(adjacency, Csr) else adjacency.take(above)
        below = _union(adjacency.rows, block.indices.cpu().numpy(), above)
        below = above if len(below) == len(above) else below  # one object, so that `Hop.own` knows
        if len(below) > limit * adjacency.rows:
            blocks.append(block)
            levels.append(None)
        else:
            blocks.append(relabel_columns(block, below))
            levels.append(below)
    tops = None if last is None else relabel_columns(last, wanted)
    return ForwardPlan(levels[-1], tuple(reversed(blocks)), tuple(reversed(levels)), tops, outputs)


def _union(nodes: int, *groups: np.ndarray) -> np.ndarray:
    """The sorted distinct members of the groups, in time linear in the number of nodes."""
    seen = np.zeros(nodes, dtype=bool)
    for group in groups:
        seen[group] = True
    return np.flatnonzero(seen)
