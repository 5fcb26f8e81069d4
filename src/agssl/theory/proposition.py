"""Proposition 1: both sides of the bound, over graphs drawn from the model, with teachers and network held fixed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network
from agssl.integrate.base import mixed
from agssl.theory.csbm import Csbm, propagate_beliefs, softmax
from agssl.theory.networks import SCHEMES, Networks
from agssl.train.infer import infer

GRAPHS = 60  # drawn anew


def proposition(model: Csbm, rng: Rng, trained: Networks) -> list[dict[str, Any]]:
    """Both sides of Proposition 1 for several teachers and two networks, over graphs drawn anew."""
    networks = {"trained": trained.students["ts", "val"][1].network.model}
    networks["untrained"] = Network(trained.context.problem.shape, rng.child("untrained"))
    teachers: dict[str, list[np.ndarray]] = {}
    losses: dict[str, list[np.ndarray]] = {name: [] for name in networks}
    for number in range(GRAPHS):
        graph = model.draw(rng.child("graph", number))
        for name, p in _integrated(graph, trained).items():
            teachers.setdefault(name, []).append(p)
        teachers.setdefault("Bayes", []).append(propagate_beliefs(model, graph))
        for name, network in networks.items():
            losses[name].append(-np.log(softmax(infer(network, graph).logits.astype(np.float64))))
    bayes = np.stack(teachers["Bayes"])
    return [
        {"teacher": teacher, "network": name} | sides(np.stack(p), bayes, np.stack(losses[name]))
        for name in networks
        for teacher, p in teachers.items()
    ]


def _integrated(graph: Graph, trained: Networks) -> dict[str, np.ndarray]:
    """What fixed teachers and integrators say of another graph, [N, C]."""
    logits = torch.stack([torch.from_numpy(infer(t.network.model, graph).logits) for t in trained.teachers])
    raw = torch.softmax(logits.double(), dim=-1)
    found = {"best single": raw[trained.best_single], "Average": raw.mean(0)}
    for scheme in SCHEMES:
        knowledge, student = trained.students[scheme, "val"]
        assert knowledge.calibration is not None
        scaled = knowledge.calibration(logits)
        with torch.no_grad():
            weights = student.integrator(torch.from_numpy(infer(student.network.model, graph).logits), scaled)
        found[scheme.upper()] = mixed(weights.double(), torch.softmax(scaled.double(), dim=-1))
    return {name: p.numpy() for name, p in found.items()}


def sides(teacher: np.ndarray, bayes: np.ndarray, loss: np.ndarray) -> dict[str, float]:
    """Both sides of Proposition 1 from G graphs: p^t, p* and losses l, [G, N, C] each.

    The left side is V[R~] + (E[R~] - R)^2, so that it is not biased by estimating R from the same graphs.
    """
    nodes = teacher.shape[1]
    value = (teacher * loss).sum(2)  # p^t . l, [G, N]
    estimates, gap = value.mean(1), np.linalg.norm(teacher - bayes, axis=2)
    length = np.linalg.norm(loss, axis=2)
    bias = float(estimates.mean() - (bayes * loss).sum(2).mean())
    variance = float(estimates.var(ddof=1))
    independent = float(value.var() / nodes)
    return {
        "left": variance + bias**2,
        "bias_squared": bias**2,
        "variance": variance,
        "variance_if_independent": independent,
        "variance_ratio": variance / independent,
        "second_term": float((gap * length).mean() ** 2),
        "second_term_without_factor": float(gap.mean() ** 2),
        "gap": float(gap.mean()),
        "loss_length": float(length.mean()),
    }
