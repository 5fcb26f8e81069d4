"""What a fitted model says of another graph than the fitted one: its logits, its teachers', and their weights."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from agssl.base.errors import DataError, SettingsError
from agssl.data.graph import Graph
from agssl.encoders import Network
from agssl.integrate import INTEGRATORS
from agssl.integrate.base import all_weights, mixed
from agssl.store.fitted import FittedModel
from agssl.store.teachers import KeptTeachers
from agssl.train.context import MethodResult
from agssl.train.distill import TINY
from agssl.train.infer import infer
from agssl.train.network import mean_logits

NEAR = 1e-3  # logits this close are the same, computed on another machine or in other blocks

log = logging.getLogger("agssl")


class SmoothedError(SettingsError):
    """Answers that were smoothed do not carry over to other graphs."""


def transfer(fitted: FittedModel, graph: Graph, device: str = "cpu") -> FittedModel:
    """The model with logits and weights of another graph's nodes in place of the fitted graph's.

    Of the fitted graph itself it has them already: a graph is taken for that one where the student says the same of
    every node of it.

    Args:
        fitted: a model with its teachers (`FittedModel.teachers`), where its method weighs teachers by node.
        graph: with the same features; labels are not needed.
        device: where to compute.

    Raises:
        SmoothedError: the answers were smoothed by labels of the fitted graph, and this is another.
    """
    logits, own = infer(fitted.model, graph, device).logits, fitted.network_logits
    if logits.shape == own.shape and np.allclose(logits, own, NEAR, NEAR):
        return fitted
    refuse_smoothed(fitted)
    return elsewhere(fitted, lambda network: infer(network, graph, device).logits, logits)


def elsewhere(fitted: FittedModel, ask: Callable[[Network], np.ndarray], logits: np.ndarray) -> FittedModel:
    """The model with logits and weights of other nodes than the fitted ones.

    Args:
        fitted: with its teachers, where its method weighs teachers by node.
        ask: gives the logits [n, C] that a network has of these nodes.
        logits: those of the student, [n, C].
    """
    other = replace(fitted, logits=logits, heldout=None, teacher_heldout=None, heldout_weights=None)
    if fitted.weights is None:
        return replace(other, teacher_logits=np.zeros((0, 0, 0), np.float32))
    if not len(fitted.teacher_logits):  # autossl's, the same for every node
        return replace(other, weights=np.repeat(fitted.weights[:1], len(logits), axis=0))
    kept = fitted.teachers
    if kept is None:
        raise DataError(
            "the model came without its teachers' networks (left out, too large, or one is no network), so it has "
            f"teacher weights for its own {len(fitted.logits)} nodes alone; give the fitted graph, or fit again"
        )
    integrator = kept.integrator()
    if not integrator.transfers:
        others = ", ".join(name for name in INTEGRATORS if INTEGRATORS[name].transfers)
        raise SettingsError(
            f"integration {kept.integration} settles the weights of the fitted nodes one by one, and has none for "
            f"others; fit with one of {others}"
        )
    each = [[torch.from_numpy(ask(one)) for one in networks] for networks in kept.networks]
    said = torch.stack([mean_logits(one) for one in each])
    calibrated = said if kept.calibration is None else kept.calibration(said)
    weights = all_weights(integrator, torch.from_numpy(logits), calibrated)
    other = replace(other, teacher_logits=said.numpy(), weights=weights.numpy())
    if fitted.student_logits is None:
        return other
    told = mixed(weights, torch.softmax(calibrated, dim=-1)).clamp_min(TINY).log()
    return replace(other, logits=told.numpy(), student_logits=logits)


def refuse_smoothed(fitted: FittedModel) -> None:
    """Raise where answers were smoothed by labels."""
    if fitted.unsmoothed is not None:
        raise SmoothedError(
            "the model was fitted with smooth: its answers are made of the labels of its own graph, and it has none "
            "for other nodes; give the fitted graph, or fit without smooth"
        )


def answer(fitted: FittedModel, graph: Graph, device: str = "cpu") -> np.ndarray:
    """Logits [N, C] of a graph's nodes: of the student, or of the teachers together where these answer.

    Teachers that can't (one is no network, or they were left out) leave it to the student, and that is said.
    """
    if fitted.network_logits is fitted.logits:
        return infer(fitted.model, graph, device).logits
    try:
        return transfer(fitted, graph, device).logits
    except SmoothedError:
        raise
    except (DataError, SettingsError) as error:
        say_student_answers(error)
        return infer(fitted.model, graph, device).logits


def say_student_answers(error: Exception) -> None:
    """Warn that the teachers, who would answer, can't."""
    log.warning("the student answers in place of its teachers, which were better on the fitted graph: %s", error)


def keep_teachers(result: MethodResult, integration: str) -> KeptTeachers | None:
    """What it takes to weigh the teachers at other nodes.

    None where nothing weighs them by node, or where an integrator's parameters and buffers do not tell its weights.
    """
    if result.integrator is None or result.knowledge is None or result.weights is None:
        return None
    if not all(teacher.network.models for teacher in result.teachers):  # one of them is a classifier without training
        return None
    known = result.knowledge
    kept = KeptTeachers(
        networks=tuple(tuple(model.cpu() for model in teacher.network.models) for teacher in result.teachers),
        integration=integration,
        state={name: tensor.detach().cpu().clone() for name, tensor in result.integrator.state_dict().items()},
        nodes=known.logits.shape[1],
        heldout=len(known.nodes),
        calibration=known.calibration,
    )
    try:
        own = result.logits if result.student_logits is None else result.student_logits
        again = all_weights(kept.integrator(), own.cpu(), known.logits.cpu(), fitted_nodes=True)
    except Exception as error:  # a plug-in's constructor may want more than sizes
        log.info("the teachers are not kept: integration %s can't be made again (%s)", integration, error)
        return None
    if not torch.allclose(again, result.weights.cpu(), NEAR, NEAR):
        log.info("the teachers are not kept: integration %s has more to it than parameters and buffers", integration)
        return None
    return kept
