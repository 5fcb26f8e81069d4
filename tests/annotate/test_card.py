"""What is shown of a node."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agssl import Graph, read_graph
from agssl.annotate.card import FEATURES, Cards

WORDS = ("red", "green", "blue", "warm", "cold", "wet")


@pytest.fixture
def people(tmp_path: Path) -> Graph:
    rng = np.random.default_rng(0)
    rows = ["id,age,city,url,note,rare"]
    for i in range(60):
        note = " ".join(rng.choice(WORDS, 8)) + (" <b>bold</b>" if i == 4 else "")
        rows.append(f'n{i},{20 + i},{"Bonn" if i % 2 else "Łódź"},http://x.org/{i:03d},"{note}",{9 if i == 4 else 0}')
    (tmp_path / "nodes.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    edges = "".join(f"n{i},n{(i + 1) % 60}\n" for i in range(60)) + "n4,n6\n"
    (tmp_path / "edges.csv").write_text("source,target\n" + edges)
    return read_graph(tmp_path, require_labels=False)


def test_columns_are_shown_as_the_table_has_them(people: Graph) -> None:
    found = Cards(people).columns(4)
    shown = {one["name"]: one["value"] for one in found["features"]}
    assert shown["age"] == "24" and shown["city"] == "Łódź" and found["hidden"] == 0
    texts = {one["name"]: one["text"] for one in found["texts"]}
    assert texts["note"].endswith("<b>bold</b>")
    assert Cards(people).title(4) == texts["note"]


def test_neighbours_and_the_edges_among_them(people: Graph) -> None:
    cards = Cards(people)
    near = cards.near(5)
    assert sorted(near) == [4, 6] and cards.links(near) == [(0, 1)]


def test_of_many_features_the_unusual_ones_are_shown() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(80, 50)).astype(np.float32)
    x[7, 33] = 40
    graph = Graph.from_arrays([[0], [1]], x, np.arange(80) % 2, notify=False)
    found = Cards(graph).columns(7)
    assert len(found["features"]) == FEATURES and found["hidden"] == 50 - FEATURES
    assert {"name": "feature 33", "value": "40", "feature": True} in found["features"]


def test_sparse_features_without_names_are_numbered(tiny_graph: Graph) -> None:
    from dataclasses import replace

    import scipy.sparse as sp

    x = sp.csr_matrix(np.eye(12, 30, k=3, dtype=np.float32))
    found = Cards(replace(tiny_graph, x=x)).columns(2)
    assert found == {"features": [{"name": "feature 5", "value": "1", "feature": True}], "hidden": 0, "texts": []}
