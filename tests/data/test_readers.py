"""The user's own graph from files: what is read, and what bad files are told."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from agssl.base.errors import AgsslError, DataError, GraphError, SettingsError
from agssl.data.graph import Graph
from agssl.data.readers import read_graph

NODES = (
    "id,f1,f2,label,split\nanna,1,0.5,cat,train\nben,0,2,dog,train\ncarl,3,4,,\ndora,5,6,cat,val\nemil,7,8,dog,test\n"
)
EDGES = "source,target,note\nanna,ben,1\nben,carl,x\ncarl,dora,3\ndora,emil,\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_text(EDGES)
    return tmp_path


def check(graph: Graph) -> None:
    assert graph.node_names is not None and graph.split is not None
    assert graph.node_names.tolist() == ["anna", "ben", "carl", "dora", "emil"]
    assert graph.x.tolist() == [[1, 0.5], [0, 2], [3, 4], [5, 6], [7, 8]]
    assert graph.classes == ("cat", "dog")
    assert graph.y.tolist() == [0, 1, -1, 0, 1]
    assert [graph.neighbours(i).tolist() for i in range(5)] == [[1], [0, 2], [1, 3], [2, 4], [3]]
    assert [p.tolist() for p in graph.split.to_arrays().values()] == [[0, 1], [3], [4]]
    assert graph.split.origin == "public"


def test_a_folder_with_csv_files(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="agssl"):
        graph = read_graph(folder)
    check(graph)
    assert graph.name == folder.name
    edges = folder / "edges.csv"
    unread = f"{edges}: note is not read; if it is the weight of the edges, name it: --weight note"
    assert caplog.messages == [unread, f"{folder.name}: made 4 one-way edges two-way"]


def test_a_byte_order_mark_crlf_quotes_and_spaces_do_no_harm(folder: Path) -> None:
    text = NODES.replace("id,f1", "id, f1 ").replace("anna,", '"anna",').replace("\n", "\r\n")
    (folder / "nodes.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (folder / "edges.csv").write_bytes(b"\xef\xbb\xbf" + EDGES.replace("\n", "\r\n").encode())
    check(read_graph(folder))


def test_tsv_and_parquet_say_the_same(folder: Path) -> None:
    (folder / "nodes.csv").rename(folder / "kept")
    (folder / "nodes.tsv").write_text(NODES.replace(",", "\t"))
    check(read_graph(folder))
    (folder / "nodes.tsv").unlink()
    (folder / "edges.csv").unlink()
    rows = [line.split(",") for line in NODES.splitlines()]
    columns: dict[str, Any] = {name: [row[i] or None for row in rows[1:]] for i, name in enumerate(rows[0])}
    columns |= {name: [float(v) for v in columns[name]] for name in ("f1", "f2")}
    pq.write_table(pa.table(columns), folder / "nodes.parquet")
    pq.write_table(
        pa.table({"source": ["anna", "ben", "carl", "dora"], "target": ["ben", "carl", "dora", "emil"]}),
        folder / "edges.parquet",
    )
    check(read_graph(folder))


def test_parquet_with_whole_number_ids_and_labels(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [7, 8, 9], "f": [1, 2, 3], "label": [10, 2, None]}), tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\n7,8\n8,9\n")
    graph = read_graph(tmp_path)
    assert graph.classes == ("2", "10")
    assert graph.y.tolist() == [1, 0, -1]
    assert graph.neighbours(1).tolist() == [0, 2]


def test_one_table_becomes_a_graph_by_nearest_neighbours(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{a},{b},{c}" for c, (a, b) in zip("xy" * 10, rng.normal(size=(20, 2)), strict=True)]
    (tmp_path / "t.csv").write_text("a,b,species\n" + "\n".join(rows) + "\n")
    graph = read_graph(tmp_path / "t.csv", knn=3, knn_metric="euclidean", label="species")
    assert (graph.num_nodes, graph.num_features, graph.name) == (20, 2, "t")
    assert graph.degree.min() >= 3
    assert caplog.messages == []
    with pytest.raises(DataError, match="--knn 10"):
        read_graph(tmp_path / "t.csv", label="species")


def test_a_folder_without_edges_needs_knn(folder: Path) -> None:
    with pytest.raises(SettingsError, match="is an edge list already"):
        read_graph(folder, knn=2)
    (folder / "edges.csv").unlink()
    with pytest.raises(DataError, match="no edges.csv.*--knn 10"):
        read_graph(folder)
    assert read_graph(folder, knn=2).num_nodes == 5


def test_a_graph_to_predict_on_needs_no_label_column(folder: Path) -> None:
    (folder / "nodes.csv").write_text("id,f1\n" + "".join(f"{n},1\n" for n in ("anna", "ben", "carl", "dora", "emil")))
    assert read_graph(folder, require_labels=False).num_classes == 0
    with pytest.raises(DataError, match="no column 'label'; it has id, f1"):
        read_graph(folder)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("nodes", "ben,0,2,dog,train", "ben,0,2,dog", "nodes.csv line 3 has 4 cells, but the header has 5"),
        ("nodes", "ben,0,2,dog,train", "ben,0,2,dog,train,7", "nodes.csv line 3 has 6 cells, but the header has 5"),
        (
            "nodes",
            "ben,0,2",
            "ben,0,tall",
            "line 3: column 'f2' has 'tall', but most of it is numbers; .*--categorical",
        ),
        ("nodes", "ben,0,2", "ben,inf,2", "line 3: column 'f1' has inf, which is not a finite number"),
        ("nodes", "ben,0,2", "ben,1e39,2", "line 3: column 'f1' has 1e.39, which is too large"),
        ("nodes", "ben,0", "anna,0", "lines 2 and 3 have the same id 'anna'"),
        ("nodes", "ben,0", ",0", "line 3 has no id"),
        ("nodes", "id,f1", "who,f1", "no column 'id'; it has who, f1, f2, label, split. Say which .* --id"),
        ("nodes", "f1,f2", "f1,f1", "two columns named 'f1'"),
        ("nodes", "label", "class", "no column 'label'"),
        ("nodes", "carl,3,4,,", "carl,3,4,,validate", "node 'carl' has the split 'validate'"),
        ("nodes", "carl,3,4,,", "carl,3,4,,test", "node 2 is in the test part of the split but has no label"),
        ("nodes", "cat,val", "cat,train", "val part of the split is empty"),
        ("nodes", "dog", "cat", "the one class 'cat'"),
        ("nodes", NODES, "", "is empty"),
        ("nodes", NODES, "id,f1,label\n", "a header but no rows"),
        ("nodes", NODES, "id,label\na,x\nb,y\n", "no feature columns"),
        ("nodes", "cat", "", "the one class 'dog'"),
        (
            "edges",
            "carl,dora,3",
            "carl,zoe,3",
            "edges.csv line 4: edge 2 has the target 'zoe', which is no id in nodes.csv",
        ),
        ("edges", "carl,dora,3", "-1,dora,3", "edge 2 has the source '-1'"),
        ("edges", "carl,dora,3", "carl,,3", "line 4 has no target"),
        ("edges", "carl,dora,3", "carl", "edges.csv line 4 has 1 cells"),
        ("edges", "source,target", "one,two", "no column 'source'; it has one, two, note. Say .* --source"),
        ("edges", EDGES, "", "is empty"),
    ],
)
def test_bad_tables_are_told_where_and_what(folder: Path, file: str, old: str, new: str, message: str) -> None:
    path = folder / f"{file}.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(AgsslError, match=message) as caught:
        read_graph(folder)
    assert "\n" not in str(caught.value)


def test_negative_ids_are_refused(folder: Path) -> None:
    (folder / "nodes.csv").write_text("id,f,label\n0,1,a\n-1,2,b\n")
    (folder / "edges.csv").write_text("source,target\n0,-1\n")
    with pytest.raises(GraphError, match="line 3 has the negative id -1"):
        read_graph(folder)


def test_a_text_in_a_late_block_is_found_too(tmp_path: Path) -> None:
    rows = [f"{i},{i}.25,{'ab'[i % 2]}" for i in range(150_000)]
    rows[140_000] = "140000,oops,a"
    (tmp_path / "t.csv").write_text("id,f,label\n" + "\n".join(rows))
    with pytest.raises(GraphError, match="line 140002: column 'f' has 'oops', but most"):
        read_graph(tmp_path / "t.csv", knn=2)


def test_what_is_no_table_is_refused(folder: Path) -> None:
    (folder / "nodes.csv").write_bytes(b"id,f,label\n\xff\xfe,1,a\n")
    with pytest.raises(DataError, match="cannot read .*nodes.csv"):
        read_graph(folder)
    (folder / "nodes.csv").rename(folder / "nodes.parquet")
    with pytest.raises(DataError, match="cannot read .*nodes.parquet"):
        read_graph(folder)
    (folder / "nodes.csv").write_text(NODES)
    with pytest.raises(DataError, match="both nodes.csv and nodes.parquet"):
        read_graph(folder)


@pytest.mark.parametrize(
    ("name", "message"), [("none", "does not exist"), ("a.xyz", "ending '.xyz'"), ("empty", "only nothing")]
)
def test_paths_that_are_no_graph_are_refused(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "a.xyz").write_text("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=message):
        read_graph(tmp_path / name)


def test_graphml(folder: Path) -> None:
    graph = nx.Graph()
    for line in NODES.splitlines()[1:]:
        node, f1, f2, label, split = line.split(",")
        words = {k: v for k, v in (("label", label), ("split", split)) if v}
        graph.add_node(node, f1=float(f1), f2=float(f2), **words)
    graph.add_edges_from(line.split(",")[:2] for line in EDGES.splitlines()[1:])
    nx.write_graphml(graph, folder / "g.graphml")
    check(read_graph(folder / "g.graphml"))
    (folder / "bad.graphml").write_text("<graphml><oops>")
    with pytest.raises(DataError, match="cannot read .*bad.graphml"):
        read_graph(folder / "bad.graphml")
    with pytest.raises(SettingsError, match="brings its own edges"):
        read_graph(folder / "g.graphml", knn=3)


def shchur_arrays() -> dict[str, Any]:
    adjacency = sp.csr_matrix(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=np.float32))
    features = sp.csr_matrix(np.array([[0, 2], [3, 0], [0, 0]], dtype=np.float32))
    parts = {f"adj_{k}": getattr(adjacency, k) for k in ("data", "indices", "indptr", "shape")}
    parts |= {f"attr_{k}": getattr(features, k) for k in ("data", "indices", "indptr", "shape")}
    return parts | {"labels": np.array([0, 1, 1]), "class_names": np.array(["p", "q"])}


def test_npz_in_the_layout_of_shchur(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", **shchur_arrays())
    graph = read_graph(tmp_path / "g.npz")
    assert graph.x.toarray().tolist() == [[0, 2], [3, 0], [0, 0]]
    assert (graph.classes, graph.num_edges, graph.name) == (("p", "q"), 2, "g")
    dense = {k: v for k, v in shchur_arrays().items() if not k.startswith("attr")} | {"attr_matrix": np.ones((3, 4))}
    np.savez(tmp_path / "d.npz", **dense)
    assert read_graph(tmp_path / "d.npz").num_features == 4


def test_pickled_names_in_an_npz_are_left_unread(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", **(shchur_arrays() | {"class_names": np.array([{"evil": 1}], dtype=object)}))
    assert read_graph(tmp_path / "g.npz").classes == ("0", "1")


def test_bad_npz_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"adj_indices": np.array([9, 1])}, "adj_.* form no sparse matrix"),
        ({"labels": np.array([{}], dtype=object)}, "pickled objects, which are never read"),
        ({"labels": np.array([0, 1])}, "3 rows of features but 2 labels"),
    ]
    for changes, message in cases:
        np.savez(path, **(shchur_arrays() | changes))
        with pytest.raises(AgsslError, match=message):
            read_graph(path)
    np.savez(path, **{k: v for k, v in shchur_arrays().items() if k != "attr_data"})
    with pytest.raises(DataError, match="no array 'attr_data', only adj_data"):
        read_graph(path)
    np.savez(path, **shchur_arrays())
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match="cannot read"):
        read_graph(path)


def test_a_folder_in_the_layout_of_ogb(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for name, text in (("edge", "0,1\n1,2\n"), ("node-feat", "1,0.5\n2,0\n3,1\n"), ("node-label", "0\n1\n1\n")):
        (tmp_path / "raw" / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert read_graph(tmp_path).num_features == 2
