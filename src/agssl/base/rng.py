"""Randomness as an argument: a tree of named, independent streams under one seed.

Every component asks for a child by name, every epoch for a child by number. So adding a task never changes another
task's draws, results do not depend on the order or the process in which things run, and a resumed run needs no
generator state: the draws of epoch t are a function of (seed, component, t).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Rng:
    """A node in the tree of streams.

    >>> Rng(0).child("dgi", 3) == Rng(0).child("dgi").child(3)
    True
    """

    seed: int
    path: tuple[str | int, ...] = ()

    def child(self, *names: str | int) -> Rng:
        """The stream below this one with that name (or those names, one below the other)."""
        return Rng(self.seed, self.path + names)

    def key(self) -> int:
        """64 bits that depend on the seed and the whole path."""
        # int(): an integer of NumPy is that number, though it prints differently
        text = repr(tuple(part if isinstance(part, str) else int(part) for part in (self.seed, *self.path))).encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")

    def numpy(self) -> np.random.Generator:
        """A fresh NumPy generator at the start of this stream (SFC64: the fastest one for masks)."""
        return np.random.Generator(np.random.SFC64(self.key()))

    def torch(self) -> torch.Generator:
        """A fresh torch CPU generator at the start of this stream."""
        return torch.Generator().manual_seed(self.key() & 0x7FFFFFFFFFFFFFFF)
