"""A fitted model as one safetensors file: tensors, and everything else as JSON in its header."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from agssl.base.atomic import write_bytes
from agssl.base.errors import AgsslError, DataError, GraphError
from agssl.config import Settings, renamed
from agssl.data.columns import Columns
from agssl.data.graph import Graph
from agssl.data.labels import KINDS, natural_kind
from agssl.data.splits import Split
from agssl.encoders import Network, Shape
from agssl.integrate.calibration import Calibration, Confidence
from agssl.integrate.sets import Conformal
from agssl.metrics import Decision, decided
from agssl.ops.seen import Seen
from agssl.store.checkpoints import Record
from agssl.store.kept_graph import PREFIX, graph_tensors, kept_graph
from agssl.store.networks import read_network, tensors_below
from agssl.store.teachers import KeptTeachers

HELDOUT = ("heldout", "teacher_heldout", "heldout_weights")
OWN = ("student_logits", "unsmoothed")
SCHEMA = 2  # 1 had no encoders but the GCN, and other names of its settings and weights


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What stays of a fit: the student, its logits and the teachers' of every node, and per-node teacher weights."""

    model: Network
    shape: Shape
    settings: Settings
    seed: int
    classes: tuple[str, ...]
    logits: np.ndarray  # [N, C], of the student, or of its teachers together where these answer; smoothed if asked for
    best: Record
    task_names: tuple[str, ...] = ()  # of the teachers, or, where there are none, of the columns of `weights`
    alphas: tuple[float, ...] = ()
    teacher_logits: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))  # [K, N, C]
    weights: np.ndarray | None = None  # [N, K]
    class_kind: str = "str"  # what the classes were before they were names, see `agssl.data.labels.KINDS`
    columns: Columns | None = None  # how a table becomes the features, where they have names
    decision: Decision | None = None  # of two classes, which is positive and from which probability on
    heldout: np.ndarray | None = None  # [n, C], see `judged`; None where `logits` have it
    teacher_heldout: np.ndarray | None = None  # [K, n, C]
    heldout_weights: np.ndarray | None = None  # [n, K], lambda of the same nodes
    teachers: KeptTeachers | None = None  # their networks, and what weighs them at other nodes
    student_logits: np.ndarray | None = None  # [N, C], where the teachers answer in the student's place
    unsmoothed: np.ndarray | None = None  # [N, C], what was smoothed into `logits`
    calibration: Calibration | None = None  # what the teachers' logits go through before they are weighed
    confidence: Confidence = dataclasses.field(default_factory=Confidence)  # by which logits become probabilities
    conformal: Conformal | None = None  # by which probabilities become sets; None: of an older version
    seen: Seen | None = None  # what the features looked like; None: of an older version

    @property
    def network_logits(self) -> np.ndarray:
        """[N, C], what the network `model` itself says of the fitted nodes."""
        answers = self.logits if self.unsmoothed is None else self.unsmoothed
        return answers if self.student_logits is None else self.student_logits

    def decide(self, probabilities: np.ndarray) -> np.ndarray:
        """The class of each node, by number, given the probabilities of all classes."""
        return decided(probabilities, self.decision)

    def calibrated(self, teachers: np.ndarray) -> np.ndarray:
        """Logits of the teachers [K, n, C], as they were weighed."""
        if self.calibration is None or not len(teachers):
            return teachers
        return self.calibration(torch.from_numpy(np.ascontiguousarray(teachers))).numpy()

    def sets(self, logits: np.ndarray, graph: Graph, coverage: float, by_class: bool = False) -> np.ndarray:
        """Which classes are in the prediction set of each node, bool [N, C]; see `agssl.integrate.sets`."""
        if self.conformal is None:
            raise DataError("the model is of a version without prediction sets; fit again")
        return self.conformal.sets(self.confidence(logits), graph, coverage, by_class)


@dataclass(frozen=True, eq=False)
class Judged:
    """What a model and its teachers said of nodes whose labels they had not been trained on."""

    nodes: np.ndarray  # [n]
    logits: np.ndarray  # [n, C]
    teachers: np.ndarray  # [K, n, C]
    answers: np.ndarray  # [K, n], the teachers' classes as they were weighed: calibrated
    probabilities: np.ndarray  # [n, C], calibrated without the labels of these nodes
    weights: np.ndarray | None = None  # lambda [n, K]


def judged(fitted: FittedModel, split: Split, part: str) -> Judged:
    """What to judge a fitted model by, on a part of its split.

    On held-out nodes of a split with folds (`Split.judges`), that is what the networks of the folds said of them: the
    final ones were trained with their labels. Where answers are smoothed, it is by the labels of others.
    """
    nodes, teachers = split.judges(part), fitted.teacher_logits
    said, weights = fitted.logits[nodes], None if fitted.weights is None else fitted.weights[nodes]
    teachers = teachers[:, nodes] if len(teachers) else teachers
    if part == "val" and fitted.heldout is not None:
        said = fitted.heldout
        if split.fold is not None:
            weights = fitted.heldout_weights
            teachers = teachers if fitted.teacher_heldout is None else fitted.teacher_heldout
    probabilities = fitted.confidence.heldout(said) if part == "val" else fitted.confidence(said)
    answers = fitted.calibrated(teachers).argmax(-1) if len(teachers) else np.zeros((0, len(nodes)), dtype=np.int64)
    return Judged(nodes, said, teachers, answers, probabilities, weights)


def together(answers: Iterable[tuple[FittedModel, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Mean probabilities [N, C] and the classes [N], by number, of models and their logits.

    A threshold is the mean of the models'.
    """
    decisions: list[Decision | None] = []
    total, count = np.zeros(()), 0
    for fitted, said in answers:
        decisions.append(fitted.decision)
        total, count = total + fitted.confidence(said), count + 1
    probabilities = total / count
    known = [one.threshold for one in decisions if one is not None and one.threshold is not None]
    decision = dataclasses.replace(decisions[0], threshold=float(np.mean(known))) if known and decisions[0] else None
    return probabilities, decided(probabilities, decision)


def save_fitted(fitted: FittedModel, path: str | Path, *, teachers: bool = True, graph: Graph | None = None) -> None:
    """Write a fitted model, whole or not at all; its teachers' networks may be left out, and its graph be with it."""
    tensors: dict[str, Tensor] = {f"model.{k}": v.contiguous() for k, v in fitted.model.state_dict().items()}
    tensors["logits"] = torch.from_numpy(np.ascontiguousarray(fitted.logits))
    tensors["teacher_logits"] = torch.from_numpy(np.ascontiguousarray(fitted.teacher_logits))
    for name in (*HELDOUT, *OWN):
        if getattr(fitted, name) is not None:
            tensors[name] = torch.from_numpy(np.ascontiguousarray(getattr(fitted, name)))
    if fitted.calibration is not None:
        tensors["calibration.temperatures"] = fitted.calibration.temperatures.cpu().clone()
        tensors["calibration.shifts"] = fitted.calibration.shifts.cpu().clone()
    if fitted.conformal is not None:
        tensors["conformal.scores"] = torch.from_numpy(fitted.conformal.scores)
        tensors["conformal.labels"] = torch.from_numpy(fitted.conformal.labels)
    if fitted.weights is not None:
        tensors["weights"] = torch.from_numpy(np.ascontiguousarray(fitted.weights))
    about = {
        "shape": dataclasses.asdict(fitted.shape),
        "settings": fitted.settings.to_dict(),
        "seed": fitted.seed,
        "classes": list(fitted.classes),
        "class_kind": fitted.class_kind,
        "best": fitted.best,
        "confidence": fitted.confidence.to_dict(),
        "tasks": list(fitted.task_names),
        "alphas": list(fitted.alphas),
    }
    if fitted.teachers is not None and teachers:
        tensors |= fitted.teachers.tensors()
        about["teachers"] = fitted.teachers.about()
    if fitted.decision is not None:
        about["decision"] = dataclasses.asdict(fitted.decision)
    if fitted.conformal is not None:
        about["conformal"] = fitted.conformal.weight
    if fitted.seen is not None:
        tensors |= fitted.seen.tensors()
        about["seen"] = fitted.seen.about()
    if fitted.columns is not None:
        about |= fitted.columns.to_dict()
    if graph is not None:
        own, about["graph"] = graph_tensors(graph)
        tensors |= own
    write_bytes(Path(path), save(tensors, {"format": "agssl", "schema": str(SCHEMA), "about": json.dumps(about)}))


def load_fitted(path: str | Path) -> FittedModel:
    """Read a fitted model; a file that is not one, or is damaged or too new, is an error that says so."""
    return load_with_graph(path)[0]


def load_with_graph(path: str | Path) -> tuple[FittedModel, Graph | None]:
    """The same with the graph that it was fitted to, where the file has it."""
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
        about = json.loads(header["about"])
        fitted = _fitted(tensors, about, int(header["schema"]))
        if "graph" not in about:
            return fitted, None
        graph = kept_graph(tensors_below(PREFIX, tensors), about["graph"], fitted.columns)
        if graph.num_nodes != len(fitted.logits):
            raise ValueError("the graph is another one")
        return fitted, graph
    except GraphError as error:
        raise DataError(f"the model {path} is damaged: {error}; fit again") from error
    except AgsslError:
        raise
    except (OSError, SafetensorError) as error:
        raise DataError(f"can't read the model {path}: {error}; check the path, or fit again") from error
    except (KeyError, TypeError, ValueError, OverflowError, RuntimeError, MemoryError, AttributeError) as error:
        raise DataError(f"the model {path} is damaged ({type(error).__name__}: {error}); fit again") from error


def _fitted(tensors: dict[str, Tensor], about: dict[str, Any], schema: int) -> FittedModel:
    state = tensors_below("model.", tensors)
    if schema == 1:
        state = {_current_name(name): tensor for name, tensor in state.items()}
    model = read_network(about["shape"] if schema > 1 else renamed(about["shape"]), state)
    weights, settings = tensors.get("weights"), Settings.from_dict(about["settings"])
    teachers = KeptTeachers.read(about["teachers"], tensors, settings.integration) if "teachers" in about else None
    fitted = FittedModel(
        model=model,
        shape=model.shape,
        settings=settings,
        seed=int(about["seed"]),
        classes=tuple(about["classes"]),
        logits=tensors["logits"].numpy(),
        best=dict(about["best"]),
        task_names=tuple(about["tasks"]),
        alphas=tuple(about["alphas"]),
        teacher_logits=tensors["teacher_logits"].numpy(),
        weights=None if weights is None else weights.numpy(),
        class_kind=about.get("class_kind") or natural_kind(about["classes"]),  # not stored before
        columns=Columns.from_dict(about) if "columns" in about else None,
        **{name: tensors[name].numpy() for name in (*HELDOUT, *OWN) if name in tensors},
        decision=Decision(**about["decision"]) if "decision" in about else None,
        teachers=teachers,
        calibration=_calibration(tensors_below("calibration.", tensors)),
        confidence=Confidence.from_dict(about.get("confidence", {}), model.shape.classes),
        conformal=_conformal(tensors, about) if "conformal" in about else None,
        seen=Seen.read(about["seen"], tensors) if "seen" in about else None,
    )
    _check(fitted)
    return fitted


def _calibration(tensors: dict[str, Tensor]) -> Calibration | None:
    return Calibration(tensors["temperatures"], tensors["shifts"]) if tensors else None


def _conformal(tensors: dict[str, Tensor], about: dict[str, Any]) -> Conformal:
    found = Conformal(
        tensors["conformal.scores"].numpy(), tensors["conformal.labels"].numpy(), float(about["conformal"])
    )
    if found.scores.ndim != 1 or found.labels.shape != found.scores.shape or found.labels.dtype != np.int64:
        raise ValueError("the scores of held-out nodes do not fit")
    return found


def _current_name(name: str) -> str:
    """A tensor of schema 1 by its name of today.

    >>> _current_name("weights.0"), _current_name("class_bias")
    ('encoder.layers.0.weight', 'head.layer.bias')
    """
    first, _, rest = name.partition(".")
    names = {"weights": f"encoder.layers.{rest}.weight", "biases": f"encoder.layers.{rest}.bias"}
    names |= {"class_weight": "head.layer.weight", "class_bias": "head.layer.bias", "norms": f"encoder.norms.{rest}"}
    return names.get(first, name)


def _check(fitted: FittedModel) -> None:
    """Insist that names, logits and weights fit together."""
    nodes, classes, teachers = len(fitted.logits), fitted.shape.classes, len(fitted.task_names)
    if not all(isinstance(name, str) for name in (*fitted.classes, *fitted.task_names)):
        raise TypeError("a class or task has no name")
    if fitted.class_kind not in KINDS:
        raise ValueError(f"class_kind is {fitted.class_kind!r}")
    if not all(isinstance(alpha, int | float) for alpha in fitted.alphas):
        raise TypeError("an alpha is no number")
    found = (len(fitted.classes), fitted.logits.shape, len(fitted.alphas))
    if found != (classes, (nodes, classes), teachers):
        raise ValueError("classes, logits and alphas do not fit together")
    expected = (teachers, nodes, classes) if fitted.settings.method != "autossl" else (0, 0, 0)  # it has no teachers
    if teachers and fitted.teacher_logits.shape != expected:
        raise ValueError("the teachers' logits do not fit")
    decision = fitted.decision
    if decision is not None and (classes != 2 or decision.positive not in (0, 1)):
        raise ValueError("the positive class is none of two")
    if decision is not None and not isinstance(decision.threshold, float | None):
        raise TypeError("the threshold is no number")
    if fitted.columns is not None and len(fitted.columns.features) != fitted.shape.features:
        raise ValueError("the columns do not make the features")
    if fitted.seen is not None and fitted.seen.reference.shape[1] != fitted.shape.features:
        raise ValueError("the reference rows do not fit the features")
    if fitted.weights is not None and fitted.weights.shape != (nodes, teachers):
        raise ValueError("the weights of the teachers do not fit")
    kept = fitted.teachers
    if kept is not None and (len(kept.networks), kept.nodes) != (teachers, nodes):
        raise ValueError("the teachers' networks do not fit")
    heldout, taught = fitted.heldout, fitted.teacher_heldout
    if heldout is not None and (heldout.ndim != 2 or heldout.shape[1] != classes):
        raise ValueError("the logits of held-out nodes do not fit")
    if taught is not None and (heldout is None or taught.shape != (teachers, *heldout.shape)):
        raise ValueError("the teachers' logits of held-out nodes do not fit")
    calibration = fitted.calibration
    if calibration is not None and (
        calibration.temperatures.shape != (teachers,) or calibration.shifts.shape != (teachers, classes)
    ):
        raise ValueError("the calibration of the teachers does not fit")
    trust = fitted.heldout_weights
    if trust is not None and (heldout is None or trust.shape != (len(heldout), teachers)):
        raise ValueError("the weights of held-out nodes do not fit")
    own = [getattr(fitted, name) for name in OWN]
    if any(one is not None and one.shape != fitted.logits.shape for one in own):
        raise ValueError("the student's logits do not fit")
    every = (fitted.logits, fitted.teacher_logits, heldout, taught, *own)
    if any(a is not None and a.dtype != np.float32 for a in every):
        raise TypeError("logits must be 32-bit floats")
