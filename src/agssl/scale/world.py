"""Several processes that train one network together: each takes its share of the mini-batches of an epoch.

Every process holds the same network, and torch's DistributedDataParallel averages the gradients of each step, so that
all of them take the same step. All judge every epoch alike; only the first one writes. The result depends on how many
there are, and not on where they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import nn

T = TypeVar("T")


@dataclass(frozen=True)
class World:
    """Which of how many processes this one is; one of one, unless torch.distributed was set up."""

    rank: int = 0
    size: int = 1

    @classmethod
    def current(cls) -> World:
        """That of this process."""
        if dist.is_available() and dist.is_initialized():
            return cls(dist.get_rank(), dist.get_world_size())
        return cls()

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes."""
        return self.rank == 0

    def share(self, items: Iterable[T]) -> Iterator[tuple[int, T]]:
        """The items of this process with their numbers, as many as any other has: short rounds take the first again."""
        if self.size == 1:
            yield from enumerate(items)
            return
        listed = list(items)
        for start in range(self.rank, len(listed) + self.rank, self.size):
            number = start % len(listed)
            yield number, listed[number]

    def mean(self, record: dict[str, float]) -> dict[str, float]:
        """Each figure averaged over the processes."""
        if self.size == 1:
            return record
        values = torch.tensor(list(record.values()), dtype=torch.float64)
        dist.all_reduce(values)
        return dict(zip(record, (values / self.size).tolist(), strict=True))

    def wait(self) -> None:
        """Until all are here."""
        if self.size > 1:
            dist.barrier()


class _Step(nn.Module):
    """A function as a module that owns what learns in it: what DistributedDataParallel wants."""

    def __init__(self, learns: nn.Module, call: Callable) -> None:
        super().__init__()
        self.learns, self.call = learns, call

    def forward(self, *arguments: object) -> object:
        return self.call(*arguments)


def together(learns: nn.Module, call: Callable[..., T]) -> Callable[..., T]:
    """The function, such that gradients of what it gives back are averaged over all processes.

    Args:
        learns: holds every parameter that the function uses.
        call: gives a mapping of losses.
    """
    if World.current().size == 1:
        return call
    # A stage may leave parameters out, as pre-training does with the class head.
    return nn.parallel.DistributedDataParallel(_Step(learns, call), find_unused_parameters=True)
