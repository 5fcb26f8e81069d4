"""A fitted model as one safetensors file: tensors, and everything else as JSON in its header."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.errors import DataError
from agssl.models.gcn import Gcn, Shape
from agssl.rng import Rng
from agssl.store.atomic import write_bytes
from agssl.train.fit import Fit
from agssl.train.loop import Record

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Bundle:
    """What stays of a fit: the student, what it and the teachers said of every node, and whom each node trusted."""

    model: Gcn
    shape: Shape
    settings: Settings
    seed: int
    classes: tuple[str, ...]
    logits: np.ndarray  # [N, C]
    best: Record
    task_names: tuple[str, ...] = ()  # of the teachers, or, where there are none, of the columns of `weights`
    alphas: tuple[float, ...] = ()
    teacher_logits: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))  # [K, N, C]
    weights: np.ndarray | None = None  # [N, K]

    @classmethod
    def of(cls, result: Fit, graph: Graph, settings: Settings, seed: int) -> Bundle:
        """The bundle of a fit."""
        alphas = {teacher.name: teacher.alpha for teacher in result.teachers} or result.tasks
        teachers = [teacher.network.logits.cpu().numpy() for teacher in result.teachers]
        return cls(
            result.model.cpu(),
            result.model.shape,
            settings,
            seed,
            graph.classes,
            result.logits.cpu().numpy(),
            result.best,
            tuple(alphas),
            tuple(alphas.values()),
            np.stack(teachers) if teachers else np.zeros((0, 0, 0), np.float32),
            None if result.weights is None else result.weights.cpu().numpy(),
        )


def save_bundle(bundle: Bundle, path: str | Path) -> None:
    """Write a bundle, whole or not at all."""
    tensors: dict[str, Tensor] = {f"model.{k}": v.contiguous() for k, v in bundle.model.state_dict().items()}
    tensors["logits"] = torch.from_numpy(np.ascontiguousarray(bundle.logits))
    tensors["teacher_logits"] = torch.from_numpy(np.ascontiguousarray(bundle.teacher_logits))
    if bundle.weights is not None:
        tensors["weights"] = torch.from_numpy(np.ascontiguousarray(bundle.weights))
    about = {
        "shape": dataclasses.asdict(bundle.shape),
        "settings": bundle.settings.to_dict(),
        "seed": bundle.seed,
        "classes": list(bundle.classes),
        "best": bundle.best,
        "tasks": list(bundle.task_names),
        "alphas": list(bundle.alphas),
    }
    write_bytes(Path(path), save(tensors, {"format": "agssl", "schema": str(SCHEMA), "about": json.dumps(about)}))


def load_bundle(path: str | Path) -> Bundle:
    """Read a bundle; a file that is not one, or is damaged or too new, is an error that says so."""
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            if header.get("format") != "agssl":
                raise DataError(f"{path} is not a model of agssl; give a file written by AGSSL.save or by agssl fit")
            if int(header["schema"]) > SCHEMA:
                raise DataError(
                    f"{path} has schema {header['schema']}, but this version reads up to {SCHEMA}; upgrade agssl"
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        return _bundle(tensors, json.loads(header["about"]))
    except (OSError, SafetensorError) as error:
        raise DataError(f"can't read the model {path}: {error}; check the path, or fit again") from error
    except (KeyError, TypeError, ValueError, OverflowError, RuntimeError, MemoryError, AttributeError) as error:
        raise DataError(f"the model {path} is damaged ({type(error).__name__}: {error}); fit again") from error


def _bundle(tensors: dict[str, Tensor], about: dict[str, Any]) -> Bundle:
    shape = Shape(**about["shape"])
    state = {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
    widths = (shape.features * shape.hidden, shape.hidden * shape.classes)
    if shape.layers != sum(name.startswith("weights.") for name in state):
        raise ValueError(f"weights do not fit the shape {shape}")
    if max(widths) > sum(v.numel() for v in state.values()):  # don't allocate what the file does not hold
        raise ValueError(f"weights do not fit the shape {shape}")
    model = Gcn(shape, Rng(0))
    model.load_state_dict(state)
    weights = tensors.get("weights")
    bundle = Bundle(
        model,
        shape,
        Settings.from_dict(about["settings"]),
        int(about["seed"]),
        tuple(about["classes"]),
        tensors["logits"].numpy(),
        dict(about["best"]),
        tuple(about["tasks"]),
        tuple(about["alphas"]),
        tensors["teacher_logits"].numpy(),
        None if weights is None else weights.numpy(),
    )
    _check(bundle)
    return bundle


def _check(bundle: Bundle) -> None:
    """Insist that names, logits and weights fit together."""
    nodes, classes, teachers = len(bundle.logits), bundle.shape.classes, len(bundle.task_names)
    if not all(isinstance(name, str) for name in (*bundle.classes, *bundle.task_names)):
        raise TypeError("a class or task has no name")
    if not all(isinstance(alpha, int | float) for alpha in bundle.alphas):
        raise TypeError("an alpha is no number")
    found = (len(bundle.classes), bundle.logits.shape, len(bundle.alphas))
    if found != (classes, (nodes, classes), teachers):
        raise ValueError("classes, logits and alphas do not fit together")
    expected = (teachers, nodes, classes) if bundle.settings.method != "autossl" else (0, 0, 0)  # it has no teachers
    if teachers and bundle.teacher_logits.shape != expected:
        raise ValueError("the teachers' logits do not fit")
    if bundle.weights is not None and bundle.weights.shape != (nodes, teachers):
        raise ValueError("the weights of the teachers do not fit")
    if any(array.dtype != np.float32 for array in (bundle.logits, bundle.teacher_logits)):
        raise TypeError("logits must be 32-bit floats")
