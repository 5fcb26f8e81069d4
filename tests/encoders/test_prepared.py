"""What is made of a graph before training: shared, freed, read by parts and views, and by graphs on disk."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.packed import open_packed, write_packed
from agssl.data.splits import Split
from agssl.encoders import Network, Shape, blueprint, prepared
from agssl.fitting.fit import fit
from agssl.pretext.base import View, Views
from agssl.pretext.views import StepContext
from agssl.train.infer import infer
from agssl.train.problem import Problem
from reference import dense
from reference.graphs import blocks_graph, random_graph
from reference.settings import quick

MAKERS = ("hops", "ppr", "linkx")
every_maker = pytest.mark.parametrize("text", MAKERS)


def shape_of(graph: Graph, text: str) -> Shape:
    nodes = graph.num_nodes if text == "linkx" else 0
    return Shape(graph.num_features, 8, graph.num_classes, encoder=text, nodes=nodes)


@every_maker
def test_it_is_made_once_for_edges_and_features_and_goes_with_them(text: str) -> None:
    gc.collect()  # what other tests have left
    graph = random_graph(30, 50, density=0.3)
    kind, before = blueprint(shape_of(graph, text)), len(prepared._MADE)
    first = kind.read(graph)
    assert kind.read(replace(graph, y=np.zeros(30, dtype=np.int64), split=None)) is first
    assert kind.read(replace(graph, x=graph.x.copy())) is not first
    gc.collect()
    assert len(prepared._MADE) == before + 1, "the copy of the features is gone, and what was made of it, too"
    del graph
    gc.collect()
    assert len(prepared._MADE) == before


@every_maker
def test_a_part_has_the_rows_that_were_made_of_the_whole_graph(text: str) -> None:
    graph = blocks_graph()
    problem = Problem.of(graph, shape_of(graph, text))
    nodes = np.array([3, 4, 20, 31])
    whole, part = problem.inputs, problem.part(nodes)
    eye = torch.eye(_width(problem))
    torch.testing.assert_close(part.inputs.times([eye])[0], whole.times([eye])[0][nodes])
    features = part.features.times([torch.eye(graph.num_features)])[0]
    torch.testing.assert_close(features, torch.from_numpy(dense.dense_features(graph)[nodes]))


def _width(problem: Problem) -> int:
    matrix = problem.inputs.matrix
    return matrix.columns if hasattr(matrix, "columns") else matrix.shape[1]


@every_maker
def test_a_view_without_some_features_is_the_graph_without_them(text: str) -> None:
    graph = random_graph(30, 50, density=0.5)
    columns = np.array([True, False, True, True, False, True])
    fewer = replace(graph, x=(dense.dense_features(graph) * columns).astype(np.float32))
    model = Network(shape_of(graph, text), Rng(0))
    found, expected = (
        _views(model, one, text).encode(View(columns=kept)) for one, kept in ((graph, columns), (fewer, None))
    )
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@every_maker
def test_a_masked_node_has_the_token_for_features_and_no_edge(text: str) -> None:
    graph = random_graph(30, 50, density=0.5)
    model = Network(shape_of(graph, text), Rng(0))
    token, masked = torch.arange(6.0), np.arange(30) < 5
    found = _views(model, graph, text).encode(View(masked=masked), token=token)
    row = {"hops": token.repeat(3), "ppr": token, "linkx": torch.cat([torch.zeros(30), token])}[text]
    layer = model.encoder.layers[0]
    torch.testing.assert_close(found[0], torch.relu(row @ layer.weight + layer.bias), atol=1e-5, rtol=1e-5)
    plain = _views(model, graph, text).hidden()
    torch.testing.assert_close(found[5:], plain[5:], atol=1e-5, rtol=1e-5)


def _views(model: Network, graph: Graph, text: str) -> Views:
    problem = Problem.of(
        replace(graph, split=Split(np.arange(5), np.arange(5, 10), np.arange(10, 15))), shape_of(graph, text)
    )
    plan = problem.plans.whole
    context = StepContext(model, problem.inputs, problem.normalised, problem=problem)
    return Views(model(problem.inputs, plan), plan, context)


def test_hops_of_a_graph_on_disk_are_those_of_the_same_in_memory(tmp_path: Path) -> None:
    graph = blocks_graph()
    write_packed(graph, tmp_path / "packed")
    how = quick(method="gcn", encoder="hops", batch="partition", batch_nodes=20)
    here, there = (fit(one, how).fitted for one in (graph, open_packed(tmp_path / "packed")))
    np.testing.assert_allclose(here.logits, there.logits, atol=1e-5)
    np.testing.assert_allclose(infer(here.model, graph).logits, here.logits, atol=1e-5)


@pytest.mark.parametrize("text", ["hops", "ppr"])
def test_another_graph_is_made_ready_the_same_way(text: str) -> None:
    graph, other = random_graph(30, 50), random_graph(20, 40, seed=3)
    model = Network(shape_of(graph, text), Rng(0))
    layer = model.encoder.layers[0]
    x = torch.from_numpy(np.asarray(model.encoder.read(other)))
    expected = torch.relu(x @ layer.weight + layer.bias)
    np.testing.assert_allclose(infer(model, other).hidden, expected.detach().numpy(), atol=1e-5)
