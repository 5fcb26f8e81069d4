"""The user's metric chooses and tells; rare classes are found by weights and a threshold."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from agssl import AGSSL
from agssl.base.errors import GraphError, SettingsError
from agssl.base.rng import Rng
from agssl.config import Settings
from agssl.config.fields import METRICS
from agssl.data.graph import Graph
from agssl.data.splits import Split, make_split
from agssl.fitting.baselines import baselines
from agssl.fitting.fit import fit
from agssl.fitting.job import measure
from agssl.fitting.verdict import verdict
from agssl.metrics import Decision, Measured, gain, resampled, softmax
from agssl.store.fitted import FittedModel, load_fitted, save_fitted
from agssl.train.network import Trained
from agssl.train.problem import Problem
from agssl.train.setup import problem_of
from agssl.train.worse import worse_than
from reference.graphs import blocks_graph, rare_graph
from reference.settings import quick

GCN = Settings(method="gcn", epochs=100, patience=30)


def split_rare(seed: int = 0) -> Graph:
    graph = rare_graph()
    return graph.with_split(make_split("fraction:0.5/0.25/0.25", graph, Rng(seed).child("split")))


def test_few_positives_are_ranked_better_with_weights_and_found_by_a_threshold() -> None:
    gains = []
    for seed in (0, 1):
        graph = split_rare(seed)
        plain = measure(fit(graph, GCN, seed).fitted, graph)
        how = GCN.replace(metric="roc_auc", class_weight="balanced", threshold="f1")
        found = measure(fit(graph, how, seed).fitted, graph)
        assert plain["test"]["accuracy"] > 0.94 and plain["predicted_classes"] == 1  # not one positive
        assert found["predicted_classes"] == 2 and found["per_class"][1]["recall"] > 0
        assert found["test"]["macro_f1"] > plain["test"]["macro_f1"]
        gains.append(found["test"]["roc_auc"] - plain["test"]["roc_auc"])
    assert min(gains) > 0 and np.mean(gains) > 0.02


@pytest.mark.parametrize("metric", METRICS)
def test_the_best_epoch_is_the_best_by_the_metric_then_by_the_loss(metric: str) -> None:
    result = fit(split_rare(), GCN.replace(metric=metric, epochs=25))
    records = result.history["gcn"]
    scores = [(gain(metric, one[f"val_{metric}"]), -one["val_loss"]) for one in records]
    assert result.fitted.best["epoch"] == int(np.argmax([sorted(scores).index(score) for score in scores]))
    others = {f"val_{name}" for name in METRICS} - {f"val_{metric}", "val_accuracy"}
    assert not others & set(records[0])


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss"])
@pytest.mark.parametrize("method", ["agssl", "joint", "autossl", "single"])
def test_every_method_knows_the_metric(method: str, metric: str) -> None:
    tasks = ("clu:clusters=3",) if method == "single" else ("clu:clusters=3", "pairdis")
    how = quick(method=method, tasks=tasks, metric=metric, alpha=None)
    result = fit(blocks_graph(), how)
    assert np.isfinite(result.fitted.best[f"val_{metric}"])
    found = measure(result.fitted, blocks_graph())
    assert np.isfinite(found["test"][metric])
    assert all(f"val_{metric}" in teacher for teacher in found["teachers"])


def test_a_part_of_one_class_is_refused_before_training() -> None:
    graph = split_rare()
    assert graph.split is not None
    train, val, test = graph.split.train, graph.split.val, graph.split.test
    for split, part in ((Split(train, val[graph.y[val] == 0], test), "val"), (Split(train, val, test[:0]), "")):
        bad = graph.with_split(split)
        if part:
            with pytest.raises(GraphError, match="the val part .* of class 'no' and none of 'yes'"):
                fit(bad, GCN.replace(metric="roc_auc", epochs=1))
            with pytest.raises(GraphError, match="threshold f1 compares classes"):
                fit(bad, GCN.replace(threshold="f1", epochs=1))
        else:
            fit(bad, GCN.replace(metric="roc_auc", epochs=1))  # no test nodes, nothing to measure
    with pytest.raises(GraphError, match="the test part .* none of 'yes'"):
        fit(graph.with_split(Split(train, val, test[graph.y[test] == 0])), GCN.replace(metric="roc_auc", epochs=1))


def test_given_weights_like_the_balanced_ones_give_the_same_network() -> None:
    graph = split_rare()
    assert graph.split is not None
    counts = np.bincount(graph.y[graph.split.train])
    given = {name: len(graph.split.train) / (2 * count) for name, count in zip(graph.classes, counts, strict=True)}
    how = GCN.replace(epochs=10)
    one, two = (fit(graph, how.replace(class_weight=weight)).fitted for weight in ("balanced", given))
    np.testing.assert_allclose(one.logits, two.logits, atol=1e-4)
    heavy = problem_of(graph, how.replace(class_weight={"yes": 5}))
    assert heavy.class_weight is not None and heavy.class_weight.tolist() == [1.0, 5.0]
    assert heavy.fingerprint != problem_of(graph, how).fingerprint


def test_classes_that_are_not_there_are_refused_with_the_nearest() -> None:
    graph = split_rare()
    with pytest.raises(SettingsError, match="unknown class in class_weight 'yess'; did you mean 'yes'"):
        fit(graph, GCN.replace(class_weight={"yess": 2.0}))
    with pytest.raises(SettingsError, match="unknown positive class 'Yes'; did you mean 'yes'"):
        fit(graph, GCN.replace(positive="Yes"))
    for change in ({"threshold": "f1"}, {"positive": "c0"}):
        with pytest.raises(SettingsError, match="is for two classes, but .* has 3"):
            fit(blocks_graph(), GCN.replace(**change))


def test_the_rarer_class_is_positive_unless_another_is_named() -> None:
    graph, how = split_rare(), GCN.replace(epochs=2)
    assert fit(graph, how).fitted.decision == Decision(1)
    assert fit(graph, how.replace(positive="no")).fitted.decision == Decision(0)
    assert fit(blocks_graph(), how).fitted.decision is None


def test_a_threshold_is_stored_and_decides_but_leaves_probabilities(tmp_path: Path) -> None:
    graph = split_rare()
    model = AGSSL(method="gcn", epochs=10, threshold=0.1, class_weight={"yes": 3}, split="benchmark").fit(graph)
    model.save(tmp_path / "model")
    again = AGSSL.load(tmp_path / "model")
    assert again.fitted_.decision == model.fitted_.decision and again.get_params()["threshold"] == 0.1
    plain = AGSSL(method="gcn", epochs=10, class_weight={"yes": 3}, split="benchmark").fit(graph)
    np.testing.assert_array_equal(again.predict_proba(), plain.predict_proba())
    expected = np.where(plain.predict_proba()[:, 1] >= 0.1, "yes", "no")
    np.testing.assert_array_equal(again.predict(), expected)
    assert (again.predict() == "yes").sum() > (plain.predict() == "yes").sum()
    assert model.graph_.split is not None
    test = model.graph_.split.test
    assert model.score() == np.mean(expected[test] == np.array(graph.classes)[graph.y[test]])


def test_a_model_without_a_decision_is_read_and_a_broken_one_refused(tmp_path: Path) -> None:
    fitted = fit(split_rare(), GCN.replace(epochs=1)).fitted
    save_fitted(dataclasses.replace(fitted, decision=None), tmp_path / "old")
    assert load_fitted(tmp_path / "old").decision is None
    for broken in (Decision(2), Decision(1, "high")):  # type: ignore[arg-type]
        save_fitted(dataclasses.replace(fitted, decision=broken), tmp_path / "new")
        with pytest.raises(Exception, match="damaged"):
            load_fitted(tmp_path / "new")


def answers(fitted: FittedModel, graph: Graph) -> Measured:
    assert graph.split is not None
    nodes = graph.split.test
    return Measured(nodes, graph.y[nodes], softmax(fitted.logits[nodes]), fitted.decision)


def test_the_estimate_is_the_metric_with_an_interval_and_baselines_of_its_own() -> None:
    graph, how = split_rare(), GCN.replace(metric="roc_auc", class_weight="balanced")
    assert graph.split is not None
    fitted = fit(graph, how).fitted
    result, said = measure(fitted, graph), answers(fitted, graph)
    found = verdict(graph, [graph.split], [result], settings=how, models=[said])
    estimate = found["estimate"]
    assert estimate["metric"] == "roc_auc" and estimate["value"] == result["test"]["roc_auc"]
    values = resampled("roc_auc", [said])
    assert (estimate["low"], estimate["high"]) == tuple(np.percentile(values, [2.5, 97.5]))
    assert estimate["low"] < estimate["value"] < estimate["high"]
    assert found["baselines"]["majority"] == 0.5 and found["baselines"]["logistic_regression"] > 0.8
    simple = found["baselines"]["logistic_regression"]
    below = any(f"is below the {simple:.3f} of logistic regression" in text for text in found["warnings"])
    assert below == (estimate["value"] < simple)


@pytest.mark.slow
def test_for_log_loss_lower_is_better() -> None:
    graph, how = split_rare(), GCN.replace(metric="log_loss")
    assert graph.split is not None
    simple = baselines(graph, [graph.split], "test", metric="log_loss")
    share = np.bincount(graph.y[graph.split.train]) / len(graph.split.train)
    assert simple["majority"] == pytest.approx(-np.log(share)[graph.y[graph.split.test]].mean())
    nodes = graph.split.test
    said = Measured(nodes, graph.y[nodes], np.tile(share, (len(nodes), 1)))
    for value, warned in ((simple["majority"] + 0.01, True), (0.01, False)):
        result = {"test": {"log_loss": value}, "predicted_classes": 2}
        warnings = verdict(graph, [graph.split], [result], settings=how, models=[said])["warnings"]
        assert any("above" in text and "majority" in text for text in warnings) == warned


def test_a_precision_that_no_threshold_has_is_said() -> None:
    graph, how = split_rare(1), GCN.replace(threshold="precision:0.99", epochs=20)
    assert graph.split is not None
    result = measure(fit(graph, how).fitted, graph)
    reached = result["decision"]["precision"] >= 0.99
    warnings = verdict(graph, [graph.split], [result], settings=how)["warnings"]
    assert not reached and any("no threshold has a precision of 0.99" in text for text in warnings)


def test_a_generation_is_judged_by_the_metric() -> None:
    graph = split_rare()
    problem: Problem = problem_of(graph, GCN.replace(metric="roc_auc"))
    positive = torch.from_numpy(graph.y == 1).float()
    noise = torch.from_numpy(np.random.default_rng(0).normal(size=graph.num_nodes)).float()
    logits = torch.stack([torch.zeros_like(noise), noise + 2 * positive], dim=1)
    heldout = logits[torch.from_numpy(problem.val_nodes)]
    error = problem.metric_error(heldout)
    assert 0.005 < error < 0.1

    def network(value: float) -> Trained:
        return Trained((), (logits,), heldout, {"val_roc_auc": value, "val_accuracy": 0.5}, [])  # type: ignore[arg-type]

    assert not worse_than(problem, network(0.9 - 1.9 * error), network(0.9))
    assert "validation roc_auc" in worse_than(problem, network(0.9 - 2.1 * error), network(0.9))
    assert not worse_than(problem, network(0.95), network(0.9))
