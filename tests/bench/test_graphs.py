"""`agssl bench graphs`: baselines that are tuned, what pools are worth, and tables from whatever there is."""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl.bench import measure, tuned
from agssl.bench.catalog import ARTIFACTS
from agssl.bench.cells import Cell
from agssl.bench.contenders import AUTO, BASELINES, CONTENDERS, PAPER
from agssl.bench.critical import cliques, critical_difference, draw_ranks
from agssl.bench.graphs import DEFAULT, outcomes_of
from agssl.bench.measure import Workspace, run_cell
from agssl.bench.methods import TABLE_METHODS
from agssl.bench.outcomes import BEST, difference
from agssl.bench.pools import together
from agssl.bench.records import Records
from agssl.bench.scope import Scope
from agssl.bench.tuned import Tried, choose, tune
from agssl.data.graph import Graph
from agssl.data.splits import Split
from agssl.fitting.fit import Resources, fit
from agssl.fitting.job import check
from agssl.simple import make_simple
from agssl.train.methods import MethodResult, train_method
from reference.graphs import blocks_graph
from reference.records import record_of
from reference.settings import quick

GRAPHS = ARTIFACTS["graphs"]
SCOPE = Scope(datasets=("cora", "practice/texas.npz"), seeds=(0, 1, 2))
POOL = {
    "teachers": ["par", "clu"],
    "agreement": 0.9,
    "unanimous": 0.8,
    "oracle": 0.95,
    "best_teacher": 0.85,
    "mean_teacher": 0.8,
    "student": "gcn",
    "seconds": 1.5,
    "tried": [],
}


def record(cell: Cell, test: float | None = None, val: float | None = None) -> dict[str, Any]:
    """Made-up figures of a cell of this table."""
    found = record_of(cell, test)
    found |= {"val": {"accuracy": found["val"]["accuracy"] if val is None else val, "log_loss": 0.5}, "whole": True}
    return found | ({"chosen": cell.tries[0], "fit_seconds": 0.25} if cell.tries else {"pool": POOL})


def texts(records: Records, scope: Scope = SCOPE) -> list[str]:
    table = GRAPHS.render(scope, records).table
    return [cell for sheet in table.sheets for row in sheet.rows for cell in row]


class TestBaselines:
    """Settings that validation chooses."""

    def test_each_has_as_many_settings_as_the_others(self) -> None:
        assert {len(one.tries) for one in BASELINES} == {4}
        for text in itertools.chain.from_iterable(one.tries for one in BASELINES):
            check(quick(teachers=(text,)))  # each is a teacher that there is

    def test_the_best_on_validation_is_chosen_then_the_likeliest(self) -> None:
        def tried(name: str, accuracy: float, loss: float) -> Tried:
            return Tried(name, np.zeros((1, 2)), 0.0, {"accuracy": accuracy, "log_loss": loss, "roc_auc": 1 - accuracy})

        some = [tried("a", 0.8, 0.4), tried("b", 0.9, 0.6), tried("c", 0.9, 0.5), tried("d", 0.9, 0.5)]
        assert choose(some, "accuracy").name == "c" and choose(some, "roc_auc").name == "a"
        assert choose(some, "log_loss").name == "a"

    def test_figures_are_those_of_the_fit_that_was_chosen(self) -> None:
        graph = blocks_graph(90)
        assert graph.split is not None
        tries = ("labels@mlp:lr=0.0001", "labels@gcn:view=knn:lr=0.1", "labels@linear:k=1:c=1")
        found = tune(graph, tries, quick(method="gcn"), 3, Resources())
        slow = fit(graph, quick(method="gcn", encoder="mlp", lr=0.0001), 3).fitted.logits
        knn = fit(graph, quick(method="gcn", view="knn", lr=0.1), 3).fitted.logits
        train = graph.split.train
        linear = make_simple("linear:k=1:c=1").fit_predict(graph, train, graph.y[train], 3)
        for part in ("val", "test"):
            nodes = getattr(graph.split, part)
            right = {
                text: float((logits[nodes].argmax(1) == graph.y[nodes]).mean())
                for text, logits in zip(tries, (slow, knn, linear), strict=True)
            }
            if part == "val":
                assert {one["name"]: one["accuracy"] for one in found["tried"]} == pytest.approx(right)
                assert right[found["chosen"]] == max(right.values()) > min(right.values())
            assert found[part]["accuracy"] == pytest.approx(right[found["chosen"]])
        assert found["seconds"] >= found["fit_seconds"] > 0

    def test_no_fit_sees_a_test_label(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph, seen = blocks_graph(90), []

        def spy(given: Graph, *args: Any, **kwargs: Any) -> MethodResult:
            seen.append(given)
            return train_method(given, *args, **kwargs)

        class Spy:
            def fit_predict(self, given: Graph, *args: Any) -> np.ndarray:
                seen.append(given)
                return np.zeros((given.num_nodes, 3), np.float32)

        monkeypatch.setattr("agssl.fitting.fit.train_method", spy)
        monkeypatch.setattr(tuned, "make_simple", lambda text: Spy())
        tune(graph, ("labels@gcn", "labels@lp"), quick(method="gcn"), 0, Resources())
        assert len(seen) == 2 and graph.split is not None
        assert all((given.y[graph.split.test] == -1).all() for given in seen)


class TestPools:
    """What teachers are worth together."""

    def test_agreement_and_oracle_are_those_of_a_loop(self) -> None:
        draw = np.random.default_rng(0)
        said, truth = draw.integers(3, size=(4, 50)), draw.integers(3, size=50)
        found = together(said, truth)
        pairs = list(itertools.combinations(range(4), 2))
        agree = sum(said[i][n] == said[j][n] for i, j in pairs for n in range(50)) / (len(pairs) * 50)
        assert found["agreement"] == pytest.approx(agree)
        assert found["oracle"] == sum(truth[n] in said[:, n] for n in range(50)) / 50
        assert found["unanimous"] == sum(len(set(said[:, n])) == 1 for n in range(50)) / 50
        assert found["best_teacher"] == max(sum(row == truth) for row in said) / 50

    def test_one_teacher_has_nobody_to_agree_with(self) -> None:
        found = together(np.array([[0, 1]]), np.array([0, 0]))
        assert found["agreement"] is None and found["oracle"] == found["mean_teacher"] == 0.5
        assert set(together(np.zeros((0, 0), int), np.array([0])).values()) == {None}

    def test_a_record_has_the_pool_that_was_kept_and_its_time(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(measure, "graph_of", lambda name: blocks_graph(90))
        settings = quick(teachers=("auto",))
        found = run_cell(Workspace(tmp_path), Cell("blocks", "auto", settings, 0, whole=True))
        pool = found["pool"]
        assert pool["teachers"] == [one["name"] for one in pool["tried"] if one["kept"]]
        assert pool["teachers"] == [one["name"] for one in found["teachers"]]
        assert sum(one["seconds"] for one in pool["tried"]) <= pool["seconds"] < found["seconds"]
        assert pool["oracle"] >= pool["best_teacher"] == max(one["test_accuracy"] for one in found["teachers"])
        assert not list(tmp_path.rglob("*.*"))  # nothing taken from others, nothing left to them


class TestCells:
    """What is run."""

    def test_every_graph_has_every_method_on_five_seeds(self) -> None:
        cells = GRAPHS.cells(Scope())
        there = [one for one in CONTENDERS.values() if one.cells(SCOPE, "cora")]
        assert {*BASELINES, PAPER, AUTO} <= {*there}
        assert len(DEFAULT) == 16 and len(cells) == 16 * len(there) * 5 == len({cell.key for cell in cells})

    def test_only_the_papers_pool_has_shipped_settings(self) -> None:
        by_name = {name: one.cells(SCOPE, "cora") for name, one in CONTENDERS.items()}
        assert {name for name, cells in by_name.items() if any(cell.config for cell in cells)} == {"paper"}
        (cell, *_), (table, *_) = by_name["paper"], SCOPE.cells(TABLE_METHODS["agssl-lf"], "cora")
        assert cell.settings == table.settings and cell.key != table.key  # the table's may take teachers from others

    def test_other_settings_to_choose_from_make_a_new_cell(self) -> None:
        cell = BASELINES[0].cells(SCOPE, "cora")[0]
        assert replace(cell, tries=cell.tries[1:]).key != cell.key

    def test_a_graph_with_several_splits_has_one_for_each_seed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        graph = blocks_graph(90)
        parts = np.arange(90) % 3
        splits = tuple(Split(*(np.flatnonzero(parts == (k + s) % 3) for k in range(3)), f"number {s}") for s in (0, 1))
        monkeypatch.setattr(measure, "graph_of", lambda name: replace(graph, split=None, splits=splits))
        cells = [Cell("blocks", "lp", quick(method="gcn"), seed, whole=True, tries=("labels@lp",)) for seed in (0, 1)]
        found = [run_cell(Workspace(tmp_path), cell) for cell in cells]
        assert [one["split"]["origin"] for one in found] == ["number 0", "number 1"]


class TestTables:
    """What is shown."""

    def test_nothing_is_shown_of_nothing(self, tmp_path: Path) -> None:
        rendered = GRAPHS.render(SCOPE, Records(tmp_path))
        assert not rendered.table.sheets and not rendered.figures and GRAPHS.listing is not None
        assert GRAPHS.listing(SCOPE, Records(tmp_path)) == []

    @pytest.mark.slow
    def test_what_there_is_is_shown_without_a_word_about_the_rest(self, tmp_path: Path) -> None:
        records, cells = Records(tmp_path), GRAPHS.cells(SCOPE)
        for cell in cells:
            records.add(record(cell))
            found = texts(records)
            assert not any("missing" in text or "nan" in text or "None" in text for text in found)
        for sheet in GRAPHS.render(SCOPE, records).table.sheets:
            assert {len(row) for row in sheet.rows} == {len(sheet.header)}
            assert sheet.rows[0][0].startswith("Cora") and any(row[0].startswith("texas") for row in sheet.rows)
        (draw,) = GRAPHS.render(SCOPE, records).figures.values()
        assert all(axes.has_data() for axes in draw().axes)

    def test_the_best_simple_baseline_is_chosen_by_validation_on_seeds_that_all_have(self, tmp_path: Path) -> None:
        records = Records(tmp_path)
        figures = {
            "mlp": ((0.9, 0.5), (0.9, 0.5)),
            "gcn": ((0.8, 0.9), (0.8, 0.9), (1.0, 1.0)),
            "lp": ((0.7, 0.99),) * 2,
        }
        for name, values in figures.items():
            for cell, (val, test) in zip(CONTENDERS[name].cells(SCOPE, "cora"), values, strict=False):
                records.add(record(cell, test, val))
        best = outcomes_of(SCOPE, records, "cora")[BEST]
        assert best.chosen == "MLP" and best.scores == {0: 50.0, 1: 50.0}

    def test_differences_are_paired_by_seed_with_their_standard_error(self, tmp_path: Path) -> None:
        records, ours, theirs = Records(tmp_path), (0.8, 0.75, 0.9), (0.7, 0.8)
        for one, values in ((AUTO, ours), (PAPER, theirs)):
            for cell, test in zip(one.cells(SCOPE, "cora"), values, strict=False):
                records.add(record(cell, test))
        own = outcomes_of(SCOPE, records, "cora")
        found = difference(own[AUTO.title], own[PAPER.title])
        assert found is not None and found.pairs == 2 and found.mean == pytest.approx(2.5)
        assert found.error == pytest.approx(statistics.stdev([10, -5]) / math.sqrt(2))
        assert "+2.50 ± 7.50" in texts(records)

    def test_the_list_has_a_value_for_each_graph_method_and_seed(self, tmp_path: Path) -> None:
        records = Records(tmp_path)
        for one in (BASELINES[0], AUTO):
            for cell in one.cells(SCOPE, "practice/texas.npz"):
                records.add(record(cell, 0.5))
        assert GRAPHS.listing is not None
        rows = GRAPHS.listing(SCOPE, records)
        assert {tuple(row) for row in rows} == {("graph", "method", "seed", "value", "metric", "seconds")}
        assert [(row["method"], row["seed"]) for row in rows] == [
            *(("linear:k=0", seed) for seed in range(3)),
            *(("auto", seed) for seed in range(3)),
            *(("best-simple", seed) for seed in range(3)),
        ]
        assert {row["graph"] for row in rows} == {"texas"} and {row["value"] for row in rows} == {0.5}
        assert [row["seconds"] for row in rows[::3]] == [0.25, 2.0, 0.25]

    def test_graphs_of_one_name_are_told_apart(self, tmp_path: Path) -> None:
        scope, records = replace(SCOPE, datasets=("a/x.npz", "b/x.npz")), Records(tmp_path)
        for number, graph in enumerate(("a/x.npz", "b/x.npz")):
            records.add(record(AUTO.cells(scope, graph)[0], 0.5 + number / 4))
        assert {"a/x.npz", "b/x.npz", "50.0", "75.0"} <= {*texts(records, scope)}

    def test_what_has_fewer_seeds_is_never_bold(self, tmp_path: Path) -> None:
        records = Records(tmp_path)
        for one, values in ((PAPER, (0.7, 0.8)), (AUTO, (0.9,)), (CONTENDERS["gcn"], (0.6, 0.6))):
            for cell, test in zip(one.cells(SCOPE, "cora"), values, strict=False):
                records.add(record(cell, test))
        sheet = GRAPHS.render(SCOPE, records).table.sheets[0]
        assert [sheet.header[column] for _, column in sheet.best] == [PAPER.title]
        assert sheet.rows[0][-1] == "1 to 2"

    def test_another_metric_makes_other_cells_and_is_what_is_shown(self, tmp_path: Path) -> None:
        scope, records = replace(SCOPE, changes={"metric": "roc_auc"}), Records(tmp_path)
        cell = AUTO.cells(scope, "cora")[0]
        assert cell.key != AUTO.cells(SCOPE, "cora")[0].key
        records.add(record(cell) | {"test": {"accuracy": 0.1, "roc_auc": 0.875}})
        assert "87.5" in texts(records, scope)


class TestRanks:
    """Average ranks that differ by more than chance."""

    @pytest.mark.parametrize(("methods", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
    def test_the_critical_difference_is_that_of_published_tables(self, methods: int, q: float) -> None:
        # Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 2006, Table 5(a)
        assert critical_difference(methods, 9) == pytest.approx(q * math.sqrt(methods * (methods + 1) / 54), abs=2e-3)

    def test_bars_join_all_that_can_not_be_told_apart_and_no_others(self) -> None:
        draw = np.random.default_rng(0)
        for _ in range(50):
            ranks = {f"m{k}": float(rank) for k, rank in enumerate(draw.uniform(1, 8, size=8))}
            joined = {pair for bar in cliques(ranks, 1.5) for pair in itertools.combinations(sorted(bar), 2)}
            near = {p for p in itertools.combinations(sorted(ranks), 2) if abs(ranks[p[0]] - ranks[p[1]]) <= 1.5}
            bars = [set(bar) for bar in cliques(ranks, 1.5)]
            assert joined == near and not any(a < b for a in bars for b in bars)

    def test_the_plot_names_every_method_with_its_rank(self) -> None:
        (axes,) = draw_ranks({"a": 1.25, "b": 2.0, "c": 2.75}, 8).axes
        shown = [text.get_text() for text in axes.texts]
        assert {"a  1.25", "b  2.00", "c  2.75"} <= {*shown} and any("8 graphs" in text for text in shown)
