"""Names that resolve to classes, entry points included."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
import torch

from agssl.base import registry
from agssl.base.errors import SettingsError, unknown_name
from agssl.base.registry import PluginEntry, Registry
from agssl.config import Settings
from agssl.pretext import Task
from agssl.pretext import base as pretext_base
from agssl.pretext import prepare as pretext_prepare
from agssl.train.methods import train_method
from reference.graphs import blocks_graph

REFERENCE = "reference.plugin"


@pytest.fixture
def plugged_in(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry of tasks as a new process would see it, with one more package installed."""

    def entry_points(*, group: str) -> list[EntryPoint]:
        assert group == "agssl.tasks"
        return [EntryPoint("degree", f"{REFERENCE}:Degree", group), EntryPoint("par", "no.such:thing", group)]

    monkeypatch.setattr(registry, "entry_points", entry_points)
    fresh: Registry[type[Task]] = Registry("task", "agssl.tasks")
    for name in pretext_base.TASKS:
        fresh.add(name, pretext_base.TASKS[name])
    for module in (pretext_base, pretext_prepare):
        monkeypatch.setattr(module, "TASKS", fresh)
    return fresh


def test_an_entry_point_adds_a_task(plugged_in: Registry) -> None:
    assert "degree" in plugged_in
    assert plugged_in["degree"].name == "degree"
    five, eight = (
        ("par", "clu", "dgi", "pairdis", "pairsim"),
        ("gmi", "mvgrl", "grace", "gca", "cg3", "bgrl", "graphmae", "grand", "joao"),
    )
    assert set(plugged_in) == {*five, *eight, "degree"}


def test_an_entry_point_can_not_replace_a_task(plugged_in: Registry) -> None:
    _ = list(plugged_in)
    assert plugged_in["par"].__module__ == "agssl.pretext.par"


def test_a_task_of_another_package_trains(plugged_in: Registry) -> None:
    settings = Settings(tasks=("degree", "clu"), epochs=3, hidden=8, weights_from="train")
    result = train_method(blocks_graph(), settings)
    assert [teacher.name for teacher in result.teachers] == ["degree", "clu"]
    assert torch.isfinite(result.logits).all()
    assert all("degree" in record for record in result.history["teacher degree"])


def test_a_name_can_be_taken_once_only() -> None:
    mine: Registry[str] = Registry("thing", "agssl.nothing")
    mine.add("a", "first")
    with pytest.raises(SettingsError, match=r"thing name 'a' is already taken by 'first'"):
        mine.add("a", "second")
    assert mine["a"] == "first"


def test_an_unknown_name_gives_the_nearest_ones() -> None:
    mine: Registry[int] = Registry("thing", "agssl.nothing")
    for number, name in enumerate(["apple", "cherry", "quince"]):
        mine.add(name, number)
    with pytest.raises(
        SettingsError, match=r"unknown thing 'aple'; did you mean 'apple'\? Known: apple, cherry, quince"
    ):
        mine["aple"]
    with pytest.raises(SettingsError, match=r"unknown thing 'zzz'\. Known"):
        mine["zzz"]
    assert "aple" not in mine


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """A registry for which another package offers something that can't be imported."""

    def entry_points(*, group: str) -> list[EntryPoint]:
        return [EntryPoint("pear", "no.such:Pear", group), EntryPoint("degree", f"{REFERENCE}:Degree", group)]

    monkeypatch.setattr(registry, "entry_points", entry_points)
    mine: Registry[object] = Registry("thing", "agssl.nothing")
    mine.add("apple", int)
    return mine


def test_an_entry_point_that_fails_is_a_warning_and_the_rest_works(
    broken: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    assert list(broken) == ["apple", "degree"]
    assert len(caplog.records) == 1
    assert "the thing 'pear' is left out: no.such offers it as no.such:Pear" in caplog.text


def test_asking_for_an_entry_point_that_fails_says_why(broken: Registry) -> None:
    with pytest.raises(SettingsError, match=r"'pear' can't be loaded: .*No module named 'no'"):
        broken["pear"]


def test_a_description_is_the_classs_own_first_line_and_its_defaults() -> None:
    class Plain:
        """What it is.

        More.
        """

        def __init__(self, needed: int, size: int = 3, how: str | None = None) -> None:
            pass

    class Heir(Plain):
        pass

    mine: Registry[type] = Registry("thing", "agssl.nothing")
    mine.add("plain", Plain)
    mine.add("heir", Heir)
    settings = {"size": 3, "how": None}
    assert mine.describe() == [PluginEntry("plain", "What it is.", settings), PluginEntry("heir", "", settings)]


def test_nearest_names_ignore_case() -> None:
    assert "'dgi'" in str(unknown_name("task", "DGI", ["par", "dgi"]))
