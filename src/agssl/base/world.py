"""Several processes that train one network together: each takes its share of the mini-batches of an epoch.

Every process holds the same network, and torch's DistributedDataParallel averages the gradients of each step, so that
all of them take the same step. The first one evaluates every epoch, reads and writes checkpoints, and tells the others.
The result depends on how many there are, and not on where they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn

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

    def shard(self, items: Iterable[T]) -> Iterator[tuple[int, T]]:
        """The items of this process with their numbers, as many as any other has: a short round begins anew."""
        first: list[T] = []
        count = 0
        for count, item in enumerate(items, 1):
            if len(first) < self.size - 1:  # a short round lacks at most so many
                first.append(item)
            if (count - 1) % self.size == self.rank:
                yield count - 1, item
        if self.rank >= count % self.size > 0:
            again = (self.rank - count % self.size) % count
            yield again, first[again]

    def mean(self, record: dict[str, float]) -> dict[str, float]:
        """Each figure averaged over the processes."""
        if self.size == 1:
            return record
        values = torch.tensor(list(record.values()), dtype=torch.float64)
        dist.all_reduce(values)
        return dict(zip(record, (values / self.size).tolist(), strict=True))

    def broadcast(self, find: Callable[[], T]) -> T:
        """What the first process finds."""
        if self.size == 1:
            return find()
        box = [find() if self.first else None]
        dist.broadcast_object_list(box)
        return cast(T, box[0])

    def sync_buffers(self, module: nn.Module) -> None:
        """Average the buffers of a module, which each process has changed by its own mini-batches."""
        for buffer in module.buffers() if self.size > 1 else ():
            if buffer.is_floating_point():
                dist.all_reduce(buffer)
                buffer /= self.size

    def average_rows(self, seen: Tensor, *values: Tensor) -> None:
        """Each row becomes the mean of the processes that have seen it, in place; a row that none has seen stays.

        `seen` (bool, one per row) becomes whether any has.
        """
        if self.size == 1:
            return
        count = seen.float()[:, None]
        dist.all_reduce(count)
        for value in values:
            total = value * seen[:, None]
            dist.all_reduce(total)
            value.copy_(torch.where(count > 0, total / count.clamp_min(1), value))
        seen.copy_(count[:, 0] > 0)


class _Step(nn.Module):
    """A function as a module that owns what learns in it: what DistributedDataParallel wants."""

    def __init__(self, learns: nn.Module, call: Callable) -> None:
        super().__init__()
        self.learns, self.call = learns, call

    def forward(self, *arguments: object) -> object:
        return self.call(*arguments)


def wrap_ddp(learns: nn.Module, call: Callable[..., T]) -> Callable[..., T]:
    """The function, such that gradients of what it gives back are averaged over all processes.

    Args:
        learns: holds every parameter that the function uses.
        call: gives a mapping of losses.
    """
    if World.current().size == 1:
        return call
    # A stage may leave parameters out, as pre-training does with the class head. Buffers are averaged once per epoch.
    step = _Step(learns, call)
    return nn.parallel.DistributedDataParallel(step, find_unused_parameters=True, broadcast_buffers=False)
