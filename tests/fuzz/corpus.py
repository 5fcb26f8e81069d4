"""Sound files of every format that is read, in one folder: what the fuzzer damages."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import struct
import zipfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

NODES = 24


class Python2Pickler(pickle._Pickler):  # type: ignore[misc, name-defined]
    """Writes arrays as Python 2 did: their bytes are a string."""

    dispatch: ClassVar[dict[type, Any]] = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]
    write: Callable[[bytes], int]

    def save_bytes(self, value: bytes) -> None:
        self.write(b"T" + struct.pack("<i", len(value)) + value)

    dispatch[bytes] = save_bytes


def old_pickle(value: Any) -> bytes:
    """A pickle with the names of Python 2 and old NumPy and SciPy, as in the published files."""
    out = io.BytesIO()
    Python2Pickler(out, protocol=2).dump(value)
    new_names = ((b"numpy._core.multiarray", b"numpy.core.multiarray"), (b"scipy.sparse._csr", b"scipy.sparse.csr"))
    data = out.getvalue()
    for new, old in new_names:
        data = data.replace(b"c" + new + b"\n", b"c" + old + b"\n")
    return data


def write_tables(folder: Path) -> None:
    """nodes.csv and edges.csv of a ring of two classes."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = ("train", "val", "test")
    rows = [f"n{i},{i / 7:.4f},{i % 3},{'ab'[i % 2]},{parts[i // 8]}" for i in range(NODES)]
    (folder / "nodes.csv").write_text("id,f,g,label,split\n" + "\n".join(rows) + "\n")
    links = [f"n{i},n{(i + step) % NODES}" for i in range(NODES) for step in (1, 5)]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(links) + "\n")


def write_weighted(folder: Path) -> None:
    """The same with a column of edge weights."""
    write_tables(folder)
    header, *links = (folder / "edges.csv").read_text().splitlines()
    rows = [f"{link},{0.25 + at % 7}" for at, link in enumerate(links)]
    (folder / "edges.csv").write_text(f"{header},weight\n" + "\n".join(rows) + "\n")


def write_mixed(folder: Path) -> None:
    """The same ring with columns of every kind."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [
        f"m{i};{20 + i};{['', '51,5', '47,25'][i % 3]};{['Rome', 'Oslo', 'Lima'][i % 3]};{['yes', 'no'][i % 2]};"
        f"20{i:02}-0{1 + i % 9}-11;team {i % 4} wrote of thing {i} and more;{'ab'[i % 2]}"
        for i in range(NODES)
    ]
    header = "node_id;age;height;city;member;joined;about;label"
    (folder / "nodes.csv").write_text("\n".join([header, *texts]) + "\n")
    links = [f"m{i};m{(i + step) % NODES}" for i in range(NODES) for step in (1, 5)]
    (folder / "edges.csv").write_text("src;dst\n" + "\n".join(links) + "\n")


def write_parquet(folder: Path) -> None:
    """The ring with typed columns: numbers with gaps, categories, dates, booleans, text."""
    import datetime

    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    day = datetime.date(2020, 1, 1)
    nodes = {
        "id": pa.array(range(NODES)),
        "age": pa.array([None if i % 5 == 0 else 20.5 + i for i in range(NODES)]),
        "city": pa.array([["Rome", "Oslo", "Lima"][i % 3] for i in range(NODES)]).dictionary_encode(),
        "joined": pa.array([day + datetime.timedelta(days=9 * i) for i in range(NODES)]),
        "member": pa.array([i % 4 == 0 for i in range(NODES)]),
        "about": pa.array([f"team {i % 4} wrote of thing {i} and more" for i in range(NODES)]),
        "label": pa.array(["ab"[i % 2] for i in range(NODES)]),
    }
    ends = [(i, (i + step) % NODES) for i in range(NODES) for step in (1, 5)]
    edges = {name: pa.array([end[at] for end in ends]) for at, name in enumerate(("source", "target"))}
    parquet.write_table(pa.table(nodes), folder / "nodes.parquet")
    parquet.write_table(
        pa.table(edges | {"weight": pa.array([0.5 + i % 3 for i in range(len(ends))])}), folder / "edges.parquet"
    )


def write_edge_list(folder: Path) -> None:
    """The ring as nodes.tsv and a plain list of edges."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"n{i}\t{i / 7:.4f}\t{['Rome', 'Oslo'][i % 2]}\t{i % 2}" for i in range(NODES)]
    (folder / "nodes.tsv").write_text("id\tf\tcity\tlabel\n" + "\n".join(rows) + "\n")
    links = [f"n{i} n{(i + step) % NODES} 0.5" for i in range(NODES) for step in (1, 5)]
    (folder / "edges.txt").write_text("# a ring\n" + "\n".join(links) + "\n")


def write_networks(folder: Path) -> None:
    """The ring in the formats that NetworkX reads."""
    import networkx as nx

    folder.mkdir(parents=True, exist_ok=True)
    graph = nx.cycle_graph(NODES)
    for i in graph:
        graph.nodes[i].update(age=20 + 3 * i, city=["Rome", "Oslo", "Lima"][i % 3], tall=i % 4 == 0, kind="ab"[i % 2])
    nx.write_gexf(graph, folder / "g.gexf")
    nx.write_gml(graph, folder / "g.gml")
    nx.write_graphml(graph, folder / "g.graphml")
    (folder / "g.json").write_text(json.dumps(nx.node_link_data(graph, edges="links")))


def write_npz(path: Path, weighted: bool = False) -> None:
    """The layout of gnn-benchmark."""
    adjacency = sp.csr_matrix(np.roll(np.eye(NODES, dtype=np.float32), 1, axis=1))
    if weighted:
        adjacency.data += np.arange(NODES, dtype=np.float32)
    features = sp.random(NODES, 12, 0.2, "csr", np.float32, np.random.default_rng(0))
    arrays: dict[str, Any] = {"labels": np.arange(NODES) % 3}
    for prefix, matrix in (("adj", adjacency), ("attr", features)):
        for part in ("data", "indices", "indptr", "shape"):
            arrays[f"{prefix}_{part}"] = np.asarray(getattr(matrix, part))
    np.savez(path, **arrays)


def write_planetoid(folder: Path) -> None:
    """The eight files of a set of 507 nodes."""
    folder.mkdir(parents=True, exist_ok=True)
    eye = np.eye(2, dtype=np.int32)
    allx = sp.random(504, 30, 0.1, "csr", np.float32, np.random.default_rng(0))
    content = {
        "allx": allx,
        "x": allx[:4],
        "tx": sp.csr_matrix(np.eye(2, 30, dtype=np.float32)),
        "ally": eye[np.arange(504) % 2],
        "y": eye[np.arange(4) % 2],
        "ty": eye[[1, 0]],
        "graph": defaultdict(list, {i: [(i + 1) % 507] for i in range(507)}),
    }
    for part, value in content.items():
        (folder / f"ind.toy.{part}").write_bytes(old_pickle(value))
    (folder / "ind.toy.test.index").write_text("506\n504\n")


def write_ogb(path: Path) -> None:
    """The raw layout of the Open Graph Benchmark, zipped."""
    tables = {
        "raw/edge.csv.gz": [f"{i},{(i + 1) % NODES}" for i in range(NODES)],
        "raw/node-feat.csv.gz": [f"{i}.5,{i % 4}" for i in range(NODES)],
        "raw/node-label.csv.gz": [str(i % 3) for i in range(NODES)],
        "split/time/train.csv.gz": [str(i) for i in range(8)],
        "split/time/valid.csv.gz": [str(i) for i in range(8, 16)],
        "split/time/test.csv.gz": [str(i) for i in range(16, NODES)],
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, rows in tables.items():
            archive.writestr(f"toy/{name}", gzip.compress("\n".join(rows).encode(), mtime=0))


CONFIG = """\
method = "agssl"
tasks = ["par", "clu:clusters=3"]
hidden = 64
dropout = 0.5
patience = 0
calibrate = "classes"
alpha = {par = 10.0, clu = 1.0}
seeds = [0, 1]
split = "random:2/3/3"
"""


def write_splits(folder: Path) -> None:
    """One split in three formats."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"train": list(range(8)), "val": list(range(8, 16)), "test": list(range(16, NODES))}
    np.savez(folder / "split.npz", **{name: np.array(nodes) for name, nodes in parts.items()})
    (folder / "split.json").write_text(json.dumps({k: [f"n{i}" for i in v] for k, v in parts.items()}))
    words = [f"n{i},{part}" for part, nodes in parts.items() for i in nodes]
    (folder / "split.csv").write_text("id,split\n" + "\n".join(words) + "\n")


class Canary:
    """Leaves a file behind if it is ever unpickled as Python's own unpickler would."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.path}",)


def write_canaries(folder: Path, path: str) -> None:
    """Files that would run code, pickled in several ways, where a graph, a split or a model is expected."""
    folder.mkdir(parents=True, exist_ok=True)
    for protocol in range(6):
        (folder / f"pickle{protocol}").write_bytes(pickle.dumps({0: [Canary(path)], 1: Canary(path)}, protocol))
    objects = np.array([Canary(path), None], dtype=object)
    np.savez(folder / "arrays.npz", labels=objects, train=objects, adj_data=objects, class_names=objects)


def write_corpus(folder: Path) -> None:
    """Everything, a trained run and its model included."""
    from agssl.cli.main import main

    write_tables(folder / "tables")
    write_mixed(folder / "mixed")
    write_parquet(folder / "parquet")
    write_edge_list(folder / "list")
    write_networks(folder / "networks")
    write_npz(folder / "graph.npz")
    write_weighted(folder / "weighted")
    write_npz(folder / "weighted.npz", weighted=True)
    write_planetoid(folder / "planetoid")
    write_ogb(folder / "ogb.zip")
    write_splits(folder / "splits")
    write_canaries(folder / "canary", os.environ["AGSSL_FUZZ_CANARY"])
    (folder / "config.toml").write_text(CONFIG)
    quick = ["--epochs", "2", "--hidden", "4", "--tasks", "clu:clusters=2,pairdis", "--generations", "1"]
    code = main(["fit", str(folder / "tables"), *quick, "--out", str(folder / "run"), "--json"])
    assert code == 0
    assert main(["data", "pack", str(folder / "weighted"), str(folder / "packed"), "--json"]) == 0
    code = main(["fit", str(folder / "mixed"), *quick, "--out", str(folder / "mixed-run"), "--json"])
    assert code == 0
    (folder / "mixed.agssl").write_bytes((folder / "mixed-run/seed-0/model.safetensors").read_bytes())
    (folder / "model.agssl").write_bytes((folder / "run/seed-0/model.safetensors").read_bytes())
