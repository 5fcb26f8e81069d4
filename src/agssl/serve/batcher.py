"""Requests that wait are answered together: one pass over many new nodes costs little more than over one.

What takes a few milliseconds is computed at once, in the thread of the event loop: to hand it to another thread and
back costs as much, and several times that where the processor is busy. What takes longer, and the first of all, goes to
a thread of its own, so that the loop goes on to take requests, and gives up on those that take too long.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agssl.serve.requests import PredictRequest

MOST = 64  # requests of one pass
QUICK = 0.01  # seconds: what is expected to take less is computed at once
FADES = 0.95  # how much of the longest time, by node, is still expected after each pass

Answer = Any  # what a request is answered by, or an exception
Futures = Sequence[asyncio.Future[Any]]


class Batcher:
    """Computes one pass after the other. In the meantime requests gather; then those that want the same told are next.

    Args:
        compute: gives an answer, or an exception, for each of some requests.
    """

    def __init__(self, compute: Callable[[Sequence[PredictRequest]], list[Answer]]) -> None:
        self.compute = compute
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="agssl")
        self._away = 0  # calls that are with the thread
        self._expected = float("inf")  # seconds for each node
        self._waiting: deque[tuple[PredictRequest, asyncio.Future[Any]]] = deque()
        self._busy = False

    async def call(self, compute: Callable[[Any], Any], argument: Any) -> Any:
        """Something else that takes its time, in the thread."""
        loop = asyncio.get_running_loop()
        self._away += 1
        done = self._pool.submit(compute, argument)
        done.add_done_callback(lambda _: loop.call_soon_threadsafe(self._back))
        return await asyncio.wrap_future(done)

    def _back(self) -> None:
        self._away -= 1

    async def ask(self, request: PredictRequest) -> Any:
        """The answer to a request."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._waiting.append((request, future))
        if not self._busy:
            self._busy = True
            loop.call_soon(self._start, loop)  # not at once: others have come at the same time
        return await future

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Work on what waits."""
        taken = self._taken()
        self._busy = bool(taken)
        if not taken:
            return
        requests, futures = [request for request, _ in taken], [future for _, future in taken]
        if not self._away and self._expected * _nodes(requests) < QUICK:
            self._settle(loop, futures, *self._computed(requests))
        else:
            self._pool.submit(self._work, loop, requests, futures)

    def _taken(self) -> list[tuple[PredictRequest, asyncio.Future[Any]]]:
        """The first that waits, and those after it that can go with it; who has given up is left out."""
        taken: list[tuple[PredictRequest, asyncio.Future[Any]]] = []
        while self._waiting and len(taken) < MOST:
            request, future = self._waiting[0]
            if taken and request.asked != taken[0][0].asked:
                break
            self._waiting.popleft()
            if not future.cancelled():
                taken.append((request, future))
        return taken

    def _work(self, loop: asyncio.AbstractEventLoop, requests: list[PredictRequest], futures: Futures) -> None:
        loop.call_soon_threadsafe(self._settle, loop, futures, *self._computed(requests))

    def _computed(self, requests: list[PredictRequest]) -> tuple[list[Answer], float]:
        """The answers, and how many seconds a node took: of the processor, whatever else it is busy with."""
        start = time.thread_time()
        try:
            answers = self.compute(requests)
        except Exception as error:
            answers = [error] * len(requests)
        return answers, (time.thread_time() - start) / _nodes(requests)

    def _settle(
        self, loop: asyncio.AbstractEventLoop, futures: Futures, answers: Sequence[Answer], seconds: float
    ) -> None:
        expected = FADES * self._expected
        self._expected = seconds if expected == float("inf") else max(seconds, expected)
        for future, answer in zip(futures, answers, strict=True):
            if future.done():  # it was waited for too long
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
        loop.call_soon(self._start, loop)  # after these answers are on their way


def _nodes(requests: Sequence[PredictRequest]) -> int:
    return sum(len(one.nodes) + len(one.new) for one in requests)
