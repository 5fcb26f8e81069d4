"""What a classifier without training is: labels of some nodes in, log-probabilities of all nodes out."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np

from agssl.base.registry import Registry
from agssl.base.rng import Rng
from agssl.base.spec import Spec
from agssl.data.graph import Graph

FLOOR = 1e-6  # no class of any node is less likely, so that one mistake can't spoil a mixture
FOLDS = 5


class SimpleClassifier(Protocol):
    """A classifier that is fitted in seconds; the same arguments give the same numbers."""

    name: ClassVar[str]

    def settings(self) -> dict[str, Any]:
        """What it was constructed with."""

    def fit_predict(self, graph: Graph, nodes: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
        """Log-probabilities of the classes for every node, float32 [N, C].

        Args:
            graph: its edges, weights and features; none of its labels is read.
            nodes: the labelled ones to learn from, distinct.
            labels: theirs, in 0 .. C - 1.
            classes: C.
        """


SIMPLE: Registry[type[SimpleClassifier]] = Registry("simple classifier", "agssl.simple")


def make_simple(text: str) -> SimpleClassifier:
    """A classifier by name, with settings after colons.

    >>> make_simple("lp:iterations=20").settings()
    {'a': 0.9, 'iterations': 20}
    """
    return Spec.parse(text).build(SIMPLE)


def is_simple(encoder: str | None) -> bool:
    """Whether what stands for a teacher's encoder is such a classifier.

    >>> is_simple("lp:a=0.5"), is_simple("gcn"), is_simple(None)
    (True, False, False)
    """
    return encoder is not None and Spec.parse(encoder).name in SIMPLE


def class_shares(labels: np.ndarray, classes: int) -> np.ndarray:
    """How frequent each class is among the labels, float64 [C]."""
    return np.bincount(labels, minlength=classes) / max(1, len(labels))


def log_probabilities(probabilities: np.ndarray) -> np.ndarray:
    """Their logarithms, none below that of `FLOOR`, rows summing to 1 again; float32."""
    kept = np.maximum(probabilities, FLOOR)
    return np.log(kept / kept.sum(axis=1, keepdims=True)).astype(np.float32)


def stratified_folds(labels: np.ndarray) -> np.ndarray:
    """A fold in 0 .. `FOLDS` - 1 for each label, every class spread evenly; -1 where a class has one label only.

    What is in no fold is learned from in all of them.

    >>> stratified_folds(np.array([0, 0, 1, 2, 2, 0])).tolist().count(-1)
    1
    """
    folds = np.full(len(labels), -1)
    draw = Rng(0).child("simple", "folds").numpy()
    for label in np.unique(labels):
        members = draw.permutation(np.flatnonzero(labels == label))
        if len(members) > 1:
            folds[members] = (np.arange(len(members)) + draw.integers(FOLDS)) % FOLDS
    return folds
