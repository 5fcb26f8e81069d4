"""Running a trained network on a graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from agssl.data.graph import Graph
from agssl.errors import GraphError
from agssl.models.gcn import Gcn, joined
from agssl.ops.adjacency import Adjacency
from agssl.ops.csr import identity
from agssl.ops.features import Inputs
from agssl.ops.field import whole_field


@dataclass(frozen=True, eq=False)
class Inference:
    """What a network says of every node."""

    logits: np.ndarray  # float32 [N, C]
    hidden: np.ndarray  # float32 [N, F]


@torch.no_grad()
def infer(model: Gcn, graph: Graph, device: str = "cpu") -> Inference:
    """Logits and hidden representations of all nodes, in evaluation mode."""
    if graph.num_features != model.shape.features:
        raise GraphError(
            f"the graph has {graph.num_features} features, but the model was trained on {model.shape.features}; "
            "give the same columns in the same order"
        )
    adjacency = Adjacency.of(graph).normalised.to(device)
    field = whole_field(adjacency, model.shape.layers)
    if model.shape.head == "linear":
        field = replace(field, head=identity(adjacency.rows, device))
    output = model.to(device)(Inputs.of(graph, device), field)
    return Inference(output.logits.cpu().numpy(), joined(output.hidden).cpu().numpy())
