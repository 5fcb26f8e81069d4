"""Teacher weights of nodes that were not fitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from agssl import AGSSL, INTEGRATORS, Graph, Integrator
from agssl.base.errors import AgsslError, DataError, SettingsError
from agssl.base.rng import Rng
from agssl.data.splits import Split
from agssl.integrate import Knowledge
from agssl.train.infer import infer
from reference.graphs import blocks_graph, build, edge_list

FAST = {"tasks": ("clu", "pairdis"), "hidden": 8, "epochs": 6, "lr": 0.05, "alpha": 1.0}
TRANSFER = ("lf", "ts", "was", "average")


def grown(graph: Graph, more: int = 5) -> Graph:
    """The graph with further nodes, linked to the first ones."""
    size = graph.num_nodes
    edges = [*edge_list(graph), *((size + i, 3 * i) for i in range(more))]
    other = build(size + more, edges, features=graph.num_features)
    return replace(other, x=np.concatenate([graph.x, other.x[size:]]), classes=graph.classes)


def apart(graph: Graph) -> Graph:
    """The graph twice, without an edge between the two: what is said of a node can't differ."""
    size, edges = graph.num_nodes, edge_list(graph)
    both = build(2 * size, [*edges, *((a + size, b + size) for a, b in edges)], features=graph.num_features)
    return replace(both, x=np.concatenate([graph.x, graph.x]), classes=graph.classes)


@pytest.mark.parametrize("split", ["fraction:0.5/0.3/0.2", "cv:3", "holdout:0.3"])
@pytest.mark.parametrize("integration", TRANSFER)
def test_nodes_like_the_fitted_ones_get_their_weights(integration: str, split: str) -> None:
    graph = replace(blocks_graph(), split=None)
    model = AGSSL(**FAST, integration=integration, split=split).fit(graph)
    found = model.teacher_weights(apart(graph))
    assert found.shape == (120, 2)
    np.testing.assert_allclose(found[:60], model.task_weights_, atol=1e-4)
    np.testing.assert_allclose(found[60:], model.task_weights_, atol=1e-4)
    np.testing.assert_array_equal(model.teacher_weights(), model.task_weights_)


def test_the_weights_of_new_nodes_are_those_of_equation_8() -> None:
    """Naively: softmax over the teachers of (W z_i) . (W h_i), by what networks and calibration say."""
    graph = replace(blocks_graph(), split=None)
    model = AGSSL(**FAST, integration="ts", split="cv:3", calibrate="classes").fit(graph)
    other = grown(graph)
    kept = model.fitted_.teachers
    assert kept is not None and kept.calibration is not None and [len(one) for one in kept.networks] == [3, 3]
    w = kept.state["weight"].numpy()
    z = infer(model.fitted_.model, other).logits
    expected = np.zeros((65, 2))
    for i in range(65):
        for k, networks in enumerate(kept.networks):
            logs = [torch.log_softmax(torch.tensor(infer(one, other).logits[i]), 0).numpy() for one in networks]
            h = np.mean(logs, axis=0) / kept.calibration.temperatures[k].item() + kept.calibration.shifts[k].numpy()
            expected[i, k] = (w @ z[i]) @ (w @ h)
    expected = np.exp(expected) / np.exp(expected).sum(1, keepdims=True)
    np.testing.assert_allclose(model.teacher_weights(other), expected, atol=1e-5)


@pytest.mark.parametrize("integration", ["local", "stack", "both"])
def test_trust_by_near_labels_goes_on_elsewhere_with_what_teachers_say(integration: str, tmp_path: Path) -> None:
    graph = replace(blocks_graph(), split=None)
    model = AGSSL(**FAST, integration=integration, split="cv:3").fit(graph)
    model.save(tmp_path / "model")
    model = AGSSL.load(tmp_path / "model")
    np.testing.assert_array_equal(model.teacher_weights(graph), model.task_weights_)
    found = model.teacher_weights(grown(graph))
    assert found.shape == (65, 2)
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)


@pytest.mark.parametrize("integration", ["random", "weighted"])
def test_weights_that_belong_to_nodes_are_refused_elsewhere_but_not_for_the_fitted_graph(
    integration: str, tmp_path: Path
) -> None:
    graph = blocks_graph()
    AGSSL(**FAST, integration=integration).fit(graph).save(tmp_path / "model")
    model = AGSSL.load(tmp_path / "model")
    np.testing.assert_array_equal(model.teacher_weights(graph), model.task_weights_)
    with pytest.raises(SettingsError, match=f"{integration} settles .* fit with one of average, lf, "):
        model.teacher_weights(grown(graph))


def test_a_saved_model_weighs_new_nodes_as_the_fitted_one_did(tmp_path: Path) -> None:
    graph, other = blocks_graph(), grown(blocks_graph())
    model = AGSSL(**FAST).fit(graph)
    model.save(tmp_path / "model")
    loaded = AGSSL.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.teacher_weights(other), model.teacher_weights(other))
    assert loaded.explain(63, other) == model.explain(63, other)
    found = loaded.explain(63, other)
    assert sum(opinion.weight for opinion in found.opinions) == pytest.approx(1)
    assert all(opinion.prediction in graph.classes for opinion in found.opinions)
    assert [n.node for n in found.neighbours] == ["9"]


def test_without_teachers_a_file_is_smaller_and_says_what_it_lacks(tmp_path: Path) -> None:
    graph, other = blocks_graph(), grown(blocks_graph())
    model = AGSSL(**FAST).fit(graph)
    model.save(tmp_path / "whole")
    model.save(tmp_path / "light", teachers=False)
    light = AGSSL.load(tmp_path / "light")
    kept = model.fitted_.teachers
    assert kept is not None
    assert (tmp_path / "whole").stat().st_size - (tmp_path / "light").stat().st_size >= kept.nbytes
    np.testing.assert_array_equal(light.predict_proba(other), model.predict_proba(other))
    np.testing.assert_array_equal(light.teacher_weights(graph), model.task_weights_)
    with pytest.raises(DataError, match="without its teachers' networks"):
        light.teacher_weights(other)


def test_a_graph_of_as_many_nodes_is_not_taken_for_the_fitted_one() -> None:
    graph = blocks_graph()
    model = AGSSL(**FAST | {"epochs": 30}, integration="ts").fit(graph)
    other = replace(graph, x=np.ascontiguousarray(graph.x[::-1]))
    assert not np.allclose(model.teacher_weights(other), model.task_weights_, atol=1e-4)
    assert model.explain(0, other).probability != model.explain(0).probability


def test_methods_without_teachers_say_so() -> None:
    graph = blocks_graph()
    model = AGSSL(method="gcn", hidden=8, epochs=3).fit(graph)
    with pytest.raises(SettingsError, match="method gcn weighs no teachers"):
        model.teacher_weights(grown(graph))
    assert model.explain(61, grown(graph)).opinions == ()
    (opinion,) = AGSSL(**FAST | {"method": "single", "tasks": ("clu",)}).fit(graph).explain(61, grown(graph)).opinions
    assert (opinion.task, opinion.weight, opinion.prediction) == ("clu", 1.0, None)


class Skill(Integrator):
    """Teachers by their accuracy, which it keeps where nobody can see it."""

    name = "skill"
    learns = False

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        self.skill = (knowledge.heldout.argmax(-1) == knowledge.labels).float().mean(1) + torch.arange(2)

    def scores(self, student: Tensor, teachers: Tensor) -> Tensor:
        """The same for every node."""
        return self.skill.expand(len(student), -1)


class Open(Skill):
    """The same as a buffer."""

    name = "open"

    def __init__(self, knowledge: Knowledge, rng: Rng) -> None:
        super().__init__(knowledge, rng)
        skill = self.skill
        del self.skill
        self.register_buffer("skill", skill)


def test_an_integration_that_hides_what_it_knows_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = blocks_graph()
    for kind in (Skill, Open):
        monkeypatch.setitem(INTEGRATORS._items, kind.name, kind)
    hidden, shown = (AGSSL(**FAST, integration=kind.name).fit(graph) for kind in (Skill, Open))
    assert shown.fitted_.teachers is not None
    np.testing.assert_allclose(shown.teacher_weights(grown(graph))[:60], shown.task_weights_, atol=1e-6)
    assert hidden.fitted_.teachers is None
    with pytest.raises(DataError, match="without its teachers"):
        hidden.teacher_weights(grown(graph))


def test_other_features_are_refused() -> None:
    model = AGSSL(**FAST).fit(blocks_graph())
    with pytest.raises(AgsslError, match="features"):
        model.teacher_weights(build(10, [(0, 1)], features=3))


def test_a_split_of_the_other_graph_tells_the_part_of_a_node() -> None:
    graph = blocks_graph()
    model = AGSSL(**FAST).fit(graph)
    other = grown(graph)
    labelled = np.flatnonzero(other.y >= 0)
    other = other.with_split(Split(labelled[:5], labelled[5:9], labelled[9:]))
    assert model.explain(int(labelled[0]), other).part == "train"
