"""The generator gives what was asked for, the same in memory and streamed."""

from __future__ import annotations

import math
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from agssl.base.errors import DataError, SettingsError
from agssl.data import build, synthetic
from agssl.data.build import AdjacencyBuilder
from agssl.data.packed import open_packed
from agssl.data.synthetic import Synthetic, generate, generate_packed


@pytest.mark.parametrize(
    "wanted",
    [
        {"nodes": 5000, "edges": 20_000},
        {"nodes": 2000, "edges": 30_000, "degree_exponent": 2.2},  # dense, heavy-tailed: many draws are duplicates
        {"nodes": 5000, "edges": 20_000, "homophily": 0.1, "classes": 3, "imbalance": 5.0},
        {"nodes": 5000, "edges": 20_000, "homophily": 1.0, "degree_exponent": math.inf},
    ],
)
def test_size_and_homophily_are_as_asked(wanted: dict) -> None:
    graph = generate(Synthetic(**wanted))
    # a Poisson number of edges with theta drawn anew: 3% is more than four deviations
    assert abs(graph.num_edges / wanted["edges"] - 1) < 0.03
    assert abs(graph.homophily() - wanted.get("homophily", 0.8)) < 0.02
    ratio = wanted.get("imbalance", 1.0)
    shares = ratio ** -np.linspace(0, 1, graph.num_classes)
    assert stats.chisquare(np.bincount(graph.y), 5000 * shares / shares.sum() * graph.num_nodes / 5000).pvalue > 1e-3


def test_the_adjacency_is_a_simple_undirected_graph() -> None:
    graph = generate(Synthetic(nodes=300, edges=2000, degree_exponent=2.1))
    dense = graph.adjacency().toarray()
    assert (dense == dense.T).all() and dense.max() == 1 and np.trace(dense) == 0
    assert all((np.diff(graph.neighbours(node)) > 0).all() for node in range(300))


def test_degrees_follow_the_power_law_that_was_asked_for() -> None:
    graph = generate(Synthetic(nodes=100_000, edges=500_000, degree_exponent=2.5))
    tail = np.sort(graph.degree[(graph.degree >= 25) & (graph.degree < 200)])
    # Hill's estimate on a tail that is cut at both ends, by maximum likelihood over a grid
    grid = np.linspace(1.8, 3.5, 171)
    values = np.arange(25, 200)
    likelihood = [-g * np.log(tail).sum() - len(tail) * math.log((values**-g).sum()) for g in grid]
    assert abs(grid[int(np.argmax(likelihood))] - 2.5) < 0.15


def test_without_a_power_law_degrees_are_poisson() -> None:
    graph = generate(Synthetic(nodes=20_000, edges=100_000, degree_exponent=math.inf))
    assert abs(graph.degree.var() / graph.degree.mean() - 1) < 0.05


def test_gaussian_features_lie_around_class_means_of_the_given_length() -> None:
    graph = generate(Synthetic(nodes=20_000, edges=20_000, features=16, signal=3.0))
    for label in range(5):
        rows = graph.x[graph.y == label]
        assert abs(np.linalg.norm(rows.mean(0)) - 3.0) < 0.1
        assert abs(rows.std(0).mean() - 1) < 0.02


def test_binary_features_are_sparse_and_prefer_the_words_of_the_class() -> None:
    graph = generate(Synthetic(nodes=5000, edges=5000, features=500, kind="binary", words=10, signal=0.4))
    assert sp.issparse(graph.x) and set(graph.x.data) == {1.0} and graph.x.has_canonical_format
    own = np.repeat(graph.y, np.diff(graph.x.indptr)) == graph.x.indices // 100
    assert abs(own.mean() - (0.4 + 0.6 / 5)) < 0.02


@pytest.mark.parametrize("kind", ["gaussian", "binary"])
def test_streaming_gives_the_same_graph(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "NODE_BLOCK", 300)
    monkeypatch.setattr(synthetic, "EDGE_BLOCK", 1000)
    spec = Synthetic(nodes=2000, edges=8000, kind=kind, signal=0.5, features=100)
    whole = generate(spec)
    monkeypatch.setattr(build, "BUCKET", 1500)  # eleven buckets in place of one
    generate_packed(spec, tmp_path / "packed")
    packed = open_packed(tmp_path / "packed")
    assert np.array_equal(whole.indptr, packed.indptr) and np.array_equal(whole.indices, packed.indices)
    assert np.array_equal(whole.y, packed.y) and (whole.x != packed.x).sum() == 0
    assert np.array_equal(whole.split.test, packed.split.test) and whole.classes == packed.classes
    assert not list(tmp_path.rglob("bucket-*"))


def test_seeds_differ_and_repeat() -> None:
    first, again, other = (generate(Synthetic(nodes=200, edges=500, seed=seed)) for seed in (0, 0, 1))
    assert first.fingerprint == again.fingerprint != other.fingerprint


@pytest.mark.parametrize("streamed", [False, True])
def test_the_builder_agrees_with_networkx(streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "BUCKET", 50)
    edges = np.random.default_rng(0).integers(0, 40, (2, 600))  # with loops, duplicates and reverses
    builder = AdjacencyBuilder(40, 600, tmp_path if streamed else None)
    for part in np.array_split(edges, 7, axis=1):
        builder.add(*part)
    counts, columns = zip(*builder.rows(), strict=True)
    simple = nx.Graph(edges.T.tolist())
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    simple.add_nodes_from(range(40))
    expected = nx.to_scipy_sparse_array(simple, nodelist=range(40), format="csr")
    assert np.array_equal(np.concatenate(counts), np.diff(expected.indptr))
    assert np.array_equal(np.concatenate(columns), expected.indices)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"nodes": 1}, "nodes = 1"),
        ({"nodes": 2**31}, "32 bits"),
        ({"edges": 10**6}, "a tenth of all pairs"),
        ({"homophily": 1.2}, "in 0..1"),
        ({"degree_exponent": 2.0}, "above 2"),
        ({"signal": math.nan}, "signal = nan"),
        ({"kind": "text"}, "unknown kind of features 'text'"),
        ({"kind": "binary", "words": 40}, "fewer than 40%"),
        ({"seed": 0.5}, "whole number"),
        ({"homophily": 1.0, "nodes": 100, "classes": 50, "edges": 450}, "such pairs"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        generate(Synthetic(**({"nodes": 100, "edges": 200} | wrong)))


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(DataError, match="left alone"):
        generate_packed(Synthetic(nodes=100, edges=200), tmp_path / "mine")
    assert [child.name for child in tmp_path.rglob("*")] == ["mine", "thesis.txt"]
