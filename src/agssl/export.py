"""A fitted student as an ONNX model (extra `onnx`), for programs without Python.

Students that read a node's own row can be exported: `mlp`, and `hops`, `ppr` and `linkx`, whose rows are made of the
graph once, before the network (`network_rows`). The graph of operators is written here, so nothing is traced.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from agssl.base.atomic import write_bytes
from agssl.base.errors import SettingsError
from agssl.base.install import missing_extra
from agssl.base.version import __version__
from agssl.data.feature_norm import scaled
from agssl.data.graph import Graph
from agssl.encoders.layer import Layer, WithSkip
from agssl.encoders.mlp import Linear
from agssl.ops.graph_views import viewed
from agssl.store.fitted import FittedModel

OPSET = 17
IR = 8  # that runtimes of the last years read


def export_onnx(fitted: FittedModel, path: str | Path) -> dict[str, Any]:
    """Write the student to a file, and give back what is in it.

    It reads `rows`, float32 [n, d], and gives `logits` and calibrated `probabilities`, [n, C], and `label`, int64 [n].

    Args:
        fitted: a model whose student reads no neighbours.
        path: where to.
    """
    check_exportable(fitted)
    try:
        import onnx
    except ImportError as error:
        raise missing_extra("agssl export needs onnx", "onnx") from error
    model = _model(fitted)
    onnx.checker.check_model(model)
    write_bytes(Path(path), model.SerializeToString())
    return {entry.key: json.loads(entry.value) for entry in model.metadata_props}


def check_exportable(fitted: FittedModel) -> None:
    """Refuse a student that reads neighbours when it is asked."""
    model = fitted.model
    kinds = [_inner(model.encoder.convolution(number)) for number in range(model.encoder.hops)]
    if model.encoder.reach or model.head.propagates or not all(isinstance(kind, Linear) for kind in kinds):
        raise SettingsError(
            f"the student is a {fitted.shape.encoder}, which reads a node's neighbours whenever it is asked, and an "
            "ONNX model has no graph; fit again with --student mlp (or hops, ppr, whose rows are made before)"
        )


def network_rows(fitted: FittedModel, graph: Graph) -> np.ndarray:
    """What the exported model reads of a graph's nodes, float32 [N, d]."""
    model = fitted.model
    if not model.encoder.prepares:
        x = graph.x  # the exported model scales rows itself
    else:
        x = model.encoder.read(scaled(viewed(graph, fitted.shape.view), fitted.shape.feature_norm))
    return np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float32)


def _inner(layer: Layer) -> Layer:
    return layer.inner if isinstance(layer, WithSkip) else layer


def _weight(layer: Layer) -> np.ndarray:
    """What a row is multiplied by; a skip connection reads the same row."""
    (matrix,) = _inner(layer).matrices(layer.outputs)
    found = matrix + layer.skip if isinstance(layer, WithSkip) else matrix
    return np.asarray(found.detach().cpu().numpy())


class _Operators:
    """Operators of a graph in the making, one after the other."""

    def __init__(self) -> None:
        from onnx import helper, numpy_helper

        self._node, self._tensor = helper.make_node, numpy_helper.from_array
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: type = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(self._tensor(np.array(value, dtype=dtype, order="C"), name))
        return name

    def add(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"v{len(self.nodes)}"
        self.nodes.append(self._node(kind, list(inputs), [name], **attributes))
        return name


def _model(fitted: FittedModel) -> Any:
    from onnx import TensorProto, helper

    model, ops = fitted.model, _Operators()
    width = int(_weight(model.encoder.convolution(0)).shape[0])
    h = "rows" if model.encoder.prepares else _scaled(ops, "rows", fitted.shape.feature_norm)
    for number in range(model.encoder.hops):
        layer = model.encoder.convolution(number)
        h = ops.add("MatMul", h, ops.constant(_weight(layer)))
        h = ops.add("Add", h, ops.constant(layer.bias.detach().cpu().numpy()))
        if model.encoder.norms:
            h = _normed(ops, h, model.encoder.norms[number])
        h = ops.add("Relu", h)
    h = ops.add("MatMul", h, ops.constant(_weight(model.head.layer)))
    ops.add("Add", h, ops.constant(model.head.layer.bias.detach().cpu().numpy()), output="logits")
    h = ops.add("Div", "logits", ops.constant(fitted.confidence.temperature))
    if fitted.confidence.shifts:
        h = ops.add("Add", h, ops.constant(fitted.confidence.shifts))
    ops.add("Softmax", h, output="probabilities", axis=-1)
    _label(ops, fitted)
    classes = len(fitted.classes)
    values = helper.make_tensor_value_info
    graph = helper.make_graph(
        ops.nodes,
        "agssl",
        [values("rows", TensorProto.FLOAT, ["n", width])],
        [
            *(values(name, TensorProto.FLOAT, ["n", classes]) for name in ("logits", "probabilities")),
            values("label", TensorProto.INT64, ["n"]),
        ],
        ops.constants,
    )
    opset = [helper.make_opsetid("", OPSET)]
    made = helper.make_model(graph, producer_name="agssl", producer_version=__version__, opset_imports=opset)
    made.ir_version = IR
    about = {
        "classes": list(fitted.classes),
        "student": fitted.shape.encoder,
        "width": width,
        "rows": "what is made of the graph once" if model.encoder.prepares else "the features of a node",
        "columns": None if fitted.columns is None else fitted.columns.to_dict()["columns"],
    }
    helper.set_model_props(made, {name: json.dumps(value) for name, value in about.items()})
    return made


def _scaled(ops: _Operators, x: str, how: str) -> str:
    """Features as `agssl.data.feature_norm.scaled` makes them."""
    if how == "none":
        return x
    zero, one = ops.constant(0.0), ops.constant(1.0)
    if how == "binary":
        x = ops.add("Where", ops.add("Equal", x, zero), zero, one)
    squares = ops.add("ReduceSum", ops.add("Mul", x, x), ops.constant([1], np.int64), keepdims=1)
    norm = ops.add("Sqrt", squares)
    tiny = ops.add("Less", norm, ops.constant(10 * np.finfo(np.float32).eps))
    return ops.add("Div", x, ops.add("Where", tiny, one, norm))


def _normed(ops: _Operators, h: str, norm: Any) -> str:
    scale, shift = (part.detach().cpu().numpy() for part in (norm.weight, norm.bias))
    if isinstance(norm, nn.LayerNorm):  # else batch norm, by its running averages
        return ops.add("LayerNormalization", h, ops.constant(scale), ops.constant(shift), axis=-1, epsilon=norm.eps)
    factor = scale / np.sqrt(norm.running_var.cpu().numpy() + norm.eps)
    h = ops.add("Mul", h, ops.constant(factor))
    return ops.add("Add", h, ops.constant(shift - norm.running_mean.cpu().numpy() * factor))


def _label(ops: _Operators, fitted: FittedModel) -> None:
    """The class, by number: the likeliest, or by the threshold."""
    decision = fitted.decision
    if decision is None or decision.threshold is None:
        ops.add("ArgMax", "probabilities", output="label", axis=1, keepdims=0)
        return
    positive = ops.add("Gather", "probabilities", ops.constant(decision.positive, np.int64), axis=1)
    above = ops.add("GreaterOrEqual", positive, ops.constant(decision.threshold))
    both = (ops.constant(number, np.int64) for number in (decision.positive, 1 - decision.positive))
    ops.add("Where", above, *both, output="label")
