"""How much a service takes on: sizes, times and rates."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass

from agssl.base.errors import SettingsError

ADDRESSES = 10_000  # clients whose rate is known at a time


@dataclass(frozen=True)
class Limits:
    """What a service refuses.

    Args:
        body: bytes of a request.
        nodes: of a request.
        seconds: that a request may take to arrive, and again to be answered.
        rate: requests a second of one address, with bursts of as many; 0: any number.
        waiting: requests that may wait for their turn in one worker.
    """

    body: int = 1 << 20
    nodes: int = 1000
    seconds: float = 10.0
    rate: float = 1000.0
    waiting: int = 128

    def __post_init__(self) -> None:
        for name in ("body", "nodes", "seconds", "waiting"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"the limit {name} is {getattr(self, name)}, but it must be positive")
        if self.rate < 0:
            raise SettingsError(f"rate = {self.rate:g}, but it is requests a second, or 0 for any number")


class Rate:
    """A bucket of tokens for each address: `rate` a second run in, a request takes one.

    >>> rate = Rate(2)
    >>> [rate.take("a", now=0.0) for _ in range(3)], rate.take("b", now=0.0), rate.take("a", now=0.5)
    ([True, True, False], True, True)
    """

    def __init__(self, rate: float) -> None:
        self.rate, self.most = rate, max(1.0, rate)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str, now: float | None = None) -> bool:
        """Whether one more request of this address may come in."""
        if not self.rate:
            return True
        now = time.monotonic() if now is None else now
        left, since = self._left.pop(address, (self.most, now))
        left = min(self.most, left + (now - since) * self.rate)
        taken = left >= 1
        self._left[address] = (left - taken, now)
        if len(self._left) > ADDRESSES:
            self._left.popitem(last=False)
        return taken
