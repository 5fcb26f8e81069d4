"""Random views of the graph, what decides which edges and features they lose, and the encoder that follows."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from agssl.base.errors import SettingsError
from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Network, Shape
from agssl.ops.adjacency import Adjacency
from agssl.ops.features import Inputs
from agssl.ops.plan import full_plan
from agssl.pretext import View, Views
from agssl.pretext.augment import Augmentation, augmented, dropping
from agssl.pretext.gca import drop_weights
from agssl.pretext.prepare import make_task
from agssl.pretext.views import StepContext
from agssl.train.methods import train_method
from reference.graphs import blocks_graph, edge_list, edge_weights, random_graph
from reference.settings import quick

SEVEN = ("gmi", "mvgrl", "grace", "gca", "cg3", "bgrl", "graphmae")
EIGHT = (*SEVEN, "grand")


def test_the_share_of_dropped_edges_and_features_is_as_asked() -> None:
    graph = random_graph(400, 3000)
    adjacency, draw = Adjacency.of(graph), np.random.default_rng(0)
    view = augmented(adjacency, 0.3, np.full(5000, 0.2), draw)
    edges = (view.adjacency.nnz - 400) / 2 / graph.num_edges
    assert edges == pytest.approx(0.7, abs=0.03)
    assert view.columns.mean() == pytest.approx(0.8, abs=0.02)
    other = augmented(adjacency, 0.3, np.full(5000, 0.2), draw)
    assert not np.array_equal(view.columns, other.columns)
    whole = augmented(adjacency, 0.0, np.zeros(6), draw)
    assert torch.equal(whole.adjacency.values, adjacency.normalised.values)
    assert whole.columns.all()


CENTRALITY = {
    "degree": lambda g: dict(g.degree(weight="weight")),
    "pagerank": lambda g: nx.pagerank(g, tol=1e-12, max_iter=1000),
    "eigenvector": lambda g: nx.eigenvector_centrality_numpy(g, weight="weight"),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centrality", CENTRALITY)
def test_gca_drops_by_the_centralities_of_networkx(centrality: str, weighted: bool) -> None:
    graph = random_graph(30, 90, density=0.5, weighted=weighted)
    g = nx.Graph()
    g.add_weighted_edges_from((i, j, weight) for (i, j), weight in edge_weights(graph).items())
    g.add_nodes_from(range(30))
    assert nx.is_connected(g)
    phi = CENTRALITY[centrality](g)
    task = make_task(f"gca:centrality={centrality}:cut=0.6")
    targets = task.prepare(graph, Rng(0))
    s = np.log([(phi[i] + phi[j]) / 2 for i, j in edge_list(graph)])
    expected = [min(0.4 * (max(s) - v) / (max(s) - sum(s) / len(s)), 0.6) for v in s]
    np.testing.assert_allclose(dropping(targets["edges"], 0.4, task.cut), expected, atol=1e-4)
    x = graph.x.toarray()
    s = np.log([sum(abs(x[u, f]) * phi[u] for u in range(30)) for f in range(graph.num_features)])
    expected = [min(0.3 * (max(s) - v) / (max(s) - sum(s) / len(s)), 0.6) for v in s]
    np.testing.assert_allclose(dropping(targets["features"], 0.3, task.cut), expected, atol=1e-4)


def test_edges_that_matter_alike_are_dropped_alike() -> None:
    np.testing.assert_array_equal(drop_weights(np.full(4, 3.0)), np.ones(4))
    assert drop_weights(np.array([])).shape == (0,)
    assert np.isfinite(drop_weights(np.array([0.0, 1.0]))).all()


def views_of(graph: Graph, shape: Shape) -> Views:
    model = Network(shape, Rng(0))
    a, inputs = Adjacency.of(graph).normalised, Inputs.of(graph)
    plan = full_plan(a, shape.layers)
    return Views(model(inputs, plan), plan, StepContext(model, inputs, a))


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("density", [1.0, 0.3])
def test_a_view_that_changes_nothing_is_the_step_itself(layers: int, density: float) -> None:
    graph = random_graph(60, 60, density=density)
    views = views_of(graph, Shape(6, 8, 3, layers))
    torch.testing.assert_close(views.encode(View()), views.hidden())
    ones = np.ones(60, dtype=np.float32)
    everything = View(None, None, np.ones(6, dtype=bool), np.zeros(60, dtype=bool), np.arange(60), ones)
    torch.testing.assert_close(views.encode(everything), views.hidden())
    torch.testing.assert_close(views.logits(everything), views.output.logits)


@pytest.mark.parametrize("density", [1.0, 0.3])
def test_a_view_with_noise_is_a_pass_of_training(density: float) -> None:
    graph = random_graph(60, 60, density=density)
    views = views_of(graph, Shape(6, 8, 3, 2))
    source, rng = views.given, Rng(5)
    training = source.model(source.inputs, full_plan(source.adjacency, 2), rng)
    torch.testing.assert_close(views.logits(View(noise=rng)), training.logits)
    assert not torch.allclose(views.logits(View(noise=Rng(6))), training.logits)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("norm", ["none", "batch"])
def test_few_nodes_of_a_view_are_those_of_the_whole_view(layers: int, norm: str) -> None:
    graph, draw = random_graph(80, 60, density=0.5), np.random.default_rng(1)
    views = views_of(graph, Shape(6, 8, 3, layers, norm=norm))
    some = augmented(Adjacency.of(graph), 0.3, np.full(6, 0.2), draw, np.array([3, 17, 40]))
    masked, token = draw.random(80) < 0.5, torch.arange(6.0)
    view = View(some.nodes, some.adjacency, some.columns, masked)
    whole = View(None, some.adjacency, some.columns, masked)
    torch.testing.assert_close(views.encode(view, token=token), views.encode(whole, token=token)[[3, 17, 40]])


def test_further_views_leave_the_running_averages_of_batch_norm_alone() -> None:
    views = views_of(random_graph(), Shape(6, 8, 3, norm="batch"))
    norm = views.given.model.encoder.norms[0]
    before = norm.running_mean.clone()
    hidden = views.encode(View())
    assert torch.equal(norm.running_mean, before)
    assert not torch.allclose(hidden, views.hidden()), "the step itself was in evaluation mode"


def test_the_target_encoder_follows_by_its_momentum() -> None:
    task = make_task("bgrl:momentum=0.9")
    model = Network(Shape(6, 8, 3), Rng(0)).encoder
    head = task.head(8, {}, Rng(1))
    task.start(head, model, Rng(1))
    assert set(dict(head.target.named_parameters())) == set(dict(model.named_parameters()))
    before = [p.clone() for p in head.target.parameters()]
    with torch.no_grad():
        for p in model.parameters():
            p.add_(1)
    assert all(torch.equal(a, b) for a, b in zip(before, head.target.parameters(), strict=True)), "a copy, not a link"
    task.after_step(head, model)
    for old, new, fast in zip(before, head.target.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(new, 0.9 * old + 0.1 * fast)
    assert all(f"target.{name}" in head.state_dict() for name, _ in model.named_parameters())
    assert not any(p.requires_grad for p in head.target.parameters())


def test_the_target_is_moved_once_after_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    from agssl.pretext.bgrl import Bgrl

    seen: list[torch.Tensor] = []
    original = Bgrl.after_step

    def spy(self, head, model):  # type: ignore[no-untyped-def]
        assert not torch.equal(head.target.layers[0].weight, model.layers[0].weight)
        original(self, head, model)
        seen.append(head.target.layers[0].weight.clone())

    monkeypatch.setattr(Bgrl, "after_step", spy)
    train_method(blocks_graph(), quick(method="single", tasks=("bgrl",)))
    assert len(seen) == 3
    assert not torch.equal(seen[0], seen[2])


@pytest.mark.parametrize("strategy", ["jt", "pf"])
@pytest.mark.parametrize("name", SEVEN)
def test_each_trains_alone_in_both_settings(name: str, strategy: str) -> None:
    how = quick(method="single", tasks=(name,), strategy=strategy, epochs=4)
    for density in (1.0, 0.5):
        result = train_method(blocks_graph(density=density), how)
        stage = [r for r in result.history[f"teacher {name}"] if bool(r["pretrain"]) == (strategy == "pf")]
        assert stage[-1][name] < stage[0][name] + 0.5
        assert torch.isfinite(result.logits).all()


def test_grand_trains_jointly_and_refuses_to_pre_train() -> None:
    how = quick(method="single", tasks=("grand",), epochs=4)
    for density in (1.0, 0.5):
        losses = [r["grand"] for r in train_method(blocks_graph(density=density), how).history["teacher grand"]]
        assert losses[-1] < losses[0]
    for method in ("single", "agssl", "joint", "autossl"):
        with pytest.raises(SettingsError, match="'grand' needs labels, but pre-training .* has none; leave it out"):
            train_method(blocks_graph(), how.replace(method=method, strategy="pf"))


def test_all_eight_teach_one_student_and_train_jointly() -> None:
    result = train_method(blocks_graph(), quick(tasks=EIGHT, weights_from="train", epochs=2))
    assert result.weights.shape == (60, 8)
    searched = train_method(blocks_graph(), quick(method="autossl", tasks=("clu", "grand"), epochs=2))
    assert searched.weights.shape == (60, 2)
    joint = train_method(blocks_graph(), quick(method="joint", tasks=("pairsim", "dgi", *EIGHT), epochs=2))
    assert set(EIGHT) <= set(joint.history["joint"][0])


@pytest.mark.parametrize("shape", [{"layers": 2}, {"norm": "batch"}, {"head": "linear"}])
def test_they_train_with_every_kind_of_network(shape: dict) -> None:
    result = train_method(blocks_graph(), quick(method="joint", tasks=EIGHT, epochs=2, **shape))
    assert torch.isfinite(result.logits).all()


@pytest.mark.parametrize("name", ["grace", "gca", "bgrl"])
def test_the_shares_of_both_views_are_settings_of_the_task(name: str) -> None:
    task = make_task(f"{name}:edges1=0.6:features2=0.1")
    shares = {"edges1": 0.6, "edges2": 0.4, "features1": 0.3, "features2": 0.1}
    assert task.augmentation == Augmentation(**shares)
    assert {setting: task.settings()[setting] for setting in shares} == shares
    assert "augmentation" not in task.settings()
    assert type(task)(**task.settings()).settings() == task.settings()
    assert shares.keys() <= task.space.keys()
    with pytest.raises(SettingsError, match=f"{name}: features1 = 1.5, but it must be a share"):
        make_task(f"{name}:features1=1.5")


def test_two_views_lack_the_shares_that_were_asked_for() -> None:
    graph = random_graph(400, 3000)
    weights = np.ones(1, dtype=np.float32), np.ones(5000, dtype=np.float32)
    views = Augmentation(0.1, 0.5, 0.2, 0.6).views(Adjacency.of(graph), *weights, np.random.default_rng(0))
    for view, edges, features in zip(views, (0.1, 0.5), (0.2, 0.6), strict=True):
        assert (view.adjacency.nnz - 400) / 2 / graph.num_edges == pytest.approx(1 - edges, abs=0.03)
        assert view.columns.mean() == pytest.approx(1 - features, abs=0.02)


def test_settings_are_read_as_the_numbers_they_are() -> None:
    assert make_task("grace:temperature=0.3:nodes=40").settings()["temperature"] == 0.3
    assert make_task("graphmae:gamma=1").settings()["gamma"] == 1
