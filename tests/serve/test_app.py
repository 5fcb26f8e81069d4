"""The application without a network: limits of rate, time and number."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra serve")

from agssl.base.errors import GraphError
from agssl.data.validate import as_features, numbered_features
from agssl.serve.app import App
from agssl.serve.batcher import QUICK, Batcher
from agssl.serve.counters import Counters
from agssl.serve.limits import Limits
from agssl.serve.requests import PredictRequest


def in_a_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """What it gives, in a loop of its own: tests in a browser leave one running in this thread."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


class Slow:
    """A service that answers when it is let to, and notes which requests it had at once."""

    def __init__(self) -> None:
        self.counters, self.free, self.batches = Counters(1), threading.Event(), list[int]()

    def about(self) -> dict[str, Any]:
        return {"status": "ok"}

    def predict(self, requests: Sequence[PredictRequest]) -> list[Any]:
        self.batches.append(len(requests))
        self.free.wait(5)
        wrong = GraphError("no such node")
        return [wrong if one.nodes == ("bad",) else {"predictions": list(one.nodes)} for one in requests]


async def ask(app: Any, path: str, body: Any = None) -> tuple[int, Any]:
    """One request, as a server hands it over."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET" if body is None else "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "scheme": "http",
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], json.loads(b"".join(one.get("body", b"") for one in sent[1:]))


def made(**limits: Any) -> SimpleNamespace:
    service = Slow()
    return SimpleNamespace(service=service, asgi=App(service, Limits(**limits)).asgi())  # type: ignore[arg-type]


def test_a_rate_is_kept():
    one = made(rate=3)

    async def many() -> list[int]:
        return [(await ask(one.asgi, "/health"))[0] for _ in range(8)]

    assert in_a_loop(many()) == [200] * 3 + [429] * 5
    assert 'agssl_requests_total{path="/health",status="429"} 5' in one.service.counters.text()


def test_what_takes_too_long_is_given_up_and_what_waits_too_much_refused():
    one = made(seconds=0.3, waiting=2)

    async def three() -> list[tuple[int, Any]]:
        return await asyncio.gather(*(ask(one.asgi, "/predict", {"nodes": ["a"]}) for _ in range(3)))

    found = in_a_loop(three())
    one.service.free.set()
    assert sorted(status for status, _ in found) == [503, 504, 504]
    assert one.service.counters.total("taken") == one.service.counters.total("answered") == 3
    assert one.service.counters.total("working") == 0


def test_requests_that_wait_are_answered_together_each_with_its_own():
    one = made()

    async def several() -> list[tuple[int, Any]]:
        first = asyncio.create_task(ask(one.asgi, "/predict", {"nodes": ["first"]}))
        while not one.service.batches:
            await asyncio.sleep(0.01)
        rest = [asyncio.create_task(ask(one.asgi, "/predict", {"nodes": [name]})) for name in ("a", "bad", "b")]
        other = asyncio.create_task(ask(one.asgi, "/predict", {"nodes": ["c"], "weights": True}))
        await asyncio.sleep(0.05)
        one.service.free.set()
        return await asyncio.gather(first, *rest, other)

    found = in_a_loop(several())
    assert one.service.batches == [1, 3, 1]  # what wants something else told is not taken along
    assert [status for status, _ in found] == [200, 200, 422, 200, 200]
    assert [answer.get("predictions") for _, answer in found] == [["first"], ["a"], None, ["b"], ["c"]]


def test_what_was_quick_is_computed_at_once_and_what_was_slow_in_a_thread():
    threads, work = list[str](), [0.0]

    def compute(requests: Sequence[PredictRequest]) -> list[Any]:
        threads.append(threading.current_thread().name)
        until = time.thread_time() + work[0]
        while time.thread_time() < until:
            pass
        return [None] * len(requests)

    async def several() -> None:
        batcher, one = Batcher(compute), PredictRequest.parse(b'{"nodes": ["a"]}', 9)
        for work[0] in (0.0, 0.0, 2 * QUICK, 0.0):
            await batcher.ask(one)

    in_a_loop(several())
    assert [name.startswith("agssl") for name in threads] == [True, False, False, True]


@pytest.mark.parametrize("value", [0.0, 3.0, 1e-40, 1e20, 1e300])
def test_numbered_features_are_what_a_table_of_them_gives(value: float):
    rows = [{4: 1.5, 1: value}, {}, {0: -2.0}]
    table = np.zeros((3, 9))
    for number, row in enumerate(rows):
        table[number, list(row)] = list(row.values())
    if value == 1e300:
        with pytest.raises(GraphError, match="feature 1 of node 0 is 1e\\+300"):
            numbered_features(rows, 9)
        return
    found, expected = numbered_features(rows, 9), as_features(table)
    assert found.indices.tolist() == expected.indices.tolist() and found.data.tolist() == expected.data.tolist()
    assert isinstance(numbered_features([{0: 1.0}], 2), np.ndarray)
