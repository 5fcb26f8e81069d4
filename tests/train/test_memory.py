"""The estimate of a fit's memory, and what is compared with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl.base.errors import SettingsError
from agssl.base.system import free_memory, held_memory
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.pretext import Needs
from agssl.train import memory
from agssl.train.memory import Estimate, batch_mode, check_memory, estimate
from reference.graphs import blocks_graph, build
from reference.plugin import Degree

ROOT = Path(__file__).parents[2]


def large(nodes: int = 20_000) -> Graph:
    draw = np.random.default_rng(0)
    edges = draw.integers(nodes, size=(2, 5 * nodes))
    return Graph.from_arrays(edges, draw.normal(size=(nodes, 8)), np.arange(nodes) % 3, notify=False)


def test_the_parts_sum_up_and_grow_with_what_they_are_for() -> None:
    graph, settings = large(), Settings()
    base = estimate(graph, settings)
    assert base.total == base.process + base.graph + base.activations + base.weights + base.logits
    assert estimate(graph, Settings(hidden=128)).activations == pytest.approx(2 * base.activations, rel=0.2)
    assert estimate(graph, Settings(layers=2)).activations > 1.5 * base.activations
    assert estimate(graph, Settings(tasks=("par",))).activations < base.activations  # no shuffled view
    with_view = estimate(graph, Settings(tasks=("par",), student_tasks={"dgi": 1.0}))
    assert with_view.activations > estimate(graph, Settings(tasks=("par",))).activations
    assert with_view.logits == estimate(graph, Settings(tasks=("par",))).logits
    assert estimate(graph, Settings(method="gcn")).total < base.total
    assert estimate(large(40_000), settings).graph > 1.8 * base.graph


def test_attention_counts_by_edges_and_heads() -> None:
    graph, plain = large(), Settings(method="gcn")
    base, one, two = (estimate(graph, plain.replace(encoder=name)) for name in ("gcn", "gat:heads=1", "gat:heads=2"))
    assert base.activations < one.activations
    more = (one.activations - base.activations, two.activations - one.activations)
    assert more[0] == pytest.approx(more[1]) and more[0] >= 4 * (2 * graph.num_edges + graph.num_nodes)
    in_parts = plain.replace(encoder="gat", batch="partition", batch_nodes=1000)
    assert estimate(graph, in_parts).activations < estimate(graph, plain.replace(encoder="gat")).activations / 5


def test_skip_connections_and_heads_of_many_steps_count() -> None:
    graph, plain = large(), Settings(method="gcn")
    assert estimate(graph, plain.replace(residual=True)).activations > estimate(graph, plain).activations
    far, near = (estimate(graph, plain.replace(encoder=f"appnp:steps={steps}")) for steps in (20, 1))
    assert far.logits > near.logits == estimate(graph, plain).logits


def test_sparse_features_count_by_what_is_stored() -> None:
    dense, sparse = build(40, [(0, 1)], features=50), build(40, [(0, 1)], features=50, density=0.02)
    assert estimate(sparse, Settings()).graph < estimate(dense, Settings()).graph


def test_every_setting_has_an_estimate() -> None:
    graph = blocks_graph()
    for method in ("gcn", "joint", "agssl"):
        for strategy in ("jt", "pf"):
            assert estimate(graph, Settings(method=method, strategy=strategy, norm="batch")).total > 0
    assert estimate(replace(graph, split=None), Settings(method="single", tasks=("pairdis:pairs=8",))).total > 0


@pytest.mark.parametrize(
    ("room", "jobs", "settings", "cure"),
    [
        (900, 4, Settings(), "lower --jobs to 1,"),
        (700, 1, Settings(hidden=1024), "lower --hidden to "),
        (10, 1, Settings(), "use a smaller graph or a machine with more memory"),
    ],
)
def test_a_fit_that_would_not_fit_is_refused_with_a_cure(
    monkeypatch: pytest.MonkeyPatch, room: int, jobs: int, settings: Settings, cure: str
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: room << 20)
    monkeypatch.setattr(memory, "held_memory", lambda: 400 << 20 if room > 10 else 0)
    with pytest.raises(SettingsError, match=rf"needs about .* but {room} MB is free; .*{cure}.*--no-memory-check"):
        check_memory(large(), settings, jobs)


def test_auto_trains_in_parts_where_the_whole_graph_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, settings = large(100_000), Settings(batch_nodes=4096)
    whole, parts = estimate(graph, settings), estimate(graph, settings.replace(batch="partition"))
    assert parts.activations < whole.activations / 2
    assert parts.graph < whole.graph / 2
    monkeypatch.setattr(memory, "held_memory", lambda: 0)
    for room, mode in ((None, "full"), (2 * whole.total, "full"), ((whole.total + parts.total) // 2, "partition")):
        monkeypatch.setattr(memory, "free_memory", lambda room=room: room)
        assert batch_mode(graph, settings) == mode
    assert batch_mode(graph, Settings(method="autossl")) == "full"  # it knows no other way
    with pytest.raises(SettingsError, match=r"train in parts \(--batch partition\)"):
        check_memory(graph, settings.replace(batch="full"))


def test_what_fits_or_is_not_known_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    for room in (None, 1 << 40):
        monkeypatch.setattr(memory, "free_memory", lambda room=room: room)
        assert check_memory(blocks_graph(), Settings(), 2).total > 0


def test_the_free_memory_is_the_least_of_all_limits(tmp_path: Path) -> None:
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    (proc / "self").mkdir(parents=True)
    (groups / "a/b").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    8000 kB\n")
    (proc / "self/cgroup").write_text("0::/a/b\n")
    assert free_memory(proc, groups) == 8000 * 1024
    (groups / "a/b/memory.max").write_text("max\n")
    (groups / "a/b/memory.current").write_text("5\n")
    assert free_memory(proc, groups) == 8000 * 1024
    (groups / "a/memory.max").write_text("5000000\n")
    (groups / "a/memory.current").write_text("4000000\n")
    (groups / "a/memory.stat").write_text("anon 1\ninactive_file 500000\n")
    assert free_memory(proc, groups) == 1_500_000
    (proc / "self/cgroup").write_text("4:memory,hugetlb:/c\n")
    (groups / "memory/c").mkdir(parents=True)
    (groups / "memory/c/memory.limit_in_bytes").write_text("2000000\n")
    (groups / "memory/c/memory.usage_in_bytes").write_text("1250000\n")
    assert free_memory(proc, groups) == 750_000
    assert free_memory(tmp_path / "none", groups) is None
    assert held_memory() > 1 << 20


PAPER = ["par", "clu", "dgi", "pairdis", "pairsim"]
RIVALS = ("grace", "gca", "bgrl", "cg3", "mvgrl", "gmi", "graphmae", "grand")


def rows_of_the_record() -> list[dict]:
    return json.loads((ROOT / "results/benchmarks/memory.json").read_text())["rows"]


def test_the_recorded_estimates_are_near_the_measured_peaks() -> None:
    rows = [row for row in rows_of_the_record() if row["tasks"] == PAPER]
    assert {(row["dataset"], row["hidden"]) for row in rows} >= {("cora", 64), ("pubmed", 256), ("physics", 256)}
    for row in rows:
        assert 0.9 <= row["estimated_mb"] / row["peak_mb"] <= 1.5, row


def test_the_recorded_estimates_of_other_tasks_are_above_the_measured_peaks() -> None:
    rows = [row for row in rows_of_the_record() if row["method"] == "single"]
    for task in RIVALS:
        assert len({row["dataset"] for row in rows if row["tasks"] == [task]}) >= 2, task
    for row in rows:
        assert 1 <= row["estimated_mb"] / row["peak_mb"] <= 2, row


def few_labels(graph: Graph) -> Graph:
    return replace(graph, split=Split(np.arange(20), np.arange(20, 40), np.arange(40, 60)))


def test_a_task_is_asked_what_it_needs() -> None:
    graph = few_labels(large(40_000))

    def needed(*tasks: str, **more: Any) -> Estimate:
        return estimate(graph, Settings(method="joint", tasks=tasks, **more))

    def activations(*tasks: str, **more: Any) -> int:
        return needed(*tasks, **more).activations

    assert activations("grace") < activations("graphmae") < activations("mvgrl")  # few nodes, two passes, four
    assert activations("grand:views=4") == pytest.approx(2 * activations("grand"), rel=0.1)
    assert activations("pairdis:pairs=40000") > 2 * activations("pairdis:pairs=40")
    assert activations("grace", "mvgrl") > activations("mvgrl")
    assert activations("grand:views=4", batch="partition") > activations("dgi", batch="partition")
    assert needed("mvgrl:kept=64").graph > needed("mvgrl:kept=16").graph > needed("dgi").graph
    assert needed("par:parts=4000").weights > needed("par:parts=40").weights
    assert needed("bgrl").weights > needed("grace").weights  # a copy of the encoder


def test_a_task_that_says_nothing_counts_as_one_that_reads_all(monkeypatch: pytest.MonkeyPatch) -> None:
    class Frugal(Degree):
        def needs(self, graph: Graph, width: int) -> Needs:
            return Needs(nodes=10, parameters=2 * (width + 1))

    kinds = {"degree": Degree, "frugal": Frugal}
    monkeypatch.setattr(memory, "make_task", lambda text: kinds[text]())
    graph = few_labels(large())
    silent, frugal = (estimate(graph, Settings(method="single", tasks=(name,))) for name in kinds)
    assert silent.activations > 3 * frugal.activations
    assert silent.weights > frugal.weights
