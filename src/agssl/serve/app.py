"""The service over HTTP: routes, limits and answers to mistakes."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from agssl.base.errors import AgsslError
from agssl.serve.batcher import Batcher
from agssl.serve.limits import Limits, Rate
from agssl.serve.openapi import docs_page, openapi
from agssl.serve.requests import BadRequest, PredictRequest
from agssl.serve.service import Service

log = logging.getLogger("uvicorn.error")

Handler = Callable[[Request], Awaitable[Response]]
LOCAL = ("localhost", "127.0.0.1", "::1")
SAFE = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
)
_encode = json.JSONEncoder(allow_nan=False).encode


class App:
    """The routes of a service.

    Args:
        service: answers.
        limits: what is refused.
        hosts: names that the service is called by; None: any. A page elsewhere can't reach a local service by a name of
            its own then.
    """

    def __init__(self, service: Service, limits: Limits, hosts: tuple[str, ...] | None = LOCAL) -> None:
        self.service, self.limits, self.hosts = service, limits, hosts
        self.rate, self.working = Rate(limits.rate), 0

    @cached_property
    def batcher(self) -> Batcher:
        """What computes; made in the worker itself, since threads do not survive a fork."""
        return Batcher(self.service.predict)

    def asgi(self) -> Starlette:
        """The application."""
        routes = {
            ("/predict", "POST"): self.predict,
            ("/explain", "GET"): self.explain,
            ("/health", "GET"): self.health,
            ("/metrics", "GET"): self.metrics,
            ("/openapi.json", "GET"): self.schema,
            ("/docs", "GET"): self.docs,
        }
        return Starlette(
            routes=[
                Route(path, self._answered(handler), methods=[method]) for (path, method), handler in routes.items()
            ],
            exception_handlers={HTTPException: self._no_such_page},
        )

    async def predict(self, request: Request) -> Response:
        """Predictions for known and new nodes."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise BadRequest(f"the content type is {kind[:60]!r}, expected application/json", 415)
        asked = PredictRequest.parse(await self._body(request), self.limits.nodes)
        return _json(await self._work(self.batcher.ask, asked))

    async def explain(self, request: Request) -> Response:
        """Why a node has its class."""
        node = request.query_params.get("node")
        if not node:
            raise BadRequest("which node is to be explained? Give it as /explain?node=ID")
        return _json(await self._work(self._explained, node))

    async def health(self, request: Request) -> Response:
        """What is served, and that it is."""
        return _json(self.service.about())

    async def metrics(self, request: Request) -> Response:
        """Figures for Prometheus."""
        return Response(self.service.counters.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def schema(self, request: Request) -> Response:
        """All of this for programs."""
        return _json(openapi(self.service.about(), self.limits))

    async def docs(self, request: Request) -> Response:
        """All of this for people."""
        return Response(docs_page(openapi(self.service.about(), self.limits)), media_type="text/html; charset=utf-8")

    async def _body(self, request: Request) -> bytes:
        """The body, if it is not too long and comes in time."""
        length = request.headers.get("content-length", "0")
        large = BadRequest(f"the body is larger than {self.limits.body:,} bytes; send fewer nodes at a time", 413)
        if length.isdecimal() and int(length) > self.limits.body:
            raise large
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in request.stream():
                    size += len(part)
                    if size > self.limits.body:
                        raise large
                    parts.append(part)
        except TimeoutError:
            raise BadRequest(f"the body did not come within {self.limits.seconds:g} s", 408) from None
        return b"".join(parts)

    async def _explained(self, node: str) -> Any:
        return await self.batcher.call(self.service.explain, node)

    async def _work(self, call: Callable[[Any], Awaitable[Any]], argument: Any) -> Any:
        """Have something computed, in turn."""
        if self.working >= self.limits.waiting:
            raise BadRequest("too many requests wait already; try again in a moment", 503)
        self.working += 1
        self.service.counters.add("working")
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await call(argument)
        except TimeoutError:
            raise BadRequest(
                f"there was no answer within {self.limits.seconds:g} s; ask for fewer nodes", 504
            ) from None
        finally:
            self.working -= 1
            self.service.counters.add("working", -1)

    def _answered(self, handler: Handler) -> Handler:
        """A handler whose mistakes are answers, counted and timed."""

        async def run(request: Request) -> Response:
            start, counters = time.perf_counter(), self.service.counters
            counters.add("taken")
            try:
                self._check(request)
                response = await handler(request)
            except BadRequest as error:
                response = _error(error.status, str(error))
            except AgsslError as error:
                response = _error(422, str(error))
            except ClientDisconnect:
                response = _error(400, "the client went away")
            except Exception:
                log.exception("a request failed")
                response = _error(500, "something went wrong here; the log of the service says what")
            response.raw_headers.extend(SAFE)
            counters.request(request.url.path, response.status_code, time.perf_counter() - start)
            counters.add("answered")
            return response

        return run

    def _check(self, request: Request) -> None:
        host = request.headers.get("host", "")
        if self.hosts is not None and _hostname(host) not in self.hosts:
            raise BadRequest(f"this service is not called {host[:60]!r}; use http://127.0.0.1")
        address = request.client.host if request.client is not None else ""
        if not self.rate.take(address):
            raise BadRequest(f"more than {self.limits.rate:g} requests a second; try again in a moment", 429)

    async def _no_such_page(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        words = {404: "there is no such page; /docs lists them", 405: "the method is not allowed here; see /docs"}
        self.service.counters.request("other", status, 0.0)
        response = _error(status, words.get(status, "the request can't be answered"))
        response.raw_headers.extend(SAFE)
        return response


@lru_cache(maxsize=64)
def _hostname(host: str) -> str:
    """The name in a `Host`, without a port.

    >>> _hostname("[::1]:8000"), _hostname("evil.example:80"), _hostname("[::1")
    ('::1', 'evil.example', '')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _json(value: Any, status: int = 200) -> Response:
    return Response(_encode(value), status, media_type="application/json")


def _error(status: int, message: str) -> Response:
    response = _json({"error": message}, status)
    if status in (429, 503):
        response.headers["retry-after"] = "1"
    if status in (408, 413):
        response.headers["connection"] = "close"  # what is still to come is not read
    return response
