"""The search: what it may see, what survives a kill, and what it writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agssl.base.errors import GraphError, TrainingError
from agssl.config import Settings
from agssl.data.graph import Graph
from agssl.fitting import fit as fitting
from agssl.search import objective, study
from agssl.search.objective import halved, trim, without_test
from agssl.search.outcome import best_of, gain_of, importances, mean_by_node, trial_rows
from agssl.search.space import space_of
from agssl.search.study import Event, Search, count, open_study, run_study, train_teachers
from agssl.store.checkpoints import CheckpointStore
from reference.graphs import blocks_graph
from reference.settings import quick

BASE = quick(method="gcn")
SPACE = space_of(BASE)
SEEDS = (100, 101)


def search_of(path: Path, graph: Graph | None = None) -> Search:
    graph = blocks_graph(90) if graph is None else graph
    graphs = {seed: without_test(graph, "auto", seed) for seed in SEEDS}
    return Search("blocks", BASE, SPACE, graphs, path / "study.db")


def run(search: Search, trials: int) -> list[Event]:
    events: list[Event] = []
    run_study(search, open_study(search), trials, on_event=events.append)
    return events


def scored(monkeypatch: pytest.MonkeyPatch, how: Callable[[Any], float | str]) -> list[Any]:
    """Replace the fit by a function of the task; gives the list of tasks that were scored."""
    tasks: list[Any] = []

    def score(common: Any, task: Any) -> Any:
        tasks.append(task)
        value = how(task)
        return value if isinstance(value, str) else np.arange(20_000) < round(20_000 * value)

    monkeypatch.setattr(study, "score", score)
    return tasks


def facts(search: Search) -> list[tuple[Any, ...]]:
    trials = open_study(search).get_trials()
    return [(t.state, t.params, t.value, t.intermediate_values, t.user_attrs) for t in trials]


def test_garbage_in_the_test_labels_makes_an_identical_study(tmp_path: Path) -> None:
    graph = blocks_graph(90)
    assert graph.split is not None
    y = graph.y.copy()
    y[graph.split.test] = np.random.default_rng(1).integers(graph.num_classes, size=len(graph.split.test))
    assert (y != graph.y).any()
    found = []
    for folder, labels in (("a", graph.y), ("b", y)):
        search = search_of(tmp_path / folder, replace(graph, y=labels))
        run(search, 3)
        found.append(facts(search))
    assert found[0] == found[1] and len(found[0]) == 3


def test_the_fit_sees_one_half_of_validation_and_is_scored_on_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = blocks_graph(90)
    hidden = without_test(graph, "auto", 100)
    assert graph.split is not None and (hidden.y[graph.split.test] == -1).all()
    half = halved(hidden, 100)
    assert half.split is not None
    kept, checked = set(half.split.val.tolist()), set(half.split.test.tolist())
    assert kept | checked == set(graph.split.val.tolist()) and not kept & checked
    assert abs(len(kept) - len(checked)) <= graph.num_classes
    for label in range(graph.num_classes):
        counts = [int((graph.y[list(part)] == label).sum()) for part in (kept, checked)]
        assert abs(counts[0] - counts[1]) <= 1
    other = halved(hidden, 101).split
    assert other is not None and set(other.val.tolist()) != kept
    seen: list[Graph] = []

    def fake(given: Graph, *args: Any, **kwargs: Any) -> Any:
        seen.append(given)
        return real(given, *args, **kwargs)

    real = fitting.train_method
    monkeypatch.setattr(fitting, "train_method", fake)
    value = objective.score(objective.Common({100: half}), objective.TrialSeed(0, 0, BASE, 100))
    (given,) = seen
    assert (given.y[list(checked)] == -1).all() and (given.y[list(kept)] == graph.y[list(kept)]).all()
    predicted = real(given, BASE, 100).logits.argmax(1).numpy()
    assert value.tolist() == [predicted[node] == graph.y[node] for node in sorted(checked)]


def test_one_validation_node_can_not_be_halved() -> None:
    graph = blocks_graph(90)
    assert graph.split is not None
    with pytest.raises(GraphError, match="two at least"):
        halved(graph.with_split(replace(graph.split, val=graph.split.val[:1])), 0)


def test_n_trials_are_n_complete_trials_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = scored(monkeypatch, lambda task: task.settings.hidden / 1000 + task.seed / 10_000)
    search = search_of(tmp_path)
    assert len(run(search, 4)) == 4 and len(tasks) == 8
    assert [(t.trial, t.seed) for t in tasks[:4]] == [(0, 100), (0, 101), (1, 100), (1, 101)]
    assert run(search, 4) == [] and len(tasks) == 8
    run(search, 6)
    assert count(open_study(search))["complete"] == 6
    number, value, settings = best_of(search, open_study(search))
    widths = {t.trial: t.settings.hidden for t in tasks}
    assert widths[number] == settings.hidden == max(widths.values())
    assert value == pytest.approx(settings.hidden / 1000 + 0.01005)


def test_a_small_space_is_tried_as_a_whole_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = scored(monkeypatch, lambda task: {"none": 0.2, "l2": 0.9, "binary": 0.1}[task.settings.feature_norm])
    search = replace(search_of(tmp_path), space=space_of(BASE, ["feature_norm"]))
    run(search, 2)
    run(search, 3)
    assert [task.settings.feature_norm for task in tasks] == ["none", "none", "l2", "l2", "binary", "binary"]
    assert best_of(search, open_study(search))[2].feature_norm == "l2"


def test_no_position_is_tried_twice_and_a_space_may_run_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = scored(monkeypatch, lambda task: 1 - abs(task.settings.hidden - 128) / 1000 - task.settings.dropout / 10)
    search = replace(search_of(tmp_path), space=space_of(BASE, ["hidden", "dropout"]))
    positions = len(SPACE["hidden"]) * len(SPACE["dropout"])
    assert search.all is None  # too large to be tried as a whole from the start
    events = run(search, 20) + run(search, positions + 1)
    assert len(events) == len({event.number for event in events}) == positions
    assert len({(task.settings.hidden, task.settings.dropout) for task in tasks}) == positions
    counts = count(open_study(search))
    assert counts["complete"] + counts["pruned"] == positions and counts["failed"] == 0
    assert len(trial_rows(search, open_study(search))) == positions
    best = best_of(search, open_study(search))[2]
    assert (best.hidden, best.dropout) == (128, 0.2)


def test_a_trial_left_running_is_reaped_and_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(task: Any) -> float:
        if task.trial == 2 and task.step == 1:
            raise KeyboardInterrupt
        return 0.5

    tasks = scored(monkeypatch, dies)
    search = search_of(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(search, 4)
    lost = tasks[-1].settings
    tasks = scored(monkeypatch, lambda task: 0.5)
    run(search, 4)
    counts = count(open_study(search))
    assert counts["complete"] == 4 and counts["failed"] == 1
    assert tasks[0].settings == lost and len(tasks) == 4
    assert not [t for t in open_study(search).get_trials() if t.state.name == "RUNNING"]


def test_a_trial_that_ends_its_process_is_done_again_twice_and_then_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Killed(BaseException):
        pass

    lost: list[Any] = []

    def dies(task: Any) -> float:
        if task.trial == 1:
            lost.append(task.settings)
        if task.settings in lost:
            raise Killed
        return 0.5

    tasks = scored(monkeypatch, dies)
    search = search_of(tmp_path)
    for _ in range(3):
        with pytest.raises(Killed):
            run(search, 2)
        assert not caplog.records
    assert [task.settings for task in tasks[2:]] == lost * 3
    events = run(search, 2)
    assert [event.state for event in events] == ["complete"] and tasks[-1].settings != lost[0]
    assert count(open_study(search)) == {"complete": 2, "pruned": 0, "failed": 3}
    assert [record.getMessage() for record in caplog.records] == ["the process of trial 3 died 3 times; it is given up"]


def test_a_trial_may_be_stopped_by_the_user_as_often_as_they_like(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(task: Any) -> float:
        raise KeyboardInterrupt

    first = scored(monkeypatch, stopped)
    search = search_of(tmp_path)
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            run(search, 1)
    assert len({str(task.settings) for task in first}) == 1
    again = scored(monkeypatch, lambda task: 0.5)
    run(search, 1)
    assert again[0].settings == first[0].settings


def test_bad_trials_end_before_their_last_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = scored(monkeypatch, lambda task: 0.9 if task.trial < 6 else 0.1 if task.trial < 8 else 0.95)
    events = run(search_of(tmp_path), 7)
    assert [(e.number, e.state, e.seeds) for e in events[6:]] == [
        (6, "pruned", 1),
        (7, "pruned", 1),
        (8, "complete", 2),
    ]
    assert len(tasks) == 6 * 2 + 2 + 2


def test_trials_that_break_down_are_passed_over_but_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored(monkeypatch, lambda task: "not finite" if task.trial == 1 else 0.5)
    events = run(search_of(tmp_path / "a"), 3)
    assert [e.state for e in events] == ["complete", "failed", "complete", "complete"] and events[1].why == "not finite"
    scored(monkeypatch, lambda task: "not finite")
    with pytest.raises(TrainingError, match="not finite"):
        run(search_of(tmp_path / "b"), 3)


def test_a_position_that_failed_is_not_tried_again_until_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = replace(search_of(tmp_path), space={"skip_weight": SPACE["skip_weight"]})
    tasks = scored(monkeypatch, lambda task: "too large" if task.settings.skip_weight > 0.3 else 0.5)
    events = run(search, 4)
    assert sorted(event.state for event in events) == ["complete", "complete", "failed", "failed"]
    assert len({task.settings for task in tasks}) == 4
    scored(monkeypatch, lambda task: 0.5)
    assert [event.state for event in run(search, 4)] == ["complete", "complete"]


def test_a_search_whose_every_position_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = replace(search_of(tmp_path), space={"skip_weight": SPACE["skip_weight"]})
    scored(monkeypatch, lambda task: "too large")
    with pytest.raises(TrainingError, match="all 4 trials failed, the last one because: too large"):
        run(search, 4)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (RuntimeError("can't allocate\n16 bytes"), "RuntimeError: can't allocate 16 bytes"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_whatever_breaks_a_trial_fails_it_and_not_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, why: str
) -> None:
    real, fails = objective.fit, {64}

    def breaks(graph: Graph, settings: Settings, *args: Any, **kwargs: Any) -> Any:
        if settings.hidden in fails:
            raise error
        return real(graph, settings, *args, **kwargs)

    monkeypatch.setattr(objective, "fit", breaks)
    search = replace(search_of(tmp_path), base=BASE.replace(hidden=64))
    events = run(search, 2)
    assert events[0].state == "failed" and [event.state for event in events].count("complete") == 2
    assert events[0].why == why
    fails.update(SPACE["hidden"])  # type: ignore[arg-type]
    with pytest.raises(TrainingError, match=f"11 trials failed, the last one because: {why}"):
        run(search, 3)
    assert not [t for t in open_study(search).get_trials() if t.state.name == "RUNNING"]


def test_other_seeds_or_settings_make_another_study_in_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored(monkeypatch, lambda task: 0.5)
    search = search_of(tmp_path)
    run(search, 2)
    for other in (replace(search, base=quick(method="gcn", lr=0.1)), replace(search, graphs={100: search.graphs[100]})):
        assert other.name != search.name and count(open_study(other))["complete"] == 0
    assert count(open_study(search))["complete"] == 2


def test_another_graph_split_or_list_of_choices_makes_another_study(tmp_path: Path) -> None:
    graph = blocks_graph(90)
    search = search_of(tmp_path, graph)
    assert search_of(tmp_path, blocks_graph(90)).name == search.name
    assert graph.split is not None and isinstance(graph.x, np.ndarray)
    (i, j), y = graph.split.train[:2], graph.y.copy()
    y[[i, j]] = y[[j, i]]
    assert y[i] != y[j]
    other = blocks_graph(90, seed=1)
    train, val = graph.split.train.copy(), graph.split.val.copy()
    train[0], val[0] = val[0], train[0]
    changes: list[dict[str, Any]] = [
        {"x": graph.x + np.float32(1)},
        {"indptr": other.indptr, "indices": other.indices},
        {"y": y},
        {"split": replace(graph.split, train=np.sort(train), val=np.sort(val))},
    ]
    names = {search.name, *(search_of(tmp_path, replace(graph, **change)).name for change in changes)}
    names.add(replace(search, space=search.space | {"hidden": (32, 64, 128, 256, 1024)}).name)
    assert len(names) == 6


def test_a_search_says_how_sure_its_gain_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search = replace(search_of(tmp_path), space={"skip_weight": SPACE["skip_weight"]})
    halves = {seed: halved(graph, seed) for seed, graph in search.graphs.items()}
    fixed = {seed: half.split.test % 3 == 1 for seed, half in halves.items()}
    monkeypatch.setattr(study, "score", lambda common, task: fixed[task.seed])
    run(search, 2)
    assert gain_of(search, open_study(search)) is None  # all equal: the first is the best

    def better(common: Any, task: Any) -> np.ndarray:  # right at all but the first node
        return np.arange(len(fixed[task.seed])) > 0

    monkeypatch.setattr(study, "score", better)
    run(search, 3)
    found = gain_of(search, open_study(search))
    assert found is not None and found["over_trial"] == 0
    rows = [
        (node, int(place > 0) - int(node % 3 == 1))
        for half in halves.values()
        for place, node in enumerate(half.split.test)
    ]
    mean = sum(value for _, value in rows) / len(rows)
    sums = {node: sum(value - mean for other, value in rows if other == node) for node, _ in rows}
    assert found["mean"] == pytest.approx(mean)
    assert found["standard_error"] == pytest.approx(sum(s**2 for s in sums.values()) ** 0.5 / len(rows))


def test_seeds_on_the_same_nodes_do_not_make_a_gain_surer() -> None:
    values, nodes = np.array([1.0, 0.0, 0.0, -1.0, 1.0, 1.0]), np.arange(6)
    mean, error = mean_by_node(values, nodes)
    assert error == pytest.approx(values.std() / 6**0.5)
    again = mean_by_node(np.tile(values, 9), np.tile(nodes, 9))
    assert again == pytest.approx((mean, error))
    assert mean_by_node(np.tile(values, 9), np.arange(54))[1] == pytest.approx(error / 3)


def test_importance_goes_to_what_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scored(monkeypatch, lambda task: task.settings.hidden / 1000)
    search = search_of(tmp_path)
    run(search, 1)
    assert importances(open_study(search)) == {}
    run(search, 8)
    found = importances(open_study(search))
    assert max(found, key=lambda name: found[name]) == "hidden" and sum(found.values()) == pytest.approx(1)


def test_a_trial_that_changes_only_the_student_trains_no_teacher(tmp_path: Path) -> None:
    graph = halved(without_test(blocks_graph(90), "auto", 100), 100)
    base = quick(tasks=("clu:clusters=3", "pairdis"), generations=2)
    checkpoints = CheckpointStore(tmp_path, min_seconds=0)
    tasks = [objective.TrialSeed(0, 0, base.replace(beta=beta), 100) for beta in (1.0, 5.0)]
    plain = [objective.score(objective.Common({100: graph}), task) for task in tasks]
    kept, files = [], []
    for task in tasks:
        kept.append(objective.score(objective.Common({100: graph}, checkpoints=checkpoints), task))
        files.append(len(list(tmp_path.iterdir())))
    assert files == [2 + 2, 2 + 2 + 2]  # two teachers and two students, then two students
    assert [right.tolist() for right in kept] == [right.tolist() for right in plain]


def test_teachers_that_all_trials_share_are_trained_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "CheckpointStore", lambda folder: CheckpointStore(folder, min_seconds=0))
    graphs = {seed: without_test(blocks_graph(90), "auto", seed) for seed in SEEDS}
    base = quick(tasks=("clu:clusters=3", "pairdis"), alpha={"clu": 1.0, "pairdis": 5.0}, generations=1)
    space = space_of(base, ["beta", "student_dropout"])
    search = Search("blocks", base, space, graphs, tmp_path / "study.db", tmp_path)
    assert search.checkpoints is not None
    folder, lines = search.checkpoints.folder, list[str]()
    train_teachers(search, 1, lines.append)
    teachers = set(folder.iterdir())
    assert len(teachers) == len(lines) == 2 * len(SEEDS) and lines[-1].startswith("[4/4] teacher pairdis of seed 101")
    monkeypatch.setattr(study, "trim", lambda *args: None)
    run(search, 1)
    assert len(set(folder.iterdir()) - teachers) == len(SEEDS)  # one student each, and no teacher
    for space in (space_of(base, ["hidden"]), space_of(base, ["alpha"]), space_of(base, ["beta", "skip_weight"])):
        train_teachers(replace(search, space=space), 1, lines.append)
    assert len(lines) == 4


def test_trim_removes_the_oldest_first(tmp_path: Path) -> None:
    import os

    for number, name in enumerate("abc"):
        (tmp_path / name).write_bytes(bytes(10))
        os.utime(tmp_path / name, (number, number))
    trim(tmp_path, 25)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "c"]
    trim(tmp_path, 0)
    assert not tmp_path.exists()


@pytest.mark.parametrize("metric", ["roc_auc", "log_loss"])
def test_a_trial_is_scored_by_the_metric_and_greater_is_better(metric: str) -> None:
    from agssl.fitting.fit import fit
    from agssl.metrics import measure

    half = objective.halved(blocks_graph(), 100)
    assert half.split is not None
    how, nodes = BASE.replace(metric=metric), half.split.test
    value = objective.score(objective.Common({100: half}), objective.TrialSeed(0, 0, how, 100))
    fitted = fit(half, how, 100).fitted
    found = measure(metric, half.y[nodes], fitted.confidence(fitted.logits[nodes]))
    assert value == (-found if metric == "log_loss" else found)
