"""What models say of some nodes, as records for JSON and rows for CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Answers:
    """Predictions for some nodes.

    Attributes:
        nodes: their names.
        classes: names of the classes.
        chosen: the class of each node, by number, [n].
        probabilities: of all classes, [n, C].
        tasks: names of the teachers that were weighed.
        weights: how far each teacher is trusted at each node, [n, K].
        sets: of each node the classes in its prediction set.
        unlike: of each node why it is unlike anything seen; empty where it is not. None: that is not known.
        answered_by: `student` or `teachers`, where it was asked.
        notes: what to know of these answers, a line each.
    """

    nodes: Sequence[str]
    classes: tuple[str, ...]
    chosen: np.ndarray
    probabilities: np.ndarray
    tasks: tuple[str, ...] = ()
    weights: np.ndarray | None = None
    sets: list[list[str]] | None = None
    unlike: list[str] | None = None
    answered_by: str | None = None
    notes: tuple[str, ...] = ()

    def records(self, proba: bool = False) -> list[dict[str, Any]]:
        """One for each node, ready for JSON; `proba` adds the probability of every class."""
        found = []
        table, trust = self.probabilities.tolist(), None if self.weights is None else self.weights.tolist()
        for number, (name, k) in enumerate(zip(self.nodes, self.chosen.tolist(), strict=True)):
            row = table[number]
            record: dict[str, Any] = {"node": name, "prediction": self.classes[k], "probability": row[k]}
            if proba:
                record["probabilities"] = dict(zip(self.classes, row, strict=True))
            if trust is not None:
                record["weights"] = dict(zip(self.tasks, trust[number], strict=True))
            if self.sets is not None:
                record |= {"set": self.sets[number], "unsure": len(self.sets[number]) > 1}
            if self.unlike is not None:
                record |= {"unlike": bool(self.unlike[number]), "unlike_why": self.unlike[number] or None}
            if self.answered_by is not None:
                record["answered_by"] = self.answered_by
            found.append(record)
        return found

    def header(self, proba: bool = False) -> list[str]:
        """Names of the columns of `rows`."""
        names = ["node", "prediction", "probability"]
        names += [f"proba_{name}" for name in self.classes] if proba else []
        names += [f"weight_{name}" for name in self.tasks]
        names += ["set", "unsure"] if self.sets is not None else []
        return names + (["unlike"] if self.unlike is not None else [])

    def rows(self, proba: bool = False) -> Iterator[list[str]]:
        """One for each node, as texts."""
        table = self.probabilities.tolist()
        weights = [[]] * len(table) if self.weights is None else self.weights.tolist()
        for number, (name, k) in enumerate(zip(self.nodes, self.chosen.tolist(), strict=True)):
            row = [name, self.classes[k], f"{table[number][k]:.6f}"]
            row += [f"{p:.6f}" for p in (*(table[number] if proba else ()), *weights[number])]
            if self.sets is not None:
                row += [" | ".join(self.sets[number]), "unsure" if len(self.sets[number]) > 1 else ""]
            yield row + ([self.unlike[number]] if self.unlike is not None else [])


def named_sets(found: Sequence[np.ndarray], classes: tuple[str, ...]) -> list[list[str]]:
    """The classes in each node's set: those that more than half of the models, bool [n, C] each, have in theirs."""
    most = len(found) / 2
    counts = np.sum(found, axis=0).tolist()
    return [[name for name, count in zip(classes, row, strict=True) if count > most] for row in counts]
