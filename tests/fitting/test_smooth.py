"""Answers that labels are spread into: by the formula, and never by a node's own label where it is judged."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

from agssl import AGSSL
from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.config import Settings, effective
from agssl.data.graph import Graph
from agssl.data.splits import make_split
from agssl.fitting.fit import chosen_by, fit
from agssl.fitting.job import measure
from agssl.integrate.calibration import PARTS, Confidence, best_shift
from agssl.metrics import softmax
from agssl.simple.base import stratified_folds
from agssl.simple.correct import SHARES, Strength, correct_and_smooth
from agssl.store.fitted import judged, load_fitted, save_fitted
from agssl.train.methods import train_method
from agssl.train.transfer import answer, transfer
from reference.graphs import blocks_graph
from reference.settings import quick

GCN = quick(method="gcn")
AGSSL_BOTH = quick(tasks=("par", "clu"), integration="both", generations=1)
STRENGTHS = [Strength(a, b) for a in SHARES for b in SHARES]


def with_split(how: str) -> Graph:
    graph = blocks_graph()
    return graph.with_split(make_split(how, graph, Rng(0).child("split")))


def one_of(found: np.ndarray, expected: list[np.ndarray]) -> int:
    """Which of these it is; exactly one."""
    same = [number for number, one in enumerate(expected) if np.allclose(found, np.log(one), atol=1e-5)]
    assert len(same) == 1
    return same[0]


def test_without_folds_it_is_correct_and_smooth_with_training_and_validation_labels() -> None:
    graph = with_split("per-class:3/10")
    plain, smooth = (fit(graph, GCN.replace(smooth=flag)).fitted for flag in (False, True))
    split = graph.split
    assert split is not None
    p = softmax(plain.logits.astype(np.float64) / plain.confidence.temperature)
    told = np.concatenate([split.train, split.val])
    number = one_of(smooth.logits, [correct_and_smooth(graph, p, told, graph.y[told], one) for one in STRENGTHS])
    assert np.array_equal(smooth.unsmoothed, plain.logits)
    said, folds = judged(smooth, split, "val").logits, stratified_folds(graph.y[split.val])
    assert not np.allclose(said, smooth.logits[split.val], atol=1e-3)
    for fold in range(5):  # none by its own label
        others = np.concatenate([split.train, split.val[folds != fold]])
        found = correct_and_smooth(graph, p, others, graph.y[others], STRENGTHS[number])[split.val[folds == fold]]
        np.testing.assert_allclose(said[folds == fold], np.log(found), atol=1e-5)


@pytest.mark.parametrize("how", ["cv:3", "holdout:0.2"])
@pytest.mark.parametrize("settings", [GCN, AGSSL_BOTH], ids=["gcn", "agssl"])
def test_with_folds_a_node_is_smoothed_by_networks_and_labels_of_other_folds(settings: Settings, how: str) -> None:
    graph, settings = with_split(how), settings.replace(smooth=True)
    split = graph.split
    assert split is not None
    trained = train_method(graph.hide_test(), settings)
    sure = Confidence.fitted(chosen_by(graph, trained)[1], graph.y[split.val], cross=False)
    fitted, folds = fit(graph, settings).fitted, split.folds()
    assert len(trained.withheld) == len(folds)
    for fold, (nodes, _) in zip(folds, trained.withheld, strict=True):
        assert np.array_equal(nodes, fold.val) and not set(nodes) & set(fold.train)
    if split.measure is None:
        expected = []
        for strength in STRENGTHS:
            each = np.zeros((graph.num_nodes, 3))
            for fold, (nodes, logits) in zip(folds, trained.withheld, strict=True):
                found = correct_and_smooth(graph, sure(logits.numpy()), fold.train, graph.y[fold.train], strength)
                each[nodes] = found[nodes]
            expected.append(each[split.val])
    else:
        known = sure(trained.withheld[0].logits.numpy())
        seen = np.setdiff1d(split.train, split.measure)
        expected = [correct_and_smooth(graph, known, seen, graph.y[seen], one)[split.measure] for one in STRENGTHS]
    assert fitted.heldout is not None
    one_of(fitted.heldout, expected)
    right = (fitted.heldout.argmax(1) == graph.y[split.judges("val")]).mean()
    assert (
        measure(fitted, graph)["val"]["accuracy"] == pytest.approx(right) == pytest.approx(fitted.best["val_accuracy"])
    )


def test_where_labels_near_by_teach_students_without_them_answer_for_a_node() -> None:
    graph = with_split("per-class:3/10")
    smooth, plain = (train_method(graph.hide_test(), AGSSL_BOTH.replace(smooth=flag)) for flag in (True, False))
    assert graph.split is not None and plain.withheld == () and plain.apart is not None and smooth.apart is not None
    assert torch.equal(plain.apart, smooth.apart)
    parts = [nodes.tolist() for nodes, _ in smooth.withheld]
    assert len(parts) == 3 and sorted(itertools.chain(*parts)) == graph.split.val.tolist()
    for nodes, logits in smooth.withheld:
        assert torch.equal(logits[nodes], smooth.apart[np.isin(graph.split.val, nodes)])
        assert not torch.equal(logits, smooth.logits)


def test_no_test_label_is_spread() -> None:
    graph = with_split("per-class:3/10")
    assert graph.split is not None
    y = graph.y.copy()
    y[graph.split.test] = (y[graph.split.test] + 1) % 3
    other = Graph.from_arrays(graph.adjacency(), graph.x, y, classes=graph.classes, notify=False)
    settings = GCN.replace(smooth=True, class_shifts=True)
    first, second = fit(graph, settings).fitted, fit(other.with_split(graph.split), settings).fitted
    assert np.array_equal(first.logits, second.logits) and first.confidence == second.confidence


@pytest.mark.parametrize("settings", [GCN, AGSSL_BOTH], ids=["gcn", "agssl"])
def test_a_saved_model_has_the_smoothed_answers_and_none_for_other_graphs(settings: Settings, tmp_path: Path) -> None:
    graph = with_split("per-class:3/10")
    fitted = fit(graph, settings.replace(smooth=True)).fitted
    save_fitted(fitted, tmp_path / "model")
    loaded = load_fitted(tmp_path / "model")
    assert np.array_equal(loaded.logits, fitted.logits) and np.array_equal(loaded.unsmoothed, fitted.unsmoothed)
    assert np.array_equal(answer(loaded, graph), fitted.logits)
    assert transfer(loaded, graph).logits is loaded.logits
    for ask in (answer, transfer):
        with pytest.raises(SettingsError, match="fitted with smooth.*without smooth") as caught:
            ask(loaded, blocks_graph(seed=1))
        assert "\n" not in str(caught.value)


def test_the_estimator_smooths() -> None:
    graph = with_split("per-class:3/10")
    model = AGSSL(method="gcn", smooth=True, epochs=20).fit(graph)
    assert np.array_equal(model.predict(), model.predict(graph))
    assert model.predict_set(coverage=0.9).shape == (60, 3)


def test_shifts_of_classes_are_fitted_to_held_out_labels_without_a_nodes_own() -> None:
    graph = with_split("per-class:3/10")
    plain, shifted = (fit(graph, GCN.replace(class_shifts=flag)).fitted for flag in (False, True))
    assert graph.split is not None
    assert np.array_equal(plain.logits, shifted.logits) and not plain.confidence.shifts
    z, y = torch.from_numpy(plain.logits[graph.split.val]), torch.from_numpy(graph.y[graph.split.val]).long()
    heat, shift = best_shift(z, y)
    calibrated = (torch.from_numpy(plain.logits) / heat + shift).numpy()
    sure = Confidence.fitted(calibrated[graph.split.val], y.numpy(), cross=False)
    np.testing.assert_allclose(shifted.confidence(shifted.logits), sure(calibrated), atol=1e-5)
    said = judged(shifted, graph.split, "val").probabilities
    for part in range(PARTS):
        at = np.arange(len(y)) % PARTS == part
        alone = Confidence.fitted(z[~at].numpy(), y[~at].numpy(), cross=False, shifts=True)
        np.testing.assert_allclose(said[at], alone(z[at].numpy()), atol=1e-9)


def test_shifts_are_saved(tmp_path: Path) -> None:
    graph = with_split("cv:3")
    fitted = fit(graph, GCN.replace(class_shifts=True)).fitted
    save_fitted(fitted, tmp_path / "model")
    assert load_fitted(tmp_path / "model").confidence == fitted.confidence
    assert len(fitted.confidence.shifts) == 3 and len(fitted.confidence.part_shifts) == PARTS
    with pytest.raises(ValueError, match="shifts"):
        Confidence.from_dict(fitted.confidence.to_dict(), classes=4)


def test_both_are_off_and_leave_no_trace_in_what_decides_a_result() -> None:
    for method in ("gcn", "joint", "agssl"):
        settings = Settings(method=method)
        assert not settings.smooth and not settings.class_shifts
        assert not {"smooth", "class_shifts"} & effective(settings).keys()
        assert effective(settings.replace(smooth=True)) == effective(settings) | {"smooth": True}
        assert effective(settings.replace(class_shifts=True)) == effective(settings) | {"class_shifts": True}
    assert set(Confidence(2.0).to_dict()) == {"temperature", "parts"}


def test_teachers_that_answer_in_the_students_place_are_smoothed_without_a_nodes_own_label(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agssl.train.methods.clearly_better", lambda *_: "less accuracy than that")
    graph, settings = with_split("per-class:3/10"), Settings(teachers=("auto",), epochs=2, smooth=True)
    trained, fitted = train_method(graph.hide_test(), settings), fit(graph, settings).fitted
    assert graph.split is not None and trained.student_logits is not None and fitted.student_logits is not None
    assert np.array_equal(fitted.network_logits, trained.student_logits.numpy())
    assert fitted.unsmoothed is not None and np.array_equal(fitted.unsmoothed, trained.logits.numpy())
    assert sorted(itertools.chain(*(nodes for nodes, _ in trained.withheld))) == graph.split.val.tolist()
    assert not any(torch.equal(logits, trained.logits) for _, logits in trained.withheld)
    assert np.array_equal(answer(fitted, graph), fitted.logits)
