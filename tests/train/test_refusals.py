"""Settings and graphs that make no sense."""

from __future__ import annotations

import pytest

from agssl.base.errors import GraphError, SettingsError
from agssl.data.graph import Graph
from agssl.train.infer import infer
from agssl.train.methods import train_method
from reference.graphs import blocks_graph, random_graph
from reference.settings import quick as settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"tau": 0}, {"tau": -1.0}, {"tau": float("nan")}, {"hidden": 0}, {"layers": 0}, {"epochs": 0}, {"patience": 0},
        {"tasks": "par"}, {"dropout": 1.0}, {"dropout": -0.1}, {"lr": 0}, {"beta": -1}, {"alpha": -1},
        {"alpha": "best"}, {"alpha": {"par": -2}}, {"method": "agsl"}, {"strategy": "joint"}, {"folds": 1},
        {"weight_decay": float("inf")}, {"hidden": 2.5}, {"hidden": True}, {"head": "mlp"}, {"norm": "instance"},
        {"student_tasks": 20.0}, {"student_tasks": {"par": -1.0}}, {"student_tasks": {"par": "much"}},
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    name = "task" if "tasks" in wrong else next(iter(wrong))
    with pytest.raises(SettingsError, match=name):
        settings(**wrong)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"tasks": ("par", "pairsm")}, "pairsim"),
        ({"tasks": ("clu:clusters=100",)}, "60 nodes"),
        ({"tasks": ("par:parts=61",)}, "60 nodes"),
        ({"student_tasks": {"pra": 20.0}}, "par"),
        ({"student_tasks": {"par:parts=61": 20.0}}, "60 nodes"),
        ({"integration": "tss"}, "ts"),
        ({"method": "single"}, "one task"),
    ],
)
def test_settings_that_do_not_fit_the_graph_are_refused(wrong: dict[str, object], word: str) -> None:
    with pytest.raises(SettingsError, match=word):
        train_method(blocks_graph(), settings(**wrong))


def test_a_mistake_in_the_last_task_is_named_before_the_first_epoch() -> None:
    seen: list[str] = []
    with pytest.raises(SettingsError):
        train_method(blocks_graph(), settings(tasks=("clu", "pairsm")), watch=lambda stage, record: seen.append(stage))
    assert not seen


def test_a_graph_without_split_or_features_is_refused() -> None:
    graph = blocks_graph()
    with pytest.raises(GraphError, match="split"):
        train_method(Graph(graph.indptr, graph.indices, graph.x, graph.y, graph.classes), settings(method="gcn"))
    lacking = Graph(graph.indptr, graph.indices, graph.x, graph.y, graph.classes, graph.split, missing="no features")
    with pytest.raises(GraphError, match="no features"):
        train_method(lacking, settings(method="gcn"))


def test_a_model_on_a_graph_with_other_features_is_refused() -> None:
    result = train_method(blocks_graph(), settings(method="gcn"))
    with pytest.raises(GraphError, match=r"6 features.*trained on 8"):
        infer(result.model, random_graph())
