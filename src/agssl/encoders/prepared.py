"""Perceptrons on features that are made of the graph once: what propagates is done before the first step.

A view that leaves out features, masks, shuffles or scales nodes does so with the rows that were made. Edges that a view
drops, or a task masks, stay in them.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from typing import ClassVar

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.base.system import size_text
from agssl.data.graph import Features, Graph
from agssl.data.packed import stored_in
from agssl.encoders.layer import Layer
from agssl.encoders.mlp import Mlp

MOST_BYTES = 2 << 30  # that what is made of a graph may take


class PreparedMlp(Mlp):
    """A perceptron on what `prepare` makes of a graph; made once, and shared by all networks that read the same."""

    prepares: ClassVar[bool] = True

    def prepare(self, graph: Graph) -> Features:
        """What the first layer reads, float32 [N, width]."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        """How many columns that has."""
        return self.shape.features

    def first_layer(self, rng: Rng) -> Layer:
        """One linear map of what was made."""
        return self.layer(self.width, self.shape.hidden, rng)

    def read(self, graph: Graph) -> Features:
        """What `prepare` makes of these edges and features, as long as they live."""
        parts = [part for part in (graph.indptr, graph.indices, graph.weights, graph.x) if part is not None]
        about = (type(self), *sorted(self.settings.items()), self.shape.skip_weight, self.shape.nodes)
        key = (about, *map(id, parts))
        if key not in _MADE:
            _MADE[key] = self.prepare(graph)
            for part in parts:  # an id is that of another one once its owner is gone
                weakref.finalize(part, _MADE.pop, key, None).atexit = False
        return _MADE[key]

    def check_in_memory(self, graph: Graph, instead: str) -> None:
        """Refuse a graph on disk."""
        if stored_in(graph) is not None:
            raise SettingsError(
                f"encoder {self.shape.encoder!r} reads the whole graph at once, but {graph.name} is read from disk; "
                f"use {instead}"
            )

    def check_size(self, graph: Graph, size: int, instead: str) -> None:
        """Refuse to make more than `MOST_BYTES`."""
        if size > MOST_BYTES:
            raise SettingsError(
                f"encoder {self.shape.encoder!r} would make features of {size_text(size)} or more of {graph.name}, but "
                f"at most {size_text(MOST_BYTES)} are made; use {instead}"
            )


_MADE: dict[tuple[Hashable, ...], Features] = {}
