"""What a training step with a pretext task takes, as the task itself says: the memory of a fit is told from it."""

from __future__ import annotations

from dataclasses import dataclass

from agssl.data.graph import Graph


@dataclass(frozen=True)
class Needs:
    """The most that one step of a task reads and makes. What is left out is not needed, but for `nodes`.

    >>> pairs = Needs(nodes=800, parameters=65)  # pairs of 800 nodes at most, one score on 64 hidden units
    >>> pairs.views, pairs.shuffles
    (0, False)
    """

    nodes: int | None = None  # whose hidden representation it reads of the step's own pass; None: of all
    shuffles: bool = False  # whether it asks for that pass on shuffled features as well
    views: int = 0  # passes with gradients beside the step's own: views to encode, or a decoder that takes as much
    frozen_views: int = 0  # passes without gradients, as by a momentum copy
    view_nodes: int | None = None  # whose representation it reads of each view; None: of all
    entries: int = 0  # stored entries of its own sparse matrices, those of its views included
    scores: int = 0  # numbers in the largest matrix of scores or similarities that its loss makes
    parameters: int = 0  # of its head, encoders left out
    encoders: int = 0  # encoders that its head holds: copies of the network's, or others of its shape


def stored_entries(graph: Graph) -> int:
    """Stored entries of A + I, and so of a view that drops none of its edges."""
    return len(graph.indices) + graph.num_nodes
