"""When a training should have stopped, from the scores of its epochs."""

from __future__ import annotations

from collections.abc import Sequence

OVER = 20  # epochs whose scores are averaged, or as many as patience


def assert_waits(patience: int, scores: Sequence[tuple[float, float]]) -> None:
    """Whether it ended right after so many epochs that did not raise the mean of the last few."""
    over = min(OVER, patience)
    means = []
    for end in range(1, len(scores) + 1):
        last = scores[max(0, end - over) : end]
        means.append((sum(one for one, _ in last) / len(last), sum(tie for _, tie in last) / len(last)))
    tops = [means.index(max(means[:end])) for end in range(1, len(means) + 1)]
    waited = [epoch + 1 - top for epoch, top in enumerate(tops)]
    assert waited[-1] == patience + 1 and max(waited[:-1]) <= patience
