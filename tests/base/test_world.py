"""Two processes that train one network together (without Ray)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.multiprocessing.spawn import spawn

from agssl.base.rng import Rng
from agssl.base.world import World
from agssl.encoders import Network
from agssl.train.methods import train_method
from agssl.train.setup import batches_of, problem_of
from reference import dense
from reference.graphs import blocks_graph
from reference.together import CASES, LONGER, begin

Found = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """What each of the two has found."""
    folder = tmp_path_factory.mktemp("together")
    spawn(begin, (str(folder), 2), 2)
    first, second = (torch.load(folder / f"found-{rank}", weights_only=False) for rank in range(2))
    first["files"], second["files"] = (len(list(Path(folder).glob(f"stages-{rank}/*"))) for rank in range(2))
    return first, second


def same(one: Any, other: Any) -> bool:
    """Whether two things are equal to the bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


@pytest.mark.parametrize("case", CASES)
def test_both_end_with_the_same_bits(both: Found, case: str) -> None:
    first, second = (found[case] for found in both)
    assert same(first, second)
    assert same(first["own"], first["logits"])
    alone = train_method(blocks_graph(), CASES[case], seed=1)
    assert torch.isfinite(first["logits"]).all() and not torch.equal(first["logits"], alone.logits)
    assert {stage: len(records) for stage, records in first["history"].items()} == {
        stage: len(records) for stage, records in alone.history.items()
    }


def test_the_first_step_takes_the_mean_of_the_gradients_of_two_parts(both: Found) -> None:
    graph, how = blocks_graph(), CASES["gcn"]
    problem = problem_of(graph, how)
    problem.__dict__["batches"] = batches_of(problem.graph, how)
    rng = Rng(1).child("gcn")
    model = Network(problem.shape, rng.child("model"))
    total = torch.zeros(())
    for _, (part, _) in zip(range(2), problem.steps(rng.child("train", 0), True), strict=False):
        whole = dense.normalised_of(graph)[part.nodes]
        cut = whole[:, part.nodes]
        cut *= (whole.sum(1) / cut.sum(1))[:, None]  # rows keep their sums
        _, logits = dense.gcn(model, cut, dense.dense_features(part.graph))
        labels = torch.from_numpy(part.graph.y[part.train_nodes])
        total = total + F.cross_entropy(logits[part.train_nodes].float(), labels) / 2
    expected = torch.autograd.grad(total, list(model.parameters()))
    for found in both:
        for mine, theirs in zip(found["gradient"], expected, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-6)


def test_a_stopped_training_goes_on_from_what_the_first_has_written(both: Found) -> None:
    for found in both:
        assert found["stopped"] and same(found["resumed"], found["straight on"])
    assert (both[0]["files"], both[1]["files"]) == (len(both[0]["resumed"]["history"]), 0)


def test_how_many_train_together_decides_the_result(both: Found) -> None:
    assert both[0]["fingerprint"] == both[1]["fingerprint"] != problem_of(blocks_graph(), LONGER).fingerprint


def test_where_one_breaks_down_all_stop(both: Found) -> None:
    assert both[0]["broken"] == both[1]["broken"]
    assert "loss is not finite at epoch 1" in both[0]["broken"]


def test_what_the_processes_say_to_each_other(both: Found) -> None:
    assert same(both[0]["figures"]["aligned"], torch.tensor([0.5]))
    assert [found["figures"]["agreed"].flatten().tolist() for found in both] == [[5, 1, 12, 3], [5, 1, 12, 13]]
    for found in both:
        assert found["figures"]["seen"].tolist() == [True, True, True, False]
        assert found["figures"]["told"] == {"rank": 0} and found["figures"]["mean"] == {"rank": 0.5}


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 10])
def test_every_process_has_as_many_items_and_all_are_had(size: int, count: int) -> None:
    items = [f"item {number}" for number in range(count)]
    shares = [list(World(rank, size).shard(iter(items))) for rank in range(size)]
    assert {len(share) for share in shares} == {-(-count // size)}
    assert {number for share in shares for number, _ in share} == set(range(count))
    assert all(item == items[number] for share in shares for number, item in share)
    for rank, share in enumerate(shares):
        whole = count // size
        assert [number for number, _ in share[:whole]] == list(range(rank, whole * size, size))
