"""PPR: what is made of a graph, against the dense sum and PyG's APPNP."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.packed import open_packed, write_packed
from agssl.encoders import Network, Shape, blueprint, prepared
from agssl.fitting.fit import fit
from agssl.ops import propagated
from reference import dense
from reference.graphs import blocks_graph, random_graph
from reference.settings import quick


def made(graph: Graph, text: str = "ppr", **more: float) -> np.ndarray:
    x = blueprint(Shape(graph.num_features, 8, 3, encoder=text, **more)).read(graph)  # type: ignore[arg-type]
    assert isinstance(x, np.ndarray) and x.dtype == np.float32
    return x


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("density", [1.0, 0.3])
@pytest.mark.parametrize("skip_weight", [0.0, 0.3])
@pytest.mark.parametrize("tile", [64, 2])
def test_smoothed_features_are_those_of_the_dense_sum(
    weighted: bool, density: float, skip_weight: float, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(propagated, "TILE", tile)
    graph = random_graph(40, 60, density=density, weighted=weighted)
    a = (1 - skip_weight) * dense.normalised_of(graph) + skip_weight * np.eye(40)
    x = dense.dense_features(graph)
    expected = sum(0.2 * 0.8**k * np.linalg.matrix_power(a, k) @ x for k in range(5))
    np.testing.assert_allclose(made(graph, "ppr:a=0.2:k=4", skip_weight=skip_weight), expected, atol=1e-5)


def test_the_sum_is_that_of_pyg_but_for_its_last_term() -> None:
    appnp = pytest.importorskip("torch_geometric.nn").APPNP(10, 0.15)
    graph = random_graph(40, 60)
    x = torch.from_numpy(dense.dense_features(graph))
    rows = np.repeat(np.arange(40), graph.degree)
    theirs = appnp(x, torch.from_numpy(np.stack([rows, graph.indices])).long()).numpy()
    last = 0.85**11 * np.linalg.matrix_power(dense.normalised_of(graph), 10) @ x.numpy()
    np.testing.assert_allclose(made(graph), theirs - last, atol=1e-5)


def test_the_whole_graph_is_smoothed_once_for_all_teachers_folds_and_students(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    sum_of = propagated.personalised_pagerank
    monkeypatch.setattr("agssl.encoders.ppr.personalised_pagerank", lambda *a: calls.append(a) or sum_of(*a))
    graph = blocks_graph()
    for batch in ("full", "partition"):
        fit(graph, quick(tasks=("clu:clusters=3", "par:parts=2"), encoder="ppr", weights_from="crossfit", batch=batch))
    assert len(calls) == 1
    fit(graph, quick(method="gcn", encoder="ppr:k=3"))
    assert len(calls) == 2, "other settings make something else"


def test_more_than_the_stated_bytes_are_refused_with_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "MOST_BYTES", 1 << 10)
    with pytest.raises(SettingsError, match=r"'ppr:k=3' would make features of .* MB .*; use hops:k=1 or sage$"):
        made(random_graph(1000, 100), "ppr:k=3")


def test_a_graph_on_disk_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    write_packed(blocks_graph(), tmp_path / "packed")
    with pytest.raises(SettingsError, match=r"is read from disk; use hops:k=1 or sage$"):
        fit(open_packed(tmp_path / "packed"), quick(method="gcn", encoder="ppr", batch="partition"))


@pytest.mark.parametrize(("text", "what"), [("ppr:a=0", "a = 0.0"), ("ppr:a=1", "a = 1.0"), ("ppr:k=0", "k = 0")])
def test_settings_that_make_no_sense_are_refused(text: str, what: str) -> None:
    with pytest.raises(SettingsError, match=what):
        Network(Shape(6, 8, 3, encoder=text), Rng(0))
