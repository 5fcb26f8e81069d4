"""Trust by held-out labels: `local`, `stack` and `both` against loops, and where it is right by construction."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.optimize import approx_fprime

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.integrate import INTEGRATORS, Knowledge
from agssl.integrate.evidence import DOUBT, FAR, OWN, Evidence, Witnesses, competence, residuals
from agssl.integrate.local import POWER
from agssl.integrate.log_linear import LogLinear, cross_fit, fit, log_probabilities
from agssl.ops.adjacency import Adjacency
from agssl.ops.diffusion import near_labelled, nearness
from reference.dense import normalised_of
from reference.graphs import random_graph

SCHEMES = ("local", "stack", "both")


def two_halves(seed: int = 0, size: int = 120, judges: int = 60) -> tuple[Graph, np.ndarray]:
    """Two rings of nodes that no edge joins, and nodes whose labels are known."""
    draw = np.random.default_rng(seed)
    one = np.arange(size)
    ring = np.stack([one, (one + 1) % size])
    edges = np.concatenate([ring, ring[:, [*range(5, size), *range(5)]], ring + size], axis=1)
    y = draw.integers(0, 2, 2 * size)
    graph = Graph.from_arrays(edges, np.eye(2 * size, 3, dtype=np.float32), y, notify=False)
    return graph, np.sort(draw.permutation(2 * size)[:judges])


def said(right: np.ndarray, y: np.ndarray, sure: float = 2.0) -> np.ndarray:
    """Logits of two classes that are right where they should be."""
    answer = np.where(right, y, 1 - y)
    return (sure * np.eye(2)[answer]).astype(np.float32)


def knowledge(graph: Graph, logits: np.ndarray, judges: np.ndarray) -> Knowledge:
    all_of, at = torch.from_numpy(logits), torch.from_numpy(judges)
    return Knowledge(all_of, at, torch.from_numpy(graph.y[judges]), all_of[:, at], near=near_labelled(graph, judges))


def weights_of(name: str, known: Knowledge) -> torch.Tensor:
    nodes = torch.arange(known.logits.shape[1])
    return INTEGRATORS[name](known, Rng(0)).eval()(known.logits[0], known.logits, nodes)


def test_nearness_is_pagerank_without_the_diagonal() -> None:
    graph, nodes = random_graph(30, 60, seed=1), np.array([3, 7, 20])
    found = nearness(Adjacency.of(graph), nodes, 0.15, 30, 1e-9).toarray()
    exact = 0.15 * np.linalg.inv(np.eye(30) - 0.85 * normalised_of(graph))[:, nodes]
    exact[nodes, np.arange(3)] = 0
    np.testing.assert_allclose(found, exact, atol=1e-5)


def test_nearness_keeps_the_nearest() -> None:
    graph, nodes = random_graph(30, 60, seed=2), np.arange(0, 30, 2)
    full = nearness(Adjacency.of(graph), nodes, 0.15, 30, 1e-9).toarray()
    few = nearness(Adjacency.of(graph), nodes, 0.15, 2, 1e-9).toarray()
    assert ((few > 0).sum(1) <= 2).all()
    np.testing.assert_allclose(few.max(1), full.max(1), rtol=1e-6)
    assert (few[few > 0] == full[few > 0]).all()


def test_near_labelled_nodes_count_one_in_the_mean() -> None:
    near = near_labelled(random_graph(40, 80, seed=3), np.arange(12))
    assert near.sum() / 40 == pytest.approx(1, rel=1e-5)


def test_local_weights_are_the_formula() -> None:
    draw, (teachers, nodes, classes) = np.random.default_rng(0), (3, 14, 4)
    graph, judges = random_graph(nodes, 25, seed=4), np.array([1, 4, 6, 9, 13])
    logits = draw.normal(size=(teachers, nodes, classes)).astype(np.float32)
    heldout = torch.from_numpy(draw.normal(size=(teachers, len(judges), classes)).astype(np.float32))
    y = draw.integers(0, classes, nodes)
    near = near_labelled(graph, judges)
    known = Knowledge(
        torch.from_numpy(logits), torch.from_numpy(judges), torch.from_numpy(y[judges]), heldout, near=near
    )
    p, held = (torch.softmax(z.double(), -1).numpy() for z in (known.logits, heldout))
    expected = np.zeros((nodes, teachers))
    for i in range(nodes):
        for k in range(teachers):
            answer = p[k, i].argmax()
            prior = (p[k, i, answer] + sum(p[m, i, answer] for m in range(teachers)) / teachers) / 2
            good, seen = OWN * prior, OWN
            for number, j in enumerate(judges):
                if j == i:
                    continue  # it does not judge by its own label
                alike = sum(p[k, i, c] * held[k, number, c] for c in range(classes))
                weight = (near[i, number] + FAR / len(judges)) * alike
                seen += weight
                good += weight * (held[k, number].argmax() == y[j])
            expected[i, k] = (good / seen) ** POWER
    expected /= expected.sum(1, keepdims=True)
    np.testing.assert_allclose(weights_of("local", known), expected, rtol=1e-4)


def test_competence_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    near = sp.random(20, 6, 0.5, format="csr", random_state=0)
    arguments = (near, draw.random((2, 20, 3)), draw.random((2, 6, 3)), draw.integers(0, 2, (2, 6)))
    whole = competence(*arguments)
    monkeypatch.setattr("agssl.integrate.evidence.BLOCK", 7)
    np.testing.assert_allclose(competence(*arguments), whole)


def test_residuals_are_what_near_labels_say_against_the_mean() -> None:
    draw = np.random.default_rng(2)
    near = sp.csr_matrix(np.array([[0.5, 0, 1.0], [0, 0, 0]]))
    known = Witnesses(np.arange(3), np.exp(log_probabilities(draw.normal(size=(2, 3, 3)))), np.array([0, 2, 1]))
    found, mean = residuals(near, known), known.probabilities.mean(0)
    expected = 0.5 * (np.eye(3)[0] - mean[0]) + 1.0 * (np.eye(3)[1] - mean[2])
    np.testing.assert_allclose(found[0], expected / (1.5 + DOUBT))
    assert not found[1].any()


def evidence_of(draw: np.random.Generator, teachers: int, nodes: int, classes: int) -> Evidence:
    return Evidence(draw.normal(size=(nodes, classes)), draw.random((nodes, teachers)))


def test_the_pool_starts_at_the_mean_of_the_teachers() -> None:
    draw = np.random.default_rng(3)
    logs = log_probabilities(draw.normal(size=(4, 5, 3)))
    found = LogLinear.mean(4, 3)(logs, evidence_of(draw, 4, 5, 3))
    np.testing.assert_allclose(np.exp(found), np.exp(logs).mean(0), rtol=1e-9)


def test_the_pool_is_the_formula() -> None:
    draw, (teachers, nodes, classes) = np.random.default_rng(12), (2, 4, 3)
    logs, evidence = log_probabilities(draw.normal(size=(2, 4, 3))), evidence_of(draw, 2, 4, 3)
    pool = LogLinear(draw.normal(size=teachers + 3), draw.normal(size=(teachers + 1, classes, classes)))
    a, *t, e, g = pool.weights
    for i in range(nodes):
        middle = logs[:, i].mean(0)
        z = a * np.log(np.exp(logs[:, i]).mean(0)) + e * evidence.residuals[i] + middle @ pool.maps[0]
        for k in range(teachers):
            apart = logs[k, i] - middle
            better = evidence.chances[i, k] - evidence.chances[i].mean()
            z = z + t[k] * apart + apart @ pool.maps[k + 1] + g * better * apart
        np.testing.assert_allclose(pool(logs, evidence)[i], z - np.log(np.exp(z).sum()), rtol=1e-9)


def test_the_fitted_pool_is_a_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against differences: no direction leads down from what was found."""
    from agssl.integrate import log_linear as module

    monkeypatch.setattr(module, "STEPS", 3000)
    draw, shape = np.random.default_rng(4), (3, 40, 3)
    logs, evidence = log_probabilities(draw.normal(size=shape)), evidence_of(draw, *shape)
    labels = draw.integers(0, 3, 40)
    found = fit(logs, evidence, labels)
    start = np.eye(1, 6)[0]
    penalty = np.array([module.SCALE, *[module.TEACHER] * 3, module.MISTAKES, module.CHANCES])

    def loss(values: np.ndarray) -> float:
        pool = LogLinear(values[:6], values[6:].reshape(4, 3, 3))
        held = (penalty * (values[:6] - start) ** 2).sum() + module.CLASSES * (values[6:] ** 2).sum()
        return float(held / 2 - pool(logs, evidence)[np.arange(40), labels].sum())

    slope = approx_fprime(np.concatenate([found.weights, found.maps.ravel()]), loss, 1e-6)
    assert np.abs(slope).max() < 0.02


@pytest.mark.parametrize("name", ["local", "both"])
def test_each_teacher_is_trusted_in_the_half_where_it_is_right(name: str) -> None:
    graph, judges = two_halves()
    first = np.arange(240) < 120
    noise = np.random.default_rng(5).random((2, 240)) < 0.9
    logits = np.stack([said(np.where(half, noise[k], ~noise[k]), graph.y) for k, half in enumerate((first, ~first))])
    weights = weights_of(name, knowledge(graph, logits, judges))
    asked = np.setdiff1d(np.flatnonzero(logits[0].argmax(1) != logits[1].argmax(1)), judges)
    trusted = weights.argmax(1).numpy()[asked]
    assert (trusted == np.where(first, 0, 1)[asked]).mean() > 0.9


@pytest.mark.parametrize("name", SCHEMES)
def test_without_any_information_weights_stay_equal(name: str) -> None:
    draw = np.random.default_rng(6)
    graph = random_graph(400, 4000, seed=6)
    y, judges = draw.integers(0, 2, 400), np.arange(0, 400, 2)
    graph = Graph.from_arrays(graph.adjacency(), graph.x, y, notify=False)
    logits = np.stack([said(draw.random(400) < 0.5, y) for _ in range(3)])
    weights = weights_of(name, knowledge(graph, logits, judges).calibrated("temperature"))
    assert weights.mean(0).sub(1 / 3).abs().max() < 0.05
    assert weights.sub(1 / 3).square().mean().sqrt() < 0.15  # a node hears of some twenty others: chance is left


@pytest.mark.parametrize("name", SCHEMES)
def test_a_labelled_node_never_judges_by_its_own_label(name: str) -> None:
    graph, judges = two_halves(seed=2)
    draw = np.random.default_rng(7)
    logits = np.stack([said(draw.random(240) < chance, graph.y) for chance in (0.9, 0.8, 0.6)])
    known = knowledge(graph, logits, judges)
    before = INTEGRATORS[name](known, Rng(0))
    for number in (0, 20, 41):
        labels = known.labels.clone()
        labels[number] = 1 - labels[number]
        other = Knowledge(known.logits, known.nodes, labels, known.heldout, near=known.near)
        after, at = INTEGRATORS[name](other, Rng(0)), known.nodes[number : number + 1]
        told = [made(known.logits[0, at], known.logits[:, at], at) for made in (before, after)]
        torch.testing.assert_close(told[0], told[1], atol=0.02, rtol=0)
        if name == "local":
            torch.testing.assert_close(told[0], told[1])


def test_a_pool_of_a_fold_does_not_know_its_labels() -> None:
    graph, judges = two_halves(seed=3)
    draw, labels = np.random.default_rng(8), graph.y[judges]
    logits = np.stack([said(draw.random(len(judges)) < chance, labels) for chance in (0.9, 0.6)])
    probabilities, near = np.exp(log_probabilities(logits)), near_labelled(graph, judges)[judges]
    before = cross_fit(near, Witnesses(judges, probabilities, labels))
    for number, part in enumerate(before.parts[:-1]):
        told = before.part != number
        known = Witnesses(judges, probabilities, np.where(told, labels, 0)).only(told)  # the others' are gone
        evidence = Evidence.of(near[:, told], judges, probabilities, known).only(told)
        again = fit(log_probabilities(np.log(probabilities[:, told])), evidence, labels[told])
        np.testing.assert_array_equal(again.weights, part.weights)


def test_a_pool_that_does_harm_is_left_for_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    from agssl.integrate import log_linear as module

    for name in ("SCALE", "TEACHER", "CLASSES", "MISTAKES", "CHANCES"):
        monkeypatch.setattr(module, name, 1e-9)  # nothing holds it, so it follows chance
    draw = np.random.default_rng(9)
    known = Witnesses(np.arange(40), np.exp(log_probabilities(draw.normal(size=(5, 40, 4)))), draw.integers(0, 4, 40))
    found = cross_fit(sp.csr_matrix((40, 40)), known)
    assert found.parts == () and (found.part == -1).all()
    np.testing.assert_array_equal(found.whole.weights, np.eye(1, 8)[0])


def test_the_student_is_told_what_the_pool_says() -> None:
    graph, judges = two_halves(seed=4)
    draw = np.random.default_rng(10)
    logits = np.stack([said(draw.random(240) < chance, graph.y) for chance in (0.9, 0.7)])
    known = knowledge(graph, logits, judges)
    scheme, nodes = INTEGRATORS["both"](known, Rng(0)), torch.arange(240)
    weights = scheme(known.logits[0], known.logits, nodes)
    q = scheme.answer(weights, torch.softmax(known.logits, -1), nodes, 1.0)
    torch.testing.assert_close(q.sum(1), torch.ones(240))
    answers = known.logits.argmax(-1).t()
    chance = q.gather(1, answers) ** 2
    torch.testing.assert_close(weights, chance / chance.sum(1, keepdim=True))
    softer = scheme.answer(weights, torch.softmax(known.logits, -1), nodes, 2.0)
    torch.testing.assert_close(softer, q.sqrt() / q.sqrt().sum(1, keepdim=True))
    assert math.isfinite(float(q.log().sum()))


@pytest.mark.parametrize("name", SCHEMES)
def test_other_nodes_are_weighed_by_what_teachers_say_of_them(name: str) -> None:
    graph, judges = two_halves(seed=5)
    draw = np.random.default_rng(11)
    logits = np.stack([said(draw.random(240) < chance, graph.y) for chance in (0.95, 0.55)])
    scheme = INTEGRATORS[name](knowledge(graph, logits, judges), Rng(0))
    teachers = torch.tensor([[[2.0, 0.0]], [[0.0, 2.0]]])  # they disagree, and the first is better
    assert scheme(teachers[0], teachers)[0, 0] > 0.55
