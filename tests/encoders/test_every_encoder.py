"""What every registered encoder must fulfil, another package's as well."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agssl import AGSSL
from agssl.base.rng import Rng
from agssl.base.spec import Spec
from agssl.data.graph import Graph
from agssl.encoders import ENCODERS, Encoder, Network, Pass, Shape, blueprint, joined
from agssl.fitting.fit import Resources, fit
from agssl.ops import subgraph, tiles
from agssl.ops.adjacency import Adjacency, take_rows
from agssl.ops.csr import Csr, identity
from agssl.ops.features import Inputs
from agssl.ops.plan import ForwardPlan, full_head, full_plan, pruned_plan
from agssl.pretext import TASKS
from agssl.store.checkpoints import CheckpointStore
from agssl.train.infer import infer
from agssl.train.problem import Problem
from reference.encoders import Blend, Own
from reference.graphs import blocks_graph, build, permuted, random_graph
from reference.settings import quick
from reference.watching import Largest

EVERY = [*ENCODERS, "blend:amount=0.3", "own"]

pytestmark = pytest.mark.parametrize("text", EVERY)
with_and_without_weights = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


@pytest.fixture(autouse=True)
def _with_encoders_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ENCODERS, "_items", {**ENCODERS._items, "blend": Blend, "own": Own})


def network(graph: Graph, text: str, seed: int = 0, **changes: object) -> Network:
    return Network(replace(shape_of(graph, text), **changes), Rng(seed))  # type: ignore[arg-type]


def shape_of(graph: Graph, text: str) -> Shape:
    nodes = graph.num_nodes if kind_of(text).knows_nodes else 0
    return Shape(graph.num_features, 8, graph.num_classes, encoder=text, nodes=nodes)


def kind_of(text: str) -> type[Encoder]:
    return ENCODERS[Spec.parse(text).name]


def inputs_of(graph: Graph, model: Network) -> Inputs:
    return Inputs.over(model.encoder.read(graph))


def adjacency_of(graph: Graph, text: str) -> Adjacency:
    return Adjacency.of(graph, norm=kind_of(text).propagation)


def plan_of(graph: Graph, model: Network) -> ForwardPlan:
    return plan_with(adjacency_of(graph, model.shape.encoder).normalised, model)


def plan_with(matrix: Csr, model: Network) -> ForwardPlan:
    """All hidden rows and logits by this propagation."""
    last = matrix if model.head.propagates else identity(matrix.rows)
    return full_plan(matrix, model.encoder.reach, full_head(matrix, model.encoder.head_hops, last))


def last_of(graph: Graph, model: Network) -> Csr:
    """The last propagation of the class head."""
    propagates = model.head.propagates
    return adjacency_of(graph, model.shape.encoder).normalised if propagates else identity(graph.num_nodes)


def both(model: Network, graph: Graph, rng: Rng | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Hidden rows and logits of all nodes."""
    output = model(inputs_of(graph, model), plan_of(graph, model), rng)
    assert output.logits is not None
    return joined(output.hidden), output.logits


@with_and_without_weights
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("head", ["conv", "linear"])
@pytest.mark.parametrize("density", [1.0, 0.4])
def test_a_pruned_pass_has_the_values_and_gradients_of_a_whole_one(
    text: str, layers: int, head: str, density: float, weighted: bool
) -> None:
    graph = random_graph(40, 50, density=density, weighted=weighted)
    model = network(graph, text, layers=layers, head=head)
    plan = plan_of(graph, model)
    outputs, wanted = np.array([3, 17, 5]), np.array([2, 9, 30])
    last, matrix = take_rows(last_of(graph, model), outputs), adjacency_of(graph, text).normalised
    pruned = pruned_plan(matrix, model.encoder.reach, (last, outputs), wanted, 2.0, model.encoder.head_hops)
    inputs = inputs_of(graph, model)
    cut, whole = model(inputs, pruned), model(inputs, plan)
    at = pruned.positions(wanted)
    torch.testing.assert_close(cut.logits, whole.logits[outputs], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(joined(cut.hidden)[at], joined(whole.hidden)[wanted], atol=1e-5, rtol=1e-5)
    found = []
    for output, rows, hidden in ((cut, slice(None), at), (whole, outputs, wanted)):
        loss = output.logits[rows].cos().sum() + joined(output.hidden)[hidden].sin().sum()
        found.append(torch.autograd.grad(loss, list(model.parameters())))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("norm", ["none", "layer"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("density", [1.0, 0.4])
def test_a_skip_connection_adds_a_linear_map_of_each_own_row(
    text: str, norm: str, layers: int, density: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(40, 50, density=density)
    model = network(graph, text, layers=layers, norm=norm, residual=True, hidden=2 * tiles.TILE)
    expected = both(model, graph)
    monkeypatch.setattr(tiles, "CACHED_BYTES", 0)
    monkeypatch.setattr(subgraph, "BLOCK_ENTRIES", 20)
    found = infer(model, graph)
    for ours, theirs in zip((found.hidden, found.logits), expected, strict=True):
        torch.testing.assert_close(torch.from_numpy(ours), theirs, atol=1e-4, rtol=1e-4)
    for layer in model.encoder.layers:
        layer.skip.data.zero_()
    plain = network(graph, text, layers=layers, norm=norm, hidden=2 * tiles.TILE)
    for ours, theirs in zip(both(model, graph), both(plain, graph), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(expected[0], both(plain, graph)[0], atol=1e-2)


@with_and_without_weights
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("head", ["conv", "linear"])
@pytest.mark.parametrize("norm", ["none", "batch", "layer"])
def test_inference_block_by_block_is_the_forward_pass(
    text: str, layers: int, head: str, norm: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(50, 90, density=0.5, weighted=weighted)
    model = network(graph, text, layers=layers, head=head, norm=norm)
    both(model, graph, Rng(1))  # running averages are no longer those of the start
    monkeypatch.setattr(subgraph, "BLOCK_ENTRIES", 20)
    found = infer(model, graph)
    hidden, logits = both(model, graph)
    torch.testing.assert_close(torch.from_numpy(found.logits), logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(torch.from_numpy(found.hidden), hidden, atol=1e-5, rtol=1e-5)


@with_and_without_weights
def test_relabelling_the_nodes_relabels_the_result(text: str, weighted: bool) -> None:
    graph = random_graph(40, 60, density=0.5, weighted=weighted)
    order = np.random.default_rng(5).permutation(40)
    model = network(graph, text, layers=2)
    other = model
    if kind_of(text).knows_nodes:  # then its weights of each node are relabelled, too
        other = network(graph, text, layers=2)
        other.load_state_dict(model.state_dict())
        other.encoder.layers[0].links.data = model.encoder.layers[0].links.data[order]
    here, there = both(model, graph), both(other, permuted(graph, order))
    for a, b in zip(here, there, strict=True):
        torch.testing.assert_close(a[order], b, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("layers", [1, 2])
def test_tiles_change_nothing(text: str, layers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(40, 60, density=0.5)
    model = network(graph, text, hidden=2 * tiles.TILE, layers=layers)
    one = both(model, graph)
    monkeypatch.setattr(tiles, "CACHED_BYTES", 0)
    for a, b in zip(one, both(model, graph), strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)


@with_and_without_weights
def test_a_masked_edge_is_no_edge(text: str, weighted: bool) -> None:
    graph = random_graph(30, 60, weighted=weighted)
    model, adjacency = network(graph, text, layers=2), adjacency_of(graph, text)
    rows = np.repeat(np.arange(30), graph.degree)
    source, target = rows[:4], graph.indices[:4].astype(np.int64)
    gone = {frozenset(pair) for pair in zip(source.tolist(), target.tolist(), strict=True)}
    kept = [(i, j) for i, j in zip(rows.tolist(), graph.indices.tolist(), strict=True) if i < j]
    kept = [pair for pair in kept if frozenset(pair) not in gone]
    smaller = replace(build(30, kept, weighted=weighted), x=graph.x, y=graph.y, classes=graph.classes)
    masked = plan_with(adjacency.without(source, target), model)
    found = model(inputs_of(graph, model), masked)
    if kind_of(text).prepares:  # what was made of the graph stays as it is
        torch.testing.assert_close(joined(found.hidden), both(model, graph)[0])
        return
    for ours, theirs in zip((joined(found.hidden), found.logits), both(model, smaller), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    # and so is one that a random view drops
    keep = np.array([frozenset(ends) not in gone for ends in _edges(adjacency)])
    thin = model(inputs_of(graph, model), plan_with(adjacency.thinned(keep), model))
    torch.testing.assert_close(joined(thin.hidden), joined(found.hidden), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(thin.logits, found.logits, atol=1e-5, rtol=1e-5)


def _edges(adjacency: Adjacency) -> list[tuple[int, int]]:
    upper = adjacency.edges[0]
    return list(zip(adjacency.rows[upper].tolist(), adjacency.indices[upper].tolist(), strict=True))


def test_the_corrupted_view_is_the_graph_with_shuffled_features(text: str) -> None:
    graph = random_graph(40, 60, density=0.5)
    model = network(graph, text, layers=2)
    order = torch.randperm(40, generator=torch.Generator().manual_seed(0))
    output = model(inputs_of(graph, model), plan_of(graph, model), permutation=(order, torch.argsort(order)))
    shuffled = both(model, replace(graph, x=graph.x[order.numpy()]))[0]
    if kind_of(text).prepares:  # then the rows that were made of the graph are shuffled
        shuffled = both(model, graph)[0][order]
    torch.testing.assert_close(joined(output.corrupted), shuffled, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(joined(output.hidden), both(model, graph)[0], atol=1e-5, rtol=1e-5)


def test_two_views_do_not_change_each_other(text: str) -> None:
    graph = random_graph(40, 60, density=0.5)
    model = network(graph, text)
    x, plan = inputs_of(graph, model).sharing({}), plan_of(graph, model)
    first, again = (joined(model.encoder(x, plan, Pass(real=False))).detach().clone() for _ in range(2))
    assert torch.equal(first, again)


def test_a_sibling_has_the_shape_and_other_weights(text: str) -> None:
    graph = random_graph()
    encoder = network(graph, text, layers=2).encoder
    other = encoder.sibling(Rng(5))
    assert type(other) is type(encoder) and other.shape == encoder.shape and other.settings == encoder.settings
    pairs = list(zip(encoder.parameters(), other.parameters(), strict=True))
    assert all(a.shape == b.shape for a, b in pairs) and any(not torch.equal(a, b) for a, b in pairs)


def test_the_same_seed_gives_the_same_weights(text: str) -> None:
    graph = random_graph()
    a, b = (network(graph, text, seed=3).state_dict() for _ in range(2))
    assert all(torch.equal(a[name], b[name]) for name in a)


@with_and_without_weights
@pytest.mark.parametrize("task", [*TASKS])
def test_every_task_takes_a_step_and_moves_the_encoder(text: str, task: str, weighted: bool) -> None:
    graph = blocks_graph(weighted=weighted)
    result = fit(graph, quick(method="single", tasks=(task,), alpha=1.0, encoder=text, epochs=2))
    fresh = Network(result.fitted.shape, Rng(0).child("teacher", task).child("model"))
    moved = [
        not torch.equal(a, b)
        for a, b in zip(fresh.encoder.parameters(), result.fitted.model.encoder.parameters(), strict=True)
    ]
    assert any(moved) and np.isfinite(result.fitted.logits).all()


@with_and_without_weights
@pytest.mark.parametrize("mode", ["partition", "neighbour"])
def test_mini_batches_train_it(text: str, mode: str, weighted: bool) -> None:
    graph = blocks_graph(weighted=weighted)
    result = fit(graph, quick(method="gcn", encoder=text, batch=mode, batch_nodes=20, epochs=3))
    assert np.isfinite(result.fitted.logits).all()


@with_and_without_weights
def test_a_part_that_is_the_whole_graph_propagates_as_the_whole(text: str, weighted: bool) -> None:
    graph = blocks_graph(weighted=weighted)
    problem = Problem.of(graph, shape_of(graph, text))
    part = problem.part(np.arange(graph.num_nodes))
    torch.testing.assert_close(part.normalised.values, problem.normalised.values)


@with_and_without_weights
def test_a_whole_fit_is_saved_and_loaded_with_its_encoder(text: str, weighted: bool, tmp_path: Path) -> None:
    graph = blocks_graph(weighted=weighted)
    how = quick(tasks=("clu:clusters=3", "pairsim"), encoder=text)
    model = AGSSL(random_state=0, **{name: getattr(how, name) for name in vars(how)}).fit(graph)
    model.save(tmp_path / "model.safetensors")
    again = AGSSL.load(tmp_path / "model.safetensors")
    assert again.settings().encoder == text
    np.testing.assert_array_equal(again.predict_proba(graph), model.predict_proba(graph))
    np.testing.assert_allclose(model.predict_proba(graph), model.predict_proba(), atol=1e-5)


def test_a_training_goes_on_from_its_checkpoint(text: str, tmp_path: Path) -> None:
    graph, how = blocks_graph(), quick(method="gcn", encoder=text)
    store = CheckpointStore(tmp_path, every=0, min_seconds=0)
    first, again = (fit(graph, how, resources=Resources(checkpoints=store)).fitted for _ in range(2))
    np.testing.assert_array_equal(first.logits, again.logits)


def test_memory_grows_with_nodes_and_edges_only(text: str) -> None:
    graph = random_graph(20_000, 60_000, seed=1)
    model = network(graph, text)
    with Largest() as largest:
        _, logits = both(model, graph, Rng(0))
        logits.sum().backward()
    assert largest.elements <= 4 * 8 * (graph.num_nodes + 2 * graph.num_edges)


def test_it_says_what_it_is(text: str) -> None:
    encoder = blueprint(Shape(1, 8, 2, encoder=text))
    assert encoder.name == Spec.parse(text).name and encoder.propagation in ("symmetric", "mean", "walk", "none")
    assert encoder.hops == 1 and (type(encoder).__doc__ or "").strip()
    assert all(parameter.is_meta for parameter in encoder.parameters()), "a blueprint has no weights"
