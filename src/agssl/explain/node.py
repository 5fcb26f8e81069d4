"""One node: its teacher weights, what each teacher said of it, and its neighbours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agssl.base.errors import GraphError
from agssl.data.graph import Graph
from agssl.explain.witnesses import Witness, witnesses
from agssl.integrate import INTEGRATORS
from agssl.metrics import softmax
from agssl.store.fitted import FittedModel
from agssl.store.run_writer import node_names


@dataclass(frozen=True)
class Opinion:
    """What one teacher said of a node; of a task that was weighed without a teacher, the weight alone."""

    task: str
    weight: float  # lambda: the node's weight of it
    prediction: str | None
    probability: float | None  # of that prediction


@dataclass(frozen=True)
class Neighbour:
    """A node next door."""

    node: str
    label: str | None
    prediction: str


@dataclass(frozen=True)
class Explanation:
    """All there is to say of one node."""

    node: str
    index: int
    degree: int
    label: str | None
    part: str | None  # train, val, test, or None
    prediction: str
    probability: float
    opinions: tuple[Opinion, ...]  # highest weight first
    neighbours: tuple[Neighbour, ...]
    witnesses: tuple[Witness, ...] = ()  # labelled nodes near by, nearest first
    by_witnesses: bool = True  # whether the integration reads them for its weights

    def right(self, task: str) -> tuple[str, ...]:
        """The witnesses on which a teacher was right."""
        return tuple(one.node for one in self.witnesses if task in one.right)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def find_node(graph: Graph, node: int | str) -> int:
    """The index of a node given by name or index."""
    if graph.node_names is not None:
        matches = np.flatnonzero(graph.node_names == str(node))
        if len(matches):
            return int(matches[0])
    try:
        index = int(node)
    except ValueError:
        raise GraphError(f"no node is named {node!r}; give a name from the node table or an index") from None
    if not 0 <= index < graph.num_nodes:
        raise GraphError(f"node {index} does not exist; the graph has nodes 0 to {graph.num_nodes - 1}")
    return index


def explain_node(fitted: FittedModel, graph: Graph, node: int | str) -> Explanation:
    """Explain one node of the fitted graph."""
    index = find_node(graph, node)
    probabilities = fitted.confidence(fitted.logits[index])
    chosen = int(fitted.decide(probabilities[None])[0])
    known = fitted.teacher_logits
    teachers = softmax(fitted.calibrated(known[:, [index]])[:, 0]) if len(known) else known
    opinions = []
    for k, task in enumerate(fitted.task_names):
        weight = 1.0 if fitted.weights is None else float(fitted.weights[index, k])
        if not len(fitted.teacher_logits):
            opinions.append(Opinion(task, weight, None, None))
            continue
        said = teachers[k]
        opinions.append(Opinion(task, weight, fitted.classes[said.argmax()], float(said.max())))
    near = np.asarray(graph.neighbours(index))
    neighbours = tuple(
        Neighbour(_name(graph, n), _label(graph, n), fitted.classes[k])
        for n, k in zip(near.tolist(), fitted.decide(fitted.confidence(fitted.logits[near])).tolist(), strict=True)
    )
    return Explanation(
        _name(graph, index),
        index,
        int(graph.degree[index]),
        _label(graph, index),
        _part(graph, index),
        fitted.classes[chosen],
        float(probabilities[chosen]),
        tuple(sorted(opinions, key=lambda o: -o.weight)),
        neighbours,
        witnesses(fitted, graph, index, node_names(graph)),
        INTEGRATORS[fitted.settings.integration].reads_edges,
    )


def _name(graph: Graph, index: int) -> str:
    return str(index) if graph.node_names is None else str(graph.node_names[index])


def _part(graph: Graph, index: int) -> str | None:
    if graph.split is None:
        return None
    parts = {"train": graph.split.train, "val": graph.split.val, "test": graph.split.test}
    return next((name for name, nodes in parts.items() if index in nodes), None)


def _label(graph: Graph, index: int) -> str | None:
    return graph.classes[graph.y[index]] if graph.y[index] >= 0 else None
