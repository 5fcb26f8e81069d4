"""`agssl label` as a command: kill -9, Ctrl-C, and `agssl fit` with what was labelled."""

from __future__ import annotations

import json
import os
import shlex
import signal
import time
from pathlib import Path

import pytest

import agssl as package
from agssl.cli.main import main
from agssl.data.label_files import read_label_file
from reference.labelling import Client, command
from reference.page import write_graph

QUICK = ("--method", "gcn", "--epochs", "4", "--hidden", "4")


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixty nodes in three classes, and nobody has labelled them."""
    monkeypatch.setenv("PYTHONPATH", str(Path(package.__file__).parents[1]))
    monkeypatch.setenv("AGSSL_CACHE", str(tmp_path / "cache"))
    folder = write_graph(tmp_path / "graph")
    lines = (folder / "nodes.csv").read_text(encoding="utf-8").splitlines()
    (folder / "nodes.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return folder


def label(client: Client, count: int) -> dict[str, str]:
    """Label what is suggested by its true class; gives what was acknowledged."""
    given = {}
    card = client.get("api/next?tab=t").json
    for _ in range(count):
        name = "abc"[card["node"] % 3]
        answer = client.label(card["node"], name)
        assert answer.status == 200
        given[card["name"]] = name
        card = answer.json["card"]
    return given


def test_kill_9_loses_no_label_and_ctrl_c_says_how_to_go_on(graph: Path, tmp_path: Path) -> None:
    with command(str(graph), "--no-fit", *QUICK) as server:
        assert "0 of 60 nodes of graph have a label" in server.lines[0]
        given = label(Client(server.address), 9)
        server.process.kill()
        server.process.wait()
    assert read_label_file(graph / "labels.csv") == given
    with command(str(graph), "--no-fit", *QUICK, "--json") as server:
        client = Client(server.address)
        assert client.get("api/state?tab=t").json["said"] == 9
        given |= label(client, 3)
        server.process.send_signal(signal.SIGINT)
        out = server.process.stdout.read()
        assert server.process.wait() == 0
    found = json.loads(out)
    assert (found["labels"], found["new"], found["file"]) == (12, 3, str(graph / "labels.csv"))
    assert read_label_file(graph / "labels.csv") == given and not (graph / ".labels.csv.lock").exists()
    fit = shlex.split(found["fit"])
    assert fit == ["agssl", "fit", str(graph), *QUICK]
    assert main([*fit[1:], "--split", "cv:2", "--out", str(tmp_path / "run"), "--jobs", "1"]) == 0
    assert json.loads((tmp_path / "run/metrics.json").read_text())["labels"]["train"] == 12


@pytest.mark.slow
def test_fits_in_the_background_follow_the_labels_and_end_with_the_server(graph: Path) -> None:
    with command(str(graph), *QUICK, "--split", "cv:2") as server:
        client = Client(server.address)
        label(client, 12)
        state = wait_for(client, lambda state: state["curve"])
        point = state["curve"][0]
        assert 4 <= point["labels"] <= 12 and 0 <= point["low"] <= point["value"] <= point["high"] <= 1
        card = client.get("api/next?tab=t").json
        assert card["reason"] and card["guess"] in "abc" and 0 < card["sure"] <= 1
        label(client, 10)
        wait_for(client, lambda state: state["curve"][-1]["labels"] == 22 or state["fitting"])
        children = offspring(server.process.pid)
        server.process.kill()
        server.process.wait()
        for _ in range(200):
            if not any(Path(f"/proc/{child}").exists() for child in children):
                break
            time.sleep(0.05)
        else:
            raise AssertionError("a fit outlived the server")


@pytest.mark.slow
def test_a_fit_that_fails_is_said_on_the_page(graph: Path) -> None:
    with command(str(graph), *QUICK, "--split", "public") as server:
        client = Client(server.address)
        label(client, 12)
        state = wait_for(client, lambda state: state["problem"])
        assert "came without a split of its own" in state["problem"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere/",), "nowhere/ does not exist"),
        (("{graph}", "--port", "70000"), "port = 70000"),
        (("{graph}", "--classes", "a,unknown"), "'unknown' is taken for no label"),
        (("{graph}", "--tasks", "nonsense"), "unknown task 'nonsense'"),
        (("{graph}", "--labels", "x.csv"), "unknown argument '--labels'"),
    ],
)
def test_mistakes_are_told_in_one_line(
    graph: Path, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert main(["label", *(word.format(graph=graph) for word in words)]) == 2
    error = capfd.readouterr().err
    assert message in error and error.count("\n") == 1


def wait_for(client: Client, ready: object) -> dict:
    for _ in range(1200):
        state = client.get("api/state?tab=t").json
        if ready(state):  # type: ignore[operator]
            return state
        time.sleep(0.1)
    raise AssertionError("it took too long")


def offspring(parent: int) -> list[int]:
    """The processes below one, as Linux tells."""
    found: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found.setdefault(int(words[1]), []).append(int(folder.name))
    children = found.get(parent, [])
    return children + [deep for child in children for deep in offspring(child)]


def test_offspring_finds_this_process_below_its_parent() -> None:
    assert not Path("/proc").exists() or os.getpid() in offspring(os.getppid())
