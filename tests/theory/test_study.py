"""Distances against other solvers and by hand, both sides of the bound against naive sums, records and report."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.encoders import Network, Shape
from agssl.metrics import softmax
from agssl.theory import networks, proposition, study, theorem
from agssl.theory.csbm import Csbm, propagate_beliefs
from agssl.theory.distance import on_simplex, shared_weights, simplex_weights, summing_to_one, unconstrained
from agssl.theory.figure import figure
from agssl.theory.proposition import sides
from agssl.theory.report import theory_table
from agssl.theory.study import run
from agssl.train.infer import infer


def test_distances_by_hand() -> None:
    teachers = np.array([[[1.0, 0, 0]], [[0, 1.0, 0]]])  # two corners of the triangle
    corner, edge = np.array([[0, 0, 1.0]]), np.array([[0.25, 0.75, 0]])
    assert on_simplex(teachers, corner) == pytest.approx(np.sqrt(1.5))  # from the middle of the opposite side
    assert summing_to_one(teachers, corner) == pytest.approx(np.sqrt(1.5))
    assert unconstrained(teachers, corner) == pytest.approx(1.0)  # both weights zero
    assert on_simplex(teachers, edge) == pytest.approx(0, abs=1e-7)
    assert np.allclose(simplex_weights(teachers, edge), [[0.25, 0.75]])
    beyond = np.array([[1.5, -0.5, 0]])
    assert on_simplex(teachers, beyond) == pytest.approx(np.sqrt(0.5))
    assert summing_to_one(teachers, beyond) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("count", [1, 3, 6])
def test_distances_agree_with_a_general_solver(count: int) -> None:
    rng = np.random.default_rng(count)
    teachers, targets = rng.dirichlet(np.ones(4), (count, 5)), rng.dirichlet(np.full(4, 0.3), 5)
    for kind, bounds, constraint in (
        (on_simplex, [(0, 1)] * count, True),
        (summing_to_one, None, True),
        (unconstrained, None, False),
    ):
        for node in range(5):
            found = minimize(
                lambda w, node=node: ((w @ teachers[:, node] - targets[node]) ** 2).sum(),
                np.full(count, 1 / count),
                bounds=bounds,
                constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1}] if constraint else [],
                tol=1e-14,
            )
            assert kind(teachers, targets)[node] == pytest.approx(np.sqrt(found.fun), abs=1e-4)


def test_shared_weights_are_the_best_of_all_shared_ones() -> None:
    rng = np.random.default_rng(0)
    teachers, targets = rng.dirichlet(np.ones(3), (3, 40)), rng.dirichlet(np.ones(3), 40)

    def cost(weights: np.ndarray) -> float:
        return float(((np.einsum("k,knc->nc", weights, teachers) - targets) ** 2).sum())

    best = shared_weights(teachers, targets)
    assert best.min() >= 0 and best.sum() == pytest.approx(1)
    assert all(cost(best) <= cost(other) + 1e-9 for other in rng.dirichlet(np.ones(3), 300))


def draws(seed: int, graphs: int = 40, nodes: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    teacher, bayes = rng.dirichlet(np.ones(3), (2, graphs, nodes))
    return teacher, bayes, rng.exponential(1.0, (graphs, nodes, 3))


def test_both_sides_of_the_bound_as_naive_sums() -> None:
    teacher, bayes, loss = draws(0, 4, 5)
    found = sides(teacher, bayes, loss)
    values = [[sum(teacher[g, i, c] * loss[g, i, c] for c in range(3)) for i in range(5)] for g in range(4)]
    estimates = [sum(row) / 5 for row in values]
    truth = sum(bayes[g, i] @ loss[g, i] for g in range(4) for i in range(5)) / 20
    mean = sum(estimates) / 4
    variance = sum((e - mean) ** 2 for e in estimates) / 3
    assert found["left"] == pytest.approx(variance + (mean - truth) ** 2)
    pooled = [v for row in values for v in row]
    assert found["variance_if_independent"] == pytest.approx(sum((v - mean) ** 2 for v in pooled) / 20 / 5)
    product = sum(
        np.sqrt(((teacher[g, i] - bayes[g, i]) ** 2).sum()) * np.sqrt((loss[g, i] ** 2).sum())
        for g in range(4)
        for i in range(5)
    )
    assert found["second_term"] == pytest.approx((product / 20) ** 2)


def test_the_variance_step_holds_for_independent_nodes_and_fails_for_equal_ones() -> None:
    teacher, bayes, loss = draws(1, 2000)
    assert sides(teacher, bayes, loss)["variance_ratio"] == pytest.approx(1, abs=0.15)
    alike = [np.repeat(array[:, :1], 30, axis=1) for array in (teacher, bayes, loss)]
    assert sides(*alike)["variance_ratio"] == pytest.approx(30, rel=0.01)


def test_it_is_the_edges_that_make_nodes_depend_on_each_other() -> None:
    """V[R~] exceeds V / N on graphs with edges, and not on the same model almost without: the report says so."""
    ratios = []
    for degree in (0.01, 4.0):
        model = Csbm(nodes=200, degree=degree)
        network = Network(Shape(model.features, 16, model.classes), Rng(0))
        bayes, loss = [], []
        for number in range(150):
            graph = model.draw(Rng(1).child(number))
            bayes.append(propagate_beliefs(model, graph))
            loss.append(-np.log(softmax(infer(network, graph).logits.astype(np.float64))))
        ratios.append(sides(np.stack(bayes), np.stack(bayes), np.stack(loss))["variance_ratio"])
    assert abs(ratios[0] - 1) < 0.35  # three deviations of a variance over 150 draws
    assert ratios[1] > 1.5


@pytest.mark.parametrize("seed", range(5))
def test_the_bias_never_exceeds_the_second_term(seed: int) -> None:
    found = sides(*draws(seed))
    assert found["bias_squared"] <= found["second_term"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.setattr(study, "SPLIT", "random:5/20/50")
    monkeypatch.setattr(proposition, "GRAPHS", 3)
    monkeypatch.setattr(theorem, "ORDERS", 2)
    for module in (study, networks):
        monkeypatch.setattr(module, "MORE_TASKS", ("clu:clusters=4",))
    return {"model": Csbm(nodes=120), "settings": Settings(hidden=8, epochs=3, alpha=1.0, generations=1)}


def test_a_run_is_recorded_resumed_and_reported(quick: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theory.jsonl"
    records = run([0], path, **quick)
    record = json.loads(path.read_text())
    assert record == records[0]
    curves = record["theorem"]["trained"]["distance"]
    assert record["theorem"]["trained"]["rises"] == {"simplex": 0, "sum to one": 0, "free": 0}
    assert max(curves["free"][3:]) < 1e-9 < min(curves["simplex"])  # four classes: four teachers span everything
    assert record["schemes"]["best weights a node"]["distance"] < record["schemes"]["Average"]["distance"]
    assert record["bayes"]["distance_to_belief_propagation"] < 0.05

    def measured(seed: int, *_: object) -> dict:
        return {"measured": seed, "schemes": record["schemes"]}

    monkeypatch.setattr(study, "measure_seed", measured)
    assert run([0, 1], path, **quick)[0] == records[0]  # there already
    assert run([1], path, **quick)[0]["measured"] == 1
    assert run([0], path, **(quick | {"model": Csbm(nodes=130)}))[0]["measured"] == 0  # of another model
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b'"seed":1') + 5])  # killed while it wrote
    assert run([1], path, **quick)[0]["measured"] == 1

    fewer = {
        name: value for name, value in record["schemes"].items() if not name.startswith(("LOCAL", "STACK", "BOTH"))
    }
    older = record | {"schemes": fewer}
    (tmp_path / "older.jsonl").write_text(json.dumps(older) + "\n")
    assert run([0], tmp_path / "older.jsonl", **quick)[0]["measured"] == 0  # it lacks schemes
    assert "p\\* itself" in theory_table([older]) and "both, validation" not in theory_table([older])

    text = theory_table(records)
    assert "both, validation labels" in text
    assert "p\\* itself" in text and "(2) fails" in text and "nan" not in text
    pytest.importorskip("matplotlib")
    assert len(figure([records[0], copy.deepcopy(records[0])]).axes) == 3
