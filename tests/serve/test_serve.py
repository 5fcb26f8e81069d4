"""`agssl serve` as a process, asked by a real client: answers, mistakes, and an end under load."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agssl
from agssl.cli.main import main

pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("uvicorn", reason="needs the extra serve")

HEAD = b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
NEW = {"id": "n0", "features": {"f0": 2.0, "f1": 1.5, "f2": 2.2, "colour": "red"}}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GCN on forty nodes, x0 to x39, with a column of text among its features."""
    folder, out = tmp_path_factory.mktemp("graph"), tmp_path_factory.mktemp("runs") / "gcn"
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x = rng.normal(size=(40, 3)) + 2 * y[:, None]
    ring = "".join(f"x{a},x{(a + step) % 40}\nx{(a + step) % 40},x{a}\n" for a in range(40) for step in (2, 4))
    (folder / "edges.csv").write_text("source,target\n" + ring)
    rows = (f"x{i},{','.join(f'{v:.4f}' for v in x[i])},{('blue', 'red')[y[i]]},{'ab'[y[i]]}\n" for i in range(40))
    (folder / "nodes.csv").write_text("id,f0,f1,f2,colour,label\n" + "".join(rows))
    how = ("--method", "gcn", "--epochs", "5", "--hidden", "8", "--folds", "2", "--jobs", "1")
    assert main(["fit", str(folder), *how, "--out", str(out)]) == 0
    return out


class Served:
    """A service in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            connection.request(method, path, data, {"content-type": "application/json"} | headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if "json" in answer.headers["content-type"] else text
        finally:
            connection.close()

    def predict(self, **body: Any) -> tuple[int, Any]:
        return self.ask("POST", "/predict", body)

    def stop(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        _, err = self.process.communicate(timeout=20)
        return err


@contextmanager
def served(run: Path, *options: object) -> Iterator[Served]:
    variables = os.environ | {"PYTHONPATH": str(Path(agssl.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-m", "agssl", "serve", str(run), "--port", "0", *map(str, options)]
    process = subprocess.Popen(words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                break
        else:
            raise AssertionError("the service did not start")
        yield Served(process, int(found[1]))
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def service(run: Path) -> Iterator[Served]:
    with served(run, "--max-body", 20_000, "--max-nodes", 50, "--timeout", 1, "--rate", 0) as found:
        yield found


def test_known_and_new_nodes_are_answered_as_the_commands_answer(
    service: Served, run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    status, found = service.predict(
        nodes=["x3", "x8"], new=[NEW], edges=[["n0", "x1"], ["x3", "n0"]], proba=True, coverage=0.9
    )
    assert status == 200 and [one["node"] for one in found["predictions"]] == ["x3", "x8", "n0"]
    (tmp_path / "nodes.csv").write_text("id,f0,f1,f2,colour\nn0,2.0,1.5,2.2,red\n")
    (tmp_path / "edges.csv").write_text("source,target\nn0,x1\nx3,n0\n")
    how = ("--proba", "--coverage", "0.9", "--json")
    capfd.readouterr()
    main(["predict", str(run), "--new", str(tmp_path / "nodes.csv"), "--edges", str(tmp_path / "edges.csv"), *how])
    new = json.loads(capfd.readouterr().out)
    main(["predict", str(run), *how])
    known = {one["node"]: one for one in json.loads(capfd.readouterr().out)}
    assert found["predictions"][2] == new[0]
    for one in found["predictions"][:2]:
        same = known[one["node"]]
        assert (one["prediction"], one["set"]) == (same["prediction"], same["set"])
        assert one["probabilities"] == pytest.approx(same["probabilities"])


def test_a_new_node_without_edges_is_answered_with_a_warning(service: Served):
    status, found = service.predict(new=[{"features": NEW["features"] | {"f0": 5000}}])
    assert status == 200 and found["predictions"][0]["unlike"] is True
    assert "no edges" in found["warnings"][0]


def test_explanations_health_figures_and_docs(service: Served):
    status, found = service.ask("GET", "/explain?node=x4")
    assert status == 200 and found["node"] == "x4" and found["degree"] == 4
    assert service.ask("GET", "/explain?node=nobody")[0] == 404
    assert service.ask("GET", "/explain")[0] == 400
    about = service.ask("GET", "/health")[1]
    assert about["status"] == "ok" and about["classes"] == ["a", "b"] and about["columns"][:2] == ["f0", "f1"]
    text = service.ask("GET", "/metrics")[1]
    assert 'agssl_requests_total{path="/explain",status="200"}' in text
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) .+|agssl_\w+(\{[a-z]+="[^"]+"(,[a-z]+="[^"]+")*\})? [0-9.]+', line), line
    page = service.ask("GET", "/docs")[1]
    assert "/predict" in page and not re.search(r"<script|src=|https?://", page)
    schema = service.ask("GET", "/openapi.json")[1]
    assert schema["openapi"].startswith("3.") and set(schema["paths"]) == {
        "/predict",
        "/explain",
        "/health",
        "/metrics",
    }


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "no JSON"),
        (b"{", 400, "no JSON"),
        (b"\xff\xfe", 400, "no JSON"),
        (b"[" * 9000, 400, "no JSON"),
        (b"[1]", 400, "expected an object"),
        ({}, 400, "nothing to predict"),
        ({"node": ["x1"]}, 400, "'node' is not understood"),
        ({"nodes": "x1"}, 400, "nodes is a list"),
        ({"nodes": [["x1"]]}, 400, "named by text"),
        ({"nodes": ["nobody"]}, 422, "'nobody'"),
        ({"nodes": ["x1"] * 51}, 413, "at most 50"),
        ({"nodes": ["x1"], "coverage": 2}, 422, "chance between 0 and 1"),
        ({"nodes": ["x1"], "weights": True}, 422, "weighs no teachers"),
        ({"nodes": ["x1"], "weights": "yes"}, 400, "true or false"),
        ({"new": [7]}, 400, "list of objects"),
        ({"new": [{"id": "n"}]}, 400, "features"),
        ({"new": [{"features": [1, 2]}]}, 400, "by name"),
        ({"new": [{"features": {"f0": 1}}]}, 422, "lacks 3 of the columns"),
        ({"new": [{"features": NEW["features"] | {"f0": "much"}}]}, 422, "f0"),
        ({"new": [{"features": NEW["features"] | {"f0": 10**400}}]}, 400, "no finite number"),
        ({"new": [{"features": NEW["features"] | {"f0": [1]}}]}, 400, "list or an object"),
        ({"new": [{"features": NEW["features"] | {"colour": "\ud800"}}]}, 400, "can't be read"),
        ({"new": [NEW | {"id": "x1"}]}, 422, "no new node"),
        ({"new": [NEW, NEW]}, 422, "two new nodes"),
        ({"new": [NEW], "edges": [["n0", "nobody"]]}, 422, "'nobody'"),
        ({"new": [NEW], "edges": [["n0"]]}, 400, "edge 0"),
        ({"new": [NEW], "edges": [["n0", "x1", -1]]}, 422, "weight -1"),
        ({"nodes": ["x1"], "edges": [["x1", "x2"]]}, 400, "those of new nodes"),
    ],
)
def test_mistakes_are_told_in_words(service: Served, body: Any, status: int, words: str):
    found = service.ask("POST", "/predict", body)
    assert found[0] == status and words in found[1]["error"], found


def test_what_is_too_large_foreign_or_of_another_kind_is_refused(service: Served):
    assert service.ask("POST", "/predict", b"x" * 20_001)[0] == 413
    assert service.ask("POST", "/predict", {"nodes": ["x1"]}, **{"content-type": "text/plain"})[0] == 415
    assert service.ask("GET", "/health", host="evil.example")[0] == 400
    assert service.ask("GET", "/predict")[0] == 405
    assert service.ask("GET", "/nothing")[0] == 404
    chunks = HEAD + b"transfer-encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as sock:
        sock.sendall(chunks + b"2000\r\n" + b"x" * 0x2000 + b"\r\n")
        sock.sendall(b"5000\r\n" + b"x" * 0x5000 + b"\r\n")
        assert b" 413 " in sock.recv(100)
    assert service.ask("GET", "/health")[0] == 200


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (b"", b""),
        (b"GET /health HTTP/1.1\r\nhost: loc", b""),
        (HEAD + b"content-length: 9\r\n\r\n{", b" 408 "),
        (b"\x16\x03\x01\x00nonsense\r\n\r\n", b" 400 "),
    ],
    ids=["nothing", "half a head", "half a body", "no HTTP"],
)
def test_slow_and_senseless_clients_are_let_go(service: Served, sent: bytes, expected: bytes):
    start = time.monotonic()
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as sock:
        sock.sendall(sent)
        assert expected in sock.recv(1000)
        while sock.recv(1000):
            pass
    assert time.monotonic() - start < 5
    assert service.ask("GET", "/health")[0] == 200


def test_stopped_under_load_it_answers_what_it_took_on_and_workers_share(run: Path):
    answers, lost = [], []
    with served(run, "--workers", 2, "--rate", 0) as service:
        halt = threading.Event()

        def load() -> None:
            while not halt.is_set():
                try:
                    answers.append(service.predict(nodes=["x1"], new=[NEW], edges=[["n0", "x1"]])[0])
                except ConnectionRefusedError:
                    return
                except (OSError, http.client.HTTPException) as error:  # not taken on: the service has no such request
                    lost.append(error)
                    return

        threads = [threading.Thread(target=load) for _ in range(6)]
        for thread in threads:
            thread.start()
        while len(answers) < 30:
            time.sleep(0.01)
        text = service.ask("GET", "/metrics")[1]
        err = service.stop()
        halt.set()
        for thread in threads:
            thread.join()
        assert service.process.returncode == 0
    took = re.search(r"took on (\d+) requests, answered (\d+)", err)
    assert took and took[1] == took[2] == str(len(answers) + 1), (err, len(answers), lost)
    assert set(answers) == {200}
    assert "agssl_workers 2" in text  # one text for both


def test_settings_that_make_no_sense_are_refused(run: Path, capfd: pytest.CaptureFixture[str]):
    for words, message in ((("--workers", "0"), "at least one"), (("--timeout", "0"), "must be positive")):
        assert main(["serve", str(run), *words]) == 2
        assert message in capfd.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", str(run), "--port", str(taken.getsockname()[1])]) == 2
    assert "can't listen" in capfd.readouterr().err
