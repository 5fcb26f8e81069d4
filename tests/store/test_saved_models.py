"""Fitted models: saved, loaded, and asked about nodes they have not seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from safetensors import safe_open
from safetensors.torch import save_file

from agssl import AGSSL, Graph
from agssl.base.errors import AgsslError, DataError, GraphError
from agssl.store.fitted import save_fitted
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


@pytest.mark.parametrize("split", ["fraction:0.3/0.3/0.4", "cv:3"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_model_can_bring_its_graph(split: str, sparse: bool, tmp_path: Path) -> None:
    graph = blocks_graph(90)
    x = sp.csr_matrix(graph.x) if sparse else graph.x
    names = [f"n{k}" for k in range(graph.num_nodes)]
    named = Graph.from_arrays(graph.adjacency(), x, graph.y, node_names=names)
    model = AGSSL(method="gcn", epochs=3, hidden=4, split=split).fit(named)
    model.save(tmp_path / "with", graph=True)
    loaded = AGSSL.load(tmp_path / "with")
    assert loaded.graph_.fingerprint == model.graph_.fingerprint
    assert loaded.graph_.split.to_arrays().keys() == model.graph_.split.to_arrays().keys()
    for name, nodes in model.graph_.split.to_arrays().items():
        np.testing.assert_array_equal(loaded.graph_.split.to_arrays()[name], nodes)
    assert loaded.score() == model.score() and loaded.explain("n3") == model.explain("n3")
    np.testing.assert_array_equal(loaded.embed(), model.embed())
    assert loaded.verdict() == model.verdict()


def test_a_graph_that_does_not_belong_to_the_model_is_refused(tmp_path: Path) -> None:
    model = AGSSL(method="gcn", epochs=2, hidden=4).fit(blocks_graph(60))
    save_fitted(model.fitted_, tmp_path / "mixed", graph=blocks_graph(90))
    with pytest.raises(DataError, match="is damaged .*the graph is another one"):
        AGSSL.load(tmp_path / "mixed")
    model.save(tmp_path / "whole", graph=True)
    with safe_open(tmp_path / "whole", framework="pt") as file:
        header, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    for name, tensor in tensors.items():
        if name in ("graph.indptr", "graph.indices", "graph.y", "graph.x"):
            save_file(tensors | {name: tensor[:-1].clone()}, tmp_path / "damaged", header)
            with pytest.raises(DataError, match="is damaged"):
                AGSSL.load(tmp_path / "damaged")
