"""What networks read of the features, against a loop; and that a saved network reads a new graph the same way."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from agssl import AGSSL, Graph
from agssl.base.errors import GraphError
from agssl.data.feature_norm import scaled, unit_rows
from agssl.data.packed import open_packed, write_packed
from reference.graphs import blocks_graph, random_graph

X = np.array([[3.0, 0, -4], [0, 0, 0], [0.5, 0, 0], [1, 1, 2]], dtype=np.float32)


def naive(x: np.ndarray, how: str) -> list[list[float]]:
    rows = []
    for row in x.tolist():
        values = [float(v != 0) for v in row] if how == "binary" else row
        length = math.sqrt(sum(v * v for v in values)) or 1.0
        rows.append([v / length for v in values])
    return rows


@pytest.mark.parametrize("how", ["l2", "binary"])
@pytest.mark.parametrize("sparse", [True, False])
def test_each_row_is_scaled_by_itself(how: str, sparse: bool) -> None:
    x = sp.csr_matrix(X) if sparse else X
    graph = replace(random_graph(4, 3), x=x)
    before = X.copy()
    found = scaled(graph, how).x
    assert sp.issparse(found) == sparse and found.dtype == np.float32
    dense = found.toarray() if sparse else found
    np.testing.assert_allclose(dense, naive(X, how), rtol=1e-6)
    again = scaled(scaled(graph, how), how).x
    np.testing.assert_allclose(again.toarray() if sparse else again, dense, rtol=1e-6)
    assert np.array_equal(graph.x.toarray() if sparse else graph.x, before), "the graph that was given must stay"


def test_given_features_are_left_alone() -> None:
    graph = random_graph()
    assert scaled(graph, "none") is graph


def test_features_on_disk_are_refused(tmp_path: Path) -> None:
    write_packed(blocks_graph(), tmp_path / "packed")
    stored = open_packed(tmp_path / "packed")
    assert scaled(stored, "none") is stored
    with pytest.raises(GraphError, match=r"feature_norm = 'l2'.*before `agssl data pack`"):
        scaled(stored, "l2")


@pytest.mark.parametrize("batch", ["full", "partition"])
def test_a_network_reads_any_graph_as_the_one_it_was_trained_on(batch: str, tmp_path: Path) -> None:
    graph = blocks_graph()
    how = {"method": "gcn", "hidden": 8, "epochs": 3, "batch": batch, "batch_nodes": 20}
    model = AGSSL(**how, feature_norm="l2").fit(graph)
    other = AGSSL(**how).fit(scaled(graph, "l2"))
    np.testing.assert_allclose(model.predict_proba(), other.predict_proba(), rtol=1e-4, atol=1e-6)
    longer = _times(graph, 7.0)
    np.testing.assert_allclose(model.predict_proba(longer), model.predict_proba(), rtol=1e-4, atol=1e-6)
    assert np.abs(AGSSL(**how).fit(graph).predict_proba(longer) - model.predict_proba()).max() > 0.01
    model.save(tmp_path / "model")
    loaded = AGSSL.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.predict_proba(longer), model.predict_proba(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(loaded.embed(longer), model.embed(), rtol=1e-4, atol=1e-6)


def _times(graph: Graph, factor: float) -> Graph:
    return replace(graph, x=graph.x * np.float32(factor))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_unit_rows_are_those_of_scikit_learn_bit_for_bit(kind: type) -> None:
    draw = np.random.default_rng(0)
    x = (draw.standard_normal((60, 30)) * 10 ** draw.uniform(-3, 3, (60, 30))).astype(kind)
    x[3], x[4] = 0, x[4] * 1e-12
    sparse = sp.csr_matrix(np.where(draw.random(x.shape) < 0.2, x, 0))
    assert np.array_equal(unit_rows(x), normalize(x))
    assert np.array_equal(unit_rows(sparse).toarray(), normalize(sparse).toarray())
    assert unit_rows(sparse).dtype == kind
