"""Hidden rows by clusters and links: the held-out edges are gone, and figures are those of naive counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agssl.base.rng import Rng
from agssl.bench.catalog import ARTIFACTS
from agssl.bench.cells import Cell
from agssl.bench.embedded import Links, clusters, hold_out, link_figures
from agssl.bench.embeddings import METHODS
from agssl.bench.measure import Workspace, run_cell
from agssl.bench.records import Records
from agssl.bench.scope import Scope
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.splits import Split
from reference.records import record_of


@pytest.fixture
def graph() -> Graph:
    draw = np.random.default_rng(0)
    edges = draw.integers(0, 40, (2, 160))
    weights = draw.random(160) + 0.5
    graph = Graph.from_arrays(edges, draw.random((40, 5)), draw.integers(0, 3, 40), weights=weights, notify=False)
    return graph.with_split(Split(np.arange(10), np.arange(10, 20), np.arange(20, 30)))


def pairs_of(graph: Graph) -> set[tuple[int, int]]:
    return {(i, int(j)) for i in range(graph.num_nodes) for j in graph.neighbours(i)}


def test_held_out_edges_are_gone_in_both_directions_and_others_never_were_there(graph: Graph) -> None:
    links = hold_out(graph, Rng(0), 0.1)
    held = {(int(i), int(j)) for i, j in links.edges.T}
    others = {(int(i), int(j)) for i, j in links.others.T}
    assert len(held) == len(others) == links.edges.shape[1] == round(0.1 * graph.num_edges)
    before, after = pairs_of(graph), pairs_of(links.graph)
    assert before - after == held | {(j, i) for i, j in held} and after <= before
    assert not others & before and all(i < j for i, j in held | others)
    assert links.graph.fingerprint != graph.fingerprint
    there = links.graph.adjacency()
    adjacency = graph.adjacency().toarray()
    assert all(adjacency[i, j] == there[i, j] for i, j in after)  # each edge keeps its weight
    same = hold_out(graph, Rng(0), 0.1)
    assert np.array_equal(same.edges, links.edges) and np.array_equal(same.others, links.others)


def test_a_graph_with_nearly_all_edges_has_as_many_pairs_as_there_are_left() -> None:
    edges = [(i, j) for i in range(6) for j in range(i) if (i, j) != (1, 0)]
    full = Graph.from_arrays(np.array(edges).T, np.ones((6, 1)), [0, 1] * 3, notify=False)
    links = hold_out(full, Rng(0), 0.5)
    assert links.others.tolist() == [[0], [1]] and links.edges.shape == (2, 1)


def test_auc_is_the_share_of_pairs_in_order() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 4))
    every = np.array([(i, j) for i in range(30) for j in range(i)]).T
    edges, others = np.split(every[:, np.random.default_rng(1).permutation(435)[:50]], 2, axis=1)

    def score(i: int, j: int) -> float:
        return float(rows[i] @ rows[j] / np.linalg.norm(rows[i]) / np.linalg.norm(rows[j]))

    good, bad = ([score(i, j) for i, j in pairs.T] for pairs in (edges, others))
    naive = np.mean([g > b for g in good for b in bad])
    found = link_figures(rows, Links(None, edges, others))  # type: ignore[arg-type]
    assert found["auc"] == pytest.approx(naive) and 0 < found["ap"] <= 1


def test_clusters_are_judged_where_no_label_was_told(graph: Graph) -> None:
    rows = np.eye(3)[graph.y].astype(np.float32)
    assert clusters(rows, graph, Rng(0)) == {"nmi": pytest.approx(1.0), "ari": pytest.approx(1.0)}
    wrong = graph.y.copy()
    wrong[:20] = (wrong[:20] + 1) % 3  # labels that methods were told
    assert clusters(rows, replace(graph, y=wrong), Rng(0))["ari"] == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["gcn", "agssl"])
def test_a_cell_has_both_figures_and_another_key_than_the_fit(method: str, tmp_path: Path) -> None:
    tasks = ("clu", "dgi") if method == "agssl" else ()
    settings = Settings(method=method, tasks=tasks, integration="average", epochs=2, hidden=4)
    cell = Cell("digits", method, settings, 0, study="embeddings")
    assert cell.key != replace(cell, study="").key
    record = run_cell(Workspace(tmp_path), cell)
    assert record["width"] == 4 and record["test"] is None and record["study"] == "embeddings"
    assert all(0 <= record["links"][name] <= 1 for name in ("auc", "ap")) and record["clusters"]["nmi"] >= 0


def test_tables_have_all_methods_paired_with_the_gcn(tmp_path: Path) -> None:
    artifact, scope, records = ARTIFACTS["embeddings"], Scope(datasets=("cora",), seeds=(0, 1)), Records(tmp_path)
    for number, cell in enumerate(artifact.cells(scope)):
        value = 0.5 + 0.01 * (number // 2) + 0.001 * cell.seed
        parts = {"clusters": {"nmi": value, "ari": value}, "links": {"auc": value, "ap": value}}
        records.add(record_of(cell) | parts | {"test": None})
    rendered = artifact.render(scope, records)
    assert len(rendered.table.sheets) == 8 and [row[0] for row in rendered.table.sheets[0].rows] == [
        method.title for method in METHODS
    ]
    assert rendered.table.sheets[0].rows[0][1] == "50.05 ± 0.07" and rendered.table.sheets[1].rows[0][1][:5] == "+1.00"
    assert all(draw().axes[0].has_data() for draw in rendered.figures.values())
    some = artifact.cells(Scope(datasets=("cora",), methods=("dgi-alone",), seeds=(0,)))
    assert {cell.method for cell in some} == {"gcn", "dgi-alone"} and all(cell.study == "embeddings" for cell in some)
