"""Which nodes to label next: unsure, like many others, and far from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agssl.base.errors import GraphError, SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.label.batch import alike, choose_batch, coverage, drawn, unit
from agssl.ops.centrality import pagerank
from agssl.store.fitted import FittedModel
from agssl.store.run_writer import node_names

CANDIDATES, TARGETS = 2000, 4000  # that are compared, so never N x N
MOST = 500  # nodes of a batch
SHARPNESS = 4  # power of the cosine
CENTRAL = 0.25  # power of PageRank by which central nodes are favoured


@dataclass(frozen=True)
class Suggestion:
    """A node that is worth a label, and why."""

    node: str
    index: int
    prediction: str  # what it looks like now
    probability: float  # of that, calibrated
    second: str  # the next likely class
    disagreement: float  # share of the teachers that do not give their most common answer; 0 without teachers
    degree: int
    covered: float  # share of the model's doubt, over all nodes, that this node adds to those before it
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def suggest(
    models: Sequence[FittedModel],
    probabilities: np.ndarray,
    hidden: np.ndarray,
    graph: Graph,
    count: int = 20,
    among: np.ndarray | None = None,
) -> list[Suggestion]:
    """Nodes without a label, the most useful first, chosen as a batch: each given those before it.

    Args:
        models: the fitted model, or those of several seeds, with what their teachers say of the graph's nodes.
        probabilities: of the classes, calibrated, [N, C]: what the models say together.
        hidden: representations of the nodes, [N, F].
        graph: the labels decide what is labelled: those that were added since the fit count, too.
        count: how many nodes.
        among: numbers of the nodes that can be labelled; None for all. Others still count as nodes to learn about.
    """
    unlabelled = np.flatnonzero(graph.y < 0)
    if not 1 <= count <= MOST:
        raise SettingsError(f"n = {count}, but a batch has 1 to {MOST} nodes; label some, fit again, and ask again")
    free = unlabelled if among is None else np.intersect1d(unlabelled, among)
    if not len(free):
        raise GraphError(f"every node of {graph.name} has a label, so there is none to suggest")
    doubt = uncertainty(probabilities)
    rank = pagerank(graph)
    rank /= rank.mean()
    draw = Rng(models[0].seed).child("suggest")
    candidates = drawn(free, doubt * rank, CANDIDATES, draw.child("candidates"))
    targets = drawn(unlabelled, np.ones(graph.num_nodes), TARGETS, draw.child("targets"))
    apart = np.zeros(graph.num_nodes)
    for nodes in (candidates, targets):
        apart[nodes] = np.mean([disagreement(teacher_answers(one, nodes)) for one in models], axis=0)
    weights = (doubt * (1 + apart))[targets].astype(np.float32)
    rows, predicted = unit(hidden), probabilities.argmax(1)
    batch = choose_batch(
        alike(rows[targets], rows[candidates], SHARPNESS),
        weights,
        coverage(rows[targets], rows[graph.y >= 0], SHARPNESS),
        rank[candidates] ** CENTRAL,
        predicted[candidates],
        count,
    )
    names, classes = node_names(graph), models[0].classes
    found = []
    for node, covered in zip(candidates[batch.chosen].tolist(), batch.covered.tolist(), strict=True):
        first, second = np.argsort(-probabilities[node], kind="stable")[:2].tolist()
        about = (classes[first], float(probabilities[node, first]), classes[second])
        facts = (float(apart[node]), int(graph.degree[node]), covered)
        why = _reason(probabilities[node], first, second, models, node, covered, int(graph.degree[node]))
        found.append(Suggestion(names[node], node, *about, *facts, why))
    return found


def uncertainty(probabilities: np.ndarray) -> np.ndarray:
    """The chance that the likeliest class is wrong, [N]."""
    return 1 - probabilities.max(1)


def teacher_answers(fitted: FittedModel, nodes: np.ndarray) -> np.ndarray:
    """The teachers' classes for some nodes, by number, as they were weighed, [K, n]; K is 0 without teachers."""
    if not len(fitted.teacher_logits):
        return np.zeros((0, len(nodes)), dtype=np.int64)
    answers: np.ndarray = fitted.calibrated(fitted.teacher_logits[:, nodes]).argmax(-1)
    return answers


def disagreement(answers: np.ndarray) -> np.ndarray:
    """Of answers [K, n], the share at each node that differ from the most common one; 0 without answers.

    >>> disagreement(np.array([[0, 1], [0, 2], [1, 2], [0, 0]])).tolist()
    [0.25, 0.5]
    """
    if not len(answers):
        return np.zeros(answers.shape[1])
    votes = np.max([(answers == one).sum(0) for one in np.unique(answers)], axis=0)
    shares: np.ndarray = 1 - votes / len(answers)
    return shares


def _reason(
    row: np.ndarray, first: int, second: int, models: Sequence[FittedModel], node: int, covered: float, degree: int
) -> str:
    """Why a node was chosen, in words."""
    classes = models[0].classes
    parts = [f"{classes[first]} {row[first]:.0%}, {classes[second]} {row[second]:.0%}"]
    said = np.concatenate([teacher_answers(one, np.array([node]))[:, 0] for one in models])
    others = int((said != first).sum())
    if others:
        parts.append(f"{others} of {len(said)} teachers do not say {classes[first]}")
    parts.append(f"nodes like it hold {covered:.1%} of the doubt")
    parts.append("no neighbours" if degree == 0 else f"{degree} neighbour{'s' * (degree > 1)}")
    return "; ".join(parts)
