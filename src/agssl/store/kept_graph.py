"""The graph that a model was fitted to, in the model's own file, where that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from agssl.data.columns import Columns
from agssl.data.graph import Graph
from agssl.data.splits import Split

PREFIX = "graph."


def graph_tensors(graph: Graph) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Its arrays by name, and what else there is to know of it."""
    arrays = {"indptr": graph.indptr, "indices": graph.indices, "y": graph.y}
    arrays |= {} if graph.weights is None else {"weights": graph.weights}
    if isinstance(graph.x, np.ndarray):
        arrays["x"] = graph.x
    else:
        arrays |= {f"x_{part}": getattr(graph.x, part) for part in ("indptr", "indices", "data")}
    if graph.split is not None:
        arrays |= {f"split_{part}": nodes for part, nodes in graph.split.to_arrays().items()}
    about = {
        "name": graph.name,
        "features": graph.num_features,
        "classes": list(graph.classes),
        "class_kind": graph.class_kind,
        "split": None if graph.split is None else graph.split.origin,
        "node_names": None if graph.node_names is None else graph.node_names.tolist(),
    }
    return {PREFIX + name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}, about


def kept_graph(tensors: Mapping[str, Tensor], about: Mapping[str, Any], columns: Columns | None) -> Graph:
    """The graph of these tensors, by their names without the prefix; what does not fit together is an error."""
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    nodes, features = len(arrays["y"]), int(about["features"])
    values = arrays.get("weights", np.ones(len(arrays["indices"]), dtype=np.float32))
    edges = sp.csr_matrix((values, arrays["indices"], arrays["indptr"]), shape=(nodes, nodes))
    x = arrays.get("x")
    if x is None:
        parts = (arrays["x_data"], arrays["x_indices"], arrays["x_indptr"])
        x = sp.csr_matrix(parts, shape=(nodes, features))
    split = {name.removeprefix("split_"): nodes for name, nodes in arrays.items() if name.startswith("split_")}
    graph = Graph.from_arrays(
        edges,
        x,
        arrays["y"],
        classes=about["classes"],
        split=Split.from_arrays(split, str(about["split"])) if split else None,
        name=str(about["name"]),
        node_names=about["node_names"],
        columns=columns,
        require_labels=False,
        notify=False,
    )
    return replace(graph, class_kind=str(about["class_kind"]))
