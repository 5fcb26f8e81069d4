"""What two processes that train together are given to do: they import it from here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from agssl.base.errors import TrainingError
from agssl.base.rng import Rng
from agssl.base.world import World, wrap_ddp
from agssl.config import Settings
from agssl.ops.adam import Adam
from agssl.store.checkpoints import Best, CheckpointStore
from agssl.train.infer import infer_logits
from agssl.train.loop import Objective, Schedule, by_epoch, train
from agssl.train.methods import MethodResult, train_method
from agssl.train.setup import problem_of
from reference.graphs import blocks_graph
from reference.settings import quick

PARTS: dict[str, Any] = {"batch": "partition", "batch_nodes": 13}  # five steps per epoch, and so a short round for two
CASES: dict[str, Settings] = {
    "gcn": quick(method="gcn", dropout=0.0, input_dropout=0.0, **PARTS),
    "par jt": quick(method="single", tasks=("par:parts=4",), **PARTS),
    "bgrl jt": quick(method="single", tasks=("bgrl",), norm="batch", **PARTS),
    "pairdis pf": quick(method="single", tasks=("pairdis",), strategy="pf", **PARTS),
    "agssl jt": quick(tasks=("clu", "dgi"), **PARTS),
    "agssl pf": quick(tasks=("clu", "pairsim"), strategy="pf", integration="was", norm="batch", **PARTS),
}
LONGER = quick(tasks=("clu", "pairdis"), epochs=5, integration="was", norm="batch", **PARTS)


class StopError(Exception):
    """As if the processes were lost."""


def stop(stage: str, record: dict[str, float]) -> None:
    """Be lost in the middle of the student."""
    if stage == "student" and record["epoch"] == 2:
        raise StopError


def begin(rank: int, folder: str, size: int) -> None:
    """One of the processes: keeps what came of each case in a file of its own."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=size)
    graph = blocks_graph()
    found: dict[str, Any] = {name: outcome(train_method(graph, how, seed=1)) for name, how in CASES.items()}
    found["gradient"] = first_gradient()
    # what the others have in their folders must not matter, and they must not write
    checkpoints = CheckpointStore(Path(folder) / f"stages-{rank}", every=0, min_seconds=0, writes=World.current().first)
    found["straight on"] = outcome(train_method(graph, LONGER, seed=1))
    try:
        train_method(graph, LONGER, seed=1, watch=stop, checkpoints=checkpoints)
    except StopError:
        found["stopped"] = True
    found["resumed"] = outcome(train_method(graph, LONGER, seed=1, checkpoints=checkpoints))
    found["broken"] = broken(rank)
    found["figures"] = figures(rank)
    found["fingerprint"] = problem_of(graph, LONGER).fingerprint
    torch.save(found, f"{folder}/found-{rank}")
    dist.destroy_process_group()


def outcome(result: MethodResult) -> dict[str, Any]:
    """All of a fit, with logits that this process has computed from its own network."""
    own = torch.from_numpy(infer_logits(result.model, blocks_graph()))
    state = result.model.state_dict()
    return {"logits": result.logits, "own": own, "state": state, "history": result.history, "weights": result.weights}


def first_gradient() -> list[torch.Tensor]:
    """The gradient of the first step of the plain GCN."""
    seen: list[list[torch.Tensor]] = []
    step = Adam.step

    def spy(self: Adam) -> None:
        seen.append([p.grad.clone() for p in self.parameters if p.grad is not None])
        step(self)

    Adam.step = spy  # type: ignore[method-assign]
    try:
        train_method(blocks_graph(), CASES["gcn"], seed=1)
    finally:
        Adam.step = step  # type: ignore[method-assign]
    return seen[0]


def broken(rank: int) -> str:
    """The error of a training whose loss is no number in one process only."""
    module = nn.Linear(2, 1)
    step_of = wrap_ddp(module, lambda factor: {"loss": factor * module(torch.ones(1, 2)).sum()})
    epochs = train(
        module,
        list(module.parameters()),
        Objective(lambda epoch, rng: iter([step_of(float("nan") if epoch == 1 and rank == 1 else 1.0)]), by_epoch),
        Schedule(epochs=3),
        Rng(0),
        Best(),
    )
    try:
        list(epochs)
    except TrainingError as error:
        return str(error)
    return "none"


def figures(rank: int) -> dict[str, Any]:
    """What the processes say to each other."""
    world = World.current()
    seen, values = torch.tensor([True, rank == 0, rank == 1, False]), torch.arange(4.0)[:, None] + 10 * rank
    world.average_rows(seen, values)
    norm = nn.BatchNorm1d(1)
    assert norm.running_mean is not None
    norm.running_mean.fill_(rank)
    world.sync_buffers(norm)
    told = world.broadcast(lambda: {"rank": rank})
    mean = world.mean({"rank": float(rank)})
    return {"agreed": values, "seen": seen, "aligned": norm.running_mean, "told": told, "mean": mean}
