"""Who vouches for a teacher at a node: labelled nodes near by, and whether it was right on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agssl.data.graph import Graph
from agssl.ops.diffusion import near_labelled
from agssl.store.fitted import FittedModel, judged

NEAREST = 9


@dataclass(frozen=True)
class Witness:
    """A labelled node near by, whose label no teacher had seen when it answered."""

    node: str
    label: str
    nearness: float
    right: tuple[str, ...]  # teachers that were right on it


def witnesses(fitted: FittedModel, graph: Graph, index: int, names: list[str]) -> tuple[Witness, ...]:
    """The labelled nodes nearest to a node, nearest first; none where nothing is known of the teachers there.

    Args:
        fitted: with its teachers' logits.
        graph: the fitted one, with its split.
        index: the node.
        names: of the nodes.
    """
    if graph.split is None or fitted.weights is None or len(fitted.teacher_logits) == 0:
        return ()
    said = judged(fitted, graph.split, "val")
    known = (said.nodes != index) & (graph.y[said.nodes] >= 0)
    nodes, answers = said.nodes[known], said.teachers[:, known].argmax(-1)
    if not len(nodes):
        return ()
    # It is symmetric, so that one push from the node itself tells how near all others are.
    near = near_labelled(graph, np.array([index]), kept=graph.num_nodes).toarray()[nodes, 0]
    order = np.argsort(-near, kind="stable")[:NEAREST]
    return tuple(
        Witness(
            names[nodes[at]],
            graph.classes[graph.y[nodes[at]]],
            float(near[at]),
            tuple(t for k, t in enumerate(fitted.task_names) if answers[k, at] == graph.y[nodes[at]]),
        )
        for at in order.tolist()
        if near[at] > 0
    )
