"""Streams of randomness."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agssl.base.rng import Rng


def test_a_stream_starts_over_whenever_it_is_asked_for() -> None:
    rng = Rng(3).child("dgi", 7)
    assert rng.numpy().random(5).tolist() == rng.numpy().random(5).tolist()
    one, two = (torch.rand(5, generator=rng.torch()) for _ in range(2))
    assert torch.equal(one, two)


def test_names_can_be_given_one_by_one() -> None:
    assert Rng(0).child("a", 1) == Rng(0).child("a").child(1)
    assert Rng(0).child("a", 1).key() == Rng(0).child("a").child(1).key()


def test_different_paths_and_seeds_are_different_streams() -> None:
    paths = [
        Rng(seed).child(*path) for seed in range(3) for path in [(), ("a",), ("b",), ("a", 1), ("a", "1"), (1, "a")]
    ]
    paths += [Rng(0).child("a", "b"), Rng(0).child("ab"), Rng(0).child("a, b"), Rng(0).child("a', 'b")]
    assert len({rng.key() for rng in paths}) == len(paths)
    assert len({rng.numpy().integers(2**62) for rng in paths}) == len(paths)
    assert len({rng.torch().initial_seed() for rng in paths}) == len(paths)


def test_keys_do_not_change_between_versions() -> None:
    # results of saved runs depend on these
    assert Rng(0).key() == 5263075011782779848
    assert Rng(1).child("teacher", "par", 3).key() == 1471866993054132574


@pytest.mark.parametrize("number", [np.int64(3), np.int32(3), np.uint8(3)])
def test_a_number_of_numpy_is_that_number(number: np.integer) -> None:
    assert Rng(number).key() == Rng(3).key()  # type: ignore[arg-type]
    assert Rng(0).child("epoch", number).key() == Rng(0).child("epoch", 3).key()  # type: ignore[arg-type]


def test_sibling_streams_are_not_correlated() -> None:
    draws = np.stack([Rng(0).child(epoch).numpy().random(4000) for epoch in range(10)])
    correlation = np.corrcoef(draws) - np.eye(10)
    assert np.abs(correlation).max() < 0.08
