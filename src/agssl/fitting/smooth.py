"""Answers corrected and smoothed by the labels that a method was told (`smooth`); see `agssl.simple.correct`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F

from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.integrate.calibration import Confidence
from agssl.metrics import measure, softmax
from agssl.simple.correct import LeftOut, correct_and_smooth, cross_smoothed, left_out
from agssl.store.checkpoints import Record
from agssl.train.context import Heldout, MethodResult
from agssl.train.network import mean_logits
from agssl.train.setup import decision_of


def smoothed(result: MethodResult, graph: Graph, settings: Settings, choice: np.ndarray) -> MethodResult:
    """The result with answers that training and validation labels were spread into.

    What is said of a held-out node is smoothed without its label, and from networks that know nothing of it: those of
    its fold or, without folds, the final one, with a fifth of the validation labels left out (where students learn from
    labels near by, a third, and those of students that were trained without these). A temperature and the strength are
    all that these labels decide on.

    Args:
        result: of a training; nothing of a test label is read.
        graph: as it was trained on.
        settings: of the fit.
        choice: logits [n, C] of `graph.split.val` by networks that have not seen their labels.
    """
    split, graph = graph.split, graph.hide_test()
    assert split is not None
    sure = Confidence.fitted(choice, graph.y[split.val], cross=False)
    told = np.union1d(split.train, split.val)
    seen = told if split.measure is None else np.setdiff1d(told, split.measure)
    probabilities = sure(_numpy(result.logits))
    parts = [
        LeftOut(nodes, np.setdiff1d(seen, nodes), sure(_numpy(logits))) for nodes, logits in result.withheld
    ] or left_out(graph, probabilities, split.train, split.val)
    found = cross_smoothed(graph, probabilities, told, parts)
    chosen = judged = _logs(found.apart[split.val])
    if split.measure is not None:  # nodes that no fold has seen are told what the networks of all folds say
        known = sure(_numpy(mean_logits([one.logits for one in result.withheld])))
        judged = _logs(correct_and_smooth(graph, known, seen, graph.y[seen], found.strength)[split.measure])
    before = result.heldout
    heldout = Heldout(judged, chosen) if before is None else replace(before, logits=judged, choice=chosen)
    best = result.best | _figures(judged, graph, settings)
    return replace(result, logits=_logs(found.found), best=best, heldout=heldout, apart=None)


def _figures(logits: torch.Tensor, graph: Graph, settings: Settings) -> Record:
    """What the record of the best epoch says of held-out nodes."""
    assert graph.split is not None
    truth = torch.from_numpy(graph.y[graph.split.judges("val")].astype(np.int64))
    found = {
        "val_accuracy": (logits.argmax(1) == truth).float().mean().item(),
        "val_loss": F.cross_entropy(logits, truth).item(),
    }
    if settings.metric != "accuracy":
        decision = decision_of(graph, settings)
        found[f"val_{settings.metric}"] = measure(settings.metric, truth.numpy(), softmax(logits.numpy()), decision)
    return found


def _logs(probabilities: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.log(probabilities).astype(np.float32))


def _numpy(found: torch.Tensor) -> np.ndarray:
    return found.cpu().numpy()
