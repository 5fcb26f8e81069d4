"""New nodes by their surroundings alone are what a pass over the whole grown graph says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agssl import Graph
from agssl.base.errors import GraphError
from agssl.base.rng import Rng
from agssl.data.packed import open_packed, write_packed
from agssl.encoders import Network, Shape
from agssl.ops import grown as module
from agssl.ops.grown import Grown
from agssl.ops.seen import Seen
from agssl.train.infer import infer
from agssl.train.new_nodes import Fields, Views

OLD, NEW = 60, 4
ENCODERS = ("gcn", "sage", "gat", "gpr:steps=3", "appnp:steps=3", "hops:k=2", "ppr:k=3")
ENCODERS += ("mlp", "linkx", "gcnii", "mixed")


def graphs(weighted: bool, sparse: bool = False) -> tuple[Graph, Graph, Grown]:
    """A whole graph, the same without its last nodes, and these as new ones."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(OLD + NEW, 5)).astype(np.float32)
    if sparse:
        x[rng.random(x.shape) < 0.8] = 0
    ends, weights = rng.integers(0, OLD + NEW, size=(2, 150)), rng.random(150) + 0.5
    ends = np.hstack([ends, [[OLD, OLD + 1], [OLD + 1, 0]]])  # an edge between two new ones, at least
    weights = np.append(weights, [2.0, 3.0])
    inside = (ends < OLD).all(0)

    def made(nodes: int, which: np.ndarray) -> Graph:
        values = weights[which] if weighted else None
        none = [-1] * nodes
        return Graph.from_arrays(ends[:, which], x[:nodes], none, weights=values, require_labels=False, notify=False)

    old = made(OLD, inside)
    new = Grown(old, x[OLD:], ends[:, ~inside], weights[~inside] if weighted else None)
    return made(OLD + NEW, np.ones(len(weights), dtype=bool)), old, new


def network(encoder: str, head: str = "conv", **more: object) -> Network:
    nodes = OLD if encoder == "linkx" else 0
    shape = Shape(5, 8, 3, layers=2, encoder=encoder, head=head, nodes=nodes, skip_weight=0.1, **more)  # type: ignore[arg-type]
    return Network(shape, Rng(0))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_field_says_what_the_whole_graph_says(encoder: str, weighted: bool):
    whole, old, new = graphs(weighted)
    for head, residual in (("conv", False), ("linear", True)):
        net = network(encoder, head, residual=residual, feature_norm="l2")
        found = Fields(new, Views(old)).logits(net)
        np.testing.assert_allclose(found, infer(net, whole).logits[OLD:], atol=1e-5)


@pytest.mark.parametrize("encoder", ["gcn", "hops:k=2", "ppr:k=3"])
def test_sparse_features_and_a_graph_on_disk_are_read_alike(encoder: str, tmp_path: Path):
    for sparse, weighted in ((True, False), (False, True)):
        whole, old, new = graphs(weighted, sparse)
        write_packed(old, folder := tmp_path / f"{sparse}")
        net = network(encoder)
        stored = Grown(open_packed(folder), new.x, new.ends, new.weights)
        found = Fields(stored, Views(stored.graph)).logits(net)
        np.testing.assert_allclose(found, infer(net, whole).logits[OLD:], atol=1e-5)


def test_what_is_read_does_not_grow_with_the_graph():
    rng = np.random.default_rng(1)
    sizes = []
    for nodes in (100, 10_000):
        ring = np.vstack([np.arange(nodes), np.roll(np.arange(nodes), 1)])
        x = rng.normal(size=(nodes, 3)).astype(np.float32)
        graph = Graph.from_arrays(ring, x, [-1] * nodes, require_labels=False, notify=False)
        part = Grown(graph, x[:1], np.array([[nodes], [7]])).field(3)
        sizes.append((part.num_nodes, len(part.indices)))
    assert sizes[0] == sizes[1] == (6, 8)  # itself, node 7, and two to each side of it


@pytest.mark.parametrize("encoder", ["gcn", "linkx", "mlp"])
def test_groups_that_are_asked_together_know_nothing_of_each_other(encoder: str):
    for weighted in (False, True):
        _, old, new = graphs(weighted)
        other = Grown(old, new.x[:2], np.array([[OLD, OLD + 1], [0, 5]]), np.array([1.0, 2.0]) if weighted else None)
        net = network(encoder)
        alone = [Fields(one, Views(old)).logits(net) for one in (new, other, new)]
        found = Fields(Grown.together([new, other, new]), Views(old)).logits(net)
        np.testing.assert_allclose(found, np.concatenate(alone), atol=1e-6)


def test_new_nodes_need_no_graph():
    _, _, new = graphs(False)
    alone = Grown(None, new.x, np.array([[0], [1]]))
    graph = Graph.from_arrays([[0], [1]], new.x, [-1] * NEW, require_labels=False, notify=False)
    net = network("gcn")
    np.testing.assert_allclose(Fields(alone, Views(None)).logits(net), infer(net, graph).logits, atol=1e-6)
    assert alone.linked.tolist() == [True, True, False, False]


def test_a_view_by_features_finds_the_nearest_nodes():
    _, old, new = graphs(False)
    net = Network(Shape(5, 8, 3, encoder="sage", view="knn:k=3"), Rng(0))
    part = Fields(new, Views(old)).part("knn:k=3", 1)
    unit = np.vstack([old.x, new.x]).astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosine = unit[OLD:] @ unit.T
    cosine[np.arange(NEW), OLD + np.arange(NEW)] = -2
    assert part.origin is not None
    for row in range(NEW):
        mine = set(part.origin[part.neighbours(part.num_nodes - NEW + row)].tolist())
        assert set(np.argsort(-cosine[row])[:3].tolist()) <= mine
    assert np.isfinite(Fields(new, Views(old)).logits(net)).all()


def test_a_field_too_large_to_read_from_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _, old, new = graphs(False)
    write_packed(old, tmp_path / "packed")
    monkeypatch.setattr(module, "MOST_ENTRIES", 3)
    with pytest.raises(GraphError, match="--student mlp"):
        Grown(open_packed(tmp_path / "packed"), new.x, new.ends).field(2)


def test_rows_unlike_all_that_was_seen_are_told_apart():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(3000, 3))
    mix = rng.normal(size=(3, 20))
    x = (hidden @ mix + 0.1 * rng.normal(size=(3000, 20))).astype(np.float32)
    graph = Graph.from_arrays(np.empty((2, 0)), x[:2500], [-1] * 2500, require_labels=False, notify=False)
    seen = Seen.of(graph)
    assert seen is not None
    assert np.mean([bool(why) for why in seen.unlike(x[2500:])]) < 0.04  # of the same kind
    strange = rng.normal(size=(50, 20)).astype(np.float32)  # not made of the three
    assert np.mean([bool(why) for why in seen.unlike(strange)]) > 0.9
    assert seen.unlike(x[:1] * 100) == ["values larger than were seen"]
    assert "far" in seen.unlike(np.zeros((1, 20), np.float32))[0]
    again = Seen.read(seen.about(), seen.tensors())
    assert again.unlike(strange) == seen.unlike(strange)
