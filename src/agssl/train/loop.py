"""The one training loop."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from agssl.base.errors import TrainingError
from agssl.base.rng import Rng
from agssl.base.world import World
from agssl.metrics import gain
from agssl.ops.adam import Adam
from agssl.store.checkpoints import Best, Checkpoint, CheckpointStore, Record, all_finite, without_choices

Score = Callable[[Record], tuple[float, float]]
Watch = Callable[[str, Record], None]  # hears of every epoch: the stage and its record


def ignore(stage: str, record: Record) -> None:
    """The watcher that does nothing."""


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train."""

    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 500
    patience: int | None = None  # stop after this many epochs without a better validation result, see `Plateau`
    least: int = 0  # epochs before one may be taken for the best


@dataclass(frozen=True)
class Training:
    """How the networks of a fit are trained."""

    schedule: Schedule = dataclasses.field(default_factory=Schedule)
    watch: Watch = ignore
    checkpoints: CheckpointStore | None = None  # where to keep what was trained, and to find what was


@dataclass(frozen=True)
class Objective:
    """What a training minimises, and the score that chooses its best epoch.

    Args:
        losses: gives, for each step of an epoch, the losses by name, among them `loss`, the one to minimise. The step
            of the optimizer is taken before it is asked for the next.
        score: what to compare epochs by, higher is better; the second figure breaks ties.
        evaluate: further figures of the epoch, given its losses.
    """

    losses: Callable[[int, Rng], Iterable[Mapping[str, Tensor]]]
    score: Score
    evaluate: Callable[[Record], Record] = lambda record: {}


OVER = 20  # epochs whose scores are averaged, since single ones go up and down by chance


class Plateau:
    """Whether patience is at its end: so many epochs have not raised the mean score of the last few.

    Args:
        patience: epochs to wait; None: for ever. Of one below `OVER`, as many epochs are averaged.
    """

    def __init__(self, patience: int | None) -> None:
        self.patience = patience
        self.last: deque[tuple[float, float]] = deque(maxlen=OVER if patience is None else min(OVER, patience))
        self.epochs, self.top = 0, 0  # those that there were, and the last that raised the mean
        self.mean = (-math.inf, -math.inf)

    def hear(self, score: tuple[float, float]) -> None:
        """Note the score of the next epoch."""
        self.last.append(score)
        mean = (sum(one for one, _ in self.last) / len(self.last), sum(tie for _, tie in self.last) / len(self.last))
        if mean > self.mean:
            self.mean, self.top = mean, self.epochs
        self.epochs += 1

    def reached(self, least: int = 0) -> bool:
        """Whether it has waited long enough, counted from an epoch on at the earliest."""
        return self.patience is not None and self.epochs - max(self.top, least) > self.patience


def train(
    module: nn.Module,
    parameters: list[nn.Parameter],
    objective: Objective,
    schedule: Schedule,
    rng: Rng,
    best: Best,
    *,
    checkpoint: Checkpoint | None = None,
    stage: str = "training",
) -> Iterator[Record]:
    """Minimise an objective, yielding one record per epoch; the best weights are kept in `best`.

    With a checkpoint, epochs that were trained before are yielded from there, and training goes on after them.

    Args:
        module: what to keep at its best; it may be a part of what learns.
        parameters: everything that learns.
        objective: what to minimise, and how to score an epoch.
        schedule: learning rate, decay, epochs, patience.
        rng: each epoch draws from its own child, so draws don't depend on the epochs before.
        best: filled in place, so that a caller that stops early has it too.
        checkpoint: where to keep what was trained, and to find what was.
        stage: what to call it in an error.
    """
    optimizer = Adam(parameters, schedule.lr, schedule.weight_decay)
    history = [] if checkpoint is None else checkpoint.load(best, optimizer)
    world = World.current()
    least = min(schedule.least, schedule.epochs - 1)
    plateau = Plateau(schedule.patience)
    for known in history:
        plateau.hear(objective.score(known))
        yield known
    for epoch in range(len(history), schedule.epochs):
        if plateau.reached(least):
            break
        steps: list[Record] = []
        for losses in objective.losses(epoch, rng.child(epoch)):
            optimizer.zero_grad()
            losses["loss"].backward()
            # of all processes: where one breaks down, all must stop
            steps.append(world.mean({name: loss.item() for name, loss in losses.items()}))
            check_finite({"epoch": epoch} | steps[-1], stage, schedule)
            optimizer.step()
        record: Record = {"epoch": epoch} | _means(steps)
        record |= world.broadcast(functools.partial(objective.evaluate, record))
        check_finite(record, stage, schedule)
        score = objective.score(record)
        plateau.hear(score)
        if epoch >= least:
            best.offer(epoch, score, module, record)
        if checkpoint is not None:
            checkpoint.add(record, best, optimizer)
        yield record
    # The last step of all is followed by no loss that would show it.
    if not all_finite(best.state.values()):
        raise _not_finite(["the weights"], best.epoch, stage, schedule)
    if checkpoint is not None:
        checkpoint.finish(best)


def _means(steps: Sequence[Record]) -> Record:
    """The losses of an epoch, averaged over its steps."""
    return {name: sum(step[name] for step in steps) / len(steps) for name in steps[0]}


def check_finite(record: Record, stage: str, schedule: Schedule) -> None:
    """Refuse to go on where training has broken down."""
    broken = [name for name, value in without_choices(record).items() if not math.isfinite(value)]
    if broken:
        raise _not_finite(broken, int(record["epoch"]), stage, schedule)


def _not_finite(broken: Sequence[str], epoch: int, stage: str, schedule: Schedule) -> TrainingError:
    """The error, with the likely cause: losses before the first step show the data, later ones the steps."""
    if epoch == 0 and "loss" in broken:
        cause = "the weights have not moved yet, so look for extreme features and scale them, e.g. to a few units"
    else:
        cause = f"the steps are too large: lower the learning rate (--lr, now {schedule.lr:g})"
    own = [name for name in broken if name not in ("loss", "task", "val_loss", "outer_loss", "the weights")]
    if "distill" in own or "weights" in own:
        cause += " or the weight of the teachers (--beta), or raise --tau"
    elif own:
        cause += f" or the weight of {own[0]} (--alpha)"
    verb = "are" if len(broken) > 1 or broken[0] == "the weights" else "is"
    return TrainingError(f"{stage}: {' and '.join(broken)} {verb} not finite at epoch {epoch}; {cause}")


def by_validation(record: Record) -> tuple[float, float]:
    """Higher validation accuracy first, then lower validation loss."""
    return record["val_accuracy"], -record["val_loss"]


def by_metric(metric: str) -> Score:
    """What chooses by a metric of the validation nodes: `by_validation`, or its like for another than accuracy."""
    if metric == "accuracy":
        return by_validation

    def score(record: Record) -> tuple[float, float]:
        return gain(metric, record[f"val_{metric}"]), -record["val_loss"]

    return score


def by_loss(record: Record) -> tuple[float, float]:
    """Lower training loss: the only choice while no label is looked at."""
    return -record["loss"], 0.0


def by_epoch(record: Record) -> tuple[float, float]:
    """The last epoch, whatever it gave."""
    return record["epoch"], 0.0
