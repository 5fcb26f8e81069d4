"""What may be chosen."""

from __future__ import annotations

import pytest

from agssl.base.errors import SettingsError
from agssl.config import Settings
from agssl.pretext.prepare import make_task
from agssl.search.space import all_of, settings_of, space_of, start

PAPER = Settings(teachers=("paper",))


def test_the_space_is_the_papers_with_dropout_and_one_alpha_a_task() -> None:
    space = space_of(PAPER)
    assert space["hidden"] == (32, 64, 128, 256, 512)
    assert space["tau"] == (1, 1.2, 1.5, 2, 3, 4, 5)
    assert space["beta"] == space["alpha.par"] == space["alpha.pairsim"] == (0.1, 0.5, 1, 5, 10, 20, 30)
    assert {"dropout", "input_dropout", "student_dropout", "generations"} <= set(space)
    assert space["student_dropout"][0] == space["input_dropout"][0] == 0
    assert sum(name.startswith("alpha.") for name in space) == 5


@pytest.mark.parametrize(
    ("base", "absent"),
    [
        (Settings(method="gcn"), {"beta", "tau", "student_dropout", "generations", "alpha.par"}),
        (Settings(method="single", tasks=("par",)), {"beta", "tau", "alpha.clu"}),
        (Settings(strategy="pf"), {"alpha.par"}),
        (Settings(method="joint"), {"beta", "tau", "student_dropout"}),
    ],
)
def test_nothing_is_searched_that_a_method_does_not_read(base: Settings, absent: set[str]) -> None:
    space = space_of(base)
    assert not absent & set(space) and "hidden" in space
    assert ("alpha.clu" in space) == (base.method == "joint")


def test_names_are_chosen_like_numbers() -> None:
    base = Settings(feature_norm="l2", norm="batch", calibrate="none")
    space = space_of(base, ["feature_norm", "norm", "calibrate", "tau"])
    positions = start(base, space)
    assert {name: space[name][at] for name, at in positions.items()} == {
        "feature_norm": "l2",
        "norm": "batch",
        "calibrate": "none",
        "tau": 1.0,
    }
    changed = settings_of(base, {"feature_norm": "binary", "norm": "none", "calibrate": "classes"})
    assert changed == Settings(feature_norm="binary")
    assert "calibrate" not in space_of(Settings(weights_from="train"))


def test_a_small_space_is_listed() -> None:
    space = {"tau": (1.0, 2.0), "feature_norm": ("none", "l2", "binary")}
    found = all_of(space, 6)
    assert found is not None and len({tuple(at.items()) for at in found}) == 6
    assert all_of(space, 5) is None


def test_only_narrows_the_space() -> None:
    assert set(space_of(PAPER, ["beta", "alpha"])) == {"beta", *(f"alpha.{t}" for t in PAPER.tasks)}
    with pytest.raises(SettingsError, match="unknown parameter 'bata'; did you mean 'beta'"):
        space_of(Settings(), ["bata"])
    with pytest.raises(SettingsError, match="alpha"):
        space_of(Settings(method="gcn"), ["alpha"])


def test_settings_of_tasks_are_searched_where_they_are_named() -> None:
    base = Settings(tasks=("par:parts=400", "clu", "pairsim:pairs=50", "dgi"))
    assert not any(name.startswith(("par.", "clu.")) for name in space_of(base))
    space = space_of(base, ["par", "clu.clusters", "dgi.estimator", "tau"])
    assert {"par.parts", "clu.clusters", "dgi.estimator", "tau"} == set(space)
    positions = start(base, space)
    assert space["par.parts"][positions["par.parts"]] == 400
    assert space["dgi.estimator"][positions["dgi.estimator"]] == "jsd"
    found = settings_of(base, {"par.parts": 100, "clu.clusters": 20, "dgi.estimator": "infonce"})
    assert found.tasks == ("par:parts=100", "clu:clusters=20", "pairsim:pairs=50", "dgi:estimator=infonce")
    assert make_task(found.tasks[3]).settings()["estimator"] == "infonce"


def test_tasks_of_students_are_searched_where_they_are_named() -> None:
    base = Settings(tasks=("par", "clu"), student_tasks={"clu": 5.0})
    assert not any(name.startswith("student_tasks") for name in space_of(base))
    assert set(space_of(base, ["student_tasks"])) == {"student_tasks.par", "student_tasks.clu"}
    space = space_of(base, ["student_tasks.clu", "student_tasks.par"])
    values = {name: space[name][position] for name, position in start(base, space).items()}
    assert values == {"student_tasks.par": 0.0, "student_tasks.clu": 5.0}
    found = settings_of(base, {"student_tasks.par": 20.0})
    assert found.student_tasks == {"clu": 5.0, "par": 20.0} and found.alpha is None
    with pytest.raises(SettingsError, match="student_tasks"):
        space_of(Settings(method="gcn"), ["student_tasks.par"])


def test_only_settings_of_tasks_that_teach_once_can_be_searched() -> None:
    twice = Settings(tasks=("par", "par:parts=100", "clu"))
    with pytest.raises(SettingsError, match=r"unknown parameter 'par\.parts'"):
        space_of(twice, ["par.parts"])
    for base in (Settings(tasks=("clu",)), Settings(method="gcn")):
        with pytest.raises(SettingsError, match=r"unknown parameter 'par\.parts'"):
            space_of(base, ["par.parts"])


def test_parameters_become_settings_and_the_rest_stays() -> None:
    base = Settings(alpha={"clu": 2.0}, epochs=7)
    chosen = settings_of(base, {"hidden": 512, "tau": 1.2, "alpha.par": 30.0, "generations": 1.0})
    assert (chosen.hidden, chosen.tau, chosen.epochs) == (512, 1.2, 7)
    assert chosen.generations == 1 and isinstance(chosen.generations, int)
    assert chosen.alpha == {"clu": 2.0, "par": 30.0} and base.alpha == {"clu": 2.0}


def test_the_search_starts_at_the_settings_it_is_given() -> None:
    base = PAPER.replace(hidden=256, beta=20.0, alpha={"par": 5.0}, student_dropout=0.7)
    space = space_of(base)
    values = {name: space[name][position] for name, position in start(base, space).items()}
    assert (values["hidden"], values["beta"], values["alpha.par"], values["student_dropout"]) == (256, 20, 5, 0.7)
    assert values["alpha.clu"] == 1 and values["dropout"] == 0.5
