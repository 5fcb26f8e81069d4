"""The models of a run with their graph, ready to answer for known and for new nodes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from agssl.base.errors import GraphError, SettingsError
from agssl.data.graph import Graph
from agssl.data.knn import knn_to
from agssl.data.new_nodes import NAMED, Known, NewNodes, NodeIndex
from agssl.integrate.sets import uniform
from agssl.ops.graph_views import GIVEN
from agssl.ops.grown import Grown
from agssl.ops.seen import Seen
from agssl.serve.answers import Answers, named_sets
from agssl.store.fitted import FittedModel, together
from agssl.train.new_nodes import Fields, Views, answer_new

log = logging.getLogger("agssl")


@dataclass(frozen=True)
class Asked:
    """What to tell of each node beside its class."""

    weights: bool = False
    coverage: float | None = None
    by_class: bool = False


PLAIN = Asked()


@dataclass(frozen=True, eq=False)
class Predictor:
    """Models that answer together, by the mean of their probabilities.

    Args:
        members: of all seeds of a run, or one.
        graph: the fitted one; None where only new nodes that stand alone are to be asked for.
        names: of its nodes, where the graph itself is not there.
        knn: neighbours of each node and their metric, where the edges of the graph were made of its features: new nodes
            without edges are linked in the same way.
        ignored: columns of a table that are no features.
        device: where to compute.
        cache: folder for edges of views.
    """

    members: tuple[FittedModel, ...]
    graph: Graph | None = None
    names: Sequence[str] | None = None
    knn: tuple[int, str] | None = None
    ignored: tuple[str, ...] = ("label", "split")
    device: str = "cpu"
    cache: Path | None = None
    _kept: dict[str, Views] = field(default_factory=dict)
    _draws: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def first(self) -> FittedModel:
        """The model that speaks where one is enough."""
        return self.members[0]

    @cached_property
    def needs_graph(self) -> bool:
        """Whether what answers reads neighbours."""
        return any(one.model.sees != 0 or one.student_logits is not None for one in self.members)

    @cached_property
    def known(self) -> Known:
        """By which rows of new nodes are read."""
        names = self.names
        if self.graph is not None:
            names = None if self.graph.node_names is None else self.graph.node_names.tolist()
        index = NodeIndex(names, len(self.first.logits))
        return Known(index, self.first.shape.features, self.first.columns, self.ignored)

    def _uniform(self, old: np.ndarray) -> np.ndarray:
        """u of prediction sets, of nodes of the graph; drawn once for all, as it goes by their numbers."""
        if "u" not in self._draws:
            self._draws["u"] = uniform(len(self.first.logits))
        return self._draws["u"][old]

    @cached_property
    def _seen(self) -> Seen | None:
        if self.first.seen is not None or self.graph is None:
            return self.first.seen
        return Seen.of(self.graph)  # a model of an older version

    def check(self, asked: Asked) -> None:
        """Refuse what the models can't tell."""
        if asked.weights and self.first.weights is None:
            raise SettingsError(
                f"method {self.first.settings.method} weighs no teachers, so there are no weights; leave them out"
            )
        if asked.by_class and asked.coverage is None:
            raise SettingsError("by-class says how prediction sets are made; give a coverage as 0.9, too")
        if asked.coverage is not None and self.first.conformal is not None:
            self.first.conformal.thresholds(asked.coverage, self.first.shape.classes)

    def at(self, names: Sequence[str], asked: Asked = PLAIN) -> Answers:
        """What was said of nodes of the fitted graph."""
        self.check(asked)
        numbers = self.known.index.find(names)
        if (numbers < 0).any():
            lost = names[int(np.flatnonzero(numbers < 0)[0])]
            raise GraphError(
                f"no node of the fitted graph is named {lost!r}; give its row as a new node, or mend the id"
            )
        probabilities, chosen = together((one, one.logits[numbers]) for one in self.members)
        trust, sets = None, None
        if asked.weights:
            trust = np.mean([one.weights[numbers] for one in self.members if one.weights is not None], axis=0)
        if asked.coverage is not None:
            sets = named_sets([self._known_sets(one, numbers, asked) for one in self.members], self.first.classes)
        tasks = self.first.task_names if asked.weights else ()
        return Answers(names, self.first.classes, chosen, probabilities, tasks, trust, sets)

    def _known_sets(self, one: FittedModel, numbers: np.ndarray, asked: Asked) -> np.ndarray:
        """By the neighbours of these nodes alone."""
        if self.graph is None:
            raise GraphError("prediction sets read the neighbours of a node, and the graph is not there; name it")
        nodes, place = np.unique(numbers, return_inverse=True)
        near = [np.asarray(self.graph.neighbours(node)) for node in nodes.tolist()]
        every = np.union1d(nodes, np.concatenate(near)).astype(np.int64)
        counts = np.zeros(len(every), dtype=np.int64)
        counts[np.searchsorted(every, nodes)] = [len(some) for some in near]
        part = Graph(
            np.concatenate([[0], np.cumsum(counts)]),
            np.searchsorted(every, np.concatenate(near)).astype(np.int32),
            np.empty((len(every), 0), np.float32),
            np.full(len(every), -1),
            (),
        )
        return self._sets(one, one.logits[every], part, self._uniform(every), asked)[np.searchsorted(every, nodes)][
            place
        ]

    def _sets(self, one: FittedModel, logits: np.ndarray, part: Graph, u: np.ndarray, asked: Asked) -> np.ndarray:
        if one.conformal is None:
            raise SettingsError("the model is of a version without prediction sets; fit again")
        assert asked.coverage is not None
        return one.conformal.sets(one.confidence(logits), part, asked.coverage, asked.by_class, u)

    def new(self, nodes: NewNodes, asked: Asked = PLAIN) -> Answers:
        """What the models say of new nodes, by what they see of the graph."""
        (found,) = self.new_groups([nodes], asked)
        for line in found.notes:
            log.warning(line)
        return found

    def new_groups(self, groups: Sequence[NewNodes], asked: Asked = PLAIN) -> list[Answers]:
        """The same of several groups that know nothing of each other, in one pass; what is to be said is in `notes`."""
        self.check(asked)
        notes: list[list[str]] = [[] for _ in groups]
        grown = Grown.together([self._attached(nodes, lines) for nodes, lines in zip(groups, notes, strict=True)])
        views = self._kept.setdefault("views", Views(self.graph, self.cache))
        fields = Fields(grown, views, self.device)
        found = [answer_new(one, fields, asked.weights) for one in self.members]
        probabilities, chosen = together((one, one.logits) for one in found)
        sets = None if asked.coverage is None else self._new_sets(fields, found, asked)
        trust = None
        if asked.weights:
            trust = np.mean([one.weights for one in found if one.weights is not None], axis=0)
        unlike = None if self._seen is None else self._seen.unlike(grown.x)
        linked = grown.linked.tolist() if self.needs_graph else None
        by = "teachers" if all(one.student_logits is not None for one in found) else "student"
        answers, start = [], 0
        for nodes, lines in zip(groups, notes, strict=True):
            at = slice(start, start := start + len(nodes.names))
            if linked is not None and not all(linked[at]):
                lines.append(_without_edges(nodes.names, linked[at]))
            answers.append(
                Answers(
                    nodes.names,
                    self.first.classes,
                    chosen[at],
                    probabilities[at],
                    self.first.task_names if asked.weights else (),
                    None if trust is None else trust[at],
                    None if sets is None else sets[at],
                    None if unlike is None else unlike[at],
                    by,
                    tuple(lines),
                )
            )
        return answers

    def _new_sets(self, fields: Fields, found: Sequence[FittedModel], asked: Asked) -> list[list[str]]:
        part = fields.part(GIVEN, 1)
        assert part.origin is not None
        first = part.num_nodes - fields.grown.x.shape[0]
        old, new = slice(first), slice(first, None)
        near = part.origin[old]
        u, logits = np.zeros(part.num_nodes), np.empty((part.num_nodes, len(self.first.classes)), np.float32)
        if any(one.conformal is not None and one.conformal.weight for one in self.members):
            u[old] = self._uniform(near)  # else nothing reads it
        u[new] = np.concatenate([uniform(count, "new") for count in fields.grown.sizes])
        sets = []
        for own, one in zip(self.members, found, strict=True):
            logits[old], logits[new] = own.logits[near], one.logits
            sets.append(self._sets(one, logits, part, u, asked)[new])
        return named_sets(sets, self.first.classes)

    def _attached(self, nodes: NewNodes, notes: list[str]) -> Grown:
        weights = nodes.weights
        if weights is not None and self.graph is not None and self.graph.weights is None:
            notes.append("the edges of the fitted graph have no weights, so those of new edges are not used")
            weights = None
        if self.graph is None:
            count = self.known.index.count
            if (nodes.ends < count).any():
                raise GraphError(
                    "edges lead to nodes of the fitted graph, which is not there; give the folder of the run, and "
                    "--graph if the graph has moved"
                )
            return Grown(None, nodes.x, nodes.ends - count, weights)
        if self.knn is not None and self.graph is not None and not nodes.ends.size and self.needs_graph:
            log.info("each new node is linked to the %d nodes most like it (%s), as those of the graph are", *self.knn)
            return Grown(self.graph, nodes.x, knn_to(self.graph.x, nodes.x, *self.knn)[0])
        return Grown(self.graph, nodes.x, nodes.ends, weights)

    def with_graph(self, graph: Graph) -> Predictor:
        """The same with its graph."""
        return replace(self, graph=graph, _kept={})


def _without_edges(names: Sequence[str], linked: Sequence[bool]) -> str:
    lost = [name for name, has_edge in zip(names, linked, strict=True) if not has_edge]
    some = ", ".join(lost[:NAMED]) + (", …" if len(lost) > NAMED else "")
    return (
        f"{len(lost)} of {len(names)} new nodes have no edges ({some}), but the model reads neighbours: they are "
        "judged by their own columns alone; give edges, or fit with --student mlp"
    )
