"""The user's own graph from a folder or file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agssl.base.errors import DataError, GraphError, MissingExtraError, SettingsError
from agssl.data.graph import Graph
from agssl.data.labels import read_labels
from agssl.data.split_files import part_name
from agssl.data.splits import PARTS, Split
from agssl.data.validate import as_features
from agssl.data.weights import COLUMN, WeightChoice, weight_column

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = (
    "a folder with edges.csv and nodes.csv (or .tsv, .parquet), one such table with --knn, .npz, .graphml, "
    "or a folder written by agssl data pack"
)


def read_graph(
    path: str | os.PathLike[str],
    *,
    knn: int | None = None,
    metric: str = "cosine",
    label: str = "label",
    name: str | None = None,
    weight: str | None = None,
    unweighted: bool = False,
    require_labels: bool = True,
) -> Graph:
    """Read, check and clean a graph.

    - A folder with `edges.(csv|tsv|parquet)` (`source`, `target`, optional `weight`, more columns ignored) and
      `nodes.(csv|tsv|parquet)` (`id`, feature columns, `label`, optional `split` of train, val, test or nothing). Ids
      may be any text.
    - One such table of nodes, where `knn` links each node to the nodes most like it; `id` is then optional.
    - `.npz` in the layout of Shchur et al.'s gnn-benchmark, `.graphml`, or a folder in OGB's raw layout.
    - A packed folder (see `agssl.data.packed`), whose arrays are memory-mapped.

    Args:
        path: the folder or file.
        knn: neighbours of each node, where there is no edge list.
        metric: "cosine" or "euclidean", for `knn`.
        label: the column (or GraphML attribute) with the labels; an empty one is unlabelled.
        name: what to call the graph; the file's or folder's name by default.
        weight: the column of the edge list (or GraphML attribute) of weights; `weight` by default, if there is one.
        unweighted: ignore edge weights.
        require_labels: as for `Graph.from_arrays`.

    Raises:
        DataError: a file can't be read or understood.
        GraphError: what it says can't be a graph; the message names the value, the cause and the cure.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,ann\\nbob,cyd\\ncyd,bob\\n")
        >>> _ = (folder / "nodes.csv").write_text("id,age,label\\nann,31,cat\\nbob,28,\\ncyd,55,dog\\n")
        >>> graph = read_graph(folder)
        >>> graph.num_edges, graph.classes, graph.node_names.tolist()
        (2, ('cat', 'dog'), ['ann', 'bob', 'cyd'])
    """
    path = Path(path)
    name = name or path.resolve().stem
    weights = WeightChoice(weight, unweighted)
    if knn is not None and weight is not None:
        raise SettingsError(f"weight is {weight!r}, but knn = {knn} makes edges without weights; leave one of them out")
    if path.is_dir():
        return _read_folder(path, knn, metric, label, name, require_labels, weights)
    if not path.is_file():
        raise DataError(f"{path} does not exist; give {FORMATS}")
    ending = path.suffix.lower()
    if ending in (".csv", ".tsv", ".parquet"):
        if knn is None:
            raise DataError(
                f"{path} is one table without an edge list; give the folder that has edges.csv and nodes.csv, or build "
                "edges from the features with knn=10 (--knn 10)"
            )
        return _from_tables(path, None, knn, metric, label, name, require_labels, weights)
    if knn is not None:
        raise SettingsError(f"knn is {knn}, but {path} brings its own edges; leave knn out")
    if ending == ".npz":
        from agssl.data.shchur import read_shchur

        return read_shchur(path, name=name, require_labels=require_labels, unweighted=unweighted)
    if ending == ".graphml":
        return _read_graphml(path, label, name, require_labels, weights)
    raise DataError(f"cannot tell what {path} is by its ending {ending!r}; give {FORMATS}")


def _read_folder(
    path: Path, knn: int | None, metric: str, label: str, name: str, require_labels: bool, weights: WeightChoice
) -> Graph:
    from agssl.data.ogb import is_ogb, read_ogb
    from agssl.data.packed import is_packed, open_packed
    from agssl.data.tables import find_table

    if is_packed(path):
        if knn is not None:
            raise SettingsError(f"knn is {knn}, but {path} brings its own edges; leave knn out")
        graph = open_packed(path, name=name)
        return graph.unweighted() if weights.ignored else graph
    edges, nodes = find_table(path, "edges"), find_table(path, "nodes")
    if nodes is None:
        if edges is None and is_ogb(path):
            return read_ogb(path, name=name, require_labels=require_labels)
        found = ", ".join(sorted(child.name for child in path.iterdir())[:8]) or "nothing"
        raise DataError(f"{path} has no nodes.csv, nodes.tsv or nodes.parquet, only {found}; add the table of nodes")
    if edges is None and knn is None:
        raise DataError(
            f"{path} has no edges.csv, edges.tsv or edges.parquet; add the edge list, or build one from the features "
            "with knn=10 (--knn 10)"
        )
    if edges is not None and knn is not None:
        raise SettingsError(f"knn is {knn}, but {edges} is an edge list already; leave knn out or move that file away")
    return _from_tables(nodes, edges, knn, metric, label, name, require_labels, weights)


def _from_tables(
    nodes: Path,
    edges: Path | None,
    knn: int | None,
    metric: str,
    label: str,
    name: str,
    require_labels: bool,
    weights: WeightChoice,
) -> Graph:
    from agssl.data.tables import number_matrix, read_table

    required = (["id"] if edges is not None else []) + ([label] if require_labels else [])
    table = read_table(nodes, ["id", label, "split"], required=required)
    if table.num_rows == 0:
        raise GraphError(f"{nodes} has a header but no rows; the graph would be empty")
    features = [column for column in table.column_names if column not in ("id", label, "split")]
    if not features:
        raise GraphError(f"{nodes} has no feature columns beside {', '.join(table.column_names)}; add numeric columns")
    ids = _ids(table, nodes)
    x = as_features(number_matrix(table, features, ids, nodes))
    y: Any = np.full(table.num_rows, -1)
    if label in table.column_names:
        y = read_labels(table[label].to_pylist())
    values = None
    if edges is None:
        from agssl.data.knn import knn_edges

        assert knn is not None
        links = knn_edges(x, knn, metric)
    else:
        links, values = _read_edges(edges, ids, nodes, weights)
    split = _split_column(table, ids, nodes)
    # k-nearest-neighbour edges are one-way by nature; only the user's own are worth a notice
    about: dict[str, Any] = {"split": split, "name": name, "node_names": ids, "require_labels": require_labels}
    return Graph.from_arrays(links, x, y, weights=values, notify=edges is not None, **about)


def _ids(table: pa.Table, path: Path) -> np.ndarray:
    """The nodes' ids as strings, distinct; row numbers where there is no such column."""
    from agssl.data.tables import text_column

    if "id" not in table.column_names:
        return np.arange(table.num_rows).astype(str)
    ids = text_column(table, "id", path).to_numpy().astype(str)
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[inverse] != np.arange(len(ids)))
    if len(again):
        row, earlier = int(again[0]), int(first[inverse][again[0]])
        raise GraphError(
            f"{path} lines {earlier + 2} and {row + 2} have the same id {str(ids[row])!r}; ids must be distinct"
        )
    if all(text.removeprefix("-").isdecimal() for text in ids):
        negative = [row for row, text in enumerate(ids) if text.startswith("-")]
        if negative:
            raise GraphError(
                f"{path} line {negative[0] + 2} has the negative id {ids[negative[0]]}; "
                "number the nodes from 0 or name them"
            )
    return ids


def _read_edges(
    path: Path, ids: np.ndarray, nodes: Path, weights: WeightChoice
) -> tuple[np.ndarray, np.ndarray | None]:
    """The edges [2, E] and their weights, if they have any."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from agssl.data.tables import read_table, text_column

    weight = [] if weights.ignored else [weights.column or COLUMN]
    required = ["source", "target"] + (weight if weights.column is not None else [])
    table = read_table(path, ["source", "target", *weight], required=required, only_text=True)
    known = pa.array(ids)
    ends = []
    for side in ("source", "target"):
        column = text_column(table, side, path)
        index = pc.index_in(column, value_set=known)
        if index.null_count:
            row = pc.index(pc.is_null(index), True).as_py()
            raise GraphError(
                f"{path} line {row + 2}: edge {row} has the {side} {column[row].as_py()!r}, which is no id in "
                f"{nodes.name}; add that node or drop the edge"
            )
        ends.append(index.to_numpy().astype(np.int64))
    return np.vstack(ends), weight_column(table, weight[0], path) if weight else None


def _split_column(table: pa.Table, ids: np.ndarray, path: Path) -> Split | None:
    if "split" not in table.column_names:
        return None
    words = [str(word or "").strip() for word in table["split"].to_pylist()]
    return split_from_words(words, ids, str(path))


def split_from_words(words: list[str], ids: np.ndarray, where: str) -> Split | None:
    """The split that one word per node describes; None where all words are empty."""
    parts: dict[str, list[int]] = {part: [] for part in PARTS}
    for node, word in enumerate(words):
        if not word:
            continue
        part = part_name(word)
        if part is None:
            raise GraphError(
                f"{where}: node {str(ids[node])!r} has the split {word!r}; write train, val, test or nothing"
            )
        parts[part].append(node)
    if not any(parts.values()):
        return None
    return Split.from_arrays({part: np.array(nodes, dtype=np.int64) for part, nodes in parts.items()})


def _read_graphml(path: Path, label: str, name: str, require_labels: bool, weights: WeightChoice) -> Graph:
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingExtraError(f"{path} is GraphML, which needs networkx; pip install networkx") from error
    from agssl.data.convert import from_networkx

    try:
        graph = nx.read_graphml(path)
    except Exception as error:  # the XML parser and networkx raise errors of many kinds
        raise DataError(f"cannot read {path}: {error}; it must be GraphML") from error
    how: dict[str, Any] = {"weight": weights.column, "unweighted": weights.ignored}
    return from_networkx(graph, label=label, name=name, require_labels=require_labels, **how)
