"""Labelling by hand, apart from the page: who sees which node, what was said of it, what the model makes of it.

Every tab of the browser has a node of its own, until it has said something of it. What is said goes to the file before
it is acknowledged. A tab says what it believed the label to be; if another one was faster, nothing is overwritten.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agssl.annotate.card import NEIGHBOURS, Cards
from agssl.annotate.label_file import LabelFile
from agssl.annotate.names import class_name
from agssl.base.errors import DataError
from agssl.data.graph import Graph
from agssl.data.label_files import nodes_of
from agssl.label.first import first_nodes
from agssl.store.run_writer import node_names

AHEAD = 40  # nodes that are chosen at a time
AWAY = 60.0  # seconds without a word from a tab, after which others may have its node
RECENT = 8  # labels that are shown
STEPS = 1000  # that can be undone


class Refused(Exception):
    """Something that can't be done as asked; `status` as HTTP has it, `more` for whoever asked."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status, self.more = status, more


@dataclass
class Tab:
    """A tab of the browser."""

    node: int | None = None
    seen: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Step:
    """Something that was said, to be undone."""

    tab: str
    node: int
    before: str | None  # in the file
    after: str | None  # None: skipped, or taken away
    skipped: bool = False


@dataclass(frozen=True, eq=False)
class Learned:
    """What a fit has found."""

    labels: int  # that it had
    estimate: dict[str, Any]
    seconds: float
    suggested: Sequence[tuple[int, str]] = ()  # nodes with reasons, the best first
    predictions: Sequence[str] = ()  # of all nodes
    probabilities: np.ndarray | None = None


class Session:
    """All that the page knows and does; safe to be used by many threads.

    Args:
        graph: what is labelled; labels that it has count.
        file: where labels go.
        classes: names to choose from, beside those that are there already.
    """

    def __init__(self, graph: Graph, file: LabelFile, classes: Sequence[str] = ()) -> None:
        self.graph, self.file, self.cards = graph, file, Cards(graph)
        self.names = node_names(graph)
        self.place = {name: node for node, name in enumerate(self.names)}
        self.lock = threading.RLock()
        self.version = 0  # of the labels
        self.curve: list[dict[str, Any]] = []
        self.fitting: dict[str, Any] | None = None
        self.problem: str | None = None
        self.learned: Learned | None = None
        self._classes = dict.fromkeys([*classes, *graph.classes])
        self._queue: list[int] = []
        self._reasons: dict[int, str] = {}
        self._skipped: dict[int, None] = {}
        self._tabs: dict[str, Tab] = {}
        self._steps: list[Step] = []
        self._said: dict[int, str] = {}
        self._read()
        self.at_first = len(self._said)

    # what there is

    def label_of(self, node: int) -> str | None:
        """The label of a node: what was said of it, else the one that the graph has."""
        known = self.graph.y[node]
        return self._said.get(node) or (self.graph.classes[known] if known >= 0 else None)

    def counts(self) -> dict[str, int]:
        """How many nodes have each class, in the order of the classes."""
        with self.lock:
            known = np.bincount(self.graph.y[self.graph.y >= 0], minlength=len(self.graph.classes)).tolist()
            total = Counter(dict(zip(self.graph.classes, known, strict=True)))
            for node, name in self._said.items():
                total[name] += 1
                if self.graph.y[node] >= 0:
                    total[self.graph.classes[self.graph.y[node]]] -= 1
            return {name: total[name] for name in self._classes}

    def state(self, tab: str) -> dict[str, Any]:
        """What every tab shows, whatever its node is."""
        with self.lock:
            self._tab(tab)
            self._look()
            counts = self.counts()
            recent = [{"node": node, "name": self.names[node], "label": label} for node, label in self._said.items()]
            return {
                "graph": self.graph.name,
                "nodes": self.graph.num_nodes,
                "file": str(self.file.path),
                "classes": [{"name": name, "count": count} for name, count in counts.items()],
                "labelled": sum(counts.values()),
                "said": len(self._said),
                "recent": recent[: -RECENT - 1 : -1],
                "undo": any(step.tab == tab for step in self._steps),
                "curve": self.curve,
                "fitting": self.fitting,
                "problem": self.problem,
            }

    def card(self, node: int) -> dict[str, Any]:
        """All there is to see of a node."""
        with self.lock:
            if not 0 <= node < self.graph.num_nodes:
                raise Refused(404, f"there is no node {node}: they are numbered from 0 to {self.graph.num_nodes - 1}")
            near = self.cards.near(node)
            near.sort(key=lambda other: self.label_of(other) is None)  # those with a label tell more
            shown = near[:NEIGHBOURS]
            about = {
                "node": node,
                "name": self.names[node],
                "label": self.label_of(node),
                "own": node in self._said,
                "reason": self._reasons.get(node, ""),
                "degree": len(near),
                "near": [self._neighbour(other) for other in shown],
                "links": self.cards.links(shown),
            }
            return about | self._guess(node) | self.cards.columns(node)

    # what is done

    def next(self, tab: str) -> dict[str, Any] | None:
        """The card of the node that a tab is to label: the one it has, or else the next; None at the end."""
        with self.lock:
            own = self._tab(tab)
            if own.node is None or not self._open(own.node):
                own.node = self._take(tab)
            return None if own.node is None else self.card(own.node)

    def label(self, tab: str, node: int, name: str | None, before: str | None) -> None:
        """Give a node a label (None: take it away), if it still has the one that the tab has seen."""
        with self.lock:
            own = self._tab(tab)
            if not 0 <= node < self.graph.num_nodes:
                raise Refused(404, f"there is no node {node}")
            name = None if name is None else class_name(name, self._classes)
            self._look()
            now = self.label_of(node)
            if now != before:
                what = "has no label any more" if now is None else f"is labelled {now} by now"
                raise Refused(409, f"{self.names[node]} {what}, by another tab or in the file", label=now)
            self._say(Step(tab, node, self._said.get(node), name))
            self._skipped.pop(node, None)
            if own.node == node:
                own.node = None

    def skip(self, tab: str, node: int) -> None:
        """Leave a node until there is no other."""
        with self.lock:
            own = self._tab(tab)
            self._skipped.pop(node, None)
            self._skipped[node] = None
            self._steps.append(Step(tab, node, None, None, skipped=True))
            if own.node == node:
                own.node = None

    def undo(self, tab: str) -> int:
        """Take back what this tab did last; gives the node, which the tab then has."""
        with self.lock:
            own = self._tab(tab)
            self._look()
            step = next((step for step in reversed(self._steps) if step.tab == tab), None)
            if step is None:
                raise Refused(409, "there is nothing left to undo in this tab; choose the label from the list")
            self._steps.remove(step)
            if step.skipped:
                self._skipped.pop(step.node, None)
            elif self._said.get(step.node) != step.after:
                raise Refused(409, f"{self.names[step.node]} has been labelled anew since, so that is left alone")
            else:
                self._say(Step(tab, step.node, step.after, step.before), remember=False)
            own.node = step.node
            return step.node

    # what the model says

    def learn(self, found: Learned) -> None:
        """Take what a fit has found."""
        with self.lock:
            self.learned, self.problem = found, None
            self.curve.append({"labels": found.labels, "seconds": round(found.seconds, 1), **found.estimate})
            if found.suggested:
                self._queue = [node for node, _ in found.suggested]
                self._reasons = dict(found.suggested)

    def snapshot(self) -> tuple[int, int, dict[str, str]]:
        """The version of the labels, how many nodes have one, and those that were given by hand."""
        with self.lock:
            self._look()
            return self.version, sum(self.counts().values()), dict(self.file.labels)

    # within

    def _tab(self, name: str) -> Tab:
        tab = self._tabs.setdefault(name, Tab())
        tab.seen = time.monotonic()
        return tab

    def _read(self) -> None:
        """Take over what is in the file."""
        labels = self.file.labels
        nodes = nodes_of(self.graph, labels, self.file.path).tolist()
        self._said = dict(zip(nodes, labels.values(), strict=True))
        self._classes |= dict.fromkeys(labels.values())
        self.version += 1

    def _look(self) -> None:
        """See whether somebody else has changed the file."""
        try:
            if self.file.refresh():
                self._read()
        except DataError as error:
            raise Refused(409, f"{error}; nothing is written until it can be read") from error

    def _say(self, step: Step, remember: bool = True) -> None:
        self.file.put(self.names[step.node], step.after)
        self._said.pop(step.node, None)  # the latest is the last
        if step.after is not None:
            self._said[step.node] = step.after
            self._classes.setdefault(step.after)
        self.version += 1
        if remember:
            self._steps = [*self._steps[-STEPS:], step]

    def _open(self, node: int) -> bool:
        return self.label_of(node) is None and node not in self._skipped

    def _take(self, tab: str) -> int | None:
        """The next node for a tab: none that another one has."""
        now = time.monotonic()
        taken = {other.node for name, other in self._tabs.items() if name != tab and now - other.seen < AWAY}
        for _ in range(2):
            found = next((node for node in self._queue if self._open(node) and node not in taken), None)
            if found is not None:
                return found
            known = self.graph.y >= 0
            known[[*self._said, *self._skipped, *(node for node in taken if node is not None)]] = True
            self._queue = first_nodes(self.graph, np.flatnonzero(known), AHEAD).tolist()
            self._reasons = {}
        # nothing is left but what was skipped, the longest ago first
        return next((node for node in self._skipped if self.label_of(node) is None and node not in taken), None)

    def _guess(self, node: int) -> dict[str, Any]:
        found = self.learned
        if found is None or found.probabilities is None:
            return {}
        return {"guess": found.predictions[node], "sure": round(float(found.probabilities[node]), 4)}

    def _neighbour(self, node: int) -> dict[str, Any]:
        about = {"node": node, "name": self.names[node], "label": self.label_of(node), "title": self.cards.title(node)}
        return about | self._guess(node)
