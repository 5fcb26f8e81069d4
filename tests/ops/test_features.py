"""Features times weights, with dropout, sparse and dense."""

from __future__ import annotations

import gc

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


def dropped_matrix(x: torch.Tensor, p: float, rng: Rng) -> torch.Tensor:
    """dropout(X) written out: one mask a block of rows."""
    blocks = []
    for start in range(0, len(x), features.BLOCK):
        rows = x[start : start + features.BLOCK]
        blocks.append(rows * keep_mask(rows.shape, p, rng.child(start), rows.dtype))
    return torch.cat(blocks)


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
@pytest.mark.parametrize("block", [1024, 16], ids=["one block", "several blocks"])
def test_the_gradient_of_dense_dropout_is_autograds_on_the_dropped_matrix(monkeypatch, p: float, block: int) -> None:
    monkeypatch.setattr(features, "BLOCK", block)
    inputs, rng = dense_inputs(), Rng(5)
    explicit = dropped_matrix(inputs.matrix, p, rng)
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
    assert inputs.aggregates_first(20)
    a = torch.sparse_csr_tensor(block.indptr, block.indices, block.values, (30, 30)).to_dense()
    torch.testing.assert_close(inputs.aggregated(block) @ weight, a @ inputs.times([weight])[0])


def test_an_aggregate_is_remembered_as_long_as_its_matrix_lives() -> None:
    graph = random_graph()
    inputs, adjacency = Inputs.of(graph), Adjacency.of(graph)
    assert inputs.aggregated(adjacency.normalised) is inputs.aggregated(adjacency.normalised)
    source, target = np.array(edge_list(graph)[:3]).T
    for _ in range(5):  # as every step of PAIRSIM does; without a limit, each epoch would keep an [N, d] matrix
        inputs.aggregated(adjacency.without(source, target))
    gc.collect()
    assert len(inputs._aggregates) == 1
