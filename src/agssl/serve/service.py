"""What a service does with a request, apart from HTTP."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from agssl.base.errors import GraphError
from agssl.base.version import __version__
from agssl.explain.node import explain_node
from agssl.serve.answers import Answers
from agssl.serve.counters import Counters
from agssl.serve.predictor import Predictor
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
    """Answers requests, one at a time.

    Args:
        predictor: the models, with their graph where there is one.
        counters: where to count.
        name: what is served.
    """

    predictor: Predictor
    counters: Counters
    name: str = "model"

    def predict(self, request: PredictRequest) -> dict[str, Any]:
        """Predictions for known nodes, then for new ones, in the order of the request."""
        with noted() as lines:
            found: list[Answers] = []
            if request.nodes:
                found.append(self.predictor.at(request.nodes, request.asked))
                self.counters.add("nodes_known", len(request.nodes))
            if request.new:
                found.append(self.predictor.new(request.new_nodes(self.predictor.known), request.asked))
                self.counters.add("nodes_new", len(request.new))
                self.counters.add("nodes_unlike", sum(map(bool, found[-1].unlike or ())))
        records = [record for one in found for record in one.records(request.proba)]
        return {"predictions": records} | ({"warnings": lines} if lines else {})

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
