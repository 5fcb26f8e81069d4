"""Exported students say what the student says, by another program: onnxruntime, MLflow."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from agssl import AGSSL, Graph
from agssl.base.errors import AgsslError, SettingsError
from agssl.base.rng import Rng
from agssl.cli.main import main
from agssl.config import Settings
from agssl.encoders import Network, Shape
from agssl.export import export_onnx, network_rows
from agssl.integrate.calibration import Confidence
from agssl.metrics import Decision
from agssl.ops.seen import Seen
from agssl.store.fitted import FittedModel
from agssl.train.infer import infer

NODES = 1000


def graph(sparse: bool) -> Graph:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(NODES, 12)).astype(np.float32) * 3
    x[rng.random(x.shape) < (0.8 if sparse else 0.1)] = 0
    x[5] = 0
    given: Any = sp.csr_matrix(x) if sparse else x
    return Graph.from_arrays(rng.integers(0, NODES, (2, 3000)), given, [-1] * NODES, require_labels=False, notify=False)


def fitted(shape: Shape, of: Graph, **more: Any) -> FittedModel:
    network = Network(shape, Rng(1))
    for norm in network.encoder.norms:
        if hasattr(norm, "running_mean"):  # as after training
            norm.running_mean.uniform_(-1, 1, generator=Rng(2).torch())
            norm.running_var.uniform_(0.5, 2, generator=Rng(3).torch())
    logits = infer(network, of).logits
    classes = tuple("abcd"[: shape.classes])
    found = FittedModel(network, shape, Settings(method="gcn"), 0, classes, logits, {}, **more)
    return replace(found, seen=Seen.of(of))


@pytest.mark.parametrize(
    ("encoder", "more"),
    [
        ("mlp", {}),
        ("mlp", {"layers": 3, "residual": True, "norm": "batch", "feature_norm": "l2"}),
        ("mlp", {"layers": 2, "norm": "layer", "feature_norm": "binary"}),
        ("hops:k=2", {"feature_norm": "l2"}),
        ("ppr:k=3", {"residual": True}),
        ("linkx", {"nodes": NODES}),
        ("appnp", {"head": "linear"}),
    ],
)
def test_onnxruntime_says_what_the_student_says_of_a_thousand_nodes(encoder: str, more: dict[str, Any], tmp_path: Path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    of = graph(sparse=encoder == "linkx")
    confidence = Confidence(1.7, shifts=(0.1, -0.2, 0.3, 0.0))
    model = fitted(Shape(12, 16, 4, encoder=encoder, **more), of, confidence=confidence)
    about = export_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    logits, probabilities, label = session.run(None, {"rows": network_rows(model, of)})
    assert about["classes"] == list("abcd") and about["student"] == encoder
    np.testing.assert_allclose(logits, model.logits, atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(probabilities, model.confidence(model.logits), atol=1e-5)
    assert (label == model.decide(model.confidence(model.logits))).all()
    one = session.run(["label"], {"rows": network_rows(model, of)[7:8]})[0]  # any number of rows
    assert one.tolist() == label[7:8].tolist()


def test_a_threshold_is_exported(tmp_path: Path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    of = graph(sparse=False)
    model = fitted(Shape(12, 16, 2, encoder="mlp"), of, decision=Decision(positive=0, threshold=0.3))
    export_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    label = session.run(["label"], {"rows": of.x})[0]
    expected = model.decide(model.confidence(model.logits))
    assert 0 < expected.mean() < 1 and (label == expected).all()


@pytest.mark.parametrize("encoder", ["gcn", "sage", "gat", "appnp"])
def test_a_student_that_reads_neighbours_is_refused_with_the_cure(encoder: str, tmp_path: Path):
    with pytest.raises(SettingsError, match="fit again with --student mlp"):
        export_onnx(fitted(Shape(12, 16, 4, encoder=encoder), graph(False)), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, out = tmp_path_factory.mktemp("graph"), tmp_path_factory.mktemp("runs") / "mlp"
    rng = np.random.default_rng(0)
    ring = "".join(f"x{a},x{(a + 2) % 40}\nx{(a + 2) % 40},x{a}\n" for a in range(40))
    (folder / "edges.csv").write_text("source,target\n" + ring)
    rows = (f"x{i},{rng.normal() + 2 * (i % 2):.4f},{rng.normal():.4f},{'ab'[i % 2]}\n" for i in range(40))
    (folder / "nodes.csv").write_text("id,f0,f1,label\n" + "".join(rows))
    how = ("--method", "gcn", "--encoder", "mlp", "--epochs", "5", "--hidden", "8", "--folds", "2", "--jobs", "1")
    assert main(["fit", str(folder), *how, "--out", str(out)]) == 0
    return out


def test_the_command_writes_the_model_and_its_rows(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    file, rows = tmp_path / "model.onnx", tmp_path / "rows.npy"
    capfd.readouterr()
    assert main(["export", str(run), str(file), "--rows", str(rows), "--json"]) == 0
    about = json.loads(capfd.readouterr().out)
    assert about["classes"] == ["a", "b"] and [one["name"] for one in about["columns"]] == ["f0", "f1"]
    session = runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    probabilities = session.run(["probabilities"], {"rows": np.load(rows)})[0]
    np.testing.assert_allclose(probabilities, AGSSL.load(run).predict_proba(), atol=1e-5)
    assert main(["export", str(run), "model.pt"]) == 2 and "name it model.onnx" in capfd.readouterr().err


def test_mlflow_loads_the_model_and_predicts_rows(run: Path, tmp_path: Path):
    pytest.importorskip("mlflow", reason="needs the extra track")
    pd = pytest.importorskip("pandas")
    import mlflow

    from agssl.flavour import load_model, save_model

    save_model(run, tmp_path / "model")
    table = pd.DataFrame({"id": ["n0", "n1"], "f0": [2.2, -0.3], "f1": [0.1, 0.2]})
    found = mlflow.pyfunc.load_model(str(tmp_path / "model")).predict(table)
    expected = AGSSL.load(run).predict_new(table)
    assert found["node"].tolist() == ["n0", "n1"]
    np.testing.assert_allclose(found[["proba_a", "proba_b"]], expected.probabilities, atol=1e-9)
    assert load_model(tmp_path / "model").classes == ("a", "b")
    with pytest.raises(AgsslError, match="not empty"):
        save_model(run, tmp_path / "model")
