"""Plug-in files."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from agssl.base import plugins
from agssl.base.errors import SettingsError
from agssl.base.plugins import Plugin, load_plugin, loaded_plugins, plugin_hashes, take_plugins
from agssl.base.processes import work
from agssl.base.registry import Registry
from agssl.integrate import INTEGRATORS
from agssl.pretext import TASKS
from agssl.pretext.prepare import make_task, prepared
from agssl.scale import cluster
from agssl.scale.cluster import Origin
from agssl.store.checkpoints import CheckpointStore
from reference.graphs import blocks_graph
from reference.plugins import forget_plugins

BOTH = (TASKS, INTEGRATORS)
TASK = """
import numpy as np
from agssl import TASKS, Task

class Constant(Task):
    '''The same target for every node.'''
    name = "constant"
    def prepare(self, graph, rng):
        return {{"value": np.full(graph.num_nodes, {value})}}

TASKS.add("constant", Constant)
"""

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_plugins(monkeypatch)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def one(text: str = TASK.format(value=1.0), name: str = "mine.py") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return one


def test_what_a_file_registers_is_known_by_its_name(write: Write) -> None:
    plugin = load_plugin(write(), BOTH)
    assert TASKS["constant"].__module__ == plugin.module
    assert loaded_plugins() == (plugin,)


@pytest.mark.parametrize("copy", ["mine.py", "copy.py"])
def test_loading_the_same_content_twice_is_harmless(write: Write, copy: str) -> None:
    first = load_plugin(write(), BOTH)
    load_plugin(write(name=copy), BOTH)
    assert loaded_plugins() == (first,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", r"mine.py registers nothing of its own \(task, integration\)"),
        ("x = 1\ny = x / 0\n", r"mine.py fails in line 2: ZeroDivisionError: division by zero"),
        ("def f(:\n", r"mine.py fails: SyntaxError.*line 1"),
        ("raise SystemExit\n", r"mine.py fails in line 1: SystemExit"),
        ("import no_such_package\n", r"No module named 'no_such_package'"),
        ("from agssl import TASKS\nTASKS.add('par', TASKS['clu'])\n", r"fails in line 2: .*'par' is already taken"),
        ("x = '\0'\n", r"mine.py fails"),
    ],
)
def test_a_file_that_does_not_work_is_refused_with_the_reason(write: Write, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load_plugin(write(text), BOTH)
    assert not loaded_plugins()


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no\.py does not exist; give a Python file"):
        load_plugin(tmp_path / "no.py", BOTH)
    with pytest.raises(SettingsError, match="can't be read"):
        load_plugin(tmp_path, BOTH)


def test_a_plugin_may_hold_a_dataclass(write: Write) -> None:
    text = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\n"
    )
    load_plugin(write(text + TASK.format(value=1.0)), BOTH)


def test_other_content_means_other_targets(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, found = blocks_graph(), []
    for value in (1.0, 2.0, 1.0):
        with monkeypatch.context() as patch:
            forget_plugins(patch)
            load_plugin(write(TASK.format(value=value)), BOTH)
            found.append(prepared(make_task("constant"), graph, tmp_path / "cache")["value"][0])
    assert found == [1.0, 2.0, 1.0] and len([*(tmp_path / "cache").iterdir()]) == 2


def test_a_checkpoint_knows_the_plugins_it_was_made_with(write: Write, tmp_path: Path) -> None:
    from torch import nn

    store, module = CheckpointStore(tmp_path), nn.Linear(1, 1)
    before = store.checkpoint(module).path
    load_plugin(write(), BOTH)
    assert store.checkpoint(module).path != before


def test_hashes_are_those_of_plugins_alone(write: Write) -> None:
    plugin = load_plugin(write(), BOTH)
    assert plugin_hashes(TASKS["par"], TASKS["constant"]) == [plugin.sha256]
    assert plugin_hashes(TASKS["par"]) == []


def test_a_worker_gets_the_text_and_needs_no_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write()
    plugin, sent = load_plugin(path, BOTH), pickle.dumps(Origin.of_this_process())
    path.unlink()
    forget_plugins(monkeypatch)
    monkeypatch.delitem(TASKS._items, "constant")
    for item in (1, 2):  # two items of one worker
        cluster._run(str, item, pickle.loads(sent))
    assert "constant" in TASKS and loaded_plugins() == (plugin,)


@pytest.mark.slow
def test_processes_know_the_plugins_of_the_one_that_started_them(write: Write) -> None:
    load_plugin(write(), BOTH)
    items, made = iter(["constant", "par"]), {}
    work(make_task, lambda: next(items, None), made.__setitem__, 2)
    assert {name: type(task) for name, task in made.items()} == {name: TASKS[name] for name in ("constant", "par")}


def test_taking_twice_runs_once() -> None:
    mine: Registry[int] = Registry("thing", "agssl.nothing")
    plugins.__dict__["_counted"] = mine  # where the file finds it
    plugin = Plugin("count.py", b"from agssl.base import plugins\nplugins._counted.add('one', 1)\n")
    try:
        take_plugins([plugin, plugin])
    finally:
        del plugins.__dict__["_counted"]
    assert list(mine) == ["one"]
