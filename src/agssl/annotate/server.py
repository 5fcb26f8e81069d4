"""The page over HTTP, for one person on one machine.

What keeps others out: the server listens on 127.0.0.1 unless it is told otherwise; every address begins with a random
token; a request must name this server as its host, so that a name which somebody points here (DNS rebinding) is
refused; one from another page is refused by its Origin or Sec-Fetch-Site, and gets no permission by CORS; what writes
must come as JSON from a page of ours. The page itself may load nothing from elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import secrets
import socket
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agssl.annotate.session import Refused, Session
from agssl.base.errors import AgsslError, DataError, SettingsError

LARGEST = 1 << 16  # bytes of a request
FILES = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
    "style.css": ("style.css", "text/css; charset=utf-8"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # the address has the token
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class LabelServer(ThreadingHTTPServer):
    """Serves a session.

    Args:
        session: what is labelled.
        host: the address to listen on.
        port: 0 for any that is free.
    """

    daemon_threads = True

    def __init__(self, session: Session, host: str = "127.0.0.1", port: int = 0) -> None:
        self.session, self.host, self.token = session, host, secrets.token_urlsafe(24)
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self.address_family = family
            super().__init__((str(address[0]), port), _Handler)
        except (OSError, OverflowError) as error:
            raise SettingsError(
                f"can't listen on {host} port {port}: {error}; choose others by --host, --port"
            ) from error

    def server_bind(self) -> None:
        """Take the port; unlike the one of `http.server`, without asking the network for our name."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.host, self.server_address[1]

    @property
    def everywhere(self) -> bool:
        """Whether it listens on all addresses of this machine."""
        return ipaddress.ip_address(self.server_address[0]).is_unspecified  # type: ignore[arg-type]

    @property
    def address(self) -> str:
        """Where the page is; who has this can read and write."""
        host = socket.gethostname() if self.everywhere else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}/{self.token}/"

    def is_ours(self, host: str) -> bool:
        """Whether a request that names this host means us: never one that anybody could point here."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or "").lower(), parts.port or 80
        except ValueError:
            return False
        if port != self.server_port:
            return False
        if name == self.host.lower() or (name == "localhost" and _is_loopback(str(self.server_address[0]))):
            return True
        # on all addresses of this machine: any of them by number, and the name that it gives itself
        return self.everywhere and (_is_address(name) or name in ("localhost", socket.gethostname().lower()))


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: LabelServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "agssl", ""
    timeout = 30  # seconds that a client may be silent

    def do_GET(self) -> None:
        """The page and what it reads."""
        self._answer({"state": self._state, "next": self._next, "node": self._node})

    def do_POST(self) -> None:
        """What writes."""
        self._answer({"label": self._label, "skip": self._skip, "undo": self._undo}, writes=True)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: addresses hold the token."""

    def _answer(self, calls: dict[str, Any], writes: bool = False) -> None:
        try:
            path, query = self._allowed(writes)
            if not writes and path in FILES:
                return self._send(200, *_file(path))
            call = calls.get(path.removeprefix("api/")) if path.startswith("api/") else None
            if call is None:
                raise Refused(404, "there is nothing here")
            given = self._body() if writes else {name: values[-1] for name, values in parse_qs(query).items()}
            self._json(200, call(_Given(given)))
        except Refused as error:
            self._json(error.status, {"error": str(error), **error.more})
        except DataError as error:  # the disk is full, say
            self._json(507, {"error": str(error)})
        except AgsslError as error:
            self._json(400, {"error": str(error)})

    def _allowed(self, writes: bool) -> tuple[str, str]:
        """The path behind the token, and the query; a request that is none of ours is refused."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if not self.server.is_ours(host):
            raise Refused(403, "this name is not the server's; use the address that agssl label has printed")
        if (origin is not None and origin != f"http://{host}") or (writes and origin is None):
            raise Refused(403, "requests of other pages are refused")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            raise Refused(403, "requests of other pages are refused")
        try:
            parts = urlsplit(self.path)
        except ValueError as error:
            raise Refused(404, "there is nothing here") from error
        token, slash, path = parts.path.removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(403, "the token is missing or of another session; use the address that was printed last")
        return path, parts.query

    def _body(self) -> dict[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise Refused(415, "a request must be JSON")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST:
            self.close_connection = True  # what it sends is not read
            raise Refused(413, f"a request has its length in its header, {LARGEST} bytes at most")
        try:
            value = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise Refused(400, "a request must be JSON") from error
        if not isinstance(value, dict):
            raise Refused(400, "a request must be a JSON object")
        return value

    def _json(self, status: int, value: Any) -> None:
        if status >= 400 and self.command == "POST":
            self.close_connection = True  # its body may be unread
        self._send(status, json.dumps(value, allow_nan=False).encode(), "application/json")

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def _state(self, given: _Given) -> Any:
        return self.server.session.state(given.tab)

    def _next(self, given: _Given) -> Any:
        return self.server.session.next(given.tab)

    def _node(self, given: _Given) -> Any:
        return self.server.session.card(given.node)

    def _label(self, given: _Given) -> Any:
        self.server.session.label(given.tab, given.node, given.text("label"), given.text("before"))
        return self._after(given)

    def _skip(self, given: _Given) -> Any:
        self.server.session.skip(given.tab, given.node)
        return self._after(given)

    def _undo(self, given: _Given) -> Any:
        node = self.server.session.undo(given.tab)
        return {"card": self.server.session.card(node), "state": self.server.session.state(given.tab)}

    def _after(self, given: _Given) -> Any:
        return {"card": self.server.session.next(given.tab), "state": self.server.session.state(given.tab)}


class _Given:
    """What a request says, taken apart with care."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    @property
    def tab(self) -> str:
        value = self.values.get("tab")
        if not isinstance(value, str) or not 0 < len(value) <= 64:
            raise Refused(400, "tab is the name of the browser's tab, 64 characters at most")
        return value

    @property
    def node(self) -> int:
        value = self.values.get("node")
        if isinstance(value, str) and value.isdecimal() and len(value) < 20:
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Refused(400, "node is the number of a node")
        return value

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            raise Refused(400, f"{name} is text, or null")
        return value


@cache
def _file(path: str) -> tuple[bytes, str]:
    name, kind = FILES[path]
    return files("agssl.annotate").joinpath("page", name).read_bytes(), kind


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return _is_address(name) and ipaddress.ip_address(name).is_loopback
