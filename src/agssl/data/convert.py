"""Graphs of other packages: PyG, DGL and NetworkX objects in, PyG objects out.

Types are told apart by the module that defines them, so none of those packages is imported to look.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from agssl.base.errors import GraphError
from agssl.base.install import missing_extra
from agssl.data.columns import Columns, TableOptions
from agssl.data.frames import arrow_array, edge_ends, edge_weights, from_frame, is_frame, packages
from agssl.data.graph import Graph
from agssl.data.node_table import encode, reencode
from agssl.data.split_files import split_from_words, splits_from_masks
from agssl.data.splits import PARTS, PUBLIC, Split
from agssl.data.weights import COLUMN, network_weights

if TYPE_CHECKING:
    from torch_geometric.data import Data

log = logging.getLogger("agssl")

_EXTRAS = ("classes", "node_names", "name", "missing", "split_origin", "columns")


def labelled_graph(graph: Any, y: Any = None) -> Graph:
    """The graph as `to_graph` makes it, with these labels in place of its own where some are given."""
    if y is None:
        return to_graph(graph)
    return to_graph((*graph[:2], y)) if isinstance(graph, tuple) else to_graph(graph).with_labels(y)


def to_graph(
    obj: Any,
    *,
    name: str | None = None,
    require_labels: bool = True,
    unweighted: bool = False,
    columns: Columns | None = None,
) -> Graph:
    """A `Graph` from a `Graph`, a PyG `Data`, a DGL graph, a NetworkX graph or `(edges, X, y)`.

    Args:
        obj: the object. In the tuple, edges are a sparse adjacency, an array [2, E] or [E, 2], a NetworkX graph or a
            table; X is an array or a table of pandas, polars or pyarrow; y has the labels, or is the name of their
            column.
        name: what to call the graph, if it does not say so itself.
        require_labels: as for `Graph.from_arrays`; where labels are not required, y may be left out.
        unweighted: ignore edge weights.
        columns: the encoding of a model, in place of one of the table's own.
    """
    graph = _to_graph(obj, name, require_labels, unweighted, columns)
    if columns is None:
        return graph
    encoding, x = reencode(graph.x, graph.columns, columns, graph.name)
    return replace(graph, columns=encoding, x=x)


def _to_graph(obj: Any, name: str | None, require_labels: bool, unweighted: bool, columns: Columns | None) -> Graph:
    if isinstance(obj, Graph):
        return obj.unweighted() if unweighted else obj
    how: dict[str, Any] = {"require_labels": require_labels, "unweighted": unweighted}
    if isinstance(obj, tuple) and len(obj) in (2, 3) and (len(obj) == 3 or hasattr(obj[1], "shape")):
        edges, x, y = (*obj, None)[:3]
        name = name or "graph"
        if is_frame(x):
            return from_frame(edges, x, y, name=name, columns=columns, **how)
        if y is None and not require_labels:
            y = np.full(x.shape[0], -1)
        rows = edges.nodes if "networkx" in packages(edges) else range(x.shape[0] if is_frame(edges) else 0)
        ends = edge_ends(edges, np.array([str(node) for node in rows], dtype=str))
        weights = None if unweighted else edge_weights(edges)
        return Graph.from_arrays(_to_numpy(ends), _to_numpy(x), y, name=name, weights=weights, **how)
    known = packages(obj)
    if "torch_geometric" in known:
        if hasattr(obj, "node_types"):
            raise _heterogeneous("PyG HeteroData", obj.node_types, obj.edge_types, "data.to_homogeneous()")
        return from_pyg(obj, name=name, **how)
    if "dgl" in known:
        return from_dgl(obj, name=name, **how)
    if "networkx" in known:
        return from_networkx(obj, name=name, columns=columns, **how)
    raise GraphError(
        f"cannot make a graph of a {type(obj).__module__}.{type(obj).__qualname__}; "
        "give a Graph, a PyG Data, a DGL graph, a NetworkX graph or (edges, X, y)"
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
        **_masks_to_splits(masks, extra["split_origin"], "the PyG Data"),
        name=name or extra["name"] or "graph",
        node_names=extra["node_names"],
        missing=extra["missing"],
        columns=None if extra["columns"] is None else Columns.from_dict(extra["columns"]),
        require_labels=require_labels,
    )


def to_pyg(graph: Graph) -> Data:
    """A PyG `Data` from which `from_pyg` gets back the same graph; sparse features become a sparse CSR tensor."""
    import torch

    try:
        from torch_geometric.data import Data
    except ImportError as error:
        raise missing_extra("to_pyg needs torch_geometric", "pyg") from error

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
    if graph.columns is not None:
        data.columns = graph.columns.to_dict()
    if graph.split is not None and graph.split.fold is None:  # folds are drawn, and come with no data
        data.split_origin = graph.split.origin
    one = () if graph.split is None or graph.split.fold is not None else (graph.split,)
    splits = graph.splits or one
    for part in PARTS if splits else ():
        masks = torch.zeros(graph.num_nodes, len(splits), dtype=torch.bool)
        for number, split in enumerate(splits):
            masks[torch.from_numpy(getattr(split, part)), number] = True
        data[f"{part}_mask"] = masks if graph.splits else masks[:, 0]
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
        **_masks_to_splits(masks, None, "the DGL graph"),
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
    options: TableOptions | None = None,
    columns: Columns | None = None,
) -> Graph:
    """A NetworkX graph; node attributes: `label` (or `y`), optional `split`, and either a vector `x` or columns.

    Args:
        graph: any NetworkX class.
        label: the attribute with the labels; "label" or "y" by default.
        name: what to call the graph; its own name by default.
        weight: the edge attribute with the weights; "weight" by default, if edges have it.
        require_labels: as for `Graph.from_arrays`.
        unweighted: ignore edge weights.
        options: what the user says of attributes.
        columns: the encoding of a model.
    """
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
    weights = None if unweighted else network_weights(graph, weight)
    if not graph.is_directed():  # both ways at once, so that nothing looks one-way
        back = [edge for edge, (u, v) in enumerate(ends) if u != v]
        ends += [ends[edge][::-1] for edge in back]
        weights = None if weights is None else np.concatenate([weights, weights[back]])
    if any("x" in values and np.ndim(values["x"]) == 1 for values in attributes):
        encoding, x = None, _vectors(attributes, ids)
    else:
        keys = {key: str(key) for values in attributes for key in values if key not in (label, "split")}
        table = pa.table({text: arrow_array([values.get(key) for values in attributes]) for key, text in keys.items()})
        if not keys:
            raise GraphError(f"the nodes of {name} have no features; give them attributes")
        encoding, x = encode(table, lambda row: f"node {str(ids[row])!r}", name, options=options, columns=columns)
    return Graph.from_arrays(
        np.array(ends, dtype=np.int64).reshape(-1, 2).T,
        x,
        [values.get(label) for values in attributes],
        weights=weights,
        split=split_from_words([str(values.get("split") or "").strip() for values in attributes], ids, name),
        name=name,
        node_names=ids,
        columns=encoding,
        require_labels=require_labels,
    )


def _vectors(attributes: list[dict[Any, Any]], ids: np.ndarray) -> np.ndarray:
    widths = [np.size(values.get("x", ())) for values in attributes]
    odd = [i for i, width in enumerate(widths) if width != widths[0]]
    if odd:
        raise GraphError(
            f"node {str(ids[odd[0]])!r} has {widths[odd[0]]} features in 'x', but node {str(ids[0])!r} has "
            f"{widths[0]}; give all nodes equally many"
        )
    try:
        return np.array([values["x"] for values in attributes], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise GraphError(f"the attribute 'x' is no vector of numbers at every node ({error}); mend it") from error


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


def _masks_to_splits(masks: dict[str, Any], origin: str | None, what: str) -> dict[str, Any]:
    """The arguments `split` or `splits` of `Graph.from_arrays`: masks are [N], or [N, S] for S splits."""
    found = {part: np.asarray(_to_numpy(mask)) for part, mask in masks.items() if mask is not None}
    if any(mask.ndim == 2 for mask in found.values()):
        nodes = len(next(iter(found.values())))
        return {"splits": splits_from_masks({part: mask.T for part, mask in found.items()}, nodes, what)}
    return {"split": Split.from_arrays(found, origin=origin or PUBLIC) if found else None}


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
