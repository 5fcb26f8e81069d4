"""Methods beside `joint` and `autossl`, each against its paper's equation, computed naively."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.encoders import Network
from agssl.fitting.fit import fit
from agssl.ops.adjacency import Adjacency
from agssl.train.auxts import Agreement
from agssl.train.context import Context
from agssl.train.cpf import Propagation, distance, propagate_labels
from agssl.train.loop import Training
from agssl.train.methods import train_method
from agssl.train.mixing import SUM, Learning
from agssl.train.network import WeightedTask, forward, make_heads, step_losses
from agssl.train.pareto import MinimumNorm, minimum_norm
from agssl.train.problem import Problem
from reference.dense import dense_features, normalised_of
from reference.graphs import blocks_graph, edge_list
from reference.settings import quick

TASKS = ("clu:clusters=3", "dgi", "pairsim")


def simplex(count: int, steps: int) -> list[tuple[float, ...]]:
    parts = itertools.product(range(steps + 1), repeat=count)
    return [tuple(part / steps for part in one) for one in parts if sum(one) == steps]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 1000), st.booleans())
def test_the_minimum_norm_point_is_the_best_of_the_whole_simplex(count: int, seed: int, same: bool) -> None:
    vectors = np.random.default_rng(seed).normal(size=(count, 6))
    if same and count > 1:
        vectors[1] = vectors[0]
    gram = vectors @ vectors.T
    found = minimum_norm(gram)
    assert found.min() >= 0 and found.sum() == pytest.approx(1)
    norm = found @ gram @ found
    assert norm <= min(np.array(one) @ gram @ np.array(one) for one in simplex(count, 12)) + 1e-9
    # no task's loss rises in this direction
    assert (gram @ found >= norm - 1e-7).all()


def test_of_two_vectors_it_is_the_point_of_the_segment_next_to_zero() -> None:
    for first, second in (((1.0, 0.0), (0.0, 2.0)), ((1.0, 1.0), (3.0, 3.0)), ((1.0, 0.2), (-1.0, 0.2))):
        a, b = np.array(first), np.array(second)
        share = np.clip((b - a) @ b / ((b - a) @ (b - a)), 0, 1)  # the closed form of Sener & Koltun 2018
        vectors = np.stack([a, b])
        np.testing.assert_allclose(minimum_norm(vectors @ vectors.T), [share, 1 - share], atol=1e-9)
    np.testing.assert_allclose(minimum_norm(np.zeros((2, 2))), [0.5, 0.5])


def step(graph_seed: int = 0) -> tuple[dict[str, torch.Tensor], Learning]:
    """The losses of a step, and what it moves; the same each time."""
    graph = blocks_graph(seed=graph_seed)
    context = Context.of(graph, quick(tasks=TASKS), Training(), Rng(0))
    problem: Problem = context.problem
    tasks = [WeightedTask(text, *context.targets(text), 1.0) for text in TASKS]
    model = Network(problem.shape, Rng(0))
    heads = make_heads(problem, model, tasks, Rng(1))
    losses = step_losses(problem, model, heads, tasks, True, Rng(2))
    return losses, Learning(tuple(model.encoder.parameters()), (*model.head.parameters(), *heads.parameters()))


def gradient(name: str, seed: int, by: str) -> np.ndarray:
    """Of one loss alone, in a pass of its own."""
    losses, learning = step(seed)
    parameters = getattr(learning, by)
    found = torch.autograd.grad(losses[name], parameters, allow_unused=True)
    both = zip(parameters, found, strict=True)
    return np.concatenate([np.zeros(p.numel()) if g is None else g.numpy().ravel() for p, g in both])


def handed_back(loss: torch.Tensor, learning: Learning) -> np.ndarray:
    loss.backward()
    parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in learning.all]
    return np.concatenate([part.numpy().ravel() for part in parts])


def test_pareto_weighs_tasks_by_their_unit_gradients() -> None:
    losses, learning = step()
    alphas = dict(zip(TASKS, (0.5, 2.0, 1.0), strict=True))
    mixed = MinimumNorm()(losses, alphas, learning)
    vectors = [gradient(name, 0, "shared") for name in TASKS]
    units = np.stack([vector / np.linalg.norm(vector) for vector in vectors])
    shares = np.array([mixed[f"lambda{k}"].item() for k in range(3)])
    best = min(np.linalg.norm(np.array(one) @ units) for one in simplex(3, 50))
    assert shares.sum() == pytest.approx(1, abs=1e-5) and np.linalg.norm(shares @ units) <= best + 1e-6
    factors = {"task": 1.0} | {name: s * alphas[name] for s, name in zip(shares.tolist(), TASKS, strict=True)}
    value = sum(factor * losses[name].item() for name, factor in factors.items())
    assert mixed["loss"].item() == pytest.approx(value, rel=1e-5)
    expected = sum(factor * gradient(name, 0, "all") for name, factor in factors.items())
    np.testing.assert_allclose(handed_back(mixed["loss"], learning), expected, atol=1e-6)


def test_auxts_weighs_tasks_by_the_cosine_with_the_labels() -> None:
    losses, learning = step(3)
    mixed = Agreement()(losses, dict.fromkeys(TASKS, 2.0), learning)
    own, value, expected = gradient("task", 3, "shared"), losses["task"].item(), gradient("task", 3, "all")
    for k, name in enumerate(TASKS):
        other = gradient(name, 3, "shared")
        cosine = other @ own / math.sqrt((other @ other) * (own @ own))
        assert mixed[f"lambda{k}"].item() == pytest.approx(max(0.0, cosine), abs=1e-5)
        value += 2.0 * max(0.0, cosine) * losses[name].item()
        expected += 2.0 * max(0.0, cosine) * gradient(name, 3, "all")
    assert mixed["loss"].item() == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(handed_back(mixed["loss"], learning), expected, atol=1e-6)


def test_a_task_that_pulls_against_the_labels_counts_nothing() -> None:
    tasks, labels = torch.tensor([[1.0, 1.0], [-1.0, 0.1], [0.0, 0.0]]), torch.tensor([2.0, 0.0])
    torch.testing.assert_close(Agreement().shares(tasks, labels), torch.tensor([0.5**0.5, 0.0, 0.0]))
    torch.testing.assert_close(Agreement().shares(tasks, None), torch.full((3,), 1 / 3))


def test_the_plain_sum_is_what_it_was() -> None:
    losses, learning = step()
    found = SUM(losses, dict.fromkeys(TASKS, 0.5), learning)
    assert set(found) == {"loss"}
    torch.testing.assert_close(found["loss"], losses["task"] + 0.5 * sum(losses[name] for name in TASKS))


@pytest.mark.parametrize("method", ["pareto", "auxts"])
@pytest.mark.parametrize("strategy", ["jt", "pf"])
def test_tasks_are_mixed_in_the_stages_that_have_them(method: str, strategy: str) -> None:
    how = quick(method=method, strategy=strategy, tasks=TASKS, epochs=4, alpha=None)
    result = train_method(blocks_graph(), how)
    history = result.history[method]
    pretrained = [record for record in history if record["pretrain"]]
    tuned = [record for record in history if not record["pretrain"]]
    assert bool(pretrained) == (strategy == "pf") and len(tuned) == 4
    mixed = pretrained if method == "pareto" and strategy == "pf" else tuned
    assert all({"lambda0", "lambda2"} <= record.keys() for record in mixed)
    assert ("lambda0" in tuned[0]) == (method == "auxts" or strategy == "jt")
    again = train_method(blocks_graph(), how)
    assert torch.equal(again.logits, result.logits)


def test_random_views_drop_features_before_they_are_spread() -> None:
    graph = blocks_graph(density=0.5)
    how = quick(method="grand", tasks=("grand:views=2:share=0.4",), encoder="mixed:k=3", input_dropout=0.0, dropout=0.0)
    context = Context.of(graph, how, Training(), Rng(0))
    problem, text = context.problem, how.tasks[0]
    tasks = [WeightedTask(text, *context.targets(text), 1.0)]
    model = Network(problem.shape, Rng(0))
    _, views, (sample,) = forward(problem, model, tasks, True, Rng(2))
    spread, x = normalised_of(problem.graph), dense_features(problem.graph).astype(np.float64)
    powers = [np.linalg.matrix_power(spread, k) for k in range(4)]
    layer, head = model.encoder.layers[0], model.head.layer
    probabilities = []
    for view in sample.views:
        kept = np.asarray(view.scale)
        np.testing.assert_allclose(np.unique(kept), [0.0, 1 / 0.6], rtol=1e-6)
        mixed = sum(power @ (kept[:, None] * x) for power in powers) / 4
        hidden = np.maximum(mixed @ layer.weight.detach().numpy() + layer.bias.detach().numpy(), 0)
        logits = hidden @ head.weight.detach().numpy() + head.bias.detach().numpy()
        np.testing.assert_allclose(views.logits(view).detach().numpy(), logits, atol=1e-4)
        probabilities.append(torch.softmax(torch.from_numpy(logits), 1).numpy())
    # the loss by loops over nodes (Eqs. 3 to 5)
    labels, wrong, apart = dict(zip(problem.train_nodes.tolist(), problem.train_labels.tolist(), strict=True)), 0.0, 0.0
    for said in probabilities:
        wrong -= sum(math.log(said[node, label]) for node, label in labels.items()) / len(labels) / 2
    for node in range(graph.num_nodes):
        mean = np.mean([said[node] for said in probabilities], axis=0) ** 2  # 1 / T = 2
        sharp = mean / mean.sum()
        apart += sum(float(((said[node] - sharp) ** 2).sum()) for said in probabilities) / graph.num_nodes / 2
    task = tasks[0].task
    assert task.loss(torch.nn.Identity(), views, sample, {}).item() == pytest.approx(wrong + apart, rel=1e-4)
    task.consistency = 0.3
    assert task.loss(torch.nn.Identity(), views, sample, {}).item() == pytest.approx(wrong + 0.3 * apart, rel=1e-4)


def test_grand_minimises_that_loss_alone() -> None:
    history = train_method(blocks_graph(), quick(method="grand", tasks=(), encoder="mixed:k=2")).history["grand"]
    assert all(record["loss"] == record["grand:views=4"] != record["task"] for record in history)


def test_label_propagation_that_learns_is_the_papers_loop() -> None:
    graph = blocks_graph()
    n, classes, steps, draw = graph.num_nodes, 3, 4, np.random.default_rng(0)
    alone = draw.dirichlet(np.ones(classes), n)
    scores, balance = draw.normal(size=n), draw.normal(size=n)
    known = {2: 0, 5: 1, 9: 2}
    near: dict[int, list[int]] = {v: [v] for v in range(n)}
    for i, j in edge_list(graph):
        near[i].append(j)
        near[j].append(i)
    f = alone.copy()
    for _ in range(steps):
        for node, label in known.items():
            f[node] = np.eye(classes)[label]
        following = np.empty_like(f)
        for v in range(n):
            total = sum(math.exp(scores[u]) for u in near[v])
            gathered = sum(math.exp(scores[u]) / total * f[u] for u in near[v])
            a = 1 / (1 + math.exp(-balance[v]))
            following[v] = a * gathered + (1 - a) * alone[v]
        f = following
    for node, label in known.items():
        f[node] = np.eye(classes)[label]
    edges = Adjacency.of(graph, norm="walk").normalised
    tensors = [torch.from_numpy(part).float() for part in (scores, balance)]
    labels = torch.eye(classes)[list(known.values())]
    ours = propagate_labels(edges, torch.from_numpy(alone).float(), labels, torch.tensor(list(known)), *tensors, steps)
    np.testing.assert_allclose(ours.numpy(), f, atol=1e-5)
    naive = sum([math.sqrt(((f[v] - alone[v]) ** 2).sum()) for v in range(n)])
    assert distance(ours, torch.from_numpy(alone).float()).item() == pytest.approx(naive, rel=1e-4)


def test_cpf_learns_all_its_parts_and_says_probabilities() -> None:
    graph = blocks_graph()
    result = train_method(graph, quick(method="cpf", epochs=20, student="mlp:head=linear"))
    torch.testing.assert_close(result.logits.exp().sum(1), torch.ones(graph.num_nodes), atol=1e-4, rtol=0)
    assert set(result.history) == {"teacher", "cpf"} and graph.split is not None
    train = torch.from_numpy(graph.split.train)
    assert (result.logits[train].argmax(1).numpy() == graph.y[graph.split.train]).all()  # they are set
    context = Context.of(graph, quick(method="cpf", encoder="mlp", head="linear"), Training(), Rng(0))
    student = Propagation(context.problem, 3, Rng(0))
    taught = torch.softmax(torch.randn(graph.num_nodes, context.problem.shape.classes), 1)
    distance(student(Rng(1)), taught).backward()
    for name, parameter in student.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name
    assert torch.equal(train_method(graph, quick(method="cpf")).logits, train_method(graph, quick(method="cpf")).logits)


def test_cpf_does_not_read_test_labels_and_refuses_folds_and_parts() -> None:
    graph = blocks_graph()
    assert graph.split is not None
    other = graph.y.copy()
    other[graph.split.test] = (other[graph.split.test] + 1) % graph.num_classes
    first, second = (fit(one, quick(method="cpf")).fitted.logits for one in (graph, replace(graph, y=other)))
    np.testing.assert_array_equal(first, second)
    folded = replace(graph.split, val=graph.split.train[::2], fold=np.arange(len(graph.split.train[::2])) % 2)
    with pytest.raises(SettingsError, match="cpf chooses by validation nodes of their own"):
        train_method(replace(graph, split=folded), quick(method="cpf"))
    with pytest.raises(SettingsError, match="cpf spreads labels over the whole graph"):
        quick(method="cpf", batch="partition")


def test_methods_take_the_tasks_that_they_are_for() -> None:
    assert Settings(method="grand").tasks == ("grand:views=4",) and Settings(method="cpf").all_tasks == ()
    with pytest.raises(SettingsError, match="method grand trains the task grand alone, not clu"):
        Settings(method="grand", tasks=("clu",))
