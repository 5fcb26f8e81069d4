"""What a fitted model says of new nodes beside the graph that it was fitted to, by their surroundings alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from agssl.base.errors import DataError, SettingsError
from agssl.data.graph import Graph
from agssl.encoders import Network
from agssl.ops.graph_views import GIVEN, viewed, viewed_grown
from agssl.ops.grown import Grown, Part
from agssl.store.fitted import HELDOUT, FittedModel
from agssl.train.infer import infer_viewed
from agssl.train.transfer import elsewhere, refuse_smoothed, say_student_answers


@dataclass(frozen=True, eq=False)
class Views:
    """A graph in the views that networks read; each is made once.

    Args:
        graph: None where there are new nodes alone.
        cache: folder for edges that were computed.
    """

    graph: Graph | None
    cache: Path | None = None
    _made: dict[str, Graph | None] = field(default_factory=dict)

    def __call__(self, view: str) -> Graph | None:
        """The graph in a view."""
        if view not in self._made:
            self._made[view] = None if self.graph is None else viewed(self.graph, view, self.cache)
        return self._made[view]


@dataclass(frozen=True, eq=False)
class Fields:
    """What networks see of new nodes: cut out once for each view and reach.

    Args:
        grown: the new nodes.
        views: the graph beside which they are.
        device: where to compute.
    """

    grown: Grown
    views: Views
    device: str = "cpu"
    _made: dict[tuple[str, int], Part] = field(default_factory=dict)

    def part(self, view: str, hops: int) -> Part:
        """The new nodes, at the end, and what is within so many hops."""
        if (view, hops) not in self._made:
            graph = None if view == GIVEN else self.views(view)
            self._made[view, hops] = viewed_grown(self.grown, view, graph).field(hops)
        return self._made[view, hops]

    def logits(self, network: Network) -> np.ndarray:
        """What a network says of the new nodes, [m, C]."""
        if network.sees is None:
            raise SettingsError(
                f"encoder {network.shape.encoder!r} does not say how far it reads (`read_hops`), so new nodes would "
                "take the whole graph; give the grown graph as a whole"
            )
        part = self.part(network.shape.view if network.sees else GIVEN, network.sees)
        return infer_viewed(network, part, self.device).logits[part.num_nodes - self.grown.x.shape[0] :]


def answer_new(fitted: FittedModel, fields: Fields, weights: bool = False) -> FittedModel:
    """The model with what it says of new nodes in place of the fitted ones.

    The student answers; where its teachers do so in its place, these are asked, too. Teachers that can't leave it to
    the student, and that is said; then `student_logits` is None.

    Args:
        fitted: a model.
        fields: the new nodes.
        weights: whether the teachers are to be weighed.
    """
    refuse_smoothed(fitted)
    logits, instead = fields.logits(fitted.model), fitted.student_logits is not None
    none: dict[str, Any] = dict.fromkeys((*HELDOUT, "student_logits", "weights"))
    alone = replace(fitted, logits=logits, teacher_logits=np.zeros((0, 0, 0), np.float32), **none)
    if not instead and not weights:
        return alone
    try:
        return elsewhere(fitted, fields.logits, logits)
    except (DataError, SettingsError) as error:
        if weights:
            raise
        say_student_answers(error)
        return alone
