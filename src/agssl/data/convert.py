"""Graphs of other packages: PyG, DGL and NetworkX objects in, PyG objects out.

Types are told apart by the module that defines them, so none of those packages is imported to look.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from agssl.base.errors import GraphError, MissingExtraError
from agssl.data.graph import Graph
from agssl.data.splits import PARTS, Split
from agssl.data.weights import COLUMN

if TYPE_CHECKING:
    from torch_geometric.data import Data

log = logging.getLogger("agssl")

_EXTRAS = ("classes", "node_names", "name", "missing", "split_origin")


def to_graph(obj: Any, *, name: str | None = None, require_labels: bool = True, unweighted: bool = False) -> Graph:
    """A `Graph` from a `Graph`, a PyG `Data`, a DGL graph, a NetworkX graph or `(adjacency, X, y)`.

    Args:
        obj: the object; in the tuple, the adjacency may also be an int array [2, E].
        name: what to call the graph, if it does not say so itself.
        require_labels: as for `Graph.from_arrays`.
        unweighted: ignore edge weights.
    """
    if isinstance(obj, Graph):
        return obj.unweighted() if unweighted else obj
    how: dict[str, Any] = {"require_labels": require_labels, "unweighted": unweighted}
    if isinstance(obj, tuple) and len(obj) == 3:
        edges, x, y = obj
        return Graph.from_arrays(edges, x, y, name=name or "graph", **how)
    packages = {kind.__module__.partition(".")[0] for kind in type(obj).__mro__}
    if "torch_geometric" in packages:
        if hasattr(obj, "node_types"):
            raise _heterogeneous("PyG HeteroData", obj.node_types, obj.edge_types, "data.to_homogeneous()")
        return from_pyg(obj, name=name, **how)
    if "dgl" in packages:
        return from_dgl(obj, name=name, **how)
    if "networkx" in packages:
        return from_networkx(obj, name=name, **how)
    raise GraphError(
        f"cannot make a graph of a {type(obj).__module__}.{type(obj).__qualname__}; "
        "give a Graph, a PyG Data, a DGL graph, a NetworkX graph or (scipy adjacency, X, y)"
    )


def from_pyg(data: Any, *, name: str | None = None, require_labels: bool = True, unweighted: bool = False) -> Graph:
    """A PyG `Data` with x, edge_index (or adj_t), y, and optionally masks, edge_weight and what `to_pyg` adds.

    Weights are those in `edge_weight`, or the values of `adj_t`. `edge_attr` is not used, even with one column: PyG's
    own transforms put distances there, and a large distance is no strong link.
    """
    x, y = getattr(data, "x", None), getattr(data, "y", None)
    extra = {key: getattr(data, key, None) for key in _EXTRAS}
    if x is None and extra["missing"] is None:
        raise GraphError("the PyG Data has no x; set data.x to the features [N, d]")
    key = next((key for key in ("edge_index", "adj_t") if getattr(data, key, None) is not None), None)
    if key is None:
        raise GraphError("the PyG Data has no edge_index; set it to the edges [2, E]")
    weights = getattr(data, "edge_weight", None) if key == "edge_index" else None
    attributes = getattr(data, "edge_attr", None)
    if key == "edge_index" and weights is None and attributes is not None and not unweighted:
        log.warning("the edge_attr of the PyG Data is not used; set data.edge_weight [E] if edges have weights")
    masks = {part: getattr(data, f"{part}_mask", None) for part in PARTS}
    return Graph.from_arrays(
        _to_numpy(data[key]),
        None if x is None else _to_numpy(x),
        _labels(
            y, data.num_nodes, require_labels, "the PyG Data has no y; set data.y to the labels, -1 for unlabelled"
        ),
        weights=None if weights is None else _to_numpy(weights),
        unweighted=unweighted,
        classes=extra["classes"],
        split=_masks_to_split(masks, extra["split_origin"]),
        name=name or extra["name"] or "graph",
        node_names=extra["node_names"],
        missing=extra["missing"],
        require_labels=require_labels,
    )


def to_pyg(graph: Graph) -> Data:
    """A PyG `Data` from which `from_pyg` gets back the same graph; sparse features become a sparse CSR tensor."""
    import torch

    try:
        from torch_geometric.data import Data
    except ImportError as error:
        raise MissingExtraError("to_pyg needs torch_geometric; pip install 'agssl[pyg]'") from error

    data = Data(
        x=_features_to_torch(graph.x),
        edge_index=torch.from_numpy(
            np.vstack([np.repeat(np.arange(graph.num_nodes), graph.degree), graph.indices.astype(np.int64)])
        ),
        y=torch.from_numpy(graph.y.copy()),
        num_nodes=graph.num_nodes,
        name=graph.name,
        classes=graph.class_values.tolist(),
    )
    if graph.weights is not None:
        data.edge_weight = torch.from_numpy(graph.weights.copy())
    if graph.node_names is not None:
        data.node_names = graph.node_names.tolist()
    if graph.missing is not None:
        data.missing = graph.missing
    if graph.split is not None:
        data.split_origin = graph.split.origin
        for part, nodes in graph.split.to_arrays().items():
            mask = torch.zeros(graph.num_nodes, dtype=torch.bool)
            mask[torch.from_numpy(nodes)] = True
            data[f"{part}_mask"] = mask
    return data


def from_dgl(graph: Any, *, name: str | None = None, require_labels: bool = True, unweighted: bool = False) -> Graph:
    """A DGL graph of one node type, with feat (or x), label (or y) and optionally masks in `ndata`.

    Edge weights are those in `edata["weight"]` or `edata["w"]`.
    """
    links = getattr(graph, "canonical_etypes", [""])
    if len(graph.ntypes) != 1 or len(links) != 1:
        raise _heterogeneous("DGL graph", graph.ntypes, links, "dgl.to_homogeneous(g)")
    ndata = graph.ndata
    x = next((ndata[key] for key in ("feat", "x") if key in ndata), None)
    y = next((ndata[key] for key in ("label", "y") if key in ndata), None)
    if x is None:
        raise GraphError("the DGL graph has no features; set g.ndata['feat']")
    masks = {part: ndata.get(f"{part}_mask") for part in PARTS}
    weights = next((_to_numpy(graph.edata[key]) for key in (COLUMN, "w") if key in graph.edata), None)
    return Graph.from_arrays(
        np.vstack([_to_numpy(end) for end in graph.edges()]),
        _to_numpy(x),
        _labels(y, graph.num_nodes(), require_labels, "the DGL graph has no labels; set g.ndata['label']"),
        weights=weights,
        unweighted=unweighted,
        split=_masks_to_split(masks, None),
        name=name or "graph",
        require_labels=require_labels,
    )


def from_networkx(
    graph: Any,
    *,
    label: str | None = None,
    name: str | None = None,
    weight: str | None = None,
    require_labels: bool = True,
    unweighted: bool = False,
) -> Graph:
    """A NetworkX graph; node attributes: `label` (or `y`), optional `split`, and either a vector `x` or numbers.

    Args:
        graph: of any NetworkX class.
        label: the attribute with the labels; "label" or "y" by default.
        name: what to call the graph; its own name by default.
        weight: the edge attribute with the weights; "weight" by default, if edges have it.
        require_labels: as for `Graph.from_arrays`.
        unweighted: ignore edge weights.
    """
    from agssl.data.readers import split_from_words

    attributes = [values for _, values in graph.nodes(data=True)]
    ids = np.array([str(node) for node in graph.nodes], dtype=str)
    name = name or str(graph.graph.get("name") or "graph")
    if label is None:
        label = "label" if any("label" in values for values in attributes) else "y"
    if require_labels and attributes and not any(label in values for values in attributes):
        found = ", ".join(sorted({str(key) for values in attributes for key in values})) or "none"
        raise GraphError(f"no node of {name} has the attribute {label!r}; the attributes are {found}")
    position = {node: i for i, node in enumerate(graph.nodes)}
    ends = [(position[u], position[v]) for u, v in graph.edges()]
    weights = None if unweighted else _edge_weights(graph, weight)
    if not graph.is_directed():  # both ways at once, so that nothing looks one-way
        back = [edge for edge, (u, v) in enumerate(ends) if u != v]
        ends += [ends[edge][::-1] for edge in back]
        weights = None if weights is None else np.concatenate([weights, weights[back]])
    return Graph.from_arrays(
        np.array(ends, dtype=np.int64).reshape(-1, 2).T,
        _attribute_matrix(attributes, ids, {label, "split"}),
        [values.get(label) for values in attributes],
        weights=weights,
        split=split_from_words([str(values.get("split") or "").strip() for values in attributes], ids, name),
        name=name,
        node_names=ids,
        require_labels=require_labels,
    )


def _edge_weights(graph: Any, weight: str | None) -> np.ndarray | None:
    """The weights of a NetworkX graph's edges, in their order; None where no edge has one and none was asked for."""
    key = weight or COLUMN
    found = [(u, v, values.get(key)) for u, v, values in graph.edges(data=True)]
    if all(value is None for *_, value in found):
        if weight is not None and found:
            raise GraphError(f"no edge has the attribute {weight!r}; name another, or leave the weight out")
        return None
    numbers = np.empty(len(found))
    for edge, (u, v, value) in enumerate(found):
        where = f"edge {edge}, of nodes {str(u)!r} and {str(v)!r},"
        if value is None:
            raise GraphError(f"{where} has no {key!r}, but others have; add it, or ignore weights with unweighted")
        try:
            numbers[edge] = float(value)
        except (TypeError, ValueError, OverflowError):
            cure = "write a number, or ignore weights with unweighted"
            raise GraphError(f"{where} has the {key} {str(value)[:60]!r}, which is no number; {cure}") from None
    return numbers


def _attribute_matrix(attributes: list[dict[Any, Any]], ids: np.ndarray, skip: set[str]) -> np.ndarray:
    if any("x" in values and np.ndim(values["x"]) == 1 for values in attributes):
        widths = [np.size(values.get("x", ())) for values in attributes]
        odd = [i for i, width in enumerate(widths) if width != widths[0]]
        if odd:
            raise GraphError(
                f"node {str(ids[odd[0]])!r} has {widths[odd[0]]} features in 'x', but node {str(ids[0])!r} has "
                f"{widths[0]}; give all nodes equally many"
            )
        return np.array([values["x"] for values in attributes], dtype=np.float64)
    columns = list(dict.fromkeys(key for values in attributes for key in values if key not in skip))
    matrix = np.full((len(attributes), len(columns)), np.nan)
    for i, values in enumerate(attributes):
        for j, column in enumerate(columns):
            value = values.get(column)
            if value is None:
                raise GraphError(f"node {str(ids[i])!r} lacks the attribute {column!r} that other nodes have; add it")
            try:
                matrix[i, j] = float(value)
            except (TypeError, ValueError):
                raise GraphError(
                    f"node {str(ids[i])!r} has {value!r} in the attribute {column!r}, but features must be numbers; "
                    "drop the attribute or encode it as numbers"
                ) from None
    return matrix


def _heterogeneous(what: str, nodes: Sequence[Any], links: Sequence[Any], cure: str) -> GraphError:
    return GraphError(
        f"the {what} has {len(nodes)} node types and {len(links)} edge types; supported is one type of nodes "
        f"and one of edges: use {cure}, or give one type of nodes with the edges between them"
    )


def _labels(y: Any, num_nodes: int, required: bool, message: str) -> Any:
    if y is not None:
        return _to_numpy(y)
    if required:
        raise GraphError(message)
    return np.full(num_nodes, -1)


def _masks_to_split(masks: dict[str, Any], origin: str | None) -> Split | None:
    found = {part: _to_numpy(mask) for part, mask in masks.items() if mask is not None}
    return Split.from_arrays(found, origin=origin or "public") if found else None


def _features_to_torch(x: Any) -> Any:
    import warnings

    import torch

    if not sp.issparse(x):
        return torch.from_numpy(x.copy())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        crow, col = torch.from_numpy(x.indptr.astype(np.int64)), torch.from_numpy(x.indices.astype(np.int64))
        return torch.sparse_csr_tensor(crow, col, torch.from_numpy(x.data.copy()), x.shape, check_invariants=True)


def _to_numpy(value: Any) -> Any:
    """A torch tensor (dense, COO, CSR) or torch_sparse tensor as NumPy or SciPy; anything else as it is."""
    if hasattr(value, "to_scipy"):
        return value.to_scipy()
    if not hasattr(value, "detach"):
        return value
    tensor = value.detach().cpu()
    layout = str(tensor.layout)
    if layout == "torch.sparse_coo":
        tensor = tensor.coalesce()
        row, column = tensor.indices().numpy()
        return sp.csr_matrix((tensor.values().numpy(), (row, column)), shape=tuple(tensor.shape))
    if layout == "torch.sparse_csr":
        parts = (tensor.values().numpy(), tensor.col_indices().numpy(), tensor.crow_indices().numpy())
        return sp.csr_matrix(parts, shape=tuple(tensor.shape))
    return tensor.numpy()
