"""`--plugin` and `agssl list`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from agssl.bench.cells import Cell
from agssl.config import Settings
from agssl.data.datasets import DATASETS
from agssl.store.run import Run
from reference.plugins import forget_plugins

from .conftest import Agssl

TASK = Path(__file__).parents[1] / "reference" / "plugin.py"
OPTIONS = ("--epochs", "3", "--hidden", "8", "--folds", "2", "--tasks", "clu:clusters=3,degree")


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_plugins(monkeypatch)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    path = tmp_path / "degree.py"
    path.write_text(TASK.read_text() + '\n\nfrom agssl import TASKS\n\nTASKS.add("degree", Degree)\n')
    return path


@pytest.mark.slow
def test_a_fit_side_by_side_knows_the_plugin_and_gives_the_same(agssl: Agssl, graph: Path, plugin: Path) -> None:
    for jobs, out in ((1, "one"), (2, "two")):
        options = (*OPTIONS, "--plugin", plugin, "--seeds", 2, "--jobs", jobs)
        done = agssl("fit", graph, *options, "--out", out)
        assert done.code == 0, done.err
    for name in ("predictions.csv", "task_weights.csv", "history.json"):
        assert Path("one/seed-1", name).read_bytes() == Path("two/seed-1", name).read_bytes()


@pytest.mark.slow
def test_teachers_trained_before_the_seed_know_the_plugin(agssl: Agssl, graph: Path, plugin: Path) -> None:
    done = agssl("fit", graph, *OPTIONS, "--plugin", plugin, "--jobs", 2, "--json")
    assert done.code == 0, done.err
    assert [teacher["task"] for teacher in json.loads(done.out)["teachers"]] == ["clu:clusters=3", "degree"]


def test_a_run_records_its_plugins(agssl: Agssl, graph: Path, plugin: Path) -> None:
    assert agssl("fit", graph, *OPTIONS, "--plugin", plugin, "--out", "with").code == 0
    digest = hashlib.sha256(plugin.read_bytes()).hexdigest()
    assert Run.open("with").about["plugins"] == [{"path": str(plugin), "sha256": digest}]


def test_a_run_without_plugins_says_nothing_of_them(agssl: Agssl, graph: Path) -> None:
    assert agssl("fit", graph, "--method", "gcn", "--epochs", 2, "--out", "without").code == 0
    assert "plugins" not in Run.open("without").about


def test_a_run_of_a_task_of_ones_own_is_used_without_its_file(agssl: Agssl, graph: Path, plugin: Path) -> None:
    assert agssl("fit", graph, *OPTIONS, "--plugin", plugin, "--out", "own").code == 0
    plugin.unlink()
    for command in (
        ["predict", "own"],
        ["predict", "own", graph],
        ["explain", "own", "--node", "x1"],
        ["embed", "own"],
    ):
        done = agssl(*command)
        assert done.code == 0, done.err


def test_an_interrupted_fit_goes_on_with_the_same_plugin_only(
    agssl: Agssl, graph: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agssl.fitting import seeds

    def interrupted(job: seeds.Job, unit: seeds.Unit, watch: object) -> seeds.Metrics:
        if unit.seed:
            raise KeyboardInterrupt
        return whole(job, unit)

    whole = seeds.do_unit
    fit = ("fit", graph, *OPTIONS, "--plugin", plugin, "--seeds", 2, "--out", "out")
    with monkeypatch.context() as patch:
        patch.setattr(seeds, "do_unit", interrupted)
        assert agssl(*fit).code == 130
    text = plugin.read_text()
    forget_plugins(monkeypatch)
    monkeypatch.delitem(agssl_tasks(), "degree")
    plugin.write_text(text + "\n# edited\n")
    done = agssl(*fit)
    assert done.code == 2 and "unfinished fit with plugins = ['degree.py " in done.err
    forget_plugins(monkeypatch)
    monkeypatch.delitem(agssl_tasks(), "degree")
    plugin.write_text(text)
    done = agssl(*fit)
    assert done.code == 0 and "1 of 2 seeds are finished" in done.err


def agssl_tasks() -> dict:
    from agssl.pretext import TASKS

    return TASKS._items


@pytest.mark.parametrize("command", ["fit", "tune", "bench", "list", "predict", "explain", "embed", "report"])
def test_every_command_that_may_need_one_takes_a_plugin(agssl: Agssl, command: str) -> None:
    assert "--plugin FILE.py" in agssl(command, "--help").out


def test_a_plugin_that_is_not_there_is_one_line(agssl: Agssl) -> None:
    done = agssl("fit", "digits", "--plugin", "no.py")
    assert done.code == 2 and done.err.count("\n") == 1 and "no.py does not exist" in done.err


def test_another_plugin_makes_another_cell_of_the_grid(agssl: Agssl, plugin: Path) -> None:
    own, others = Settings(method="single", tasks=("degree",)), Settings(method="single", tasks=("clu",))
    before = Cell("cora", "clu", others, 0).key
    assert agssl("list", "tasks", "--plugin", plugin).code == 0
    assert Cell("cora", "clu", others, 0).key == before
    key, items = Cell("cora", "degree", own, 0).key, agssl_tasks()
    del items["degree"]
    plugin.write_text(plugin.read_text() + "\n# edited\n")
    assert agssl("list", "tasks", "--plugin", plugin).code == 0
    assert Cell("cora", "degree", own, 0).key != key


def test_a_list_has_a_line_each_plugins_included(agssl: Agssl, plugin: Path) -> None:
    done = agssl("list", "tasks", "--plugin", plugin)
    lines = done.out.splitlines()
    names = [line.split()[0] for line in lines]
    assert names == sorted(agssl_tasks()) and "degree" in names
    assert "degree    Above or below the median degree." in lines
    assert any(line.startswith("par ") and line.endswith("[parts=None]") for line in lines)


@pytest.mark.parametrize("what", ["tasks", "encoders", "integrations"])
def test_a_list_as_json(agssl: Agssl, what: str) -> None:
    entries = json.loads(agssl("list", what, "--json").out)
    assert entries and all(set(entry) == {"name", "summary", "settings"} for entry in entries)
    assert all(entry["summary"].endswith(".") for entry in entries), "a docstring has no first line"


def test_the_list_of_datasets_is_that_of_data(agssl: Agssl) -> None:
    assert agssl("list", "datasets", "--json").out == agssl("data", "list", "--json").out
    assert len(agssl("list", "datasets").out.splitlines()) == 1 + len(list(DATASETS))


def test_an_unknown_list_gets_the_nearest_one(agssl: Agssl) -> None:
    done = agssl("list", "task")
    assert done.code == 2 and "did you mean 'tasks'" in done.err
