"""AutoSSL: its meta-gradient against finite differences, what it may read, and what it gives back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape
from agssl.pretext.prepare import make_task, prepared
from agssl.train import autossl
from agssl.train.loop import Schedule
from agssl.train.meta_gradient import Inner, adam_slope
from agssl.train.methods import train_method
from agssl.train.network import WeightedTask, forward
from agssl.train.outer import Homophily, LabelLoss, Outer, neighbour_disagreement, soft_assignments
from agssl.train.problem import Problem
from reference.graphs import blocks_graph
from reference.patience import assert_waits
from reference.settings import FIVE
from reference.settings import quick as settings

ALPHAS = {"par": 0.7, "clu": 2.0, "dgi": 1.5, "pairdis": 1.0, "pairsim": 0.4}
SCHEDULE = Schedule(lr=0.01, weight_decay=5e-3)
EPS = 1e-4  # of Adam; at its usual 1e-8 rounding errors of gradients that are zero would drown the differences


def small_problem(layers: int = 1) -> Problem:
    # sparse features, since they take the type of the weights
    return Problem.of(blocks_graph(density=0.4), Shape(8, 6, 3, layers, dropout=0.3, input_dropout=0.2))


def weighted_tasks(problem: Problem) -> list[WeightedTask]:
    made = [(name, make_task(name)) for name in FIVE]
    return [WeightedTask(n, task, prepared(task, problem.graph, None), ALPHAS[n]) for n, task in made]


def outer_of(name: str, problem: Problem) -> Outer:
    return LabelLoss(problem, problem.val_nodes) if name == "labels" else Homophily(problem, Rng(3))


def inner_of(problem: Problem, tasks: list[WeightedTask], joint: bool, head: bool) -> Inner:
    inner = Inner(problem, tasks, joint, head, SCHEDULE, Rng(0))
    inner.model.double()
    inner.heads.double()
    inner.optimizer.param_groups[0]["eps"] = EPS
    return inner


def plain_training(
    problem: Problem, tasks: list[WeightedTask], joint: bool, head: bool, weights: list[torch.Tensor]
) -> Network:
    """The same steps by `backward` on the weighted sum and an ordinary Adam."""
    start = inner_of(problem, tasks, joint, head)
    model, heads = start.model, start.heads
    everything = [*model.parameters(), *heads.parameters()]
    optimizer = torch.optim.Adam(everything, lr=SCHEDULE.lr, weight_decay=SCHEDULE.weight_decay, eps=EPS)
    for epoch, lambdas in enumerate(weights):
        output, views, batches = forward(problem, model, tasks, joint or head, Rng(5).child(epoch))
        total = torch.zeros((), dtype=torch.float64)
        for k, (w, g, batch) in enumerate(zip(tasks, heads, batches, strict=True)):
            total = total + w.weight * lambdas[k] * w.task.loss(g, views, batch, w.targets)
        if joint:
            total = total + problem.task_loss(output.logits)
        optimizer.zero_grad()
        total.backward()
        for p in everything:
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad
        if head and not joint:  # the head learns on an encoder that takes no notice
            output, _, _ = forward(problem, model, tasks, True, Rng(5).child(epoch))
            loss = problem.task_loss(output.logits)
            own = [model.head.layer.weight, model.head.layer.bias]
            for p, g in zip(own, torch.autograd.grad(loss, own), strict=True):
                p.grad.copy_(g)
        optimizer.step()
    return model


@pytest.mark.parametrize(
    ("joint", "outer", "layers"),
    [(True, "labels", 1), (False, "labels", 1), (True, "homophily", 1), (False, "homophily", 1), (True, "labels", 2)],
)
def test_the_meta_gradient_is_that_of_finite_differences(joint: bool, outer: str, layers: int) -> None:
    problem, head = small_problem(layers), outer == "labels"
    tasks = weighted_tasks(problem)
    before = [torch.tensor([0.2, 0.3, 0.1, 0.4, 0.2], dtype=torch.float64)] * 2
    last = torch.tensor([0.5, 0.2, 0.3, 0.1, 0.4], dtype=torch.float64)
    inner, judge = inner_of(problem, tasks, joint, head), outer_of(outer, problem)
    for epoch, weights in enumerate([*before, last]):
        inner.step(weights, Rng(5).child(epoch))
    value, meta = inner.meta_gradient(judge)

    centres = judge.centres if isinstance(judge, Homophily) else torch.empty(0)

    def outer_loss(weights: torch.Tensor) -> float:
        model = plain_training(problem, tasks, joint, head, [*before, weights])
        if not isinstance(judge, Homophily):
            return judge(model).item()
        hidden = model(problem.inputs, problem.plans.whole).hidden[0]
        spread = (reached[:, None] - centres).square().sum(-1).amin(1).mean()
        logits = -(hidden[:, None] - centres).square().sum(-1) / spread
        return neighbour_disagreement(torch.softmax(logits, dim=1), judge.source, judge.target).item()

    reached = (
        plain_training(problem, tasks, joint, head, [*before, last])(problem.inputs, problem.plans.whole)
        .hidden[0]
        .detach()
    )
    assert value == pytest.approx(outer_loss(last), rel=1e-9)
    step, noise = 1e-4, 1e-4 * meta.abs().max().item()  # one of the losses is rounded to float32
    for k in range(5):
        shift = step * torch.eye(5, dtype=torch.float64)[k]
        slope = (outer_loss(last + shift) - outer_loss(last - shift)) / (2 * step)
        assert meta[k].item() == pytest.approx(slope, rel=1e-4, abs=noise)
    assert meta.abs().max() > 1e-5


def test_the_slope_of_adam_is_that_of_finite_differences() -> None:
    draws = torch.randn(4, 30, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def steps(last: torch.Tensor) -> tuple[torch.Tensor, torch.optim.Adam]:
        parameter = torch.nn.Parameter(draws[0].clone())
        optimizer = torch.optim.Adam([parameter], lr=0.02)
        for gradient in (draws[1], draws[2], last):
            parameter.grad = gradient.clone()
            optimizer.step()
        return parameter.detach(), optimizer

    _, optimizer = steps(draws[3])
    (state,) = optimizer.state.values()
    slope = adam_slope(draws[3], state, optimizer.param_groups[0])
    expected = (steps(draws[3] + 1e-6)[0] - steps(draws[3] - 1e-6)[0]) / 2e-6
    torch.testing.assert_close(slope, expected, rtol=1e-5, atol=1e-8)


def test_the_slope_of_adam_is_finite_where_nothing_has_ever_pulled() -> None:
    parameter = torch.nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.Adam([parameter], lr=0.02)
    parameter.grad = torch.zeros(2)
    optimizer.step()
    assert torch.isfinite(adam_slope(parameter.grad, optimizer.state[parameter], optimizer.param_groups[0])).all()


def test_soft_assignments_and_disagreement_by_hand() -> None:
    hidden = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    centres = torch.tensor([[0.0, 1.0], [2.0, 1.0]])
    # squared distances (1, 5), (5, 1), (4, 8): nearest 1, 1, 4, in the mean 2
    near = 1 / (1 + np.exp(-4 / 2))
    expected = torch.tensor([[near, 1 - near], [1 - near, near], [near, 1 - near]], dtype=torch.float32)
    found = soft_assignments(hidden, centres)
    torch.testing.assert_close(found, expected)
    assert neighbour_disagreement(found, torch.tensor([0, 0]), torch.tensor([1, 2])).item() == pytest.approx(
        near - 0.5, rel=1e-5
    )


def test_homophily_reads_no_label_and_prefers_clusters_that_follow_edges() -> None:
    problem = small_problem()
    other = Graph(*(getattr(problem.graph, n) for n in ("indptr", "indices", "x")), (problem.graph.y + 1) % 3,
                  problem.graph.classes, problem.graph.split)  # fmt: skip
    model = Network(problem.shape, Rng(0))
    assert Homophily(problem, Rng(1))(model) == Homophily(Problem.of(other, problem.shape), Rng(1))(model)
    along, across = torch.eye(3)[torch.arange(60) % 3], torch.eye(3)[torch.arange(60) // 20]
    judge = Homophily(problem, Rng(1))
    assert neighbour_disagreement(along, judge.source, judge.target) < neighbour_disagreement(
        across, judge.source, judge.target
    )


@pytest.mark.parametrize(
    "how", [{}, {"strategy": "pf"}, {"autossl_objective": "homophily"}, {"weights_from": "crossfit"}]
)
def test_the_history_shows_lambda_and_the_final_training_uses_it(how: dict[str, str]) -> None:
    alphas = dict(ALPHAS)
    result = train_method(blocks_graph(), settings(method="autossl", alpha=alphas, epochs=6, **how))
    searches = [records for stage, records in result.history.items() if stage.startswith("search")]
    assert len(searches) == (2 if how.get("weights_from") == "crossfit" else 1)
    best = []
    for records in searches:
        assert [records[0][f"lambda{k}"] for k in range(5)] == pytest.approx([0.2] * 5)
        for record in records:
            assert all(0 <= record[f"lambda{k}"] <= 1 for k in range(5))
        assert any(records[-1][f"lambda{k}"] != pytest.approx(0.2) for k in range(5))
        top = min(records, key=lambda record: record["outer_loss"])
        best.append([top[f"lambda{k}"] for k in range(5)])
    found = np.mean(best, axis=0)
    assert result.weights.shape == (60, 5)
    np.testing.assert_allclose(result.weights, np.tile(found, (60, 1)), rtol=1e-5)
    assert dict(result.tasks) == alphas
    for record in result.history["autossl"]:
        if how.get("strategy") == "pf" and not record["pretrain"]:
            continue
        expected = sum(alphas[name] * weight * record.get(name, 0.0) for name, weight in zip(FIVE, found, strict=True))
        assert record["loss"] == pytest.approx(expected + record.get("task", 0.0), rel=1e-4)


def test_lambda_is_clamped_and_a_task_of_weight_zero_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    result = train_method(
        blocks_graph(), settings(method="autossl", tasks=("clu", "pairdis"), epochs=30, autossl_lr=5.0)
    )
    values = np.array([[record[f"lambda{k}"] for k in range(2)] for record in result.history["search"]])
    assert values.min() == 0 and values.max() == 1
    empty = lambda *_: (torch.zeros(5), {"search": []})  # noqa: E731
    monkeypatch.setattr("agssl.train.methods.search_weights", empty)
    plain = train_method(blocks_graph(), settings(method="autossl"))
    assert all(record["loss"] == record["task"] for record in plain.history["autossl"])


def test_the_outer_loss_reads_the_labels_that_it_is_told_to() -> None:
    problem, rng = small_problem(), Rng(0)
    (part, nodes), *more = autossl._heldout_parts(problem, settings(), rng)
    assert part is problem and nodes.tolist() == problem.val_nodes.tolist() and not more
    ((_, nodes),) = autossl._heldout_parts(problem, settings(weights_from="train"), rng)
    assert nodes.tolist() == problem.train_nodes.tolist()
    heldout_nodes = autossl._heldout_parts(problem, settings(weights_from="crossfit"), rng)
    for part, nodes in heldout_nodes:
        assert not set(part.train_nodes) & set(nodes)
        assert set(part.train_nodes) | set(nodes) == set(problem.train_nodes)
    assert sorted(np.concatenate([nodes for _, nodes in heldout_nodes])) == problem.train_nodes.tolist()


def test_patience_ends_a_search() -> None:
    result = train_method(blocks_graph(), settings(method="autossl", epochs=400, patience=3, lr=0.3))
    assert_waits(3, [(-record["outer_loss"], 0.0) for record in result.history["search"]])
    assert len(result.history["search"]) < 400


@pytest.mark.parametrize("outer", ["labels", "homophily"])
def test_evolution_takes_the_best_of_its_candidates(outer: str) -> None:
    how = settings(
        method="autossl", autossl_search="es", autossl_budget=10, tasks=("clu", "pairdis"), autossl_objective=outer
    )
    result = train_method(blocks_graph(), how)
    search = result.history["search"]
    assert len(search) == 10
    top = min(search, key=lambda record: record["outer_loss"])
    np.testing.assert_allclose(result.weights[0], [top["lambda0"], top["lambda1"]], rtol=1e-6)
    assert all(0 <= record[f"lambda{k}"] <= 1 for record in search for k in range(2))
    assert len({record["lambda0"] for record in search}) == 10
    again = train_method(blocks_graph(), how)
    assert again.history == result.history


def test_evolution_judges_by_the_outer_loss_of_a_whole_training() -> None:
    how = {"alpha": 1.0, "epochs": 5, "tasks": ("clu", "pairdis")}
    result = train_method(blocks_graph(), settings(method="autossl", autossl_search="es", autossl_budget=1, **how))
    (record,) = result.history["search"]
    chosen = {"clu": record["lambda0"], "pairdis": record["lambda1"]}
    assert dict(zip(chosen, result.weights[0].tolist(), strict=True)) == pytest.approx(chosen)
    assert record["outer_loss"] > 0 and "loss" in record


def test_evolution_of_one_task_is_refused() -> None:
    with pytest.raises(SettingsError, match="two tasks"):
        train_method(blocks_graph(), settings(method="autossl", autossl_search="es", tasks=("clu",)))


def test_one_task_can_be_weighed_by_gradient() -> None:
    result = train_method(blocks_graph(), settings(method="autossl", tasks=("clu",)))
    assert result.history["search"][0]["lambda0"] == 1.0


def test_the_estimator_saves_loads_and_explains_it(tmp_path: Path) -> None:
    from agssl import AGSSL

    model = AGSSL(method="autossl", tasks=("clu", "pairdis"), hidden=8, epochs=3, alpha=1.0).fit(blocks_graph())
    assert model.task_names_ == ("clu", "pairdis") and model.teachers_ == {}
    model.save(tmp_path / "model")
    loaded = AGSSL.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(), model.predict_proba())
    np.testing.assert_array_equal(loaded.task_weights_, model.task_weights_)
    opinions = {opinion.task: opinion for opinion in model.explain(7).opinions}
    for k, task in enumerate(model.task_names_):
        assert opinions[task].weight == pytest.approx(model.task_weights_[7, k])
        assert opinions[task].prediction is None
