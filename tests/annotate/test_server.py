"""The page over HTTP: what it answers, and whom it lets in."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from agssl.annotate.label_file import LabelFile
from agssl.annotate.server import LabelServer
from agssl.annotate.session import Session
from agssl.base.errors import SettingsError
from agssl.data.label_files import read_label_file
from reference.graphs import blocks_graph
from reference.labelling import Client, served


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "labels.csv"


@pytest.fixture
def client(path: Path) -> Iterator[Client]:
    graph = replace(blocks_graph(60), y=np.full(60, -1), classes=(), split=None)
    with served(graph, path, ("a", "b")) as (client, _):
        yield client


def test_a_label_goes_from_a_request_to_the_file(client: Client, path: Path) -> None:
    card = client.get("api/next?tab=t").json
    answer = client.label(card["node"], "a")
    assert answer.status == 200 and answer.json["state"]["said"] == 1 and answer.json["card"]["node"] != card["node"]
    assert read_label_file(path) == {card["name"]: "a"}
    assert client.post("api/undo", {"tab": "t"}).json["card"]["node"] == card["node"]
    assert read_label_file(path) == {}
    assert client.post("api/skip", {"tab": "t", "node": card["node"]}).json["card"]["node"] != card["node"]
    client.label(7, "a")
    refused = client.label(7, "b")
    assert refused.status == 409 and refused.json["label"] == "a"


@pytest.mark.parametrize("name", ["", "page.js", "style.css", "api/state?tab=t"])
def test_every_answer_keeps_to_itself(client: Client, name: str) -> None:
    answer = client.get(name)
    policy = answer.headers["Content-Security-Policy"]
    assert answer.status == 200 and "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert answer.headers["Cache-Control"] == "no-store" and answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not [header for header in answer.headers if header.lower().startswith("access-control")]
    assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "") and "https://" not in answer.text


def test_nothing_is_read_or_written_without_the_token(client: Client, path: Path) -> None:
    token = client.address.rsplit("/", 2)[1]
    assert len(token) >= 32
    for wrong in ("", "x" * len(token), token[:-1], token + "x", "%C3%A4"):
        for part in ("", "page.js", "api/state?tab=t", "api/next?tab=t"):
            answer = client.get(f"/{wrong}/{part}")
            assert answer.status == 403 and token not in answer.text
        said = {"tab": "t", "node": 1, "label": "a", "before": None}
        assert client.post(f"/{wrong}/api/label", said).status == 403
    assert client.get("/").status == 403 and client.get("/favicon.ico").status == 403
    assert not path.exists()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "[", "10.0.0.1:{port}"]
)
def test_a_name_that_was_pointed_here_is_refused(client: Client, path: Path, host: str) -> None:
    host = host.format(port=urlsplit(client.address).port)
    assert client.get("api/state?tab=t", Host=host).status == 403
    said = {"tab": "t", "node": 1, "label": "a", "before": None}
    assert client.post("api/label", said, Host=host, Origin=f"http://{host}").status == 403
    assert not path.exists()


def test_localhost_is_this_machine_as_well(client: Client) -> None:
    port = urlsplit(client.address).port
    assert client.get("api/state?tab=t", Host=f"localhost:{port}").status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:{port}", "http://localhost:{port}"]
)
def test_another_origin_can_neither_read_nor_write(client: Client, path: Path, origin: str) -> None:
    origin = origin.format(port=urlsplit(client.address).port)
    assert client.get("api/state?tab=t", Origin=origin).status == 403
    said = {"tab": "t", "node": 1, "label": "a", "before": None}
    assert client.post("api/label", said, Origin=origin).status == 403
    assert client.post("api/label", said, Origin=None).status == 403
    for site in ("cross-site", "same-site"):
        assert client.get("", Sec_Fetch_Site=site).status == 403
    assert client.ask("OPTIONS", "api/label", Origin=origin, Access_Control_Request_Method="POST").status == 501
    assert not path.exists()


def test_requests_that_can_not_be_are_refused_in_a_line(client: Client, path: Path) -> None:
    said = {"tab": "t", "node": 1, "label": "a", "before": None}
    wrong = [
        (said | {"node": 60}, 404),
        (said | {"node": -1}, 404),
        (said | {"node": "1e3"}, 400),
        (said | {"node": True}, 400),
        (said | {"label": 5}, 400),
        (said | {"label": "unknown"}, 400),
        (said | {"tab": ""}, 400),
        (said | {"tab": "x" * 65}, 400),
        ([said], 400),
        (b"{", 400),
        (b"[" * 60000, 400),
        (b"\xff\xfe", 400),
        (b"x" * 70000, 413),
    ]
    for body, status in wrong:
        answer = client.post("api/label", body)
        assert answer.status == status and answer.json["error"], body
    assert client.post("api/label", said, Content_Type="text/plain").status == 415
    assert client.post("api/label", said, Content_Length="-5").status == 413
    assert client.post("api/nothing", said).status == 404 and client.get("api/label").status == 404
    assert client.get("../pyproject.toml").status == 404 and client.get("api/node?node=60").status == 404
    assert not path.exists()


def test_many_clients_at_once_lose_nothing(client: Client, path: Path) -> None:
    statuses: list[int] = []

    def work(tab: int) -> None:
        for node in range(tab, 60, 6):
            statuses.append(client.label(node, "ab"[node % 2], tab=f"t{tab}").status)

    threads = [threading.Thread(target=work, args=(tab,)) for tab in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 60
    assert read_label_file(path) == {str(node): "ab"[node % 2] for node in range(60)}


def test_a_full_disk_is_said_and_nothing_counted(client: Client, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client.label(1, "a")

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agssl.base.atomic.os.fsync", full)
    answer = client.label(2, "b")
    assert answer.status == 507 and "No space left" in answer.json["error"]
    monkeypatch.undo()
    assert read_label_file(path) == {"1": "a"} and client.get("api/state?tab=t").json["said"] == 1
    assert client.label(2, "b").status == 200


def test_on_all_addresses_only_numbers_and_its_own_name_are_let_in(path: Path, tiny_graph) -> None:
    file = LabelFile(path)
    with LabelServer(Session(tiny_graph, file), "0.0.0.0") as server:
        port = server.server_port
        assert server.is_ours(f"127.0.0.1:{port}") and server.is_ours(f"192.168.1.5:{port}")
        assert server.is_ours(f"{socket.gethostname()}:{port}") and not server.is_ours(f"evil.example:{port}")
        with pytest.raises(SettingsError, match=f"can't listen on 0.0.0.0 port {port}"):
            LabelServer(server.session, "0.0.0.0", port)
    file.close()


def test_names_are_sent_as_they_are(tmp_path: Path) -> None:
    evil = '</script><img src=x onerror="alert(1)">'
    graph = replace(
        blocks_graph(60), y=np.full(60, -1), classes=(), node_names=np.array([f"{evil}{i}" for i in range(60)])
    )
    with served(graph, tmp_path / "labels.csv") as (client, _):
        assert client.label(3, evil).status == 200
        assert client.get("api/node?node=3").json["name"] == f"{evil}3"
        assert read_label_file(tmp_path / "labels.csv") == {f"{evil}3": evil}
        assert evil not in client.get("").text and json.dumps(evil)[1:-1] in client.get("api/state?tab=t").text
        assert client.get("api/state?tab=t").headers["Content-Type"] == "application/json"
