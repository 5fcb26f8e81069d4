"""Settings, and their way from and to TOML."""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from agssl.base.errors import SettingsError
from agssl.config import DESCRIBED, METHODS, Settings, effective, parse_alpha, read_toml
from agssl.config.kinds import Choice


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("method", "gnc"),
        ("strategy", "tj"),
        ("head", "mlp"),
        ("norm", "group"),
        ("class_weight", "heavy"),
        ("class_weight", {}),
        ("class_weight", {"yes": 0}),
        ("class_weight", {"yes": "much"}),
        ("class_weight", {1: 2.0, "1": 3.0}),
        ("metric", "cosine"),
        ("threshold", "best"),
        ("threshold", 1.0),
        ("threshold", 0),
        ("threshold", "precision:2"),
        ("threshold", "precision:high"),
        ("positive", ["yes"]),
        ("feature_norm", "huge"),
        ("weights_from", "never"),
        ("autossl_objective", "labls"),
        ("autossl_search", "random"),
        ("autossl_budget", 0),
        ("autossl_lr", 0),
        ("hidden", 0),
        ("hidden", 1.5),
        ("hidden", True),
        ("layers", 0),
        ("epochs", 0),
        ("patience", 0),
        ("folds", 1),
        ("dropout", 1.0),
        ("skip_weight", 1.0),
        ("input_dropout", -0.1),
        ("tau", 0),
        ("tau", float("nan")),
        ("lr", 0),
        ("lr", float("inf")),
        ("beta", -1),
        ("beta", 10**400),
        ("weight_decay", "small"),
        ("tasks", "par"),
        ("tasks", (1,)),
        ("tasks", 7),
        ("integration", ["ts"]),
        ("encoder", 3),
        ("student_gradient", 1),
        ("student_tasks", 5.0),
        ("student_tasks", {"par": -1}),
        ("alpha", -1),
        ("alpha", 10**400),
        ("alpha", "big"),
        ("alpha", {"par": "auto"}),
        ("alpha", {"par": float("nan")}),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=name.removesuffix("s")):
        Settings(**{name: value})


@pytest.mark.parametrize("name", DESCRIBED)
def test_every_setting_is_described(name: str) -> None:
    about = DESCRIBED[name]
    assert about.help and not about.help.endswith(".")
    assert about.check(name, about.default) == about.default == getattr(Settings(), name)
    assert set(about.methods or ()) <= set(METHODS)
    if isinstance(about.kind, Choice):
        assert all(choice in about.help for choice in about.kind.names)
    if about.search is not None:
        assert [about.check(name, _as_given(about.search.per_task, v)) for v in about.search.values]


def _as_given(per_task: bool, value: Any) -> Any:
    return {"par": value} if per_task else value


def test_settings_do_not_change() -> None:
    settings = Settings()
    for name in ("hidden", "hiden"):
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            setattr(settings, name, 3)
    assert settings == Settings() and hash(settings) == hash(Settings())


def test_settings_survive_the_way_to_another_process() -> None:
    settings = Settings(hidden=8, alpha={"par": 1.0})
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_the_plain_gcn_needs_no_task() -> None:
    assert Settings(method="gcn", tasks=()).tasks == ()


def test_replace_refuses_unknown_names_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match="did you mean 'hidden'"):
        Settings().replace(hiden=3)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(patience=None, alpha={"par": 1.0}),
        Settings(tasks=("dgi",), alpha="auto", hidden=7),
        Settings(method="joint", tasks=("dgi",), task_weights={"dgi": 0.5}),
        Settings(student_tasks={"par:parts=100": 20.0}),
        Settings(metric="roc_auc", threshold=0.3, positive="yes", class_weight={"yes": 5.0}),
        Settings(threshold="precision:0.9"),
    ],
)
def test_settings_come_back_from_plain_values(settings: Settings) -> None:
    assert Settings.from_dict(settings.to_dict()) == settings


def test_names_in_a_file_may_have_dashes(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("weight-decay = 0.1\ninput_dropout = 0\npatience = 0\n[alpha]\npar = 2\n")
    assert read_toml(path) == {"weight_decay": 0.1, "input_dropout": 0, "patience": None, "alpha": {"par": 2}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hiden = 3", "did you mean 'hidden'"),
        (b"hidden = 0", "hidden = 0"),
        (b"hidden", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
        (b"seeds = 3", "unknown setting 'seeds'"),
    ],
)
def test_a_bad_file_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(content)
    with pytest.raises(SettingsError, match=message):
        read_toml(tmp_path / "c.toml")


def test_the_caller_may_understand_more_names(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("seeds = 3\nhidden = 4")
    assert read_toml(tmp_path / "c.toml", ["seeds"]) == {"seeds": 3, "hidden": 4}


@pytest.mark.parametrize("path", ["none.toml", "."])
def test_a_file_that_cannot_be_read_is_named(path: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="can't read the config"):
        read_toml(tmp_path / path)


@pytest.mark.parametrize(
    ("text", "alpha"), [("10", 10.0), ("auto", "auto"), ("par=10, clu=0.5", {"par": 10.0, "clu": 0.5})]
)
def test_alpha_as_text(text: str, alpha: Any) -> None:
    assert parse_alpha(text) == alpha


@pytest.mark.parametrize("text", ["big", "par=", "par=1=2", "par=1,clu"])
def test_alpha_that_is_not_understood(text: str) -> None:
    with pytest.raises(SettingsError, match="alpha"):
        parse_alpha(text)


@pytest.mark.parametrize("name", DESCRIBED)
def test_every_setting_is_an_option_of_fit(name: str) -> None:
    from agssl.cli.main import build_parser

    subparsers = next(action for action in build_parser()._actions if action.dest == "command")
    assert subparsers.choices is not None
    options = subparsers.choices["fit"]._option_string_actions  # type: ignore[call-overload, index]
    option = options[f"--{name.replace('_', '-')}"]
    assert DESCRIBED[name].help in option.help
    if DESCRIBED[name].default_text and option.type is not None:
        assert option.type(DESCRIBED[name].default_text) == DESCRIBED[name].default


def test_what_a_method_does_not_read_does_not_count() -> None:
    def changed(method: str, **changes: Any) -> bool:
        base = Settings(method=method, tasks=("grand" if method == "grand" else "par",))
        if method == "grand" and "tasks" in changes:  # it has one task, with settings
            changes = {"tasks": ("grand:views=3",)}
        return effective(base.replace(**changes)) != effective(base)

    readers = {
        "tasks": ({"tasks": ("clu",)}, {"agssl", "single", "joint", "autossl", "pareto", "auxts", "grand"}),
        "tau": ({"tau": 2.0}, {"agssl"}),
        "folds": ({"folds": 5}, {"agssl", "autossl"}),
        "autossl_lr": ({"autossl_lr": 0.1}, {"autossl"}),
        "hidden": ({"hidden": 8}, set(METHODS)),
        "encoder": ({"encoder": "sage"}, set(METHODS)),
    }
    for name, (changes, expected) in readers.items():
        assert {method for method in METHODS if changed(method, **changes)} == expected, name


@pytest.mark.parametrize("name", ["encoder", "feature_norm", "skip_weight", "residual"])
def test_results_from_before_a_setting_keep_their_identity(name: str) -> None:
    assert name not in effective(Settings())


def test_how_a_graph_is_cut_counts_only_where_it_is_cut() -> None:
    assert effective(Settings(batch="full", batch_nodes=10)) == effective(Settings())
    assert effective(Settings(batch="partition")) != effective(Settings(batch="partition", batch_nodes=10))


@pytest.mark.parametrize(
    ("whole", "same"),
    [
        ({"student_dropout": 0}, {"student_dropout": 0.0}),
        ({"beta": 1, "tau": 2}, {"beta": 1.0, "tau": 2.0}),
        ({"alpha": 5}, {"alpha": 5.0}),
        ({"alpha": {"par": 5, "clu": None}}, {"alpha": {"par": 5.0, "clu": None}}),
        (
            {"method": "joint", "tasks": ("par",), "task_weights": {"par": 1}},
            {"method": "joint", "tasks": ("par",), "task_weights": {"par": 1.0}},
        ),
    ],
)
def test_a_whole_number_and_the_same_with_a_point_are_one_setting(whole: Any, same: Any) -> None:
    # to the letter: cells, stages and runs are known by these values as text
    assert json.dumps(effective(Settings(**whole))) == json.dumps(effective(Settings(**same)))


def test_tasks_of_students_that_mean_the_same_look_the_same() -> None:
    assert Settings(student_tasks={"par": 20, "clu": 0}) == Settings(student_tasks={"par": 20.0})
    assert Settings(student_tasks={"par": 0.0}) == Settings(student_tasks={}) == Settings()


def test_classes_may_be_named_by_what_they_are() -> None:
    settings = Settings(class_weight={True: 5, 2.0: 1}, positive=True)  # type: ignore[arg-type]
    assert settings.class_weight == {"True": 5.0, "2": 1.0} and settings.positive == "True"


def test_metric_and_threshold_count_only_where_they_are_not_the_default() -> None:
    assert not {"metric", "threshold", "positive"} & effective(Settings()).keys()
    found = effective(Settings(metric="roc_auc", threshold="f1", positive="yes"))
    assert (found["metric"], found["threshold"], found["positive"]) == ("roc_auc", "f1", "yes")
