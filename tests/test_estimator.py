"""AGSSL as a scikit-learn estimator."""

from __future__ import annotations

import inspect
import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from agssl import AGSSL, Graph
from agssl.base.errors import DataError, GraphError, SettingsError
from agssl.cli.main import main
from agssl.config import DESCRIBED, Settings
from agssl.data.splits import Split
from agssl.explain.layout import flat_map
from agssl.fitting.seeds import jobs_for
from agssl.fitting.time_left import stages
from agssl.pretext.base import TASKS
from agssl.shipped import settings_for
from agssl.store.run import Run
from reference.graphs import blocks_graph, build

FAST = {"tasks": ("clu", "pairdis"), "hidden": 8, "epochs": 4, "lr": 0.05, "weights_from": "train", "alpha": 1.0}


def named_graph() -> Graph:
    return replace(blocks_graph(), classes=("ant", "bee", "cat"))


@pytest.fixture(scope="module")
def fitted() -> AGSSL:
    return AGSSL(**FAST, random_state=3).fit(named_graph())


def test_the_constructor_only_stores() -> None:
    wrong = {"tasks": "nonsense", "hidden": -4, "tau": "hot"}
    model = AGSSL(**wrong)
    for name, value in wrong.items():
        assert getattr(model, name) is value
    assert set(vars(model)) == set(inspect.signature(AGSSL.__init__).parameters) - {"self"}
    with pytest.raises(SettingsError):
        model.fit(named_graph())


def test_params_can_be_read_set_and_cloned() -> None:
    model = AGSSL(**(FAST | {"alpha": {"clu": 2.0}}), random_state=7)
    params = model.get_params()
    assert params["hidden"] == 8
    assert params["random_state"] == 7
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == params
    assert copy.set_params(hidden=16, tau=2.0) is copy
    assert (copy.hidden, copy.tau, model.hidden) == (16, 2.0, 8)
    with pytest.raises(ValueError, match="hiden"):
        copy.set_params(hiden=3)


OWN = {"random_state": 0, "split": "auto", "cache": None, "device": "cpu", "threads": 1, "n_jobs": None, "verbose": 0}


def test_parameters_are_the_settings_and_a_few_of_its_own() -> None:
    assert AGSSL().get_params() == vars(Settings()) | OWN
    assert AGSSL().settings() == Settings()


def test_the_order_of_parameters_that_may_come_without_a_name_is_fixed() -> None:
    parameters = inspect.signature(AGSSL).parameters.values()
    order = ["tasks", "integration", "strategy", "hidden", "layers", "dropout", "alpha", "beta", "tau", "lr"]
    order += ["weight_decay", "epochs", "patience", "random_state"]
    assert [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD] == order
    assert {p.kind for p in parameters} == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("name", [*DESCRIBED, *OWN])
def test_help_describes_every_parameter(name: str) -> None:
    described = inspect.getdoc(AGSSL).partition("Args:")[2].partition("Attributes:")[0]
    (text,) = re.findall(rf"^    {name}: (.*(?:\n     .*)*)", described, re.MULTILINE)
    text = " ".join(text.split())
    assert f"by default {AGSSL().get_params()[name]!r}" in text.replace("By default", "by default")
    assert name in OWN or DESCRIBED[name].help in text


def test_models_are_told_apart_by_identity() -> None:
    model = AGSSL()
    assert model != AGSSL() and len({model, AGSSL()}) == 2


def test_a_dataset_brings_its_shipped_settings() -> None:
    shipped = AGSSL.for_dataset("Computers", teachers=("paper",), hidden=16, random_state=3)
    expected, path = settings_for("computers", {"hidden": 16, "teachers": ("paper",)})
    assert path is not None and expected != Settings(hidden=16)
    assert shipped.settings() == expected and shipped.random_state == 3
    assert AGSSL.for_dataset("digits").get_params() == AGSSL().get_params()
    with pytest.raises(SettingsError, match="did you mean 'computers'"):
        AGSSL.for_dataset("computrs")
    with pytest.raises(TypeError, match="hiden"):
        AGSSL.for_dataset("computers", hiden=16)


def test_a_loaded_model_has_its_settings_again(tmp_path: Path) -> None:
    model = AGSSL(**FAST, skip_weight=0.2, patience=None, random_state=3).fit(named_graph())
    model.save(tmp_path / "model")
    loaded = AGSSL.load(tmp_path / "model")
    assert loaded.settings() == model.settings() and loaded.random_state == 3


def test_a_clone_of_a_fitted_model_is_not_fitted(fitted: AGSSL) -> None:
    with pytest.raises(NotFittedError):
        clone(fitted).predict()


@pytest.mark.parametrize("method", ["predict", "predict_proba", "embed", "score", "explain", "save"])
def test_nothing_works_before_fit(method: str, tmp_path: Path) -> None:
    arguments = {"explain": (0,), "save": (tmp_path / "m",)}.get(method, ())
    with pytest.raises(NotFittedError):
        getattr(AGSSL(), method)(*arguments)


def test_fit_returns_itself_and_learned_things_end_in_an_underscore() -> None:
    model = AGSSL(**FAST)
    before = set(vars(model))
    assert model.fit(named_graph()) is model
    assert all(name.endswith("_") for name in set(vars(model)) - before)


def test_predictions_fit_together(fitted: AGSSL) -> None:
    probabilities = fitted.predict_proba()
    assert probabilities.shape == (60, 3)
    np.testing.assert_allclose(probabilities.sum(1), 1)
    assert fitted.classes_.tolist() == ["ant", "bee", "cat"]
    assert fitted.predict().tolist() == fitted.classes_[probabilities.argmax(1)].tolist()
    assert fitted.embed().shape == (60, 8)
    assert fitted.n_features_in_ == 8


def test_task_weights_are_teacher_weights_of_each_node(fitted: AGSSL) -> None:
    assert fitted.task_names_ == ("clu", "pairdis")
    assert fitted.task_weights_.shape == (60, 2)
    np.testing.assert_allclose(fitted.task_weights_.sum(1), 1, rtol=1e-5)
    assert {name: logits.shape for name, logits in fitted.teachers_.items()} == {"clu": (60, 3), "pairdis": (60, 3)}


def test_the_history_is_kept_by_stage(fitted: AGSSL) -> None:
    assert {"teacher clu", "teacher pairdis", "student"} <= set(fitted.history_)
    last = list(fitted.history_)[-1]
    assert last.startswith("student")
    assert fitted.best_ in fitted.history_[last]


def test_fitting_twice_gives_the_same_bits(fitted: AGSSL) -> None:
    again = AGSSL(**FAST, random_state=3).fit(named_graph())
    np.testing.assert_array_equal(again.predict_proba(), fitted.predict_proba())
    other = AGSSL(**FAST, random_state=4).fit(named_graph())
    assert not np.array_equal(other.predict_proba(), fitted.predict_proba())


def test_a_seed_of_numpy_is_that_seed(fitted: AGSSL, tmp_path: Path) -> None:
    model = AGSSL(**FAST, random_state=np.int64(3)).fit(named_graph())
    np.testing.assert_array_equal(model.predict_proba(), fitted.predict_proba())
    model.save(tmp_path / "model")
    assert AGSSL.load(tmp_path / "model").random_state == 3


def test_arrays_give_what_the_graph_gives(fitted: AGSSL) -> None:
    graph = named_graph()
    y = np.full(60, -1)
    y[[*graph.split.train, *graph.split.val, *graph.split.test]] = graph.y
    triple = (graph.adjacency(), graph.x, y)
    model = AGSSL(**FAST, split="per-class:3/3", random_state=3).fit(triple)
    same = AGSSL(**FAST, split="per-class:3/3", random_state=3).fit(graph)
    np.testing.assert_array_equal(model.predict_proba(), same.predict_proba())
    assert model.graph_.split.sizes() == {"train": 9, "val": 9, "test": 42}


def test_all_labelled_nodes_and_no_others_are_in_the_split() -> None:
    graph = named_graph()
    y = graph.y.copy()
    y[::4] = -1
    model = AGSSL(**FAST).fit((graph.adjacency(), graph.x, y))
    split = model.graph_.split
    labelled = np.flatnonzero(y >= 0).tolist()
    assert split.train.tolist() == split.val.tolist() == labelled and not len(split.test)
    assert model.predict().shape == (60,)
    split = AGSSL(**FAST, split="benchmark").fit((graph.adjacency(), graph.x, y)).graph_.split
    assert sorted([*split.train, *split.val, *split.test]) == labelled


def test_labels_can_be_given_apart() -> None:
    graph = named_graph()
    names = np.array(["x", "y", "z"])[graph.y]
    model = AGSSL(**FAST).fit((graph.adjacency(), graph.x, None), names)
    assert model.classes_.tolist() == ["x", "y", "z"]
    other = AGSSL(**FAST).fit(graph, names)
    np.testing.assert_array_equal(model.predict(), other.predict())


def test_pyg_data_gives_what_the_graph_gives(fitted: AGSSL) -> None:
    pytest.importorskip("torch_geometric")
    data = named_graph().to_pyg()
    model = AGSSL(**FAST, random_state=3).fit(data)
    np.testing.assert_array_equal(model.predict_proba(), fitted.predict_proba())
    np.testing.assert_allclose(fitted.predict_proba(data), fitted.predict_proba(), atol=1e-6)


def test_score_is_accuracy_on_the_test_nodes() -> None:
    graph = named_graph()
    model = AGSSL(**(FAST | {"method": "gcn", "epochs": 5})).fit(graph)
    truth = np.array(graph.classes)[graph.y]
    right = model.predict() == truth
    everyone, test, train = (float(right[part].mean()) for part in (slice(None), graph.split.test, graph.split.train))
    assert len({everyone, test, train}) == 3
    assert model.score() == pytest.approx(test)
    assert model.score(graph) == pytest.approx(everyone)
    assert model.score(graph, truth) == pytest.approx(everyone)
    assert model.score(graph, model.predict()) == 1
    assert model.score(graph, truth, sample_weight=right.astype(float)) == 1


def test_a_graph_with_other_features_is_refused(fitted: AGSSL) -> None:
    with pytest.raises(GraphError, match="5 features"):
        fitted.predict(build(12, [(0, 1)], features=5))


def test_an_explanation_tells_tasks_weights_opinions_and_neighbours(fitted: AGSSL) -> None:
    graph = named_graph()
    found = fitted.explain(42)
    assert found.index == 42
    assert found.part == "test"
    assert found.label == graph.classes[graph.y[42]]
    assert found.degree == graph.degree[42] == len(found.neighbours)
    assert [int(n.node) for n in found.neighbours] == graph.neighbours(42).tolist()
    assert [n.prediction for n in found.neighbours] == fitted.predict()[graph.neighbours(42)].tolist()
    assert found.prediction == fitted.predict()[42]
    assert found.probability == pytest.approx(fitted.predict_proba()[42].max())
    weights = {o.task: o.weight for o in found.opinions}
    assert weights == pytest.approx(dict(zip(fitted.task_names_, fitted.task_weights_[42].tolist(), strict=True)))
    assert [o.weight for o in found.opinions] == sorted(weights.values(), reverse=True)
    for opinion in found.opinions:
        said = torch.softmax(torch.from_numpy(fitted.teachers_[opinion.task][42]).double(), 0)
        assert opinion.prediction == fitted.classes_[said.argmax()]
        assert opinion.probability == pytest.approx(said.max().item())
    assert found.to_dict()["index"] == 42


@pytest.mark.parametrize("node", [60, -1, "nobody"])
def test_a_node_that_does_not_exist_can_not_be_explained(fitted: AGSSL, node: int | str) -> None:
    with pytest.raises(GraphError, match=str(node)):
        fitted.explain(node)


def test_the_split_of_the_graph_is_used_unless_another_is_asked_for() -> None:
    graph = named_graph()
    assert AGSSL(**FAST).fit(graph).graph_.split is graph.split
    other = AGSSL(**FAST, split="fraction:0.5/0.2/0.3").fit(graph).graph_.split
    assert other.sizes()["train"] == 30
    assert isinstance(other, Split)


def test_a_fit_takes_one_thread_like_the_command_line_and_gives_the_others_back() -> None:
    seen: set[int] = set()
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        watch = lambda *_: seen.add(torch.get_num_threads())  # noqa: E731
        AGSSL(**FAST).fit(named_graph(), watch=watch)
        assert seen == {1} and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_watcher_sees_every_epoch() -> None:
    seen = []
    model = AGSSL(**FAST).fit(named_graph(), watch=lambda stage, record: seen.append((stage, record["epoch"])))
    assert seen.count(("student", 3)) == 1
    assert len(seen) == sum(len(history) for history in model.history_.values())


def test_a_cache_folder_is_filled(tmp_path: Path) -> None:
    AGSSL(**FAST, cache=str(tmp_path)).fit(named_graph())
    assert len(list(tmp_path.iterdir())) == 2


def test_the_repr_shows_what_came_of_the_fit(fitted: AGSSL, tmp_path: Path) -> None:
    assert "fitted" not in repr(AGSSL(tau=2.0)) and "tau=2.0" in repr(AGSSL(tau=2.0))
    text = repr(fitted)
    assert f"test {fitted.score():.1%}" in text and f"validation {fitted.best_['val_accuracy']:.1%}" in text
    most = fitted.task_names_[int(fitted.task_weights_.mean(0).argmax())]
    assert f"mean trust {most} {fitted.task_weights_.mean(0).max():.2f}" in text
    assert f"{fitted.score():.1%}" in fitted._repr_mimebundle_()["text/html"]
    fitted.save(tmp_path / "model")
    assert "test" not in repr(AGSSL.load(tmp_path / "model")).splitlines()[-1]  # it does not carry its graph


@pytest.mark.parametrize("colour", ["class", "task", "confidence", "right"])
def test_a_map_shows_every_node_once(fitted: AGSSL, colour: str) -> None:
    pytest.importorskip("matplotlib")
    figure = fitted.plot_embedding(colour, layout="pca")
    drawn = np.concatenate([np.asarray(points.get_offsets()) for points in figure.axes[0].collections])
    placed = flat_map(fitted.embed(), "pca")
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, placed))
    if colour == "right":
        wrong = (fitted.fitted_.logits.argmax(1) != fitted.graph_.y) & (fitted.graph_.y >= 0)
        assert f"wrong  ({wrong.sum()})" in [text.get_text() for text in figure.legends[0].get_texts()]
    with pytest.raises(SettingsError, match="unknown colour"):
        fitted.plot_embedding("loss")


def test_without_a_random_state_each_fit_has_a_seed_of_its_own() -> None:
    model = AGSSL(**FAST, random_state=None)
    np.random.seed(5)  # noqa: NPY002 (scikit-learn's convention)
    seeds = [model.fit(named_graph()).seed_ for _ in range(2)]
    assert seeds[0] != seeds[1]
    np.random.seed(5)  # noqa: NPY002
    assert model.fit(named_graph()).seed_ == seeds[0]
    again = AGSSL(**FAST, random_state=seeds[0]).fit(named_graph())
    np.testing.assert_array_equal(again.predict_proba(), model.predict_proba())


def test_a_loaded_model_explains_scores_and_plots_when_it_is_given_the_graph(fitted: AGSSL, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    loaded, graph = AGSSL.load(tmp_path / "model"), named_graph()
    assert loaded.explain(42, graph) == fitted.explain(42)
    assert loaded.score(graph) == fitted.score(graph)
    assert loaded.explain(1, build(12, [(0, 1)], features=8)).neighbours[0].node == "0"  # a node of another graph
    with pytest.raises(DataError, match="no learning curves"):
        loaded.plot_history()
    pytest.importorskip("matplotlib")
    assert loaded.plot_weights_by_degree(graph).axes and loaded.plot_embedding(layout="pca", graph=graph).axes


def test_a_model_of_a_run_finds_its_graph_and_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    words = ["--method", "gcn", "--epochs", "3", "--hidden", "4", "--out", str(tmp_path / "run")]
    assert main(["fit", "digits", *words]) == 0
    model = AGSSL.load(tmp_path / "run")
    assert model.classes_.tolist() == list(range(10))
    assert model.explain(3).index == 3
    assert model.score() == Run.open(tmp_path / "run").metrics["test_accuracy"]["mean"]
    assert [record["epoch"] for record in model.history_["gcn"]] == [0, 1, 2]


def test_verbose_tells_of_the_fit_and_silence_is_the_default(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []
    with caplog.at_level(logging.INFO, "agssl"):
        quiet = AGSSL(**FAST).fit(named_graph())
    assert capfd.readouterr() == ("", "")
    assert any(message.startswith("fitted to ") for message in caplog.messages)
    loud = AGSSL(**FAST, verbose=1).fit(named_graph(), watch=lambda stage, record: seen.append(stage))
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == "" and any(f"test {loud.score():.1%} (95% interval " in line for line in lines)
    found = loud.verdict()
    assert f"agssl: labels: {found['labels']['train']} trained" in err and "agssl: beside it: majority " in err
    assert [line for line in lines if "WARNING" in line] == [f"agssl: WARNING: {text}" for text in found["warnings"]]
    assert err.startswith("agssl: ") and seen
    np.testing.assert_array_equal(loud.predict_proba(), quiet.predict_proba())
    assert set(stages(loud.settings())) >= set(loud.history_)


def test_a_model_that_names_one_class_is_warned_of_without_being_asked(caplog: pytest.LogCaptureFixture) -> None:
    graph = blocks_graph(120)
    rare = np.where(graph.y == 0, "yes", "no")
    edges = (np.repeat(np.arange(120), graph.degree), graph.indices)
    noise = np.random.default_rng(0).normal(size=(120, 3))
    how = {"method": "gcn", "epochs": 20, "split": "fraction:0.3/0.3/0.4", "metric": "log_loss"}
    model = AGSSL(**how, class_weight={"no": 1000, "yes": 0.001}).fit((np.stack(edges), noise, rare))
    assert set(model.predict()[model.graph_.split.test]) == {"no"}
    assert "predicts one class only" in caplog.text


@pytest.mark.parametrize("state", [-1, 1.5, "zero"])
def test_a_random_state_that_is_none_is_refused(state: Any) -> None:
    with pytest.raises(SettingsError, match="random_state is .* whole number of 0 or more"):
        AGSSL(**FAST | {"random_state": state}).fit(named_graph())


def test_a_generator_of_numpy_is_a_random_state_and_none_is_a_class_weight() -> None:
    first, again = (AGSSL(**FAST | {"random_state": np.random.default_rng(3)}).fit(named_graph()) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(), again.predict_proba())
    assert AGSSL(**FAST, class_weight=None).settings().class_weight == "none"


def test_bits_do_not_depend_on_n_jobs() -> None:
    seen: dict[int | None, list[str]] = {None: [], 2: []}
    fitted = []
    for jobs, heard in seen.items():
        model = AGSSL(**FAST | {"tasks": ("clu:clusters=3", "pairdis")}, n_jobs=jobs)
        watch = heard.append
        fitted.append(model.fit(named_graph(), watch=lambda stage, record, watch=watch: watch(stage)))
    one, two = fitted
    np.testing.assert_array_equal(one.predict_proba(), two.predict_proba())
    np.testing.assert_array_equal(one.task_weights_, two.task_weights_)
    assert one.history_ == two.history_ and seen[None] == seen[2]


def test_n_jobs_is_what_scikit_learn_means_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agssl.fitting.seeds.cores", lambda: 3)
    graph, pool = named_graph(), Settings(tasks=("clu", "pairdis"), alpha=1.0, batch="full")
    asked = {jobs: jobs_for(graph, pool, jobs) for jobs in (None, 1, 2, -1, 9)}
    assert asked == {None: 1, 1: 1, 2: 2, -1: 2, 9: 2}  # no more than there are trainings
    assert jobs_for(graph, pool.replace(tasks=("clu", "pairdis", "dgi", "par")), -1) == 3
    assert jobs_for(graph, pool.replace(tasks=("clu", "pairdis", "dgi", "par")), -1, threads=2) == 1
    with pytest.raises(SettingsError, match="n_jobs = -2"):
        jobs_for(graph, pool, -2)
    monkeypatch.setattr(type(TASKS), "known_elsewhere", lambda self, name: name != "clu")
    assert jobs_for(graph, pool, 2) == 1
