"""Teachers: joint training, pre-training, the weight of a task, folds."""

from __future__ import annotations

import pytest
import torch

from agssl.base.errors import SettingsError
from agssl.data.graph import Graph
from agssl.encoders import Shape
from agssl.pretext import ALPHA_GRID, TASKS
from agssl.train import context, network
from agssl.train.methods import train_method
from agssl.train.problem import Problem
from reference.graphs import blocks_graph, random_graph
from reference.settings import FIVE
from reference.settings import quick as settings


@pytest.mark.parametrize("strategy", ["jt", "pf"])
def test_a_teacher_uses_its_task(strategy: str) -> None:
    graph = blocks_graph()
    stage = "teacher clu"
    history = train_method(graph, settings(method="single", tasks=("clu",), strategy=strategy, alpha=1.0)).history[
        stage
    ]
    before = [r for r in history if r["pretrain"]]
    after = [r for r in history if not r["pretrain"]]
    if strategy == "jt":
        assert not before
        assert all(r["loss"] == pytest.approx(r["task"] + r["clu"], rel=1e-5) for r in after)
    else:
        assert len(before) == len(after) == 3
        assert all("task" not in r and r["loss"] == pytest.approx(r["clu"]) for r in before)
        assert all("clu" not in r and r["loss"] == pytest.approx(r["task"]) for r in after)


def test_pre_training_reads_no_label() -> None:
    graph = blocks_graph()
    how = settings(method="single", tasks=("clu",), strategy="pf")
    other = Graph(graph.indptr, graph.indices, graph.x, (graph.y + 1) % 3, graph.classes, graph.split, graph.name)
    ours, theirs = (train_method(g, how).history["teacher clu"] for g in (graph, other))
    assert [r for r in ours if r["pretrain"]] == [r for r in theirs if r["pretrain"]]
    assert ours != theirs


def test_fine_tuning_starts_from_the_pre_trained_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoints: list[tuple[torch.Tensor, torch.Tensor]] = []  # the encoder before a stage, and at its best
    original = network.train

    def spy(module, parameters, objective, schedule, rng, best, **more):  # type: ignore[no-untyped-def]
        start = module[0].encoder.layers[0].weight.detach().clone()
        yield from original(module, parameters, objective, schedule, rng, best, **more)
        checkpoints.append((start, best.state["0.encoder.layers.0.weight"]))

    monkeypatch.setattr(network, "train", spy)
    train_method(blocks_graph(), settings(method="single", tasks=("clu",), strategy="pf"))
    (start, pre_trained), (fine_start, _) = checkpoints
    assert torch.equal(fine_start, pre_trained)
    assert not torch.equal(start, pre_trained)


def test_alpha_is_the_weight_of_the_task_in_the_loss() -> None:
    own = TASKS["clu"].alphas
    for alpha, choices in ((None, own), (7.0, (7.0,)), ({"clu": 0.5}, (0.5,)), ({}, own)):
        result = train_method(blocks_graph(), settings(method="single", tasks=("clu",), alpha=alpha))
        expected = result.teachers[0].alpha
        assert expected in choices
        for record in result.history["teacher clu"]:
            assert record["loss"] == pytest.approx(record["task"] + expected * record["clu"], rel=1e-5)


def test_alpha_auto_picks_the_best_by_validation() -> None:
    graph = blocks_graph(seed=2)
    alone = {}
    for alpha in ALPHA_GRID:
        best = train_method(graph, settings(method="single", tasks=("clu",), alpha=alpha, epochs=6)).best
        alone[alpha] = (best["val_accuracy"], -best["val_loss"])
    assert len(set(alone.values())) > 1
    picked = train_method(graph, settings(method="single", tasks=("clu",), alpha="auto", epochs=6)).teachers[0]
    assert picked.alpha == max(alone, key=lambda alpha: alone[alpha])
    assert picked.network.best["val_accuracy"] == pytest.approx(alone[picked.alpha][0])
    assert picked.network.best["val_loss"] == pytest.approx(-alone[picked.alpha][1], rel=1e-4)


def test_each_teacher_of_agssl_is_the_single_fit_of_its_task() -> None:
    graph = blocks_graph()
    result = train_method(graph, settings(tasks=("clu", "pairdis"), weights_from="train"))
    for teacher in result.teachers:
        alone = train_method(graph, settings(method="single", tasks=(teacher.name,)))
        torch.testing.assert_close(teacher.network.logits, alone.logits, atol=1e-5, rtol=1e-5)


def test_joint_training_gives_every_task_its_share() -> None:
    alphas = dict.fromkeys(FIVE, 2.0) | {"dgi": 7.0}
    history = train_method(blocks_graph(), settings(method="joint", alpha=alphas)).history["joint"]
    for record in history:
        expected = record["task"] + sum(record[name] * alphas[name] for name in FIVE) / 5
        assert record["loss"] == pytest.approx(expected, rel=1e-4)


def test_a_fold_is_held_out_of_its_teachers_training() -> None:
    graph = blocks_graph()
    problem = Problem.of(graph, Shape(8, 4, 3))
    fold = problem.with_training(problem.train_nodes[2:])
    assert fold.train_nodes.tolist() == problem.train_nodes[2:].tolist()
    assert len(fold.train_labels) == len(problem.train_nodes) - 2
    assert fold.adjacency is problem.adjacency
    assert fold.val_nodes.tolist() == problem.val_nodes.tolist()


def test_two_variants_of_one_task_are_told_apart() -> None:
    tasks = ("pairsim", "pairsim:target=feature", "clu")
    result = train_method(blocks_graph(), settings(tasks=tasks, weights_from="train"))
    assert len({teacher.name for teacher in result.teachers}) == 3
    assert len([stage for stage in result.history if stage.startswith("teacher")]) == 3
    assert result.weights.shape == (60, 3)


@pytest.mark.parametrize("method", ["agssl", "joint"])
def test_a_task_named_twice_is_refused(method: str) -> None:
    with pytest.raises(SettingsError, match="par"):
        train_method(blocks_graph(), settings(method=method, tasks=("par", "clu", "par")))


def test_two_tasks_may_mask_the_same_edge_in_joint_training() -> None:
    tasks = ("pairsim:pairs=50", "pairsim:pairs=49")
    result = train_method(random_graph(40, 60), settings(method="joint", tasks=tasks))
    assert torch.isfinite(result.logits).all()


def test_every_label_is_held_out_of_one_fold_by_which_it_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, held_out = blocks_graph(90), []
    everyone = set(graph.split.train.tolist())
    original = context.train_network

    def spy(problems, *rest, **options):  # type: ignore[no-untyped-def]
        missing = everyone - set(problems[0].train_nodes.tolist())
        if missing:
            held_out.append(missing)
        return original(problems, *rest, **options)

    monkeypatch.setattr(context, "train_network", spy)
    train_method(graph, settings(tasks=("clu", "dgi"), weights_from="crossfit", folds=3))
    assert len(held_out) == 2 * 3
    for folds in (held_out[:3], held_out[3:]):
        assert set().union(*folds) == everyone
        assert sum(len(fold) for fold in folds) == len(everyone)
    assert held_out[:3] == held_out[3:], "all teachers are to be judged by the same folds"
