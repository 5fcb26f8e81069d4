"""The processes of a service: one socket, a model that all share, and an end that answers what was taken on."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import time
from collections.abc import Callable
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from agssl.base.errors import SettingsError
from agssl.serve.app import App
from agssl.serve.limits import Limits

CONNECTIONS = 1024  # at a time, of one worker
HEADERS = 1 << 14  # bytes of a request's head
RESTARTS = 5  # of workers that broke down, in the life of a service

Say = Callable[[str], None]


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off where the protocol is named; with it, an answer would wait 40 ms
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except (OSError, OverflowError) as error:
        sock.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingsError(f"can't listen on {host}:{port}: {reason}; choose another --port or --host") from error
    sock.listen(CONNECTIONS)
    return sock


class Gathered:
    """A transport that sends what is written at one time, as the head and the body of an answer, in one piece."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop, self._parts = transport, loop, list[bytes]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send this in a moment."""
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(data)

    def close(self) -> None:
        """Send what was written, and no more."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        parts, self._parts = self._parts, []
        if parts:
            self._transport.write(b"".join(parts))


def patient(seconds: float) -> type[H11Protocol]:
    """HTTP that waits for the head of a request so long, and not longer."""

    class Patient(H11Protocol):
        _clock: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.transport = cast(asyncio.Transport, Gathered(transport, self.loop))
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._forget()
            elif self.conn.trailing_data[0] and self._clock is None:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _wait(self) -> None:
            self._clock = self.loop.call_later(seconds, self._late)

        def _late(self) -> None:
            if not self.transport.is_closing():
                self.transport.close()

        def _forget(self) -> None:
            if self._clock is not None:
                self._clock.cancel()
                self._clock = None

    return Patient


def run_worker(app: App, sock: socket.socket, limits: Limits) -> None:
    """Serve until SIGTERM or SIGINT: then nothing more is taken on, and what was is answered."""
    config = uvicorn.Config(
        app.asgi(),
        http=patient(limits.seconds),
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=HEADERS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=int(2 * limits.seconds) + 1,
    )
    # uvicorn raises the signals that it got once more when all is done: these handlers make that the end of it
    before = {which: signal.signal(which, lambda *_: None) for which in (signal.SIGTERM, signal.SIGINT)}
    try:
        uvicorn.Server(config).run(sockets=[sock])
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)


def serve(app: App, sock: socket.socket, limits: Limits, workers: int, say: Say) -> None:
    """Serve with so many processes, forked from this one so that they share what it has loaded."""
    app.service.warm()
    gc.collect()
    gc.freeze()  # going through all that is loaded, the collector would take 0.1 s, and write into shared pages
    if workers == 1:
        run_worker(app, sock, limits)
    else:
        _supervise(app, sock, limits, workers, say)
    counters = app.service.counters
    say(f"stopped: took on {counters.total('taken')} requests, answered {counters.total('answered')}")


def _supervise(app: App, sock: socket.socket, limits: Limits, workers: int, say: Say) -> None:
    children: dict[int, int] = {}  # by process, the number of the worker
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True
        for pid in list(children):
            _signal(pid, signal.SIGTERM)

    def start(number: int) -> None:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                app.service.counters.of_worker(number)
                run_worker(app, sock, limits)
                code = 0
            finally:
                os._exit(code)
        children[pid] = number

    before = {which: signal.signal(which, stop) for which in (signal.SIGTERM, signal.SIGINT)}
    try:
        for number in range(workers):
            start(number)
        broken = 0
        while children:
            try:
                pid, status = os.waitpid(-1, 0)
            except InterruptedError:
                continue
            number = children.pop(pid, -1)
            if number < 0 or stopping:
                continue
            broken += 1
            say(
                f"worker {number} broke down (status {status})"
                + ("; it is started again" if broken <= RESTARTS else "")
            )
            if broken > RESTARTS:
                stop()
            else:
                time.sleep(0.2)
                start(number)
    finally:
        for which, handler in before.items():
            signal.signal(which, handler)
        sock.close()


def _signal(pid: int, which: int) -> None:
    try:
        os.kill(pid, which)
    except ProcessLookupError:
        return
