"""Which nodes the page says to label next."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from agssl.data.graph import Graph
from agssl.label.suggest import suggest
from agssl.store.fitted import FittedModel

COUNT = 20  # the default of `agssl suggest`


def suggested(
    fitted: FittedModel, graph: Graph, classes: Sequence[str], probabilities: np.ndarray, hidden: np.ndarray
) -> list[dict[str, Any]]:
    """What `agssl suggest` says of this model, the most useful node first; empty where every node has a label.

    Args:
        fitted: the model.
        graph: its graph.
        classes: their names on the page.
        probabilities: of the classes, calibrated, [N, C].
        hidden: representations of the nodes, [N, F].
    """
    if (graph.y >= 0).all():
        return []
    named = dataclasses.replace(fitted, classes=tuple(classes))  # reasons name classes
    found = suggest([named], probabilities, hidden, graph, COUNT)
    return [{"node": one.index, "reason": one.reason} for one in found]
