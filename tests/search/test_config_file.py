"""The configs that a search writes."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from agssl.config import Settings, effective, read_toml
from agssl.search.config_file import config_text, shared_command, shared_text
from agssl.search.space import settings_of
from reference.settings import quick

FIRST = """\
# made by: agssl tune photo --method gcn --only skip_weight --shared
# agssl 0.1.0
skip_weight = 0.4
"""


def shared(before: str, searched: dict[str, Any], **options: Any) -> str:
    found = Settings().replace(**tomllib.loads(before) | {n: v for n, v in options.items() if n != "split"} | searched)
    return shared_text(found, searched, options, ["made by: agssl tune"], before)


def test_the_config_reads_back_as_the_settings(tmp_path: Path) -> None:
    settings = settings_of(quick(patience=None), {"hidden": 32, "alpha.par": 5.0, "alpha.clu": 0.5, "beta": 20.0})
    text = config_text(settings, ["made by: agssl tune cora", "score 0.8"])
    assert text.startswith("# made by: agssl tune cora\n# score 0.8\n") and tomllib.loads(text)["patience"] == 0
    (tmp_path / "found.toml").write_text(text)
    assert effective(quick().replace(**read_toml(tmp_path / "found.toml"))) == effective(settings)


def test_a_shared_config_has_what_was_searched_below_what_was_there() -> None:
    assert shared("", {"feature_norm": "l2"}) == '# made by: agssl tune\nfeature_norm = "l2"\n'
    text = shared(FIRST, {"student_dropout": 0.3}, method="agssl", integration="lf")
    assert text == FIRST + "# made by: agssl tune\nstudent_dropout = 0.3\n"
    assert shared(FIRST.rstrip(), {"student_dropout": 0.3}) == text


def test_what_options_set_is_in_a_shared_config_but_for_the_method() -> None:
    options = {"method": "joint", "tasks": ("par", "clu"), "strategy": "jt", "patience": 0, "split": "random"}
    values = tomllib.loads(shared("", {"hidden": 32}, **options | {"patience": 7}))
    assert values == {"patience": 7, "split": "random", "hidden": 32}
    text = shared_text(quick(patience=None), {"hidden"}, options, [])
    assert tomllib.loads(text)["patience"] == 0


def test_a_method_is_in_a_shared_config_where_the_file_had_one_or_weights_need_it() -> None:
    values = tomllib.loads(shared('method = "gcn"\nhidden = 8\n', {"tau": 2.0}, method="agssl", integration="lf"))
    assert values == {"method": "agssl", "hidden": 8, "tau": 2.0}
    values = tomllib.loads(shared("", {"alpha": {"grace": 5.0}}, method="agssl", tasks=("grace",)))
    assert values == {"tasks": ["grace"], "alpha": {"grace": 5.0}}
    options = {"method": "joint", "tasks": ("par",), "task_weights": {"par": 1.0}}
    assert tomllib.loads(shared("", {"hidden": 8}, **options)) == options | {"tasks": ["par"], "hidden": 8}


def test_lines_that_are_set_anew_go_and_all_others_stay() -> None:
    before = """\
# my notes: beta = 1

skip_weight = 0.2  # as for photo
beta = 5.0
"tau" = 2.0
tasks = [
    "par", # and not ]
    "clu",
]
hidden = 16
"""
    text = shared(before, {"beta": 1.0, "tau": 1.5}, tasks=("par", "dgi"))
    assert (
        text
        == """\
# my notes: beta = 1

skip_weight = 0.2  # as for photo
hidden = 16
# made by: agssl tune
beta = 1.0
tau = 1.5
""".replace("beta = 1.0", 'tasks = [\n    "par",\n    "dgi",\n]\nbeta = 1.0')
    )
    found = Settings(skip_weight=0.6)
    assert "0.2" not in shared_text(found, {"skip_weight"}, {}, [], before)


def test_what_comes_after_a_table_is_not_taken_for_a_part_of_it() -> None:
    before = "hidden = 8\n\n[alpha] # by task\npar = 5.0\n# rarely\n  clu = 0.5\n"
    text = shared(before, {"student_dropout": 0.3})
    assert text.startswith("hidden = 8\n\nalpha.par = 5.0\n# rarely\nalpha.clu = 0.5\n# made by")
    assert tomllib.loads(text) == {"hidden": 8, "alpha": {"par": 5.0, "clu": 0.5}, "student_dropout": 0.3}
    text = shared(before, {"alpha": {"par": 1.0}})
    assert tomllib.loads(text) == {"hidden": 8, "alpha": {"par": 1.0}}
    assert tomllib.loads(shared(text, {"tau": 2.0})) == {"hidden": 8, "alpha": {"par": 1.0}, "tau": 2.0}


def test_a_header_of_which_nothing_is_left_goes() -> None:
    second = "# made by: agssl tune photo --only student_dropout\n# agssl 0.1.0\nstudent_dropout = 0.3\n# mine\n"
    new = "# made by: agssl tune\nstudent_dropout = 0.5\n"
    assert shared(FIRST + second, {"student_dropout": 0.5}) == FIRST + "# mine\n" + new
    assert shared("# notes\nstudent_dropout = 0.3\n", {"student_dropout": 0.5}) == "# notes\n" + new


@pytest.mark.parametrize("more", ["--out a.toml", "--study=a.db", "--jobs 2 --threads=2 --json", "--ray-address a:1"])
def test_a_shared_command_has_only_what_decides_the_result(more: str) -> None:
    words = shared_command(["tune", "cora", *more.split(), "--only", "tau", "--shared", "--config", "a.toml"])
    assert words == ["tune", "cora", "--only", "tau", "--shared", "--config", "a.toml"]
