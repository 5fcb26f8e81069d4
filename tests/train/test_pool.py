"""Teachers that differ in encoder and view, and the pool that a fit finds by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agssl.base.errors import AgsslError, TrainingError
from agssl.base.rng import Rng
from agssl.config import DESCRIBED, EFFORTS, Settings, TeacherSpec
from agssl.data.graph import Graph
from agssl.data.splits import Split, make_split
from agssl.fitting.fit import fit
from agssl.fitting.job import Job, check, fit_seed
from agssl.fitting.summary import summarise
from agssl.metrics import softmax
from agssl.ops.graph_views import viewed
from agssl.simple import make_simple
from agssl.store.fitted import load_fitted, save_fitted
from agssl.train.context import Context
from agssl.train.infer import infer
from agssl.train.loop import Training
from agssl.train.methods import train_method
from agssl.train.pool import best_networks, find_pool, greedy, greedy_votes, next_round, round_sizes, try_teacher
from agssl.train.problem import Problem
from agssl.train.teachers import train_teacher
from agssl.train.transfer import answer
from reference.graphs import blocks_graph
from reference.settings import FIVE, quick


def context_of(graph: Graph, **changes: object) -> Context:
    settings = quick(**changes)
    return Context.of(graph, settings, Training(), Rng(0))


class TestSpecs:
    """What text names a teacher."""

    def test_a_task_an_encoder_and_settings_of_its_network(self) -> None:
        spec = TeacherSpec.parse("par:parts=9@gat:heads=4:view=knn/k=3:hidden=32")
        assert (spec.task, spec.encoder) == ("par:parts=9", "gat:heads=4")
        assert spec.settings == {"view": "knn:k=3", "hidden": 32}

    def test_tasks_alone_are_on_the_encoder_of_the_fit(self) -> None:
        assert Settings(tasks=("par", "clu")).pool == ("par", "clu")
        assert Settings(teachers=("par@gcn", "labels@mlp")).all_tasks == ("par",)

    @pytest.mark.parametrize(
        ("teacher", "words"),
        [
            ("par@gnc", "gcn"),
            ("labels@mlp:view=moon", "moon"),
            ("prr@gcn", "par"),
            ("@gcn", "write a task and an encoder"),
            ("par@", "write a task and an encoder"),
            ("par@linear", "is not trained"),
            ("labels@linear:hidden=3", "is not trained"),
            ("labels@gcn:hidden=no", "hidden"),
            ("labels@gcn:heads=3", "heads"),
            ("labels@lp:a=2", "between 0 and 1"),
        ],
    )
    def test_mistakes_are_one_line_with_the_nearest_name(self, teacher: str, words: str) -> None:
        with pytest.raises(AgsslError, match=words) as caught:
            check(Settings(teachers=(teacher,)))
        assert "\n" not in str(caught.value)

    def test_paper_is_the_five_tasks_on_a_gcn(self) -> None:
        assert Settings(teachers=("paper",), tasks=("dgi",), encoder="sage") == Settings(tasks=FIVE)

    def test_auto_is_the_default_and_gives_way_to_what_is_named(self) -> None:
        assert Settings() == Settings(teachers=("auto",)) and Settings().automatic
        assert Settings(tasks=("par",)).pool == Settings().replace(tasks=("par",)).pool == ("par",)
        assert Settings(encoder="sage").pool == Settings().replace(encoder="gcn").pool == FIVE
        assert not Settings(method="gcn").teachers and Settings(method="joint").tasks == FIVE
        assert Settings(tasks=FIVE).replace(teachers=("auto",)).automatic

    def test_a_pool_without_members_is_refused(self) -> None:
        with pytest.raises(AgsslError, match="names nobody"):
            DESCRIBED["teachers"].kind.parse(" , ")

    def test_auto_is_alone(self) -> None:
        with pytest.raises(AgsslError, match="leave the others out"):
            Settings(teachers=("auto", "par@gcn"))

    def test_a_pool_names_each_teacher_once(self) -> None:
        with pytest.raises(AgsslError, match="named twice"):
            Settings(teachers=("par@gcn", "par@gcn"))

    def test_teachers_are_for_agssl(self) -> None:
        with pytest.raises(AgsslError, match="method agssl"):
            Settings(method="joint", teachers=("par@gcn",))


class TestTeachers:
    """What each of them is."""

    def test_a_plain_task_is_the_same_teacher_as_ever(self) -> None:
        context = context_of(blocks_graph())
        plain, named = train_teacher(context, "clu"), train_teacher(context, "clu@gcn")
        assert torch.equal(plain.network.logits, named.network.logits)

    def test_labels_alone_are_the_method_gcn_on_that_encoder(self) -> None:
        graph = blocks_graph()
        teacher = train_teacher(context_of(graph), "labels@sage:hidden=4:feature_norm=l2")
        alone = train_method(graph, quick(method="gcn", encoder="sage", hidden=4, feature_norm="l2"))
        assert torch.equal(teacher.network.logits, alone.logits)

    def test_a_view_is_the_graph_with_other_edges(self) -> None:
        graph = blocks_graph()
        teacher = train_teacher(context_of(graph), "labels@gcn:view=knn/k=3")
        other = train_method(viewed(graph, "knn:k=3"), quick(method="gcn"))
        assert torch.equal(teacher.network.logits, other.logits)

    def test_a_network_on_a_view_predicts_on_that_view_of_any_graph(self) -> None:
        graph = blocks_graph()
        fitted = fit(graph, quick(method="gcn", view="knn")).fitted
        np.testing.assert_allclose(infer(fitted.model, graph).logits, fitted.logits, atol=1e-5)

    def test_a_classifier_without_training_is_told_the_training_labels_alone(self) -> None:
        graph = blocks_graph()
        assert graph.split is not None
        teacher = train_teacher(context_of(graph), "labels@linear")
        train = graph.split.train
        said = make_simple("linear").fit_predict(graph, train, graph.y[train], 3)
        np.testing.assert_array_equal(teacher.network.logits.numpy(), said)

    def test_it_is_held_out_fold_by_fold(self) -> None:
        graph = blocks_graph()
        graph = graph.with_split(make_split("cv:3", graph, Rng(0)))
        context = context_of(graph)
        teacher = train_teacher(context, "labels@lp")
        for fold, logits in zip(context.folds, teacher.network.fold_logits, strict=True):
            said = make_simple("lp").fit_predict(graph, fold.train_nodes, graph.y[fold.train_nodes], 3)
            np.testing.assert_array_equal(logits.numpy(), said)

    @pytest.mark.parametrize("weights_from", ["val", "crossfit", "train"])
    @pytest.mark.parametrize("spec", ["public", "cv:3"])
    def test_a_mixed_pool_teaches_a_student_of_another_kind(self, weights_from: str, spec: str) -> None:
        graph = blocks_graph()
        graph = graph if spec == "public" else graph.with_split(make_split(spec, graph, Rng(0)))
        teachers = ("clu@sage", "labels@linear", "labels@gcn:view=knn", "dgi@mlp")
        how = quick(teachers=teachers, student="mlp:hidden=4", weights_from=weights_from)
        fitted = fit(graph, how).fitted
        assert fitted.task_names == teachers and fitted.shape.encoder == "mlp" and fitted.shape.hidden == 4
        assert fitted.weights is not None and fitted.weights.shape == (60, 4)


def unlike_graph(nodes: int = 150) -> Graph:
    """Two classes that the features tell; edges know nothing of them, and there are many."""
    draw = np.random.default_rng(0)
    y = np.arange(nodes) % 2
    edges = draw.integers(nodes, size=(2, 12 * nodes))
    x = draw.normal(size=(nodes, 12)).astype(np.float32)
    x[:, 0] += np.where(y == 1, 2, -2)
    graph = Graph.from_arrays(edges, x, y, notify=False)
    order = draw.permutation(nodes)
    return graph.with_split(Split(np.sort(order[:50]), np.sort(order[50:100]), np.sort(order[100:])))


class TestAutomatic:
    """`--teachers auto`."""

    def test_where_neighbours_differ_the_pool_finds_encoders_that_cope(self) -> None:
        graph = unlike_graph()
        assert graph.split is not None
        settings = Settings(teachers=("auto",), epochs=60, hidden=16, patience=20)
        result = fit(graph, settings)
        test = graph.split.test
        right = (result.fitted.logits[test].argmax(1) == graph.y[test]).mean()
        tried = {one.name: one for one in result.tried}
        assert right >= 0.9
        assert tried["labels@gcn"].accuracy < 0.85 < 0.9 <= tried["labels@mlp"].accuracy
        assert (result.fitted.shape.encoder, result.fitted.shape.view) != ("gcn", "given")
        assert {one.name for one in result.tried if one.kept} == set(result.fitted.task_names)

    def test_it_is_deterministic_and_reads_no_test_label(self) -> None:
        graph = unlike_graph()
        assert graph.split is not None
        settings = quick(teachers=("auto",), alpha=None)
        y = graph.y.copy()
        y[graph.split.test] = 1 - y[graph.split.test]
        one = train_method(graph.hide_test(), settings)
        other = Graph(graph.indptr, graph.indices, graph.x, y, graph.classes, graph.split, graph.name)
        two = train_method(other.hide_test(), settings)
        assert [t.name for t in one.teachers] == [t.name for t in two.teachers]
        assert torch.equal(one.logits, two.logits)

    def test_an_encoder_that_refuses_the_graph_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agssl.encoders.prepared.MOST_BYTES", 10)
        pool = find_pool(context_of(blocks_graph(), teachers=("auto",), alpha=None))
        names = {one.name.partition(":feature_norm")[0] for one in pool.tried}
        assert "labels@hops" not in names and "labels@sage" in names

    def test_where_nothing_can_be_trained_it_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*args: object, **options: object) -> None:
            raise TrainingError("the loss is not finite")

        monkeypatch.setattr("agssl.train.context.train_network", broken)
        with pytest.raises(TrainingError, match="no network of the automatic pool"):
            find_pool(context_of(blocks_graph(), teachers=("auto",), alpha=None))

    def test_seeds_with_different_pools_are_summed_up(self, tmp_path: Path) -> None:
        settings = quick(teachers=("auto",), alpha=None)
        job = Job(unlike_graph(), settings, out=tmp_path)
        results = [fit_seed(job, seed) for seed in (0, 1)]
        summary = summarise("graph", settings, results)
        kept = [row for row in summary["teachers"] if row["kept"]]
        assert {row["name"] for row in kept} == {t["name"] for r in results for t in r["teachers"]}
        assert sum(row["weight"] for row in kept) == pytest.approx(1)
        assert any(not row["kept"] for row in summary["teachers"])
        assert sum(summary["task_weights"].values()) == pytest.approx(1)


class TestRounds:
    """What is tried next."""

    def test_first_every_scaling_then_the_others_with_the_better_one(self) -> None:
        settings = Settings()
        first = next_round(settings, {})
        variants = ("", ":feature_norm=l2", ":input_dropout=0")
        assert first == [f"labels@{name}{variant}" for variant in variants for name in ("mlp", "gcn")]
        found = dict(zip(first, (2.0, 0.9, 0.5, 1.0, 0.9, 0.9), strict=True))
        others = next_round(settings, found)
        assert "labels@sage:feature_norm=l2" in others and "labels@linear" in others

    def test_tasks_are_dealt_out_to_the_encoders_that_are_not_clearly_worse(self) -> None:
        settings = Settings()
        found: dict[str, float] = {}
        for _ in range(2):
            found |= dict.fromkeys(next_round(settings, found), 1.0)
        likely = {"labels@linear": 0.1, "labels@appnp": 0.5, "labels@gcn": 0.52, "labels@gcn:view=knn": 0.53}
        tasks = next_round(settings, found | likely)
        assert tasks == ["par@appnp", "clu@gcn", "dgi@appnp", "pairdis@gcn", "pairsim@appnp"]
        assert not next_round(settings, found | likely | dict.fromkeys(tasks, 1.0))
        assert best_networks(found | likely, 1) == ["appnp"]

    def test_no_task_is_trained_on_attention_where_another_encoder_is_near(self) -> None:
        found = {"labels@gat": 0.5, "labels@gcn": 0.54, "labels@sage": 0.7}
        assert best_networks(found, 3) == ["gat", "gcn"]
        assert best_networks(found, 3, cost=3.0) == ["gcn"]
        assert best_networks(found | {"labels@gcn": 0.6}, 3, cost=3.0) == ["gat"]

    def test_a_quick_one_has_no_tasks_and_the_best_more_of_all(self) -> None:
        sizes = {effort: sum(round_sizes(Settings(effort=effort))) for effort in EFFORTS}
        assert sizes["quick"] < sizes["standard"] < sizes["best"]
        assert round_sizes(Settings(effort="quick"))[2] == 0
        assert Settings(effort="quick").within_budget().generations == 1

    def test_a_seed_of_a_teacher_is_another_network(self) -> None:
        context = context_of(blocks_graph())
        one, two = (train_teacher(context, text) for text in ("labels@gcn", "labels@gcn:seed=1"))
        assert not torch.equal(one.network.logits, two.network.logits)

    def test_what_would_make_very_many_numbers_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agssl.train.pool.MOST_MADE", 10)
        context = context_of(blocks_graph(), teachers=("auto",), alpha=None)
        assert try_teacher(context, "labels@ppr") is None and try_teacher(context, "labels@gcn") is not None

    def test_attention_over_very_many_edges_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("agssl.train.pool.MOST_HELD", 10)
        context = context_of(blocks_graph(), teachers=("auto",), alpha=None)
        assert try_teacher(context, "labels@gat") is None and try_teacher(context, "labels@gcn") is not None


def test_greedy_takes_what_complements() -> None:
    said = np.array([[0.9, 0.9, 0.2, 0.2], [0.2, 0.2, 0.9, 0.9], [0.5, 0.5, 0.5, 0.5], [0.1, 0.1, 0.1, 0.1]])
    assert set(greedy(said)) == {0, 1}
    assert set(greedy(np.array([[0.9, 0.9], [0.3, 0.3]]))) == {0}
    votes = greedy_votes(said, Rng(0))
    assert votes.sum() == pytest.approx(1) and votes[3] == min(votes)


def test_of_two_that_say_the_same_greedy_takes_the_cheaper() -> None:
    said = np.array([[0.9, 0.4], [0.9, 0.4]])
    assert set(greedy(said, np.array([6.0, 1.0]))) == {1}


class TestAnswers:
    """Who answers, where the student is clearly worse than what it was taught."""

    @pytest.fixture
    def bad_student(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Students that are found to be worse than their teachers together, but not than one alone."""
        monkeypatch.setattr(
            "agssl.train.methods.clearly_better", lambda *words: "validation accuracy 10.0% after 90.0%"
        )
        monkeypatch.setattr("agssl.train.methods.better_alone", lambda *words: None)

    @pytest.mark.parametrize("spec", ["public", "cv:3"])
    def test_the_teachers_answer_for_a_student_that_is_clearly_worse(
        self, bad_student: None, spec: str, tmp_path: Path
    ) -> None:
        graph = blocks_graph()
        graph = graph if spec == "public" else graph.with_split(make_split(spec, graph, Rng(0)))
        fitted = fit(graph, quick(teachers=("auto",), alpha=None, integration="average")).fitted
        assert fitted.student_logits is not None and fitted.weights is not None
        save_fitted(fitted, tmp_path / "model")
        again = load_fitted(tmp_path / "model")
        np.testing.assert_array_equal(again.logits, fitted.logits)
        said = answer(again, graph)
        np.testing.assert_allclose(said, fitted.logits, atol=1e-5)  # it is the fitted graph
        np.testing.assert_allclose(softmax(said).sum(1), 1, atol=1e-5)
        assert np.abs(said - infer(again.model, graph).logits).max() > 1e-3

    def test_on_another_graph_the_kept_teachers_answer_or_the_student_where_they_cannot(
        self, bad_student: None, caplog: pytest.LogCaptureFixture
    ) -> None:
        graph, other = blocks_graph(), blocks_graph(seed=1)
        fitted = fit(graph, quick(teachers=("auto",), alpha=None, integration="average")).fitted
        kept = replace(fitted, teachers=None)
        np.testing.assert_array_equal(answer(kept, other), infer(fitted.model, other).logits)
        assert "the student answers" in caplog.text
        if fitted.teachers is not None:
            each = [[infer(one, other).logits for one in networks] for networks in fitted.teachers.networks]
            scaled = fitted.teachers.calibration
            said = torch.stack([torch.from_numpy(one[0]) for one in each])
            mean = torch.softmax(said if scaled is None else scaled(said), -1).mean(0)
            np.testing.assert_allclose(softmax(answer(fitted, other)), mean.numpy(), atol=1e-5)

    def test_the_best_teacher_teaches_alone_where_all_together_are_clearly_worse(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        compared: list[torch.Tensor] = []

        def better(problem: Problem, one: torch.Tensor, other: torch.Tensor) -> str:
            compared.append(one)
            return "validation accuracy 10.0% after 90.0%" if len(compared) == 2 else ""

        monkeypatch.setattr("agssl.train.methods.clearly_better", better)
        result = train_method(blocks_graph(), quick(teachers=("auto",), alpha=None, integration="average"))
        assert [teacher.network.heldout for teacher in result.teachers] == [compared[1]] and len(compared) == 3
        assert f"of {result.teachers[0].name} alone" in caplog.text
        assert result.weights is not None and result.weights.shape[1] == 1 and result.student_logits is None

    def test_named_pools_keep_their_student(self, bad_student: None) -> None:
        fitted = fit(blocks_graph(), quick(tasks=("clu",), generations=1)).fitted
        assert fitted.student_logits is None
