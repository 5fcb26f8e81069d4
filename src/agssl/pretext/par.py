"""PAR: predict the part of the graph a node lies in (You et al. 2020; paper, App. H)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.ops.partition import METIS, cut_by, cut_graph
from agssl.pretext.base import TASKS, Targets
from agssl.pretext.pseudo_labels import PseudoLabels

PAPER_PARTS = {
    "cora": 400,
    "citeseer": 1000,
    "pubmed": 400,
    "photo": 100,
    "computers": 100,
    "cs": 400,
    "physics": 400,
    "ogbn-arxiv": 400,
}


class Partition(PseudoLabels):
    """Cross-entropy on the parts of a partition by METIS, which carry topology-level knowledge.

    Without pymetis the partition is `agssl.ops.multilevel`'s, and of large graphs `agssl.ops.large_partition`'s.

    Args:
        parts: number of parts; None takes the paper's for its datasets, and about ten nodes per part (at most 400
            parts) for any other graph.
    """

    name: ClassVar[str] = "par"
    alphas: ClassVar[tuple[float, ...]] = (0.5, 20.0)
    space: ClassVar[Mapping[str, tuple]] = {"parts": (100, 400, 1000)}

    def __init__(self, parts: int | None = None) -> None:
        if parts is not None and parts < 2:
            raise SettingsError(
                f"par: parts = {parts}, but a partition needs at least 2 parts; raise it or leave it out"
            )
        self.parts = parts

    def settings(self) -> dict[str, object]:
        """The number of parts; and who cuts them, where it is not METIS, since the targets are others then."""
        return self._cut_by(0)

    def settings_on(self, graph: Graph) -> dict[str, object]:
        """The same, as it is on a graph of this size."""
        return self._cut_by(graph.num_edges)

    def _cut_by(self, edges: int) -> dict[str, object]:
        way = cut_by(edges)
        return super().settings() | ({} if way == METIS else {"by": way})

    def count(self, graph: Graph) -> int:
        """How many parts this graph is to be cut into."""
        return self.parts or PAPER_PARTS.get(graph.name) or min(400, max(2, graph.num_nodes // 10))

    def prepare(self, graph: Graph, rng: Rng) -> Targets:
        """The parts, renumbered so that no class is empty (METIS may leave parts unused)."""
        parts = self.count(graph)
        if self.parts is not None and parts > graph.num_nodes:
            raise SettingsError(
                f"par: {parts} parts for a graph of {graph.num_nodes} nodes; ask for at most {graph.num_nodes} parts"
            )
        labels = cut_graph(graph, min(parts, graph.num_nodes), seed=rng.key() & 0x7FFFFFFF)
        return {"labels": np.unique(labels, return_inverse=True)[1].astype(np.int64)}


TASKS.add("par", Partition)
