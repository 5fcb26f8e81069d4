"""Joint training with weights that the user gives."""

from __future__ import annotations

import pytest

from agssl.base.errors import SettingsError
from agssl.config import Settings, parse_task_weights
from agssl.train.methods import train_method
from reference.graphs import blocks_graph
from reference.settings import quick as settings


@pytest.mark.parametrize("strategy", ["jt", "pf"])
def test_given_weights_are_those_of_the_loss(strategy: str) -> None:
    tasks, weights = ("clu", "pairdis", "dgi"), {"clu": 0.7, "pairdis": 3.0, "dgi": 0.0}
    how = settings(method="joint", tasks=tasks, task_weights=weights, alpha=2.0, strategy=strategy)
    for record in train_method(blocks_graph(), how).history["joint"]:
        if strategy == "pf" and not record["pretrain"]:
            continue
        assert "dgi" not in record, "a task of weight zero costs nothing"
        expected = record.get("task", 0.0) + 2.0 * (0.7 * record["clu"] + 3.0 * record["pairdis"])
        assert record["loss"] == pytest.approx(expected, rel=1e-4)


def test_weights_of_one_over_k_are_the_default() -> None:
    tasks = ("clu", "pairdis")
    plain = train_method(blocks_graph(), settings(method="joint", tasks=tasks))
    given = train_method(blocks_graph(), settings(method="joint", tasks=tasks, task_weights=dict.fromkeys(tasks, 0.5)))
    assert plain.history == given.history


def test_a_weight_is_found_by_the_whole_text_of_a_task_or_by_its_name() -> None:
    tasks = ("pairsim", "pairsim:target=feature", "clu:clusters=3")
    how = Settings(
        method="joint", tasks=tasks, task_weights=parse_task_weights("pairsim=1,pairsim:target=feature=2,clu=3")
    )
    assert [how.task_weight(text) for text in tasks] == [1.0, 2.0, 3.0]
    assert Settings.from_dict(how.to_dict()) == how


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"clu": 1.0}, "no weight for 'par'"),
        ({"clu": 1.0, "par": 1.0, "pra": 1.0}, "did you mean 'par'"),
        ({"clu": -1.0, "par": 1.0}, "0 or above"),
        ({"clu": "much", "par": 1.0}, "0 or above"),
        ({"clu": float("nan"), "par": 1.0}, "0 or above"),
        ({"clu": 0, "par": 0}, "all 0"),
        (0.5, "a number for each task"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights: object, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings(method="joint", tasks=("par", "clu"), task_weights=weights)  # type: ignore[arg-type]


def test_only_joint_training_takes_weights() -> None:
    with pytest.raises(SettingsError, match="method joint, but the method is autossl"):
        Settings(method="autossl", tasks=("clu",), task_weights={"clu": 1.0})


@pytest.mark.parametrize("text", ["", "par", "par=", "par=1,clu", "par=x"])
def test_weights_that_are_not_understood(text: str) -> None:
    with pytest.raises(SettingsError, match="task weights"):
        parse_task_weights(text)
