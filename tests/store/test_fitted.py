"""Saved models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import save_file

from agssl.base.errors import AgsslError, DataError
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.fitting.fit import fit
from agssl.store.fitted import FittedModel, load_fitted, save_fitted
from agssl.train.infer import infer

SETTINGS = Settings(method="single", tasks=("pairdis",), hidden=4, epochs=3, patience=None, alpha={"pairdis": 2.0})


@pytest.fixture
def fitted(tiny_graph: Graph) -> FittedModel:
    return fit(tiny_graph, SETTINGS, seed=3).fitted


@pytest.fixture
def saved(fitted: FittedModel, tmp_path: Path) -> Path:
    save_fitted(fitted, tmp_path / "model.agssl")
    return tmp_path / "model.agssl"


def test_a_model_comes_back_as_it_was(fitted: FittedModel, saved: Path, tiny_graph: Graph) -> None:
    loaded = load_fitted(saved)
    assert (loaded.settings, loaded.seed, loaded.classes, loaded.best) == (SETTINGS, 3, ("a", "b", "c"), fitted.best)
    assert (loaded.task_names, loaded.alphas) == (("pairdis",), (2.0,))
    np.testing.assert_array_equal(loaded.logits, fitted.logits)
    np.testing.assert_array_equal(loaded.teacher_logits, fitted.teacher_logits)
    np.testing.assert_allclose(infer(loaded.model, tiny_graph).logits, fitted.logits, atol=1e-5)


@pytest.mark.parametrize("content", [b"", b"garbage", b"\xff" * 64, b"\x08\0\0\0\0\0\0\0notjson!"])
def test_garbage_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(DataError, match="model"):
        load_fitted(tmp_path / "model")


@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
def test_a_truncated_file_is_refused(share: float, saved: Path) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(DataError):
        load_fitted(saved)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(DataError):
            load_fitted(path)


def _rewrite(path: Path, drop: str = "", **header: str) -> None:
    with safe_open(path, framework="np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys() if name != drop}  # noqa: SIM118 (not a mapping)
        about = file.metadata() | header
    save_file(tensors, path, about)


def test_somebody_elses_file_is_refused(saved: Path) -> None:
    _rewrite(saved, format="pt")
    with pytest.raises(DataError, match="not a model of agssl"):
        load_fitted(saved)


def test_a_newer_schema_says_to_upgrade(saved: Path) -> None:
    _rewrite(saved, schema="99")
    with pytest.raises(DataError, match="upgrade agssl"):
        load_fitted(saved)


def test_a_file_of_before_there_were_encoders_that_know_nodes_is_read(fitted: FittedModel, saved: Path) -> None:
    with safe_open(saved, framework="np") as file:
        about = json.loads(file.metadata()["about"])
    assert about["shape"].pop("nodes") == 0
    _rewrite(saved, about=json.dumps(about))
    np.testing.assert_array_equal(load_fitted(saved).logits, fitted.logits)


@pytest.mark.parametrize("shape", [{"encoder": "hops:k=1000000000"}, {"encoder": "linkx", "nodes": 10**12}])
def test_a_shape_that_the_weights_do_not_fill_takes_no_memory(shape: dict[str, object], saved: Path) -> None:
    with safe_open(saved, framework="np") as file:
        about = json.loads(file.metadata()["about"])
    _rewrite(saved, about=json.dumps(about | {"shape": about["shape"] | shape}))
    with pytest.raises(DataError, match="weights do not fit the shape"):
        load_fitted(saved)


def test_a_header_that_lies_is_refused(saved: Path) -> None:
    with safe_open(saved, framework="np") as file:
        about = json.loads(file.metadata()["about"])
    whole = saved.read_bytes()
    huge = about | {"shape": about["shape"] | {"hidden": 10**9}}
    other = about | {"settings": about["settings"] | {"tau": -1}}
    odd = about | {"shape": about["shape"] | {"skip_weight": {"a": 1}}}
    for text in (
        json.dumps(huge),
        json.dumps(other),
        json.dumps(odd),
        "{}",
        "[]",
        "not json",
        json.dumps(about | {"seed": "x"}),
    ):
        saved.write_bytes(whole)
        _rewrite(saved, about=text)
        with pytest.raises(AgsslError):
            load_fitted(saved)


@pytest.fixture
def taught(tiny_graph: Graph, tmp_path: Path) -> Path:
    """A model with the networks of two teachers."""
    settings = SETTINGS.replace(method="agssl", tasks=("pairdis", "clu:clusters=2"), alpha=1.0, weights_from="val")
    found = fit(tiny_graph, settings).fitted
    assert found.teachers is not None
    save_fitted(found, tmp_path / "taught.agssl")
    return tmp_path / "taught.agssl"


@pytest.mark.parametrize(
    "changes",
    [
        {"each": []},
        {"each": [{}]},
        {"each": None},
        {"nodes": 13},
        {"heldout": 10**12},
        {"heldout": "x"},
        {"hidden": 10**9},
        {"hidden": 3},
        {"classes": 2},
        {"networks": 0},
        {"networks": 10**9},
        {"networks": "1"},
    ],
)
def test_teachers_that_do_not_fit_are_refused(taught: Path, changes: dict[str, object]) -> None:
    with safe_open(taught, framework="np") as file:
        about = json.loads(file.metadata()["about"])
    first, (name, value) = about["teachers"]["each"][0], next(iter(changes.items()))
    target = about["teachers"] if name in about["teachers"] else first if name in first else first["shape"]
    assert name in target
    target[name] = value
    _rewrite(taught, about=json.dumps(about))
    with pytest.raises(DataError, match="damaged"):
        load_fitted(taught)


def test_a_teacher_without_a_tensor_is_refused_and_an_integrator_when_it_is_used(taught: Path) -> None:
    whole = taught.read_bytes()
    for name in ("teachers.1.0.head.layer.weight", "teachers.shifts"):
        taught.write_bytes(whole)
        _rewrite(taught, drop=name)
        with pytest.raises(DataError, match="damaged"):
            load_fitted(taught)
    taught.write_bytes(whole)
    _rewrite(taught, drop="teachers.integrator.maps")
    kept = load_fitted(taught).teachers
    assert kept is not None
    with pytest.raises(DataError, match="integrator of the model is damaged"):
        kept.integrator()


def test_a_missing_tensor_is_refused(saved: Path) -> None:
    _rewrite(saved, drop="logits")
    with pytest.raises(DataError, match="damaged"):
        load_fitted(saved)


def test_weights_that_are_no_numbers_are_refused_when_they_are_used(fitted: FittedModel, tiny_graph: Graph) -> None:
    infer(fitted.model, tiny_graph)
    with torch.no_grad():
        next(fitted.model.parameters()).fill_(float("nan"))
    with pytest.raises(DataError, match="no finite numbers: its weights are damaged"):
        infer(fitted.model, tiny_graph)
