"""The teachers: one network per task, and what they know together."""

from __future__ import annotations

import difflib
import time
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from agssl.base.errors import SettingsError, unknown_name
from agssl.base.registry import settings_of
from agssl.base.rng import Rng
from agssl.base.spec import Spec
from agssl.config import LABELS, OF_NETWORK, Settings, TeacherSpec
from agssl.encoders import ENCODERS, Network, Shape
from agssl.integrate import INTEGRATORS, Knowledge
from agssl.ops.diffusion import near_labelled
from agssl.ops.graph_views import make_view, viewed
from agssl.pretext.base import TASKS
from agssl.pretext.prepare import alphas_of
from agssl.simple import SIMPLE, is_simple, make_simple
from agssl.train.context import Context, Teacher
from agssl.train.network import Trained, WeightedTask
from agssl.train.problem import folds


def train_teacher(context: Context, text: str) -> Teacher:
    """The teacher that a text names; alpha is chosen by validation."""
    start, spec = time.perf_counter(), TeacherSpec.parse(text)
    if is_simple(spec.encoder):
        return Teacher(text, 0.0, classify(context, spec), time.perf_counter() - start)
    here, stage = context.with_network(spec.encoder, spec.settings), f"teacher {text}"
    if spec.task == LABELS:
        network = here.network((), _stream(here, spec, "gcn"), stage)
        return Teacher(text, 0.0, network, time.perf_counter() - start)
    task, targets = here.targets(spec.task)
    rng = _stream(here, spec, "teacher", spec.task)  # with its settings: one task may teach twice, set differently
    alphas = alphas_of(here.settings, spec.task)
    choices = [(WeightedTask(spec.task, task, targets, alpha),) for alpha in alphas]
    number, network = here.best_network(choices, rng, stage)
    return Teacher(text, alphas[number], network, time.perf_counter() - start)


def _stream(context: Context, spec: TeacherSpec, *names: str) -> Rng:
    return context.rng.child(*names, "seed", spec.seed) if spec.seed else context.rng.child(*names)


def check_teacher(text: str, settings: Settings) -> None:
    """Refuse a teacher whose task, encoder, view or settings do not exist, before anything is trained."""
    spec = TeacherSpec.parse(text)
    encoder = Spec.parse(spec.encoder or settings.encoder)
    if encoder.name not in ENCODERS and encoder.name not in SIMPLE:
        raise unknown_name("encoder", encoder.name, (*ENCODERS, *SIMPLE))
    if spec.task != LABELS and Spec.parse(spec.task).name not in TASKS:
        raise unknown_name("task", Spec.parse(spec.task).name, (LABELS, *TASKS))
    if is_simple(spec.encoder):
        make_simple(str(encoder))
        given = [name for name in spec.settings if name != "view"]
        if spec.task != LABELS or given:
            what = f"the task {spec.task}" if spec.task != LABELS else given[0]
            raise SettingsError(f"the teacher {text!r}: {encoder.name} is not trained, so {what} is not for it")
    else:
        _check_options(text, encoder)
        own = settings.of_network(spec.encoder, spec.settings)
        Network(Shape(1, own.hidden, 2, encoder=own.encoder, head=own.head), Rng(0))
    make_view(spec.settings.get("view", settings.view))


def _check_options(text: str, encoder: Spec) -> None:
    """Refuse what stands after an encoder and is a setting neither of it nor of its network."""
    own = settings_of(ENCODERS[encoder.name])
    for option in encoder.options:
        name, equals, _ = option.partition("=")
        if name not in own and equals:
            known = sorted({*own, *OF_NETWORK, "seed"})
            near = difflib.get_close_matches(name.lower(), known, n=2, cutoff=0.6)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
            view = "; a view's own settings follow a slash: view=knn/k=20" if "view=" in text and not near else ""
            raise SettingsError(f"{text!r}: {name} is not a setting of {encoder.name} or its network; {hint}{view}")


def classify(context: Context, spec: TeacherSpec, training: np.ndarray | None = None) -> Trained:
    """What a classifier without training says, told the training labels of each fold (or of these nodes)."""
    assert spec.encoder is not None
    problem, model = context.problem, make_simple(spec.encoder)
    given = problem.graph if context.graph is None else context.graph
    graph, labels = viewed(given, spec.settings.get("view", context.settings.view), context.cache), problem.graph.y
    known = [fold.train_nodes for fold in context.folds] if training is None else [training]
    said = [model.fit_predict(graph, nodes, labels[nodes], problem.shape.classes) for nodes in known]
    logits = [torch.from_numpy(one).to(problem.device) for one in said]
    return Trained.of_logits(context.folds if training is None else [problem], (), logits)


def cross_fit(context: Context, teacher: Teacher) -> Tensor:
    """Logits [n_train, C] of the training nodes by teachers trained without their labels, fold by fold.

    Each trains as long as the teacher itself did to its best epoch, so that no further choice is made.
    """
    text, spec = teacher.name, TeacherSpec.parse(teacher.name)
    here = context if is_simple(spec.encoder) else context.with_network(spec.encoder, spec.settings)
    problem, settings = here.problem, here.settings
    held_out = torch.zeros(len(problem.train_nodes), problem.shape.classes, device=problem.device)
    for number, fold in enumerate(folds(problem, settings.folds, context.rng.child("folds"))):
        nodes = np.delete(problem.train_nodes, fold)
        if is_simple(spec.encoder):
            network = classify(here, spec, nodes)
        else:
            tasks = () if spec.task == LABELS else (spec.task,)
            weighted = [WeightedTask(task, *here.targets(task), teacher.alpha) for task in tasks]
            rng = context.rng.child("teacher", text, "fold", number)
            stage, epochs = f"fold {number + 1} of {text}", int(teacher.network.best["epoch"]) + 1
            network = here.network(weighted, rng, stage, problem.with_training(nodes), fixed_epochs=epochs)
        held_out[torch.from_numpy(fold)] = network.logits[torch.from_numpy(problem.train_nodes[fold])]
    return held_out


def collect_knowledge(context: Context, teachers: Sequence[Teacher], fold: int | None = None) -> Knowledge:
    """What the teachers know, with the labels that lambda is fitted by: those of one fold, or of all folds together.

    The student of a fold may not know its labels. So lambda and the calibration are fitted by those of the other folds,
    where there are any.
    """
    settings, problem = context.settings, context.problem
    networks = [teacher.network for teacher in teachers]
    logits = torch.stack([n.logits if fold is None else n.fold_logits[fold] for n in networks])
    if context.trains_again and settings.weights_from != "train":
        own = context.folds[fold].val_nodes if fold is not None and len(context.folds) > 1 else np.empty(0, np.int64)
        which = torch.from_numpy(np.flatnonzero(~np.isin(problem.val_nodes, own)))
        nodes = torch.from_numpy(problem.val_nodes)[which].to(problem.device)
        heldout = torch.stack([network.heldout for network in networks])[:, which]
        knowledge = Knowledge(logits, nodes, problem.labels[nodes], heldout, near=_near(context, nodes))
        return knowledge.calibrated(settings.calibrate)
    problem = problem if fold is None else context.folds[fold]
    nodes = torch.from_numpy(problem.val_nodes if settings.weights_from == "val" else problem.train_nodes).to(
        problem.device
    )
    heldout = logits[:, nodes]
    if settings.weights_from == "crossfit":
        heldout = torch.stack([cross_fit(context, teacher) for teacher in teachers])
    knowledge = Knowledge(logits, nodes, problem.labels[nodes], heldout, near=_near(context, nodes))
    return knowledge if settings.weights_from == "train" else knowledge.calibrated(settings.calibrate)


def _near(context: Context, nodes: Tensor) -> sp.csr_matrix | None:
    """How near each node is to these labelled ones, where the integration asks for it."""
    if not INTEGRATORS[context.settings.integration].reads_edges:
        return None
    graph = context.problem.graph if context.graph is None else context.graph
    return near_labelled(graph, nodes.cpu().numpy())
