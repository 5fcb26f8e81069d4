"""A session of labelling over HTTP in this process, and `agssl label` in one of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agssl.annotate.label_file import LabelFile
from agssl.annotate.server import LabelServer
from agssl.annotate.session import Session
from agssl.data.graph import Graph

ADDRESS = re.compile(r"label at (http://\S+)")


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Client:
    """A plain HTTP client, which says what no browser would."""

    address: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        return self.address.rsplit("/", 2)[0]

    def ask(self, method: str, path: str, body: Any = None, **headers: str | None) -> Answer:
        """One request; a header that is None is left out, `_` in its name is `-`."""
        where = urlsplit(self.address)
        given: dict[str, str | None] = {"Host": where.netloc}
        if method == "POST":
            given |= {"Origin": self.origin, "Content-Type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=10)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.putrequest(method, path if path.startswith("/") else where.path + path, skip_host=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        if data is not None and "Content-Length" not in given:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        found = connection.getresponse()
        answer = Answer(found.status, dict(found.getheaders()), found.read().decode())
        connection.close()
        return answer

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str | None) -> Answer:
        return self.ask("POST", path, body, **headers)

    def label(self, node: int, label: str | None, before: str | None = None, tab: str = "t") -> Answer:
        return self.post("api/label", {"tab": tab, "node": node, "label": label, "before": before})


@contextlib.contextmanager
def served(graph: Graph, path: Path, classes: tuple[str, ...] = ()) -> Iterator[tuple[Client, Session]]:
    """A session with a server that answers in threads of this process."""
    file = LabelFile(path)
    session = Session(graph, file, classes)
    server = LabelServer(session)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield Client(server.address), session
    finally:
        server.shutdown()
        server.server_close()
        file.close()


@dataclass
class Command:
    """`agssl label` that runs."""

    process: subprocess.Popen[str]
    address: str
    lines: list[str]


@contextlib.contextmanager
def command(*words: str) -> Iterator[Command]:
    """Start the command and wait until it has printed its address; whatever happens, it ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "agssl", "label", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        lines: list[str] = []
        for line in process.stderr:
            lines.append(line)
            if found := ADDRESS.search(line):
                rest = threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True)
                rest.start()
                yield Command(process, found[1], lines)
                return
        raise AssertionError("".join(lines))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
