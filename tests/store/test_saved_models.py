"""Fitted models: saved, loaded, and asked about nodes they have not seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agssl import AGSSL, Graph
from agssl.base.errors import AgsslError, GraphError
from reference.graphs import blocks_graph, build, edge_list

FAST = {"tasks": ("clu", "pairdis"), "hidden": 8, "epochs": 4, "lr": 0.05, "weights_from": "train"}


def named_graph() -> Graph:
    return replace(blocks_graph(), classes=("ant", "bee", "cat"))


@pytest.fixture(scope="module")
def fitted() -> AGSSL:
    return AGSSL(**FAST, random_state=3).fit(named_graph())


def larger_graph() -> Graph:
    """The fitted graph with five more nodes, linked to the first ones."""
    graph = named_graph()
    edges = [*edge_list(graph), *((60 + i, 3 * i) for i in range(5))]
    more = build(65, edges, features=8)
    x = np.concatenate([graph.x, more.x[60:]])
    return replace(more, x=x, classes=graph.classes)


def test_save_and_load_give_the_same_model(fitted: AGSSL, tmp_path: Path) -> None:
    path = tmp_path / "model.agssl"
    fitted.save(path)
    loaded = AGSSL.load(path)
    assert loaded.settings() == fitted.settings() and loaded.random_state == fitted.random_state
    np.testing.assert_array_equal(loaded.predict_proba(), fitted.predict_proba())
    np.testing.assert_array_equal(loaded.task_weights_, fitted.task_weights_)
    assert loaded.classes_.tolist() == fitted.classes_.tolist()
    assert loaded.best_ == fitted.best_
    larger = larger_graph()
    np.testing.assert_array_equal(loaded.predict_proba(larger), fitted.predict_proba(larger))


@pytest.mark.parametrize(
    "changes",
    [
        {"patience": None},
        {"alpha": {"clu": 2.0, "pairdis": 0.5}},
        {"alpha": "auto", "epochs": 1},
        {"method": "gcn"},
        {"method": "joint", "norm": "batch", "layers": 2, "head": "linear"},
        {"method": "single", "tasks": ("par:parts=4",)},
        {"integration": "weighted", "strategy": "pf", "random_state": 11},
    ],
)
def test_every_kind_of_model_survives_saving(changes: dict[str, object], tmp_path: Path) -> None:
    model = AGSSL(**(FAST | changes)).fit(named_graph())
    model.save(tmp_path / "m")
    loaded = AGSSL.load(tmp_path / "m")
    assert loaded.settings() == model.settings() and loaded.random_state == model.random_state
    np.testing.assert_array_equal(loaded.predict_proba(), model.predict_proba())
    np.testing.assert_allclose(loaded.predict_proba(named_graph()), model.predict_proba(), atol=1e-6)


def test_unseen_nodes_are_predicted(fitted: AGSSL) -> None:
    probabilities = fitted.predict_proba(larger_graph())
    assert probabilities.shape == (65, 3)
    far = [n for n in range(60) if n not in range(0, 15, 3)]
    seen = set()  # nodes two hops or more away from every new one see nothing of them
    for i in range(5):
        near = {3 * i, *named_graph().neighbours(3 * i).tolist()}
        seen |= near | {int(m) for n in near for m in named_graph().neighbours(n)}
    far = sorted(set(far) - seen)
    assert far
    np.testing.assert_allclose(probabilities[far], fitted.predict_proba()[far], atol=1e-6)


def test_a_graph_without_labels_is_predicted(fitted: AGSSL) -> None:
    graph = named_graph()
    bare = Graph.from_arrays(graph.adjacency(), graph.x, np.full(60, -1), require_labels=False)
    np.testing.assert_allclose(fitted.predict_proba(bare), fitted.predict_proba(), atol=1e-6)
    triple = (graph.adjacency(), graph.x, np.full(60, -1))
    np.testing.assert_allclose(fitted.predict_proba(triple), fitted.predict_proba(), atol=1e-6)


def test_a_loaded_model_says_that_it_has_no_graph(fitted: AGSSL, tmp_path: Path) -> None:
    fitted.save(tmp_path / "m")
    loaded = AGSSL.load(tmp_path / "m")
    for call in (lambda: loaded.explain(1), loaded.score, loaded.embed):
        with pytest.raises(GraphError, match="does not carry its graph"):
            call()
    np.testing.assert_array_equal(loaded.embed(named_graph()), fitted.embed())


def test_a_broken_file_is_no_model(fitted: AGSSL, tmp_path: Path) -> None:
    path = tmp_path / "m"
    fitted.save(path)
    whole = path.read_bytes()
    for content in (b"", b"nothing", whole[: len(whole) // 2], whole[:20]):
        path.write_bytes(content)
        with pytest.raises(AgsslError):
            AGSSL.load(path)
    with pytest.raises(AgsslError):
        AGSSL.load(tmp_path / "absent")
