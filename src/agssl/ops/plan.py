"""Receptive fields: which rows of which layer a set of outputs needs, exactly.

An L-layer encoder followed by a propagating head computes, for some nodes, the same numbers whether it runs on the
whole graph or only on the rows those nodes can see. A loss on few rows (a few labels, 400 node pairs) then costs a
fraction of an epoch. One object describes both cases, so that the model has a single forward pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agssl.ops.adjacency import relabel_columns, take_rows
from agssl.ops.csr import Csr
from agssl.ops.subgraph import StoredAdjacency

# Cutting a field out costs about as much as a product with what is cut; above this share of the graph it can't pay.
WORTHWHILE = 0.6


@dataclass(frozen=True, eq=False)
class ForwardPlan:
    """A plan for one forward pass.

    `None` stands for "all nodes" wherever rows are named.
    """

    inputs: np.ndarray | None  # nodes whose features are read
    blocks: tuple[Csr, ...]  # propagation of each encoder layer, first layer first
    hidden: np.ndarray | None  # sorted nodes whose hidden representation comes out
    head: Csr | None  # propagation from hidden rows to logits; None: no logits wanted

    def positions(self, nodes: np.ndarray) -> np.ndarray:
        """Where these nodes stand among the rows of the hidden representation."""
        return nodes if self.hidden is None else np.searchsorted(self.hidden, nodes)


def full_plan(adjacency: Csr, layers: int) -> ForwardPlan:
    """The plan that computes everything."""
    return ForwardPlan(None, (adjacency,) * layers, None, adjacency)


def pruned_plan(
    adjacency: Csr | StoredAdjacency, layers: int, head: Csr | None, hidden: np.ndarray, limit: float = WORTHWHILE
) -> ForwardPlan:
    """The plan for the logits that `head` gives and the hidden rows of `hidden`.

    Args:
        adjacency: Â of this step. One that is stored elsewhere is never read whole, so `limit` must be 1 for it.
        layers: encoder layers.
        head: rows of Â (or of I, for a head that does not propagate): one row a wanted output; None: no logits.
        hidden: nodes whose hidden representation is wanted besides.
        limit: compute all rows of a layer where the field takes more than this share of the nodes.
    """
    wanted = _union(adjacency.rows, hidden, *([] if head is None else [head.indices.cpu().numpy()]))
    blocks: list[Csr] = []
    if len(wanted) > limit * adjacency.rows:
        assert isinstance(adjacency, Csr)
        return ForwardPlan(None, (adjacency,) * layers, None, head)
    inputs: np.ndarray | None = wanted
    for _ in range(layers):  # from the last layer down
        if inputs is None:
            assert isinstance(adjacency, Csr)
            blocks.append(adjacency)
            continue
        block = take_rows(adjacency, inputs) if isinstance(adjacency, Csr) else adjacency.take(inputs)
        below = _union(adjacency.rows, block.indices.cpu().numpy())
        inputs = None if len(below) > limit * adjacency.rows else below
        blocks.append(block if inputs is None else relabel_columns(block, below))
    return ForwardPlan(inputs, tuple(reversed(blocks)), wanted, None if head is None else relabel_columns(head, wanted))


def _union(nodes: int, *groups: np.ndarray) -> np.ndarray:
    """The sorted distinct members of the groups, in time linear in the number of nodes."""
    seen = np.zeros(nodes, dtype=bool)
    for group in groups:
        seen[group] = True
    return np.flatnonzero(seen)
