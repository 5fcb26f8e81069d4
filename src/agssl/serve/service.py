"""What a service does with a request, apart from HTTP."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agssl.base.errors import AgsslError, GraphError
from agssl.base.version import __version__
from agssl.data.new_nodes import NewNodes
from agssl.explain.node import explain_node
from agssl.serve.answers import Answers
from agssl.serve.counters import Counters
from agssl.serve.predictor import Asked, Predictor
from agssl.serve.requests import BadRequest, PredictRequest

log = logging.getLogger("agssl")


class _Noted(logging.Handler):
    """Keeps what is said of a request, to be told in its answer."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@contextlib.contextmanager
def noted() -> Iterator[list[str]]:
    """Warnings inside the block gather in a list and are printed nowhere."""
    handler, others, propagate = _Noted(), log.handlers, log.propagate
    log.handlers, log.propagate = [handler], False
    try:
        yield handler.lines
    finally:
        log.handlers, log.propagate = others, propagate


@dataclass(frozen=True, eq=False)
class Service:
    """Answers requests, one after another or some at a time.

    Args:
        predictor: the models, with their graph where there is one.
        counters: where to count.
        name: what is served.
    """

    predictor: Predictor
    counters: Counters
    name: str = "model"

    def predict(self, requests: Sequence[PredictRequest]) -> list[dict[str, Any] | AgsslError]:
        """An answer, or what is wrong, for each of some requests that want the same told: known nodes, then new ones.

        New nodes of all of them are asked for in one pass; those of one request know nothing of another's.
        """
        asked = requests[0].asked
        found: list[dict[str, Any] | AgsslError] = []
        groups: list[tuple[int, NewNodes]] = []
        with noted() as lines:
            for number, request in enumerate(requests):
                lines.clear()
                try:
                    records: list[dict[str, Any]] = []
                    if request.nodes:
                        records = self.predictor.at(request.nodes, asked).records(request.proba)
                    if request.new:
                        groups.append((number, request.new_nodes(self.predictor.known)))
                    found.append({"predictions": records, "warnings": lines.copy()})
                    self.counters.add("nodes_known", len(request.nodes))
                except AgsslError as error:
                    found.append(error)
        for (number, _), answer in zip(groups, self._new([nodes for _, nodes in groups], asked), strict=True):
            if isinstance(answer, AgsslError):
                found[number] = answer
                continue
            one = found[number]
            assert isinstance(one, dict)
            one["predictions"] += answer.records(requests[number].proba)
            one["warnings"] += answer.notes
            self.counters.add("nodes_new", len(answer.nodes))
            self.counters.add("nodes_unlike", sum(map(bool, answer.unlike or ())))
        return [_told(one) for one in found]

    def _new(self, groups: list[NewNodes], asked: Asked) -> list[Answers | AgsslError]:
        """All at once; where that goes wrong, one by one, so that each has its own mistake alone."""
        if not groups:
            return []
        try:
            with noted() as lines:
                answers = self.predictor.new_groups(groups, asked)
            return [replace(one, notes=(*one.notes, *lines)) if lines else one for one in answers]
        except AgsslError as error:
            if len(groups) == 1:
                return [error]
        return [one for nodes in groups for one in self._new([nodes], asked)]

    def explain(self, node: str) -> dict[str, Any]:
        """Why a known node has its class: the teachers, their weights, neighbours, labelled nodes near by."""
        graph = self.predictor.graph
        if graph is None:
            raise BadRequest("the model is served without its graph, so there is nothing to explain by", 404)
        number = int(self.predictor.known.index.find([node])[0])
        if number < 0:
            raise BadRequest(f"no node of the fitted graph is named {node[:60]!r}", 404)
        try:
            return explain_node(self.predictor.first, graph, node).to_dict()
        except GraphError as error:
            raise BadRequest(str(error), 404) from error

    def about(self) -> dict[str, Any]:
        """What is served."""
        first = self.predictor.first
        return {
            "status": "ok",
            "model": self.name,
            "version": __version__,
            "nodes": len(first.logits),
            "features": first.shape.features,
            "columns": None if first.columns is None else list(first.columns.names),
            "classes": list(first.classes),
            "teachers": list(first.task_names),
            "models": len(self.predictor.members),
            "student": first.shape.encoder,
            "reads_neighbours": self.predictor.needs_graph,
            "answered_by": "student" if first.student_logits is None else "teachers",
        }

    def warm(self) -> None:
        """Do once what every first request would wait for, so that workers that are forked from here share it."""
        known = self.predictor.known
        with noted(), contextlib.suppress(GraphError):
            x = np.zeros((1, known.features), dtype=np.float32)
            self.predictor.new(known.make(None, x, None))


def _told(one: dict[str, Any] | AgsslError) -> dict[str, Any] | AgsslError:
    """Without a list of warnings where there are none."""
    return {"predictions": one["predictions"]} if isinstance(one, dict) and not one["warnings"] else one
