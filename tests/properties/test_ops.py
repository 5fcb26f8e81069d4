"""What holds of the kernels whatever they are given. `--hypothesis-profile=torture` tries 200 cases of each."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from agssl.base.rng import Rng
from agssl.data.graph import Graph
from agssl.data.knn import knn_edges
from agssl.data.splits import make_split
from agssl.data.validate import as_features
from agssl.ops.adjacency import Adjacency, take_rows
from agssl.ops.csr import from_scipy, product
from agssl.ops.dropout import keep_mask
from agssl.ops.linear_loss import linear_cross_entropy
from agssl.ops.tiles import permute_rows
from reference.graphs import edge_list, graphs, sparse_matrices

seeds = st.integers(0, 10_000)


def matrix(rows: int, columns: int, seed: int) -> torch.Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def dense(a) -> np.ndarray:  # type: ignore[no-untyped-def]
    return sp.csr_matrix((a.values.numpy(), a.indices.numpy(), a.indptr.numpy()), (a.rows, a.columns)).toarray()


@given(graph=graphs())
def test_propagation_keeps_the_root_of_the_degree_and_enlarges_nothing(graph: Graph) -> None:
    a = dense(Adjacency.of(graph).normalised)
    root = np.sqrt(graph.weighted_degree + 1)
    np.testing.assert_allclose(a @ root, root, rtol=1e-5)
    assert np.abs(np.linalg.eigvalsh(a)).max() < 1 + 1e-5


@given(a=sparse_matrices(), seed=seeds, scale=st.floats(-3, 3))
def test_a_product_is_linear(a: sp.csr_matrix, seed: int, scale: float) -> None:
    csr, (x, y) = from_scipy(a), (matrix(a.shape[1], 3, seed + i) for i in range(2))
    torch.testing.assert_close(product(csr, scale * x + y), scale * product(csr, x) + product(csr, y))


@given(a=sparse_matrices(), seed=seeds)
def test_the_transposed_product_is_the_adjoint(a: sp.csr_matrix, seed: int) -> None:
    csr, x, y = from_scipy(a), matrix(a.shape[1], 2, seed), matrix(a.shape[0], 2, seed + 1)
    torch.testing.assert_close((product(csr, x) * y).sum(), (x * csr.transposed_product(y)).sum())


@given(graph=graphs(min_nodes=2), seed=seeds)
def test_rows_of_rows_are_rows(graph: Graph, seed: int) -> None:
    draw, a = np.random.default_rng(seed), Adjacency.of(graph).normalised
    first = draw.integers(graph.num_nodes, size=5)
    second = draw.integers(5, size=3)
    np.testing.assert_array_equal(dense(take_rows(take_rows(a, first), second)), dense(take_rows(a, first[second])))


@given(graph=graphs(min_nodes=2), seed=seeds)
def test_masked_edges_leave_a_symmetric_matrix_without_them(graph: Graph, seed: int) -> None:
    adjacency, edges = Adjacency.of(graph), np.array(edge_list(graph), dtype=np.int64).reshape(-1, 2)
    chosen = edges[np.random.default_rng(seed).random(len(edges)) < 0.5]
    a = dense(adjacency.without(chosen[:, 0], chosen[:, 1]))
    np.testing.assert_array_equal(a, a.T)
    assert not a[chosen[:, 0], chosen[:, 1]].any()
    assert np.count_nonzero(a) == graph.num_nodes + 2 * (len(edges) - len(chosen))


@given(rows=st.integers(1, 30), width=st.integers(1, 6), classes=st.integers(1, 9), seed=seeds)
def test_the_fused_loss_is_that_of_torch(rows: int, width: int, classes: int, seed: int) -> None:
    torch.manual_seed(seed)
    head, labels = torch.nn.Linear(width, classes).double(), torch.randint(classes, (rows,))
    ours = matrix(rows, width, seed).requires_grad_()
    theirs = ours.detach().clone().requires_grad_()
    loss, expected = linear_cross_entropy(head, ours, labels), F.cross_entropy(head(theirs), labels)
    torch.testing.assert_close(loss, expected)
    gradient = torch.autograd.grad(expected, [theirs, head.weight])
    torch.testing.assert_close(list(torch.autograd.grad(loss, [ours, head.weight])), list(gradient))


@given(shape=st.lists(st.integers(0, 9), min_size=1, max_size=3), p=st.floats(0, 0.999), seed=seeds)
def test_masks_hold_zeros_and_one_factor_and_repeat(shape: list[int], p: float, seed: int) -> None:
    mask = keep_mask(shape, p, Rng(seed))
    assert tuple(mask.shape) == tuple(shape)
    assert set(mask.unique().tolist()) <= {0, torch.tensor(1 / (1 - p)).item()}
    assert torch.equal(mask, keep_mask(shape, p, Rng(seed)))


@given(rows=st.integers(1, 20), seed=seeds)
def test_a_shuffle_and_its_inverse_cancel(rows: int, seed: int) -> None:
    h = matrix(rows, 3, seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(rows))
    inverse = torch.argsort(order)
    assert torch.equal(permute_rows(permute_rows(h, order, inverse), inverse, order), h)


@given(nodes=st.integers(3, 14), seed=seeds, data=st.data())
def test_nearest_neighbours_are_no_farther_than_any_other(nodes: int, seed: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, nodes - 1))
    x = np.random.default_rng(seed).normal(size=(nodes, 2))
    source, target = knn_edges(x, k, "euclidean")
    distance = np.linalg.norm(x[:, None] - x[None], axis=2)
    for node in range(nodes):
        near = target[source == node]
        assert len(set(near.tolist())) == k and node not in near
        others = np.setdiff1d(np.arange(nodes), [*near, node])
        assert not len(others) or distance[node, near].max() <= distance[node, others].min() + 1e-9


@given(graph=graphs(min_nodes=2), seed=seeds)
def test_the_order_and_direction_of_edges_do_not_matter(graph: Graph, seed: int) -> None:
    draw = np.random.default_rng(seed)
    edges = np.array(edge_list(graph), dtype=np.int64).reshape(-1, 2)
    turned = np.where(draw.random(len(edges))[:, None] < 0.5, edges, edges[:, ::-1])[draw.permutation(len(edges))]
    y = np.arange(graph.num_nodes) % 2
    again = Graph.from_arrays(turned.T, graph.x, y, notify=False)
    np.testing.assert_array_equal(again.indptr, graph.indptr)
    np.testing.assert_array_equal(again.indices, graph.indices)


@given(counts=st.lists(st.integers(2, 20), min_size=2, max_size=5), seed=seeds, share=st.floats(0.1, 0.8))
def test_shares_are_disjoint_and_every_class_trains(counts: list[int], seed: int, share: float) -> None:
    y = np.repeat(np.arange(len(counts)), counts)
    graph = Graph.from_arrays(np.empty((2, 0), int), np.ones((len(y), 1)), y, notify=False)
    rest = (1 - share) / 2
    split = make_split(f"fraction:{share}/{rest}/{rest}", graph, Rng(seed))
    parts = [*split.to_arrays().values()]
    assert sorted(np.concatenate(parts).tolist()) == sorted(set(np.concatenate(parts).tolist()))
    assert set(y[split.train].tolist()) == set(range(len(counts)))
    assert len(split.val) >= 1


@given(a=sparse_matrices())
def test_features_are_the_same_however_they_come(a: sp.csr_matrix) -> None:
    stored = [as_features(a), as_features(a.toarray()), as_features(a.tocoo()), as_features(a.toarray(order="F"))]
    for x in stored:
        np.testing.assert_array_equal(x.toarray() if sp.issparse(x) else x, a.toarray())
    assert len({type(x) for x in stored}) == 1
