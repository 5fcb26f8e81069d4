"""Requests that wait are answered together: one pass over many new nodes costs little more than over one."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agssl.serve.requests import PredictRequest

MOST = 64  # requests of one pass

Answer = Any  # what a request is answered by, or an exception


class Batcher:
    """One thread that computes. While it is at work requests gather; then it takes those that want the same told.

    Args:
        compute: gives an answer, or an exception, for each of some requests.
    """

    def __init__(self, compute: Callable[[Sequence[PredictRequest]], list[Answer]]) -> None:
        self.compute = compute
        self.pool = ThreadPoolExecutor(1, thread_name_prefix="agssl")
        self._waiting: deque[tuple[PredictRequest, asyncio.Future[Any]]] = deque()
        self._lock = threading.Lock()

    async def ask(self, request: PredictRequest) -> Any:
        """The answer to a request."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        with self._lock:
            self._waiting.append((request, future))
        loop.run_in_executor(self.pool, self._work, loop)  # it finds nothing to do where another took this one along
        return await future

    def _taken(self) -> list[tuple[PredictRequest, asyncio.Future[Any]]]:
        """The first that waits, and those after it that can go with it; who has given up is left out."""
        taken: list[tuple[PredictRequest, asyncio.Future[Any]]] = []
        with self._lock:
            while self._waiting and len(taken) < MOST:
                request, future = self._waiting[0]
                if taken and request.asked != taken[0][0].asked:
                    break
                self._waiting.popleft()
                if not future.cancelled():
                    taken.append((request, future))
        return taken

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        taken = self._taken()
        if not taken:
            return
        try:
            answers = self.compute([request for request, _ in taken])
        except Exception as error:
            answers = [error] * len(taken)
        loop.call_soon_threadsafe(_settle, [future for _, future in taken], answers)


def _settle(futures: Sequence[asyncio.Future[Any]], answers: Sequence[Answer]) -> None:
    for future, answer in zip(futures, answers, strict=True):
        if future.done():  # it was waited for too long
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
