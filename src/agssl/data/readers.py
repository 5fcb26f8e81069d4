"""The user's own graph from a folder or file."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agssl.base.errors import DataError, GraphError, SettingsError
from agssl.data.columns import Columns, TableOptions
from agssl.data.graph import Graph
from agssl.data.label_files import find_label_file, with_label_file
from agssl.data.labels import read_labels
from agssl.data.networks import EDGE_LISTS, find_edge_list, read_edge_list, read_network
from agssl.data.networks import FORMATS as NETWORKS
from agssl.data.node_table import choose_ids, encode, reencode, text_names
from agssl.data.split_files import split_from_words
from agssl.data.splits import Split
from agssl.data.tables import (
    end_columns,
    find_table,
    id_columns,
    is_table,
    number_columns,
    read_header,
    read_table,
    text_column,
)
from agssl.data.weights import WeightChoice, say_unread, weight_column, weight_name

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = (
    "a folder with edges.csv and nodes.csv (or .tsv, .parquet), one such table with --knn, .npz, .graphml, .gexf, "
    ".gml, .json, or a folder written by agssl data pack"
)


def read_graph(
    path: str | os.PathLike[str],
    *,
    knn: int | None = None,
    knn_metric: str = "cosine",
    label: str = "label",
    name: str | None = None,
    weight: str | None = None,
    unweighted: bool = False,
    require_labels: bool = True,
    columns: Columns | None = None,
    labels: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Graph:
    """Read, check and clean a graph.

    - A folder with `edges.(csv|tsv|parquet)` (`source`, `target`, optional `weight`, more columns ignored; or
      `edges.txt` with both ends of an edge in each line, and maybe its weight) and `nodes.(csv|tsv|parquet)` (`id`,
      feature columns, `label`, optional `split` of train, val, test or nothing). Ids may be any text. Feature columns
      are encoded as they need it, and `graph.columns.lines()` says how. Labels in a `labels.csv` beside them (`id`,
      `label`) complete those of the column `label`, or stand in their place.
    - One such table of nodes, where `knn` links each node to the nodes most like it; `id` is then optional.
    - `.graphml`, `.gexf`, `.gml` or `.json` (node-link), through NetworkX; attributes of nodes are columns.
    - `.npz` in the layout of Shchur et al.'s gnn-benchmark, or a folder in OGB's raw layout.
    - A packed folder (see `agssl.data.packed`), whose arrays are memory-mapped.

    Args:
        path: the folder or file.
        knn: neighbours of each node, where there is no edge list.
        knn_metric: "cosine" or "euclidean", for `knn`.
        label: the column (or attribute) with the labels; an empty one is unlabelled.
        name: what to call the graph; the file's or folder's name by default.
        weight: the column of the edge list (or GraphML attribute) of weights; `weight` by default, if there is one.
        unweighted: ignore edge weights.
        require_labels: as for `Graph.from_arrays`.
        columns: the encoding of a model, to be used in place of one of the table's own: `model.columns_`.
        labels: a CSV file with further labels (`id`, `label`), as `agssl label` writes them; by default `labels.csv` in
            the folder, if there is one; "none" leaves that alone.
        options: how to read tables, see `agssl.data.columns.TableOptions`: `id`, `source`, `target`, `sep`, `encoding`;
            lists of columns `drop`, `categorical`, `numeric`, `text`; `encode=False`.

    Raises:
        DataError: a file can't be read or understood.
        GraphError: what it says can't be a graph; the message names the value, the cause and the cure.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "edges.csv").write_text("source,target\\nann,bob\\nbob,ann\\nbob,cyd\\ncyd,bob\\n")
        >>> _ = (folder / "nodes.csv").write_text("id,age,label\\nann,31,cat\\nbob,28,\\ncyd,55,dog\\n")
        >>> graph = read_graph(folder)
        >>> graph.num_edges, graph.classes, graph.node_names.tolist(), graph.columns.lines()
        (2, ('cat', 'dog'), ['ann', 'bob', 'cyd'], ['age: standardised'])
    """
    path = Path(path)
    weights = WeightChoice(weight, unweighted)
    if knn is not None and weight is not None:
        raise SettingsError(f"weight is {weight!r}, but knn = {knn} makes edges without weights; leave one of them out")
    given = TableOptions.of(options)
    file = find_label_file(path, None if labels is None else os.fspath(labels))
    how = _How(knn, knn_metric, label, name or path.resolve().stem, require_labels, given, columns, weights, file)
    if path.is_dir():
        return _read_folder(path, how)
    if not path.is_file():
        raise DataError(f"{path} does not exist; give {FORMATS}")
    ending = path.suffix.lower()
    if is_table(path):
        if knn is None:
            raise DataError(
                f"{path} is one table without an edge list; give the folder that has edges.csv and nodes.csv, or build "
                "edges from the features with knn=10 (--knn 10)"
            )
        return _from_tables(path, None, how)
    if ending in EDGE_LISTS:
        raise DataError(
            f"{path} is an edge list without features; put it beside nodes.csv as edges{ending}, in a folder"
        )
    if ending not in (".npz", *NETWORKS):
        raise DataError(f"cannot tell what {path} is by its ending {ending!r}; give {FORMATS}")
    if ending == ".npz":
        from agssl.data.shchur import read_shchur

        how.check_plain(path)
        graph = read_shchur(path, name=how.name, require_labels=how.at_once, unweighted=unweighted)
    else:
        how.check_plain(path, ("id", "source", "target", "sep", "encoding"))
        graph = read_network(path, label, how.name, how.at_once, how.options, columns, weights)
    return how.finished(graph)


@dataclass(frozen=True)
class _How:
    """The arguments of `read_graph`."""

    knn: int | None
    knn_metric: str
    label: str
    name: str
    require_labels: bool
    options: TableOptions
    columns: Columns | None
    weights: WeightChoice
    file: Path | None  # with more labels

    @property
    def at_once(self) -> bool:
        """Whether what is read first must have labels already."""
        return self.require_labels and self.file is None

    def check_plain(self, path: Path, names: tuple[str, ...] = ()) -> None:
        """Insist that nothing is asked of a file that only tables can do: all options, or those named."""
        if self.knn is not None:
            raise SettingsError(f"knn is {self.knn}, but {path} brings its own edges; leave knn out")
        useless = [name for name in self.options.given() if not names or name in names]
        if useless:
            raise SettingsError(f"{useless[0]} is for tables, but {path} is none; leave it out")

    def finished(self, graph: Graph) -> Graph:
        """The graph by the encoding of the model, if one was given, and with the labels of the file."""
        if self.columns is not None:
            columns, x = reencode(graph.x, graph.columns, self.columns, graph.name)
            graph = replace(graph, columns=columns, x=x)
        return self.labelled(graph)

    def labelled(self, graph: Graph, split: Split | None = None) -> Graph:
        """The graph with the labels of the file, and with a split that may need them."""
        return graph if self.file is None else with_label_file(graph, self.file, split, self.require_labels)


def _read_folder(path: Path, how: _How) -> Graph:
    from agssl.data.ogb import is_ogb, read_ogb
    from agssl.data.packed import is_packed, open_packed

    if is_packed(path):
        how.check_plain(path)
        graph = how.finished(open_packed(path, name=how.name))
        return graph.unweighted() if how.weights.ignored else graph
    edges, nodes = find_table(path, "edges"), find_table(path, "nodes")
    if nodes is None:
        if edges is None and is_ogb(path):
            how.check_plain(path)
            return how.finished(read_ogb(path, name=how.name, require_labels=how.at_once))
        found = ", ".join(sorted(child.name for child in path.iterdir())[:8]) or "nothing"
        raise DataError(f"{path} has no nodes.csv, nodes.tsv or nodes.parquet, only {found}; add the table of nodes")
    edges = edges or find_edge_list(path)
    if edges is None and how.knn is None:
        raise DataError(
            f"{path} has no edges.csv, edges.tsv or edges.parquet; add the edge list, or build one from the features "
            "with knn=10 (--knn 10)"
        )
    if edges is not None and how.knn is not None:
        raise SettingsError(
            f"knn is {how.knn}, but {edges} is an edge list already; leave knn out or move that file away"
        )
    return _from_tables(nodes, edges, how)


def _from_tables(nodes: Path, edges: Path | None, how: _How) -> Graph:
    options, label = how.options, how.label
    taken = [label, "split"]
    header = read_header(nodes, options)
    roles = [*taken, *([options.id] if options.id else id_columns(header, taken))]
    table = read_table(
        nodes,
        [*roles, *text_names(options, how.columns)],
        required=[label] if how.at_once else [],
        options=options,
    )
    if table.num_rows == 0:
        raise GraphError(f"{nodes} has a header but no rows; the graph would be empty")
    column = choose_ids(table, options.id, taken, nodes, needed=edges is not None)
    features = [name for name in table.column_names if name not in (*taken, column)]
    if not features:
        raise GraphError(f"{nodes} has no feature columns beside {', '.join(table.column_names)}; add some")
    ids = _ids(table, column, nodes)
    fitted, x = encode(
        table.select(features),
        lambda row: f"{nodes} line {row + 2}",
        str(nodes),
        options=options,
        columns=how.columns,
        notes=[f"{column}: ids of the nodes"] if column not in (None, "id") else [],
    )
    y: Any = np.full(table.num_rows, -1)
    if label in table.column_names:
        y = read_labels(table[label].to_pylist())
    values = None
    if edges is None:
        from agssl.data.knn import knn_edges

        assert how.knn is not None
        links = knn_edges(x, how.knn, how.knn_metric)
    else:
        links, values = _read_edges(edges, ids, nodes, how)
    split = _split_column(table, ids, nodes)
    # k-nearest-neighbour edges are one-way by nature; only the user's own are worth a notice
    graph = Graph.from_arrays(
        links,
        x,
        y,
        split=split if how.file is None else None,
        name=how.name,
        node_names=ids,
        columns=fitted,
        weights=values,
        require_labels=how.at_once,
        notify=edges is not None,
    )
    return how.labelled(graph, split)


def _ids(table: pa.Table, column: str | None, path: Path) -> np.ndarray:
    """The nodes' ids as strings, distinct; row numbers where there is no such column."""
    if column is None:
        return np.arange(table.num_rows).astype(str)
    ids = text_column(table, column, path).to_numpy().astype(str)
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


def _read_edges(path: Path, ids: np.ndarray, nodes: Path, how: _How) -> tuple[np.ndarray, np.ndarray | None]:
    """The edges [2, E] and their weights, if they have any."""
    import pyarrow as pa
    import pyarrow.compute as pc

    options, weights, values = how.options, how.weights, None
    if path.suffix.lower() in EDGE_LISTS:
        *both, values = read_edge_list(path, options.encoding, weights)
        columns = [pa.array(end) for end in both]
        shift = 1
    else:
        header = read_header(path, options)
        sides = end_columns(header, path, options)
        name = weights.column or weight_name(header)
        if name is None and not weights.ignored:
            say_unread(path, [column for column in number_columns(path, options) if column not in sides])
        weight = [] if weights.ignored or name is None else [name]
        required = [*sides, *(weight if weights.column is not None else [])]
        table = read_table(path, [*sides, *weight], required=required, only_text=True, options=options)
        columns = [text_column(table, side, path) for side in sides]
        values = weight_column(table, weight[0], path) if weight else None
        shift = 2
    known = pa.array(ids)
    ends = []
    for side, column in zip(("source", "target"), columns, strict=True):
        index = pc.index_in(column, value_set=known)
        if index.null_count:
            row = pc.index(pc.is_null(index), True).as_py()
            raise GraphError(
                f"{path} line {row + shift}: edge {row} has the {side} {column[row].as_py()!r}, which is no id in "
                f"{nodes.name}; add that node or drop the edge"
            )
        ends.append(index.to_numpy(zero_copy_only=False).astype(np.int64))
    return np.vstack(ends), values


def _split_column(table: pa.Table, ids: np.ndarray, path: Path) -> Split | None:
    if "split" not in table.column_names:
        return None
    words = [str(word or "").strip() for word in table["split"].to_pylist()]
    return split_from_words(words, ids, str(path))
