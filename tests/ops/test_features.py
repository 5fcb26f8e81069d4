"""Features times weights, with dropout, sparse and dense."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from agssl.base.rng import Rng
from agssl.ops import features
from agssl.ops.adjacency import Adjacency
from agssl.ops.csr import from_scipy
from agssl.ops.dropout import keep_mask
from agssl.ops.features import Inputs
from reference.graphs import edge_list, random_graph


def dense_inputs(rows: int = 50, columns: int = 7, dtype: torch.dtype = torch.float64) -> Inputs:
    return Inputs(torch.randn(rows, columns, generator=torch.Generator().manual_seed(0), dtype=dtype))


def sparse_inputs(rows: int = 50, columns: int = 7) -> tuple[Inputs, np.ndarray]:
    matrix = sp.random(rows, columns, 0.4, format="csr", dtype=np.float32, random_state=np.random.default_rng(0))
    return Inputs(from_scipy(matrix)), matrix.toarray()


def weights(*widths: int, rows: int = 7, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    made = torch.randn(rows, sum(widths), generator=torch.Generator().manual_seed(1), dtype=dtype)
    return [part.clone().requires_grad_() for part in made.split(list(widths), dim=1)]


def dropped_matrix(x: torch.Tensor, p: float, rng: Rng, wide: bool) -> torch.Tensor:
    """dropout(X) written out: a mask for every value or, of wide features, one for each block of rows."""
    if not wide:
        return x * keep_mask(x.shape, p, rng, x.dtype)
    blocks = x.split(features.BLOCK)
    masks = keep_mask((len(blocks), x.shape[1]), p, rng, x.dtype)
    return torch.cat([rows * mask for rows, mask in zip(blocks, masks, strict=True)])


def test_sparse_dropout_zeroes_stored_values_and_rescales_the_rest() -> None:
    inputs, _ = sparse_inputs()
    dropped = inputs.dropout(0.25, Rng(0)).matrix
    assert torch.equal(dropped.indices, inputs.matrix.indices)
    kept = dropped.values != 0
    torch.testing.assert_close(dropped.values[kept], inputs.matrix.values[kept] / 0.75)
    assert 0 < (~kept).sum() < len(kept)


def test_the_gradient_of_sparse_dropout_uses_the_mask_of_the_forward_pass() -> None:
    inputs, _ = sparse_inputs()
    dropped = inputs.dropout(0.5, Rng(3))
    explicit = np.zeros((50, 7))
    rows = np.repeat(np.arange(50), np.diff(dropped.matrix.indptr.numpy()))
    explicit[rows, dropped.matrix.indices.numpy()] = dropped.matrix.values.numpy()
    (ours,), (theirs,) = weights(4), weights(4)
    (out,) = dropped.times([ours])
    expected = torch.from_numpy(explicit) @ theirs
    torch.testing.assert_close(out, expected)
    out.sin().sum().backward()
    expected.sin().sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


@pytest.mark.parametrize("p", [0.5, 0.3])
@pytest.mark.parametrize(("block", "wide"), [(1024, 1), (16, 1), (16, 1000)], ids=["one block", "several", "narrow"])
def test_the_gradient_of_dense_dropout_is_autograds_on_the_dropped_matrix(
    monkeypatch, p: float, block: int, wide: int
) -> None:
    monkeypatch.setattr(features, "BLOCK", block)
    monkeypatch.setattr(features, "WIDE", wide)
    inputs, rng = dense_inputs(), Rng(5)
    explicit = dropped_matrix(inputs.matrix, p, rng, wide == 1)
    ours, theirs = weights(4, 3), weights(4, 3)
    outputs = inputs.dropout(p, rng).times(ours)
    expected = tuple(explicit @ w for w in theirs)
    for out, right in zip(outputs, expected, strict=True):
        torch.testing.assert_close(out, right)
    sum(out.sin().sum() for out in outputs).backward()
    sum(right.sin().sum() for right in expected).backward()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.grad, b.grad)


def test_masks_of_different_blocks_differ(monkeypatch) -> None:
    monkeypatch.setattr(features, "BLOCK", 25)
    monkeypatch.setattr(features, "WIDE", 1)
    x = torch.ones(50, 8)
    (out,) = Inputs(x).dropout(0.5, Rng(0)).times([torch.eye(8)])
    assert not torch.equal(out[:25], out[25:])


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_dropout_is_unbiased(kind: str) -> None:
    inputs = sparse_inputs()[0] if kind == "sparse" else dense_inputs(dtype=torch.float32)
    (weight,) = weights(3, dtype=torch.float32)
    with torch.no_grad():
        (whole,) = inputs.times([weight])
        draws = torch.stack([inputs.dropout(0.5, Rng(s)).times([weight])[0] for s in range(600)])
    error = (draws.mean(0) - whole).abs()
    assert (error <= 5 * draws.std(0) / 600**0.5 + 1e-6).all()


def test_no_dropout_is_no_dropout() -> None:
    inputs = dense_inputs()
    assert inputs.dropout(0, Rng(0)) is inputs


@pytest.mark.parametrize("density", [1.0, 0.3])
def test_taken_rows_are_those_rows(density: float) -> None:
    graph = random_graph(density=density)
    rows = np.array([7, 2, 2, 19])
    x = graph.x if density == 1 else graph.x.toarray()
    eye = torch.eye(graph.num_features)
    (taken,) = Inputs.of(graph).take(rows).times([eye])
    np.testing.assert_array_equal(taken.numpy(), x[rows])
    assert Inputs.of(graph).take(None).rows == graph.num_nodes


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_aggregating_first_changes_nothing(p: float) -> None:
    graph = random_graph()
    block = Adjacency.of(graph).normalised
    inputs = Inputs.of(graph).dropout(p, Rng(0))
    weight = torch.randn(6, 20, generator=torch.Generator().manual_seed(0))
    assert inputs.aggregates_first(block, 20)
    a = torch.sparse_csr_tensor(block.indptr, block.indices, block.values, (30, 30)).to_dense()
    torch.testing.assert_close(inputs.aggregated(block).times([weight])[0], a @ inputs.times([weight])[0])


def test_wide_features_that_last_are_dropped_after_aggregating(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph()
    block = replace(Adjacency.of(graph).normalised, lasting=True)
    monkeypatch.setattr(features, "WIDE", 6)
    monkeypatch.setattr(features, "BLOCK", 8)
    inputs = Inputs.of(graph).dropout(0.5, Rng(0))
    assert inputs.aggregates_first(block, 1)
    a = torch.sparse_csr_tensor(block.indptr, block.indices, block.values, (30, 30)).to_dense()
    dropped = dropped_matrix(a @ torch.from_numpy(graph.x), 0.5, Rng(0), wide=True)
    torch.testing.assert_close(inputs.aggregated(block).times([torch.eye(6)])[0], dropped)


def test_an_aggregate_is_remembered_as_long_as_its_matrix_lives() -> None:
    graph = random_graph()
    inputs, adjacency = Inputs.of(graph), Adjacency.of(graph)
    block = replace(adjacency.normalised, lasting=True)
    assert inputs.aggregated(block).matrix is inputs.aggregated(block).matrix
    source, target = np.array(edge_list(graph)[:3]).T
    for _ in range(5):  # as every step of PAIRSIM does; without a limit, each epoch would keep an [N, d] matrix
        inputs.aggregated(replace(adjacency.without(source, target), lasting=True))
    gc.collect()
    assert len(inputs.aggregates) == 1
