"""`agssl.cross_validate` and `agssl.tune`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.base import clone

import agssl
from agssl import AGSSL, Graph, cross_validate, tune
from agssl.base.errors import AgsslError, MissingExtraError, SettingsError
from agssl.data.splits import Split
from agssl.fitting import cross_validation as module
from agssl.metrics import wilson_interval
from reference.graphs import blocks_graph

QUICK = {"method": "gcn", "hidden": 8, "epochs": 8, "lr": 0.05, "split": "holdout:0.25"}


def some_labels() -> Graph:
    """Sixty nodes in three classes, every fourth of them without a label."""
    graph = blocks_graph()
    return replace(graph, y=np.where(np.arange(60) % 4 == 0, -1, graph.y), classes=("ant", "bee", "cat"), split=None)


@pytest.fixture(scope="module")
def found() -> Any:
    return cross_validate(AGSSL(**QUICK, random_state=3), some_labels())


def test_every_labelled_node_is_hidden_once_in_stratified_folds(found: Any) -> None:
    graph = some_labels()
    assert found.nodes.tolist() == np.flatnonzero(graph.y >= 0).tolist()
    assert found.fold.shape == (1, 45) and found.seeds == (3,)
    table = np.zeros((5, 3), int)
    np.add.at(table, (found.fold[0], graph.y[found.nodes]), 1)
    assert table.sum(1).tolist() == [9] * 5 and (np.ptp(table, axis=0) <= 1).all()


def test_it_is_a_loop_over_fits_without_the_labels_of_a_fold(found: Any) -> None:
    graph, model = some_labels(), AGSSL(**QUICK, random_state=3)
    names = np.array(graph.classes)
    for number in range(5):
        hidden = found.nodes[found.fold[0] == number]
        y = [None if node in hidden or graph.y[node] < 0 else names[graph.y[node]] for node in range(60)]
        fitted = clone(model).fit(graph, y)
        truth = names[graph.y[hidden]]
        said = fitted.predict_proba()[hidden]
        mine = np.isin(found.nodes, hidden)
        np.testing.assert_allclose(found.probabilities[mine], said, atol=1e-12)
        assert found.predictions[mine].tolist() == fitted.predict()[hidden].tolist()
        expected = {
            "accuracy": sk.accuracy_score(truth, fitted.predict()[hidden]),
            "balanced_accuracy": sk.balanced_accuracy_score(truth, fitted.predict()[hidden]),
            "roc_auc": sk.roc_auc_score(truth, said, multi_class="ovr", labels=names),
            "log_loss": sk.log_loss(truth, said, labels=names),
        }
        assert {name: found.scores[name][0, number] for name in expected} == pytest.approx(expected)


def test_the_result_has_means_and_an_interval_over_nodes(found: Any) -> None:
    assert found.metric == "accuracy" and found.value == pytest.approx(found.scores["accuracy"].mean())
    assert found.mean["log_loss"] == pytest.approx(found.scores["log_loss"].mean())
    assert found.interval == wilson_interval(found.value, 45)
    assert str(found).startswith(f"accuracy {found.value:.1%} (95% interval ") and "in 5 folds" in str(found)


def test_no_fit_sees_a_hidden_label(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    real = module.fit

    def spy(graph: Graph, *args: Any, **kwargs: Any) -> Any:
        seen.append(graph.y.copy())
        assert graph.split is not None and (graph.y[graph.split.train] >= 0).all()
        return real(graph, *args, **kwargs)

    monkeypatch.setattr(module, "fit", spy)
    result = cross_validate(AGSSL(**QUICK), some_labels(), folds=3)
    for number, y in enumerate(seen):
        assert (y[result.nodes[result.fold[0] == number]] == -1).all()
        assert (y >= 0).sum() == 30


def test_the_split_that_a_graph_brings_is_not_used_and_the_model_stays_as_it_was() -> None:
    graph, model = some_labels(), AGSSL(**QUICK)
    labelled = np.flatnonzero(graph.y >= 0)
    brought = graph.with_split(Split(labelled[:9], labelled[9:18], labelled[18:]))
    before = model.get_params()
    one, other = (cross_validate(model, g, folds=2) for g in (brought, graph))
    np.testing.assert_array_equal(one.probabilities, other.probabilities)
    assert model.get_params() == before and not hasattr(model, "fitted_")


def test_seeds_repeat_it_with_other_folds() -> None:
    graph = some_labels()
    both = cross_validate(AGSSL(**QUICK), graph, folds=2, seeds=2, metric="roc_auc")
    each = [cross_validate(AGSSL(**QUICK), graph, folds=2, seeds=[s]) for s in (0, 1)]
    assert both.seeds == (0, 1) and (both.fold[0] != both.fold[1]).any()
    np.testing.assert_array_equal(both.scores["accuracy"], np.concatenate([one.scores["accuracy"] for one in each]))
    np.testing.assert_allclose(both.probabilities, (each[0].probabilities + each[1].probabilities) / 2)
    assert both.metric == "roc_auc" and both.interval[0] < both.value < both.interval[1]


def test_processes_give_the_same_result() -> None:
    graph, model = some_labels(), AGSSL(**QUICK)
    one, two = (cross_validate(model, graph, folds=2, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.probabilities, two.probabilities)


def test_the_only_node_of_a_class_is_not_hidden() -> None:
    graph = some_labels()
    y = graph.y.copy()
    y[y == 2] = -1
    y[2] = 2
    result = cross_validate(AGSSL(**QUICK), replace(graph, y=y), folds=2)
    assert 2 not in result.nodes and len(result.nodes) == (y >= 0).sum() - 1


def test_a_threshold_decides_and_the_rarer_class_is_positive_in_all_folds(capsys: pytest.CaptureFixture[str]) -> None:
    graph = some_labels()
    y = np.where(graph.y == 1, 1, np.where(graph.y < 0, -1, 0))
    two = replace(graph, y=y, classes=("no", "yes"))
    result = cross_validate(AGSSL(**QUICK, threshold=0.2), two, folds=2, metric="average_precision", verbose=1)
    expected = np.where(result.probabilities[:, 1] >= 0.2, "yes", "no")
    assert result.predictions.tolist() == expected.tolist()
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["agssl"] * 2 and "[2/2] seed 0, fold 2: average_p" in lines[1]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"folds": 1}, "folds = 1"),
        ({"folds": 2.5}, "folds = 2.5"),
        ({"seeds": []}, "seeds"),
        ({"seeds": [1, 1]}, "each seed once"),
        ({"n_jobs": 0}, "n_jobs = 0"),
        ({"metric": "luck"}, "luck"),
    ],
)
def test_what_makes_no_sense_is_refused(how: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        cross_validate(AGSSL(**QUICK), some_labels(), **how)


def test_other_models_and_splits_that_name_nodes_are_refused() -> None:
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(SettingsError, match="not a LogisticRegression"):
        cross_validate(LogisticRegression(), some_labels())  # type: ignore[arg-type]
    for split in ("public", "mine.npz"):
        with pytest.raises(SettingsError, match="hides nodes of its own choice"):
            cross_validate(AGSSL(**QUICK | {"split": split}), some_labels())
    with pytest.raises(AgsslError):
        cross_validate(AGSSL(**QUICK), ([(0, 1)], [[0.0], [1.0]], ["a", "b"]))


def test_the_settings_found_make_a_model(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    graph, model = blocks_graph(90), AGSSL(**QUICK | {"split": "auto", "patience": None})
    how = {"model": model, "space": {"hidden": [4, 8], "lr": [0.01, 0.05]}, "seeds": 2}
    result = tune(graph, **how, trials=3, study=tmp_path / "study.db")
    assert result.counts == {"complete": 3, "pruned": 0, "failed": 0} and result.metric == "accuracy"
    assert [row["trial"] for row in result.trials] == [0, 1, 2]
    assert (result.trials[0]["hidden"], result.trials[0]["lr"]) == (8, 0.05)  # where the model begins
    best = result.trials[result.trial]
    assert result.score == best["score"] == max(row["score"] for row in result.trials)
    assert result.score == pytest.approx((best["seed 100"] + best["seed 101"]) / 2)
    assert (result.settings["hidden"], result.settings["lr"]) == (best["hidden"], best["lr"])
    made = AGSSL(**result.settings)
    assert made.settings() == model.settings().replace(hidden=best["hidden"], lr=best["lr"])
    assert made.fit(graph).predict().shape == (90,)
    again = tune(graph, **how, trials=4, study=tmp_path / "study.db")
    assert again.trials[:3] == result.trials and again.counts["complete"] == 4
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_python_and_the_command_line_search_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("optuna")
    import json

    from agssl.cli.main import main

    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    words = "tune digits --method gcn --epochs 3 --only hidden,norm --trials 2 --tuning-seeds 1 --json"
    assert main(words.split()) == 0
    told = json.loads(capfd.readouterr().out)
    base = AGSSL(method="gcn", epochs=3)
    result = tune(agssl.load_dataset("digits"), model=base, space=["hidden", "norm"], trials=2, seeds=1)
    assert (result.trial, result.score) == (told["best"]["trial"], told["best"]["score"])
    assert {name: result.settings[name] for name in ("hidden", "norm")} == {
        name: told["best"]["settings"][name] for name in ("hidden", "norm")
    }


def test_time_ends_a_search_after_a_trial(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna")
    result = tune(blocks_graph(90), model=AGSSL(**QUICK), trials=50, seconds=1e-6, seeds=1, verbose=1)
    assert result.counts["complete"] == 1 and result.gain is None
    assert "[1/50] trial 0 complete" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"trials": 0}, "trials = 0"),
        ({"seconds": 0}, "seconds = 0"),
        ({"seeds": [3]}, "tuning seed 3 is below 100"),
        ({"seeds": 0}, "seeds = 0"),
        ({"space": ["hiden"]}, "hiden"),
        ({"space": {"hiden": [3]}}, "hiden"),
        ({"space": {"hidden": []}}, "at least one value"),
        ({"space": {"hidden": "64"}}, "at least one value"),
        ({"space": {"hidden": [8.5]}}, "would become 8"),
        ({"space": {"hidden": [-1]}}, "hidden"),
        ({"space": {"tau": [1.0]}}, "tau"),  # a GCN reads none
    ],
)
def test_a_search_that_makes_no_sense_is_refused(how: dict[str, Any], why: str) -> None:
    pytest.importorskip("optuna")
    with pytest.raises(SettingsError, match=why):
        tune(blocks_graph(90), model=AGSSL(**QUICK), **how)


def test_alpha_stands_for_the_alphas_of_all_tasks() -> None:
    from agssl.search.space import chosen_space

    base = AGSSL(tasks=("par", "clu")).settings()
    assert chosen_space(base, {"alpha": [1.0, 5.0]}) == {"alpha.par": (1.0, 5.0), "alpha.clu": (1.0, 5.0)}
    assert chosen_space(base, {"alpha.par": [2.0], "par.parts": [10, 20], "encoder": ["gcn", "sage"]}) == {
        "alpha.par": (2.0,),
        "par.parts": (10, 20),
        "encoder": ("gcn", "sage"),
    }


def test_a_search_without_optuna_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match="tuning needs Optuna; install it with: pip install"):
        tune(blocks_graph(90), model=AGSSL(**QUICK))
