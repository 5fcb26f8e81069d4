"""The best of several trainings, without training them all to the end: successive halving (Jamieson & Talwalkar 2016).

All train for a few epochs, the better half for twice as many, and so on; the last one goes on from where it is. What is
compared are records of epochs, so that a fit that was interrupted, or is spread over processes, chooses the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agssl.store.checkpoints import Choice
from agssl.train.loop import Score
from agssl.train.network import Epochs, Trained


def to_the_end(epochs: Epochs) -> Trained:
    """All epochs of a training."""
    run = _Run(epochs, lambda record: (0.0, 0.0))
    run.advance(None)
    return run.result


def best_of(
    starts: Sequence[Callable[[], Epochs]], score: Score, rung: int | None, note: Choice | None = None
) -> tuple[int, Trained]:
    """The number of the best training, and what it gives.

    Args:
        starts: begin each of them.
        score: what records are compared by, higher is better; of equal ones the first is taken.
        rung: epochs before the first comparison; None: all train to the end and are compared once.
        note: where the choice is kept.
    """
    known = None if note is None else note.load()
    if known is not None:
        return known, to_the_end(starts[known]())
    left = {number: _Run(start(), score) for number, start in enumerate(starts)}
    while len(left) > 1:
        for run in left.values():
            run.advance(rung)
        ended = all(run.trained is not None for run in left.values())
        scores = {number: score(run.result.best) if ended else run.score for number, run in left.items()}
        kept = sorted(scores, key=lambda number: scores[number], reverse=True)
        left = {number: left[number] for number in kept[: 1 if rung is None else len(left) // 2]}
        rung = rung and 2 * rung
    ((number, run),) = left.items()
    if note is not None:
        note.keep(number)
    run.advance(None)
    return number, run.result


class _Run:
    """A training that has come some way."""

    def __init__(self, epochs: Epochs, score: Score) -> None:
        self.epochs, self._score = epochs, score
        self.seen = 0  # epochs with labels
        self.score = (float("-inf"), float("-inf"))  # the best of them
        self.trained: Trained | None = None

    @property
    def result(self) -> Trained:
        """What it gives, once it has ended."""
        assert self.trained is not None
        return self.trained

    def advance(self, upto: int | None) -> None:
        """Train until there are so many epochs with labels, or to the end."""
        while self.trained is None and (upto is None or self.seen < upto):
            try:
                record = next(self.epochs)
            except StopIteration as end:
                self.trained = end.value
            else:
                if not record["pretrain"]:
                    self.seen += 1
                    self.score = max(self.score, self._score(record))
