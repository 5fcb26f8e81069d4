"""GMI, MVGRL, GRACE, GCA, CG3, BGRL, GraphMAE, GRAND against loops on hidden states of a dense network; gradients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.encoders import Encoder, Network, Shape
from agssl.ops.adjacency import Adjacency
from agssl.ops.features import Inputs
from agssl.ops.plan import full_plan
from agssl.pretext import TaskSample, View, Views
from agssl.pretext.cg3 import supervised_contrast
from agssl.pretext.prepare import make_task
from agssl.pretext.views import StepContext
from reference import dense, rivals
from reference.dense import dense_of
from reference.graphs import build

WIDTH = 5


def tiny(density: float = 1.0) -> Graph:
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 2), (6, 7), (7, 8), (8, 9), (10, 11), (11, 12), (5, 6)]
    return build(14, edges, density=density)


class Case:
    """A task on the tiny graph in double precision: our loss of one step, and dense hidden states."""

    def __init__(self, text: str, density: float = 1.0, labels: bool = True) -> None:
        self.graph = graph = tiny(density)
        self.task = make_task(text)
        adjacency = Adjacency.of(graph)
        shape = Shape(graph.num_features, WIDTH, graph.num_classes, dropout=0.0, input_dropout=0.0)
        self.model = Network(shape, Rng(2)).double()
        self.targets = self.task.prepare(graph, Rng(0))
        self.head = self.task.head(WIDTH, self.targets, Rng(1)).double()
        self.task.start(self.head, self.model.encoder, Rng(1))
        self.head.double()
        copied = set(getattr(self.head, "target", torch.nn.Module()).parameters())
        for parameter in self.head.parameters():
            if parameter not in copied:
                torch.nn.init.normal_(parameter, std=0.5, generator=torch.Generator().manual_seed(4))
        if hasattr(self.head, "target"):  # a target that has fallen behind
            for parameter in self.head.target.parameters():
                parameter += 0.1
        self.batch: TaskSample = self.task.sample(self.targets, adjacency, Rng(3))
        self.x = dense.dense_features(graph).astype(np.float64)
        self.a = dense.normalised_of(graph)
        matrix = torch.from_numpy(self.x) if density == 1 else Inputs.of(graph).matrix.to("cpu", torch.float64)
        train = np.sort(graph.split.train)
        labelled = (train, torch.from_numpy(graph.y[train])) if labels else None
        shuffle = None
        if self.batch.permutation is not None:
            order = torch.from_numpy(self.batch.permutation)
            shuffle = (order, torch.argsort(order))
        inputs, plan = Inputs(matrix), full_plan(adjacency.normalised, 1)
        source = StepContext(self.model, inputs, adjacency.normalised, labelled)
        views = Views(self.model(inputs, plan, None, shuffle), plan, source)
        self.loss: Tensor = self.task.loss(self.head, views, self.batch, self.targets)

    def hidden(self, view: View | None = None, encoder: Encoder | None = None, token: Tensor | None = None) -> Tensor:
        """H by dense products, differentiable: the view's input written out as a whole matrix."""
        view, encoder = view or View(), encoder or self.model.encoder
        x = torch.from_numpy(self.x.copy())
        if view.columns is not None:
            x = x * torch.from_numpy(view.columns)
        if view.masked is not None:
            x = torch.where(torch.from_numpy(view.masked)[:, None], 0.0 if token is None else token, x)
        if view.scale is not None:
            x = x * torch.from_numpy(view.scale).double()[:, None]
        if view.order is not None:
            x = x[torch.from_numpy(view.order)]
        if view.pool is not None:
            x = torch.from_numpy(dense_of(view.pool)) @ x
        a = torch.from_numpy(self.a if view.adjacency is None else dense_of(view.adjacency))
        hidden = torch.relu(a @ (x @ encoder.layers[0].weight) + encoder.layers[0].bias)
        return hidden if view.nodes is None else hidden[torch.from_numpy(view.nodes)]

    def gradients_match(self, expected: Tensor) -> None:
        """Value and gradients of ours are those of the dense loss, by plain autograd."""
        torch.testing.assert_close(self.loss, expected, rtol=1e-5, atol=1e-7)
        learned = [p for p in [*self.model.parameters(), *self.head.parameters()] if p.requires_grad]
        ours, theirs = (torch.autograd.grad(loss, learned, allow_unused=True) for loss in (self.loss, expected))
        assert any(g is not None and g.abs().sum() > 0 for g in ours)
        for a, b in zip(ours, theirs, strict=True):
            assert (a is None) == (b is None)
            if a is not None and b is not None:
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-7)


def plain(*tensors: Tensor) -> Iterator[np.ndarray]:
    return (tensor.detach().numpy() for tensor in tensors)


@pytest.fixture(params=[1.0, 0.5], ids=["dense", "sparse"])
def density(request: pytest.FixtureRequest) -> float:
    return request.param


@pytest.mark.parametrize("text", ["grace", "grace:nodes=6:temperature=0.3", "gca", "gca:nodes=6:centrality=pagerank"])
def test_grace_and_gca_contrast_every_node_with_all_others_of_both_views(text: str, density: float) -> None:
    case = Case(text, density)
    first, second = (case.head(case.hidden(view)) for view in case.batch.views)
    assert len(first) == (6 if "nodes" in text else 14)
    tau = case.task.settings()["temperature"]
    assert case.loss.item() == pytest.approx(rivals.grace(*plain(first, second), tau), rel=1e-5)
    u, v = F.normalize(first, dim=1), F.normalize(second, dim=1)
    own, others = torch.eye(len(u), dtype=torch.bool), []
    for a, b in ((u, v), (v, u)):
        within = (a @ a.t() / tau).masked_fill(own, -torch.inf)
        others.append(torch.cat([a @ b.t() / tau, within], dim=1).logsumexp(1) - (a * b).sum(1) / tau)
    case.gradients_match(torch.cat(others).mean())


@pytest.mark.parametrize("text", ["bgrl", "bgrl:nodes=6"])
def test_bgrl_predicts_what_the_target_sees_in_the_other_view(text: str, density: float) -> None:
    case = Case(text, density)
    seen = [case.hidden(view, case.head.target).detach() for view in case.batch.views]
    predicted = [case.head.predictor(case.hidden(view)) for view in case.batch.views]
    assert case.loss.item() == pytest.approx(rivals.bgrl([*plain(*predicted)], [*plain(*seen)]), rel=1e-5)
    cosines = [F.cosine_similarity(predicted[a], seen[1 - a], dim=1) for a in (0, 1)]
    case.gradients_match(2 - 2 * torch.cat(cosines).mean())


@pytest.mark.parametrize("text", ["grand", "grand:views=4:share=0.3:temperature=0.2"])
def test_grand_pulls_views_to_the_sharpened_mean_of_what_they_say(text: str, density: float) -> None:
    case = Case(text, density)
    settings, model = case.task.settings(), case.model
    assert len(case.batch.views) == settings["views"]
    for view in case.batch.views:
        assert set(view.scale.tolist()) == {0.0, np.float32(1 / (1 - settings["share"]))}
    a, nodes = torch.from_numpy(case.a), np.sort(case.graph.split.train)
    logits = [a @ (case.hidden(view) @ model.head.layer.weight) + model.head.layer.bias for view in case.batch.views]
    said = [z.softmax(1) for z in logits]
    labels = {int(i): int(case.graph.y[i]) for i in nodes}
    assert case.loss.item() == pytest.approx(rivals.grand([*plain(*said)], labels, settings["temperature"]), rel=1e-5)
    goal = F.softmax(torch.stack(said).mean(0).detach().log() / settings["temperature"], dim=1)
    truth = torch.from_numpy(case.graph.y[nodes])
    terms = [
        F.cross_entropy(z[nodes], truth) + F.mse_loss(p, goal) * z.shape[1] for z, p in zip(logits, said, strict=True)
    ]
    case.gradients_match(torch.stack(terms).mean())


@pytest.mark.parametrize("gamma", [1, 2, 3])
def test_graphmae_rebuilds_the_features_of_masked_nodes(gamma: int, density: float) -> None:
    case = Case(f"graphmae:gamma={gamma}:share=0.4", density)
    (view,) = case.batch.views
    masked = np.flatnonzero(view.masked)
    assert len(masked) == round(0.4 * 14)
    head = case.head
    code = case.hidden(view, token=head.token) @ head.code
    code = torch.where(torch.from_numpy(view.masked)[:, None], 0.0, code)
    rebuilt = torch.from_numpy(case.a) @ code @ head.features.t()
    (z,) = plain(rebuilt)
    assert case.loss.item() == pytest.approx(rivals.graphmae(case.x, z, masked, gamma), rel=1e-5)
    cosines = F.cosine_similarity(torch.from_numpy(case.x), rebuilt, dim=1)[torch.from_numpy(masked)]
    case.gradients_match((1 - cosines).pow(gamma).mean())


@pytest.mark.parametrize("encoder", ["own", "shared"])
def test_mvgrl_tells_nodes_by_the_summary_of_the_other_view(encoder: str, density: float) -> None:
    case = Case(f"mvgrl:encoder={encoder}", density)
    order, diffused = case.batch.permutation, case.head.matrices.get(case.targets, "", case.graph.num_nodes, True)
    second = case.head.encoder if encoder == "own" else case.model.encoder
    real = [case.hidden(), case.hidden(View(adjacency=diffused), second)]
    fake = [case.hidden(View(order=order)), case.hidden(View(adjacency=diffused, order=order), second)]
    weight = case.head.score.weight
    expected = rivals.mvgrl([*plain(*real)], [*plain(*fake)], *plain(weight))
    assert case.loss.item() == pytest.approx(expected, rel=1e-5)
    length = [h.detach().norm(dim=1).mean().clamp_min(1) for h in real]
    total = torch.zeros((), dtype=torch.float64)
    for a in (0, 1):
        summary = torch.sigmoid((real[1 - a] / length[1 - a]).mean(0))
        for rows, truth in ((real[a], 1.0), (fake[a], 0.0)):
            scores = (rows / length[a]) @ weight @ summary
            total = total + F.binary_cross_entropy_with_logits(scores, torch.full_like(scores, truth)) / 2
    case.gradients_match(total)


@pytest.mark.parametrize("text", ["gmi", "gmi:weights=adaptive:topology=0.5", "gmi:pairs=9"])
def test_gmi_scores_nodes_with_their_neighbours_features(text: str, density: float) -> None:
    case = Case(text, density)
    settings, nodes = case.task.settings(), case.batch.nodes
    triples = nodes[case.batch.data["pairs"].numpy()].T.tolist()
    apart = nodes[case.batch.data["apart"].numpy()].T.tolist()
    shares = case.batch.data["share"].double()
    adjacency = Adjacency.of(case.graph)
    if "pairs" not in text:  # every node with itself and every neighbour, all nodes alike
        assert sorted((i, j) for i, j, _ in triples) == sorted(zip(adjacency.rows, adjacency.indices, strict=True))
        np.testing.assert_allclose(np.bincount([i for i, *_ in triples], shares), 1 / 14, rtol=1e-6)
    assert all(adjacency.has_edge(np.array([i]), np.array([j]))[0] for i, j, _ in triples)
    assert not any(adjacency.has_edge(np.array([i]), np.array([j]))[0] for i, j in apart)
    hidden = case.hidden()
    # scaled by the mean length over the nodes that the step reads
    hidden = hidden / hidden[torch.from_numpy(nodes)].detach().norm(dim=1).mean().clamp_min(1)
    adaptive = settings["weights"] == "adaptive"
    (h, theta), x = plain(hidden, case.head.weight), case.x * case.targets["scale"][0]
    expected = rivals.gmi(h, x, theta, triples, shares.tolist(), apart, adaptive, settings["topology"])
    assert case.loss.item() == pytest.approx(expected, rel=1e-5)
    node, other, false = torch.tensor(triples).t()
    first, second = torch.tensor(apart).t()
    known = torch.from_numpy(x) @ case.head.weight
    linked = (hidden[node] * hidden[other]).sum(1)
    w = shares * (torch.sigmoid(linked) if adaptive else 1)
    told = w * (F.softplus(-(hidden[node] * known[other]).sum(1)) + F.softplus((hidden[node] * known[false]).sum(1)))
    links = (shares * F.softplus(-linked)).sum() + F.softplus((hidden[first] * hidden[second]).sum(1)).mean()
    case.gradients_match(told.sum() + settings["topology"] / 2 * links)


@pytest.mark.parametrize("text", ["cg3", "cg3:nodes=4:pairs=5"])
@pytest.mark.parametrize("labels", [True, False])
def test_cg3_contrasts_with_the_coarse_view_and_rebuilds_edges(text: str, labels: bool, density: float) -> None:
    case = Case(text, density, labels)
    settings, data = case.task.settings(), case.batch.data
    fine = case.hidden()
    groups = len(case.targets["pool_indptr"]) - 1
    columns = {"pool_": case.graph.num_nodes, "coarse_": groups, "up_": groups}
    pool, between, up = (case.head.matrices.get(case.targets, way, count) for way, count in columns.items())
    view = View(pool=pool, adjacency=between)
    coarse = torch.from_numpy(dense_of(up)) @ case.hidden(view, case.head.encoder)
    (h, c), tau = plain(fine, coarse), settings["temperature"]
    chosen = data["chosen"].numpy()
    expected = rivals.cg3_contrast(h[chosen], c[chosen], range(len(chosen)), tau)
    train = np.sort(case.graph.split.train)
    if labels:
        train = train[np.argsort(data["priority"].numpy()[train])[: settings["nodes"]]]
        expected += rivals.cg3_contrast(h[train], c[train], case.graph.y[train].tolist(), tau)
    weight, bias = plain(case.head.edge.weight[0], case.head.edge.bias[0])
    ends, linked = data["ends"].numpy(), data["linked"].numpy()
    expected += settings["generative"] * rivals.cg3_edges(h, c, ends.T, linked, weight, float(bias))
    assert case.loss.item() == pytest.approx(expected, rel=1e-5)
    u, v = F.normalize(fine, dim=1), F.normalize(coarse, dim=1)
    scores = u[chosen] @ v[chosen].t() / tau
    own = torch.arange(len(chosen))
    total = (F.cross_entropy(scores, own) + F.cross_entropy(scores.t(), own)) / 2
    if labels:
        y = torch.from_numpy(case.graph.y[train])
        total = (
            total
            + (supervised_contrast(u[train], v[train], y, tau) + supervised_contrast(v[train], u[train], y, tau)) / 2
        )
    pairs = torch.cat([fine[ends[0]], coarse[ends[1]]], dim=1) @ case.head.edge.weight[0] + case.head.edge.bias
    total = total + settings["generative"] * F.binary_cross_entropy_with_logits(
        pairs, torch.from_numpy(linked).double()
    )
    case.gradients_match(total)


def test_cg3_reads_no_label_while_pre_training() -> None:
    losses = [Case("cg3", labels=labels).loss.item() for labels in (True, False)]
    assert losses[0] > losses[1]
