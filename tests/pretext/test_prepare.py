"""From a text to a prepared task: settings, errors, the cache on disk, other packages' tasks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.pretext import ALPHA_GRID, TASKS, Task
from agssl.pretext.base import Targets
from agssl.pretext.clu import Clusters
from agssl.pretext.pairdis import PairDistance
from agssl.pretext.prepare import make_task, prepared
from reference.graphs import build, random_graph

FIVE = ("par", "clu", "dgi", "pairdis", "pairsim")


def test_the_paper_s_five_are_registered() -> None:
    assert set(FIVE) <= set(TASKS)
    assert ALPHA_GRID == (0.1, 0.5, 1.0, 5.0, 10.0, 20.0, 30.0)


@pytest.mark.parametrize("name", list(TASKS))
def test_every_search_range_fits_its_setting(name: str) -> None:
    kind = TASKS[name]
    assert kind.name == name
    assert set(kind.space) <= set(kind().settings())
    for setting, values in kind.space.items():
        for value in values:
            assert kind(**{setting: value}).settings()[setting] == value


def test_settings_are_read_from_the_text() -> None:
    task = make_task("pairsim:target=feature:pairs=12")
    assert task.settings() == {"target": "feature", "pairs": 12}
    assert make_task("par").settings() == {"parts": None}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("par:parts=1", ["par", "1", "at least 2"]),
        ("par:parts=-4", ["-4"]),
        ("par:parts=many", ["par:parts=many"]),
        ("par:parts=--4", ["--4"]),
        ("par:parts=²", ["²"]),
        ("par:parts=2.5", ["2.5"]),
        ("par:foo=1", ["foo", "parts"]),
        ("par:parts", ["parts", "par:setting=value"]),
        ("par:", ["parts"]),
        ("clu:clusters=1", ["at least 2"]),
        ("dgi:estimator=nce", ["nce", "jsd", "infonce"]),
        ("dgi:samples=0", ["0", "at least 1"]),
        ("dgi:whole=all", ["all"]),
        ("pairdis:pairs=3", ["3", "at least 4"]),
        ("pairsim:target=links", ["links", "link", "feature"]),
        ("pairsim:pairs=0", ["0", "at least 1"]),
        ("grace:temperature=0", ["temperature", "above 0"]),
        ("grace:temperature=nan", ["nan", "above 0"]),
        ("grace:edges1=1", ["edges1", "[0, 1)"]),
        ("grace:features2=some", ["features2 = some", "a number"]),
        ("grace:nodes=2.5", ["2.5", "whole number"]),
        ("gca:centrality=closeness", ["closeness", "pagerank"]),
        ("gca:cut=1", ["cut", "[0, 1)"]),
        ("bgrl:momentum=1", ["momentum", "[0, 1)"]),
        ("graphmae:share=0", ["share", "above 0"]),
        ("grand:share=1", ["share", "[0, 1)"]),
        ("grand:views=0", ["views", "at least 1"]),
        ("mvgrl:teleport=0", ["teleport", "above 0"]),
        ("mvgrl:encoder=both", ["both", "own", "shared"]),
        ("gmi:weights=equal", ["equal", "mean", "adaptive"]),
        ("cg3:levels=0", ["levels", "at least 1"]),
        ("pairdist", ["pairdist", "'pairdis'"]),
        ("PAR", ["PAR", "'par'"]),
        ("", ["Known: bgrl, cg3, clu"]),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(text: str, words: list[str]) -> None:
    with pytest.raises(SettingsError) as error:
        make_task(text)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(("text", "count"), [("par:parts=31", 31), ("clu:clusters=31", 31)])
def test_more_parts_or_clusters_than_nodes_are_refused(text: str, count: int) -> None:
    graph = random_graph(30)
    with pytest.raises(SettingsError, match=f"{count}.*30 nodes"):
        prepared(make_task(text), graph)


@pytest.mark.parametrize("text", ["par:parts=30", "clu:clusters=30", "par", "clu"])
def test_as_many_parts_or_clusters_as_nodes_are_not(text: str) -> None:
    graph = random_graph(30)
    labels = prepared(make_task(text), graph)["labels"]
    assert len(labels) == 30


@pytest.mark.parametrize("name", ["cora", "mine"])
def test_defaults_shrink_to_the_graph(name: str) -> None:
    graph = build(7, [(0, 1), (1, 2)], name=name)
    for text in ("par", "clu"):
        assert prepared(make_task(text), graph)["labels"].max() < 7


@pytest.mark.parametrize(("name", "parts"), [("cora", 400), ("citeseer", 1000), ("photo", 100), ("mine", 150)])
def test_the_number_of_parts_is_the_papers_for_its_graphs(monkeypatch, name: str, parts: int) -> None:
    asked = []

    def record(graph, count, seed=0):  # type: ignore[no-untyped-def]
        asked.append(count)
        return np.zeros(graph.num_nodes, dtype=np.int64)

    monkeypatch.setattr("agssl.pretext.par.cut_graph", record)
    graph = build(1500, [(0, 1)], name=name)
    prepared(make_task("par"), graph)
    assert asked == [parts]


def refuse(*_args: object, **_kwargs: object) -> Targets:
    raise AssertionError("prepared a second time")


@pytest.mark.parametrize("text", [*FIVE, "pairsim:target=feature"])
def test_targets_are_computed_once_and_read_back_equal(monkeypatch, tmp_path: Path, text: str) -> None:
    graph = random_graph()
    task = make_task(text)
    first = prepared(task, graph, tmp_path)
    monkeypatch.setattr(type(task), "prepare", refuse)
    second = prepared(make_task(text), graph, tmp_path)
    assert list(first) == list(second)
    for name, array in first.items():
        assert array.dtype == second[name].dtype
        np.testing.assert_array_equal(array, second[name])


def test_without_a_cache_folder_nothing_is_written(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    graph = random_graph()
    prepared(make_task("clu"), graph)
    assert not list(tmp_path.iterdir())


def test_other_settings_graphs_and_features_have_files_of_their_own(tmp_path: Path) -> None:
    cases = [
        ("clu", random_graph()),
        ("clu:clusters=4", random_graph()),
        ("clu", random_graph(seed=1)),
        ("clu", random_graph(density=0.5)),
        ("clu", random_graph(name="other")),
        ("par", random_graph()),
    ]
    for text, graph in cases:
        prepared(make_task(text), graph, tmp_path)
    assert len(list(tmp_path.iterdir())) == len(cases)


@pytest.mark.parametrize("damage", ["empty", "truncated", "garbage", "text", "single bytes"])
def test_a_damaged_cache_file_is_computed_again(monkeypatch, tmp_path: Path, damage: str) -> None:
    graph, task = build(8, [(0, 1), (2, 3)]), make_task("clu:clusters=3")
    expected = np.arange(8) % 3
    monkeypatch.setattr(Clusters, "prepare", lambda *_: {"labels": expected})
    prepared(task, graph, tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    versions = {
        "empty": [b""],
        "truncated": [whole[:cut] for cut in range(1, len(whole), 37)],
        "garbage": [np.random.default_rng(0).bytes(300)],
        "text": [b"not a cache\n"],
        "single bytes": [
            whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :]
            for i in [*range(0, len(whole) - 150, 9), *range(len(whole) - 150, len(whole))]
        ],
    }[damage]
    for version in versions:
        path.write_bytes(version)
        np.testing.assert_array_equal(prepared(task, graph, tmp_path)["labels"], expected)


def test_a_damaged_cache_file_is_replaced(monkeypatch, tmp_path: Path) -> None:
    graph = random_graph()
    prepared(make_task("clu"), graph, tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:50])
    prepared(make_task("clu"), graph, tmp_path)
    assert path.read_bytes() == whole
    monkeypatch.setattr(Clusters, "prepare", refuse)
    prepared(make_task("clu"), graph, tmp_path)


def test_a_cache_that_can_not_be_written_is_no_error(tmp_path: Path) -> None:
    graph = random_graph()
    (tmp_path / "file").write_text("in the way")
    assert "labels" in prepared(make_task("clu"), graph, tmp_path / "file")


def test_targets_do_not_depend_on_the_order_in_which_tasks_are_prepared() -> None:
    graph = random_graph()
    alone = prepared(make_task("pairdis"), graph)
    prepared(make_task("par"), graph)
    after = prepared(make_task("pairdis"), graph)
    for name, array in alone.items():
        np.testing.assert_array_equal(array, after[name])


def test_a_task_that_lacks_a_method_says_so() -> None:
    graph = random_graph()
    with pytest.raises(NotImplementedError):
        Task().prepare(graph, Rng(0))


def test_pairdis_finds_enough_pairs_for_what_it_draws() -> None:
    graph = random_graph(300, 400)
    targets = prepared(PairDistance(400), graph)
    assert all(targets[f"class{c}"].shape[1] >= 100 for c in range(4))


def test_clusters_of_a_large_graph_come_from_a_sample(monkeypatch) -> None:
    graph = random_graph(200, 300)
    x = np.repeat(np.eye(4, 6, dtype=np.float32), 50, axis=0) * 9 + np.random.default_rng(0).random(
        (200, 6), np.float32
    )
    graph = Graph(graph.indptr, graph.indices, x, graph.y, graph.classes)
    whole = make_task("clu:clusters=4").prepare(graph, Rng(0))["labels"]
    monkeypatch.setattr("agssl.pretext.clu.SAMPLE", 60)
    sampled = make_task("clu:clusters=4").prepare(graph, Rng(0))["labels"]
    assert len(set(zip(whole, sampled, strict=True))) == 4  # the same clusters, whatever their numbers
