"""The validated attributed graph that everything else works on."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from agssl.base.errors import GraphError
from agssl.data.columns.plain import Columns
from agssl.data.labels import class_values, clean_labels
from agssl.data.splits import Split, check_split
from agssl.data.validate import as_features, check_node_names, clean_edges, uneven_columns

if TYPE_CHECKING:
    from torch_geometric.data import Data

log = logging.getLogger("agssl")

FAR = 100  # edges that weigh so many times as much as a self-loop, or as little, on average: hardly what is meant

Features: TypeAlias = np.ndarray | sp.csr_matrix


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected attributed graph with labels on some nodes.

    Make one with `Graph.from_arrays` (validates, symmetrises, cleans), `read_graph` or `load_dataset`; the constructor
    itself trusts its arguments. The edges are a symmetric CSR adjacency without self-loops or duplicates, its
    column indices sorted within each row. A graph never changes: `with_split` and `with_labels` give another one.

    Args:
        indptr: where the neighbours of each node begin in `indices`, int64 [N + 1].
        indices: the neighbours, int32 [2E].
        x: features, float32 [N, d], a SciPy CSR matrix or a dense array.
        y: labels, int64 [N]: positions in `classes`, -1 for unlabelled nodes.
        classes: names of the classes.
        split: training, validation and test nodes, where they are settled.
        name: what to call the graph in messages and results.
        node_names: a name per node, [N]; None: they are numbered.
        missing: what the data lack, as a sentence for the user; None: nothing.
        weights: of the edges, float32 [2E] beside `indices`, positive, the same in both directions; None: all count the
            same.
        class_kind: what the names of the classes were before they were text: str, int, float or bool.
        columns: how the columns of a table became the features; None: the features have no names.
        splits: those that came with the data, where there are several: `make_split` settles one by seed.
        named: whether it is one of the named datasets, which keep to the split that others measure them by.

    Example:
        >>> edges = [[0, 1, 2], [1, 2, 3]]  # a path of four nodes, each edge given once
        >>> x = [[1.0], [0.9], [0.1], [0.0]]
        >>> graph = Graph.from_arrays(edges, x, ["a", None, None, "b"], notify=False)
        >>> graph.num_nodes, graph.num_edges, graph.classes
        (4, 3, ('a', 'b'))
        >>> graph.degree.tolist(), graph.y.tolist()
        ([1, 2, 2, 1], [0, -1, -1, 1])
    """

    indptr: np.ndarray  # int64 [N + 1]
    indices: np.ndarray  # int32 [2E]
    x: Features  # float32 [N, d], CSR or dense
    y: np.ndarray  # int64 [N], -1 for unlabelled
    classes: tuple[str, ...]  # names, in the order of the labels
    split: Split | None = None
    name: str = "graph"
    node_names: np.ndarray | None = None  # str [N]
    missing: str | None = None  # what is not there (the features of ogbn-arxiv), as a sentence for the user
    weights: np.ndarray | None = None  # float32 [2E]
    class_kind: str = "str"  # of `agssl.data.labels.KINDS`
    columns: Columns | None = None
    splits: tuple[Split, ...] = ()
    named: bool = False

    @classmethod
    def from_arrays(
        cls,
        edges: Any,
        x: Any,
        y: Any,
        *,
        weights: Any = None,
        unweighted: bool = False,
        classes: Sequence[Any] | None = None,
        split: Split | None = None,
        splits: Sequence[Split] = (),
        name: str = "graph",
        node_names: Any = None,
        num_nodes: int | None = None,
        missing: str | None = None,
        columns: Columns | None = None,
        require_labels: bool = True,
        notify: bool = True,
    ) -> Graph:
        """Validate, symmetrise and clean a graph; it never changes the arrays that it is given.

        One-way edges get their reverse; self-loops and duplicates are dropped. One warning on the logger "agssl" says
        so, once per call: Python prints it on stderr even where nobody configured logging. What becomes of weights is
        in `agssl.data.weights`.

        Args:
            edges: int array [2, E], or a SciPy sparse adjacency, whose values are weights.
            x: features [N, d], dense or SciPy sparse; None only together with `missing`.
            y: labels [N]; numbers, booleans or strings, with -1, NaN, None or "" where a node has none.
            weights: of the edges [2, E], positive and finite; all equal count as none.
            unweighted: ignore weights, whatever they are.
            classes: names of the classes; numbers in `y` are then positions in it.
            split: the split that comes with the data.
            splits: in its place, several of them.
            name: what to call the graph in messages and results.
            node_names: N distinct names.
            num_nodes: N, to be checked against the rest.
            missing: what the data lack, as a sentence; allows a graph without features.
            columns: the encoding that `x` comes from.
            require_labels: insist on labelled nodes of at least two classes. Prediction on a new graph needs none.
            notify: whether to log what was cleaned.

        Raises:
            GraphError: anything that can't be right, with its value, cause and cure.
        """
        labels, names, kind = clean_labels(y, classes, required=require_labels)
        features = as_features(np.empty((len(labels), 0), dtype=np.float32) if x is None else x)
        if features.shape[0] != len(labels):
            raise GraphError(
                f"there are {features.shape[0]} rows of features but {len(labels)} labels; "
                "give one of each per node (an unlabelled node has the label -1)"
            )
        if num_nodes is not None and num_nodes != len(labels):
            raise GraphError(
                f"num_nodes is {num_nodes}, but there are {len(labels)} labels; leave it out or correct it"
            )
        if features.shape[1] == 0 and missing is None and len(labels):
            raise GraphError("the nodes have no features; give at least one numeric column")
        names_array = check_node_names(node_names, len(labels))
        indptr, indices, found, report = clean_edges(
            edges, len(labels), weights, unweighted=unweighted, names=names_array
        )
        for one in (*splits, *([] if split is None else [split])):
            check_split(one, labels)
        if notify and str(report):
            log.warning("%s: %s", name, report)
        if notify and columns is None and (text := uneven_columns(features)):
            log.warning("%s: %s", name, text)
        if notify and found is not None and not 1 / FAR <= found.mean(dtype=np.float64) <= FAR:
            advice = "but a node counts itself with weight 1; divide the weights by a typical one"
            log.warning("%s: edge weights are %.3g on average, %s", name, found.mean(dtype=np.float64), advice)
        about = (split, name, names_array, missing, found, kind, columns, tuple(splits))
        return cls(indptr, indices, features, labels, names, *about)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """For other processes: a graph on disk is opened there again, and not sent."""
        from agssl.data.packed import stored_in

        folder = stored_in(self)
        if folder is None:
            return super().__reduce_ex__(protocol)
        names = ["y", "classes", "split", "splits", "name", "node_names", "missing", "class_kind", "named"]
        names += ["weights"] if self.weights is None else []  # the folder may have some
        return _opened, (folder, {name: getattr(self, name) for name in names})

    @property
    def num_nodes(self) -> int:
        """N."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Undirected edges, no self-loops."""
        return len(self.indices) // 2

    @property
    def num_features(self) -> int:
        """d."""
        return int(self.x.shape[1])

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the d features, where they have any."""
        return None if self.columns is None else self.columns.features

    @property
    def num_classes(self) -> int:
        """C."""
        return len(self.classes)

    @property
    def class_values(self) -> np.ndarray:
        """The classes as they were given: numbers, booleans or text, [C]."""
        return class_values(self.classes, self.class_kind)

    @cached_property
    def degree(self) -> np.ndarray:
        """Neighbours of each node, int64 [N]."""
        return np.diff(self.indptr)

    @cached_property
    def weighted_degree(self) -> np.ndarray:
        """The sum of the weights of each node's edges, float64 [N]; without weights, `degree`."""
        if self.weights is None:
            return self.degree
        sums = np.zeros(self.num_nodes)
        linked = self.degree > 0  # entries from one such node's first to the next one's are all its own
        if linked.any():
            sums[linked] = np.add.reduceat(self.weights, self.indptr[:-1][linked], dtype=np.float64)
        return sums

    def neighbours(self, node: int) -> np.ndarray:
        """The nodes next to `node`, int32, sorted."""
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    def adjacency(self) -> sp.csr_matrix:
        """The adjacency as a SciPy matrix of weights, or of ones (float32)."""
        values = np.ones(len(self.indices), dtype=np.float32) if self.weights is None else self.weights.copy()
        return sp.csr_matrix((values, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    def unweighted(self) -> Graph:
        """The same graph without edge weights."""
        return self if self.weights is None else replace(self, weights=None)

    def with_split(self, split: Split) -> Graph:
        """The same graph with this split, and no others.

        Args:
            split: which nodes train, validate and test.
        """
        return replace(self, split=split, splits=())

    def with_labels(self, y: Any) -> Graph:
        """The same graph with other labels (-1 for unlabelled) and no split.

        Args:
            y: a label for each node, [N], as `from_arrays` takes them.
        """
        labels, names, kind = clean_labels(y, None)
        if len(labels) != self.num_nodes:
            raise GraphError(
                f"there are {len(labels)} labels for {self.num_nodes} nodes; give one per node, -1 if unknown"
            )
        return replace(self, y=labels, classes=names, class_kind=kind, split=None, splits=(), named=False)

    def hide_test(self) -> Graph:
        """The same graph with the labels of the test nodes, and of nodes in no part of the split, removed.

        Everything that trains or selects gets this one, so that it can't read a test label even by mistake.
        """
        assert self.split is not None
        y = np.full_like(self.y, -1)
        for part in (self.split.train, self.split.val):
            y[part] = self.y[part]
        return replace(self, y=y, splits=())

    def info(self) -> dict[str, Any]:
        """The facts about the graph, ready for JSON; `weights` and `missing` are there only where something is."""
        filled = int(np.count_nonzero(self.x) if isinstance(self.x, np.ndarray) else self.x.nnz)
        cells = self.num_nodes * self.num_features
        facts = {
            "name": self.name,
            "nodes": self.num_nodes,
            "edges": self.num_edges,
            **({} if self.weights is None else {"weights": self.weight_facts()}),
            "features": self.num_features,
            "classes": self.num_classes,
            "density": filled / cells if cells else None,
            "homophily": self.homophily(),
            "isolated": int((self.degree == 0).sum()),
            "split": self.split.sizes() if self.split is not None else {"train": 0, "val": 0, "test": 0},
        }
        return facts | ({"missing": self.missing} if self.missing else {})

    def weight_facts(self) -> dict[str, float] | None:
        """The least, mean and greatest weight of an edge; None where edges have none."""
        if self.weights is None:
            return None
        least, mean, most = self.weights.min(), self.weights.mean(dtype=np.float64), self.weights.max()
        return {"min": float(least), "mean": float(mean), "max": float(most)}

    def homophily(self) -> float | None:
        """The share of edges between nodes of one class, among the edges with both ends labelled."""
        source = np.repeat(self.y, self.degree)
        target = self.y[self.indices]
        known = (source >= 0) & (target >= 0)
        return float((source == target)[known].mean()) if known.any() else None

    def to_pyg(self) -> Data:
        """This graph as a PyG `Data` from which `to_graph` gets back the same graph."""
        from agssl.data.convert import to_pyg

        return to_pyg(self)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of edges, their weights if any, and features: the key under which prepared targets are cached."""
        digest = hashlib.blake2b(digest_size=16)
        arrays = [self.indptr, self.indices]
        arrays += [self.x] if isinstance(self.x, np.ndarray) else [self.x.indptr, self.x.indices, self.x.data]
        arrays += [] if self.weights is None else [self.weights]
        for array in arrays:
            digest.update(str((array.dtype, array.shape)).encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _opened(folder: Path, changes: dict[str, Any]) -> Graph:
    """A graph that `Graph.__reduce_ex__` has put away."""
    from agssl.data.packed import open_packed

    return replace(open_packed(folder), **changes)
