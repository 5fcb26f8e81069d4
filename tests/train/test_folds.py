"""Labelled nodes held out in turn: what each network may know, what is measured, and what comes of all labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.splits import Split, make_split
from agssl.encoders import Network
from agssl.fitting.fit import fit
from agssl.fitting.job import measure
from agssl.metrics import accuracy
from agssl.store.checkpoints import Best, CheckpointStore, choice_of
from agssl.store.fitted import judged, load_fitted, save_fitted
from agssl.train.context import Context
from agssl.train.evaluate import evaluate
from agssl.train.loop import Schedule, Training
from agssl.train.methods import train_method
from agssl.train.setup import problem_of, schedule_on
from agssl.train.teachers import collect_knowledge, train_teacher
from reference.graphs import blocks_graph
from reference.settings import quick

METHODS = ("agssl", "gcn", "single", "joint", "autossl", "pareto", "auxts", "grand")


def folded(spec: str = "cv:3", nodes: int = 60) -> Graph:
    """Three classes of twenty nodes, all labelled, and all held out in turn."""
    graph = blocks_graph(nodes)
    return graph.with_split(make_split(spec, graph, Rng(0)))


def of_method(method: str) -> Settings:
    tasks = {"single": ("clu",), "grand": ("grand",)}.get(method, ("clu", "pairdis"))
    return quick(method=method, tasks=tasks, generations=2)


def context_of(graph: Graph, settings: Settings) -> Context:
    return Context(problem_of(graph, settings), settings, Training(Schedule(epochs=settings.epochs)), Rng(0))


def test_a_fold_trains_without_the_nodes_that_it_chooses_by() -> None:
    problem = problem_of(folded(), quick())
    seen = []
    for fold in problem.by_folds():
        assert not set(fold.train_nodes) & set(fold.val_nodes)
        assert set(fold.train_nodes) | set(fold.val_nodes) == set(problem.train_nodes) == set(range(60))
        assert fold.inputs is problem.inputs and fold.normalised is problem.normalised
        seen.append(fold.val_nodes)
    assert sorted(np.concatenate(seen)) == list(range(60))


def test_labels_of_a_fold_do_not_reach_its_network() -> None:
    graph = folded()
    assert graph.split is not None
    held = graph.split.folds()[0].val
    y = graph.y.copy()
    y[held] = (y[held] + 1) % 3
    other = Graph(graph.indptr, graph.indices, graph.x, y, graph.classes, graph.split, graph.name)
    one, two = (
        context_of(g, quick(epochs=1)).network((), Rng(0).child("gcn"), "gcn").fold_logits for g in (graph, other)
    )
    assert torch.equal(one[0], two[0])
    assert not torch.equal(one[1], two[1])


def test_held_out_logits_are_those_of_the_network_that_has_not_seen_the_node() -> None:
    context = context_of(folded(), quick())
    network = context.network((), Rng(0).child("gcn"), "gcn")
    for fold, logits in zip(context.folds, network.fold_logits, strict=True):
        at = torch.from_numpy(fold.val_nodes)
        assert torch.equal(network.heldout[at], logits[at])  # all sixty are held out, so places are nodes
    mean = torch.stack([logits.log_softmax(1) for logits in network.fold_logits]).mean(0)
    assert torch.equal(network.logits, mean)


def test_each_fold_is_taken_at_the_epoch_that_the_others_choose() -> None:
    module = nn.ModuleList([nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)])
    best = Best(folds=2)
    scores = [(0.1, 0.9), (0.8, 0.2), (0.5, 0.5)]  # what the others say of folds 0 and 1, epoch by epoch
    for epoch, pair in enumerate(scores):
        nn.init.constant_(module[0].weight, epoch)  # type: ignore[arg-type]
        nn.init.constant_(module[1].weight, epoch)  # type: ignore[arg-type]
        record = {"epoch": epoch} | choice_of(0, pair[0], 0.0) | choice_of(1, pair[1], 0.0)
        best.offer(epoch, (sum(pair), 0.0), module, record)
    assert best.state["0.weight"].item() == 1 and best.state["1.weight"].item() == 0
    again = Best(folds=2)
    for pair in scores:
        again.recall(choice_of(0, pair[0], 0.0) | choice_of(1, pair[1], 0.0))
    assert again.choices == best.choices


def test_what_chooses_for_a_fold_is_measured_on_the_other_folds() -> None:
    context = context_of(folded(), quick())
    models = [Network(fold.shape, Rng(number)) for number, fold in enumerate(context.folds)]
    record = evaluate(context.folds, models)
    for fold in range(3):
        right = np.concatenate(
            [
                (p.logits(m)[p.val_nodes].argmax(1) == p.labels[p.val_nodes]).numpy()
                for k, (p, m) in enumerate(zip(context.folds, models, strict=True))
                if k != fold
            ]
        )
        assert record[f"choice{fold}"] == pytest.approx(right.mean())


def test_lambda_of_a_fold_is_fitted_without_its_labels() -> None:
    context = context_of(folded(), of_method("agssl"))
    teachers = [train_teacher(context, text) for text in context.settings.tasks]
    for number, fold in enumerate(context.folds):
        known = collect_knowledge(context, teachers, number)
        assert set(known.nodes.tolist()) == set(fold.train_nodes)
    assert set(collect_knowledge(context, teachers).nodes.tolist()) == set(range(60))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("spec", ["cv:3", "holdout:0.2"])
def test_every_method_ends_with_one_network_of_all_labels(method: str, spec: str) -> None:
    graph = folded(spec)
    result = fit(graph, of_method(method))
    fitted = result.fitted
    assert graph.split is not None and fitted.heldout is not None
    nodes = graph.split.judges("val")
    assert len(fitted.heldout) == len(nodes)
    assert any(stage.endswith("all labels") for stage in result.history)
    metrics = measure(fitted, graph)
    assert metrics["test"] is None
    assert metrics["val"]["accuracy"] == pytest.approx(accuracy(graph.y[nodes], fitted.heldout))
    assert metrics["val"]["accuracy"] == pytest.approx(fitted.best["val_accuracy"])
    said = judged(fitted, graph.split, "val")
    assert said.teachers.shape[1:] == fitted.heldout.shape or not len(fitted.teacher_logits)


def test_nodes_that_measure_a_held_out_share_neither_train_nor_choose() -> None:
    graph = folded("holdout:0.2")
    assert graph.split is not None and graph.split.measure is not None
    context = context_of(graph, of_method("agssl"))
    (fold,) = context.folds
    measured = set(graph.split.measure)
    assert not measured & set(fold.train_nodes) and not measured & set(fold.val_nodes)
    teachers = [train_teacher(context, text) for text in context.settings.tasks]
    assert not measured & set(collect_knowledge(context, teachers, 0).nodes.tolist())
    assert measured < set(context.problem.train_nodes), "the last network has all labels"


def test_folds_only_stops_before_the_network_of_all_labels() -> None:
    graph = folded()
    assert not any("all labels" in s for s in train_method(graph, quick(method="gcn"), folds_only=True).history)


def test_pre_training_is_done_once_for_all_folds() -> None:
    history = train_method(folded(), quick(method="single", tasks=("clu",), strategy="pf")).history["teacher clu"]
    assert sum(record["pretrain"] for record in history) == 3  # three epochs, not three for each fold


def test_a_model_with_held_out_logits_goes_to_a_file_and_back(tmp_path: Path) -> None:
    fitted = fit(folded(), of_method("agssl")).fitted
    save_fitted(fitted, tmp_path / "model")
    again = load_fitted(tmp_path / "model")
    assert again.heldout is not None and again.teacher_heldout is not None
    np.testing.assert_array_equal(again.heldout, fitted.heldout)
    np.testing.assert_array_equal(again.teacher_heldout, fitted.teacher_heldout)


class _Stop(Exception):
    pass


@pytest.mark.parametrize("stage", ["teacher pairdis", "student", "student, all labels"])
def test_an_interrupted_fit_of_folds_goes_on_to_the_same_bits(tmp_path: Path, stage: str) -> None:
    graph, how = folded(), of_method("agssl").replace(epochs=6)
    whole = train_method(graph, how)
    store = CheckpointStore(tmp_path, every=0, min_seconds=0)

    def watch(name: str, record: dict[str, float]) -> None:
        if name == stage and record["epoch"] == 1:
            raise _Stop

    with pytest.raises(_Stop):
        train_method(graph, how, watch=watch, checkpoints=store)
    again = train_method(graph, how, checkpoints=store)
    assert torch.equal(again.logits, whole.logits)
    assert again.heldout is not None and whole.heldout is not None
    assert torch.equal(again.heldout.logits, whole.heldout.logits)


@pytest.mark.parametrize("spec", ["cv:3", "holdout:0.2"])
def test_a_split_of_a_run_is_read_with_its_folds(tmp_path: Path, spec: str) -> None:
    graph = folded(spec)
    assert graph.split is not None
    np.savez(tmp_path / "split.npz", **graph.split.to_arrays())
    again = make_split(str(tmp_path / "split.npz"), graph, Rng(5))
    assert isinstance(again, Split) and again.fold is not None and graph.split.fold is not None
    np.testing.assert_array_equal(again.fold, graph.split.fold)
    np.testing.assert_array_equal(again.judges("val"), graph.split.judges("val"))


def test_few_held_out_labels_do_not_choose_among_the_first_epochs() -> None:
    settings = Settings()
    assert schedule_on(folded(nodes=60), settings).least == 35  # 50 (1 - 60 / 200)
    assert schedule_on(folded(nodes=240), settings).least == 0
    assert schedule_on(folded("fraction:0.6/0.2/0.2"), settings).least == 0
