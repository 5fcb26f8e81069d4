"""The checkpoint store: one file per stage, found again by a hash of all that decides its result.

A stage is one training of one network: a teacher at one loss weight, a fold, a student, the plain GCN. While it trains,
its file holds the last checkpoint; when it is done, the best weights and the records of all epochs. Asked for the same
training again, whether after a kill or in another trial that differs elsewhere, the loop goes on from the checkpoint or
takes the result. Both are bit-equal to training without a break: random draws are keyed by epoch, so weights,
optimiser state and the best epoch so far are all there is to know.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from agssl.base.atomic import write_bytes
from agssl.base.errors import DataError
from agssl.base.plugins import loaded_plugins
from agssl.base.version import __version__
from agssl.base.world import World

log = logging.getLogger("agssl")

FORMAT = "agssl-stage"
SCHEMA = 1
_ABOUT = {"done", "best_epoch", "best_score", "best_record", "history"}
OVERHEAD = 50  # train at least this many times as long as the last checkpoint took to write: below 2%


Record = dict[str, float]  # figures of one epoch by name


_WORST = (-math.inf, -math.inf)


def choice_of(fold: int, score: float, tie: float) -> Record:
    """The part of a record by which the epoch of one fold's network is chosen."""
    return {f"choice{fold}": score, f"choice{fold}_tie": tie}


def without_choices(record: Record) -> Record:
    """The part of a record that concerns all folds."""
    return {name: value for name, value in record.items() if not name.startswith("choice")}


class Optimizer(Protocol):
    """What a checkpoint reads of an optimizer: its state by the number of the parameter, and by name."""

    def state_dict(self) -> dict[str, Any]: ...  # noqa: D102
    def load_state_dict(self, state_dict: dict[str, Any], /) -> None: ...  # noqa: D102


@dataclasses.dataclass
class Best:
    """The best epoch so far and the weights it had.

    With several folds, the module is a list of what each of them trains, and each keeps the weights of an epoch of its
    own, chosen by the others (`choice_of`); epoch, score and record are those that are best for all together.
    """

    epoch: int = -1
    score: tuple[float, float] = _WORST
    state: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    record: Record = dataclasses.field(default_factory=dict)
    folds: int = 1
    choices: dict[int, tuple[float, float]] = dataclasses.field(default_factory=dict)  # best score of each fold

    def offer(self, epoch: int, score: tuple[float, float], module: nn.Module, record: Record) -> None:
        """Take this epoch if it is better; later ones win nothing by a tie."""
        kept = tuple(f"{fold}." for fold in self.recall(record))
        if score > self.score:
            self.epoch, self.score, self.record = epoch, score, record
            kept = kept if self.folds > 1 else ("",)
        for name, tensor in module.state_dict().items() if kept else ():
            if name.startswith(kept):
                self.state[name] = tensor.detach().clone()

    def recall(self, record: Record) -> set[int]:
        """Note how good an epoch was for each fold; gives those for which it was the best so far."""
        found = {
            fold: (record[f"choice{fold}"], record[f"choice{fold}_tie"])
            for fold in range(self.folds)
            if f"choice{fold}" in record
        }
        better = {fold for fold, score in found.items() if score > self.choices.get(fold, _WORST)}
        self.choices |= {fold: found[fold] for fold in better}
        return better


@dataclasses.dataclass(frozen=True)
class CheckpointStore:
    """A folder of checkpoints, one per stage. Several processes may share it: a file is there in full or not at all."""

    folder: Path
    every: float = 10.0  # seconds between checkpoints of a training; 0 for one per epoch
    min_seconds: float = 0.5  # a training that takes fewer seconds is sooner done again than kept
    writes: bool = True  # of several processes that train together, one writes

    def checkpoint(self, module: nn.Module, **cache_key: Any) -> Checkpoint:
        """The checkpoint of a training.

        Args:
            module: all that changes while it trains, at its start: networks, heads, integrators, with their buffers.
            cache_key: everything else that decides the result; see `fingerprint` for what it may be made of.
        """
        key = fingerprint(_program(), module.state_dict(), cache_key)
        return Checkpoint(self.folder / f"{key}.safetensors", module, self.every, self.min_seconds, self.writes)

    def choice(self, **cache_key: Any) -> Choice:
        """The note of a choice between trainings; `cache_key` is everything that decides it."""
        return Choice(self.folder / f"{fingerprint(_program(), cache_key)}.json", self.writes)


def _program() -> tuple[object, ...]:
    """Sums come out differently with other threads, and everything may with other versions or plug-ins."""
    plugins = (plugin.sha256 for plugin in loaded_plugins())
    return SCHEMA, __version__, torch.__version__, torch.get_num_threads(), *plugins


@dataclasses.dataclass(frozen=True)
class Choice:
    """Which of several trainings was the best of all, so that the others need not be begun again to find out."""

    path: Path
    writes: bool = True

    def load(self) -> int | None:
        """Its number; None where it is not known, or the note can't be read."""
        return World.current().broadcast(self._read)

    def _read(self) -> int | None:
        try:
            return int(json.loads(self.path.read_text(encoding="utf-8"))["choice"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, number: int) -> None:
        """Note it."""
        if self.writes:
            write_bytes(self.path, json.dumps({"choice": number}).encode())


class Checkpoint:
    """The file of one training, as the loop uses it: `load`, then `add` every epoch, `finish` at the end."""

    def __init__(self, path: Path, module: nn.Module, every: float, min_seconds: float, writes: bool = True) -> None:
        self.path, self.module, self.every, self.min_seconds, self.writes = path, module, every, min_seconds, writes
        self.history: list[Record] = []
        self.done = False
        self._start = self._saved = time.monotonic()
        self._cost = 0.0

    def load(self, best: Best, *optimizers: Optimizer) -> list[Record]:
        """Take up an earlier training, if there is one; gives the records of the epochs it had."""
        found = World.current().broadcast(lambda: read_checkpoint(self.path))
        if found is None:
            return []
        tensors, about = found
        self.done, self.history = bool(about["done"]), list(about["history"])
        best.epoch, best.record = int(about["best_epoch"]), dict(about["best_record"])
        first, second = about["best_score"]
        best.score, best.state = (first, second), _under(tensors, "best")
        for record in self.history:
            best.recall(record)
        if not self.done:
            self.module.load_state_dict(_under(tensors, "module"))
            for which, optimizer in enumerate(optimizers):
                state: dict[int, dict[str, Tensor]] = {}
                for name, tensor in _under(tensors, f"optimizer{which or ''}").items():
                    number, _, entry = name.partition(".")
                    state.setdefault(int(number), {})[entry] = tensor
                optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
        return self.history

    def add(self, record: Record, best: Best, *optimizers: Optimizer) -> None:
        """Note an epoch, and write the checkpoint if the last one is old enough."""
        self.history.append(record)
        start = time.monotonic()
        if self.every and start - self._saved < max(self.every, OVERHEAD * self._cost):
            return
        parts = {"module": self.module.state_dict()}
        for which, optimizer in enumerate(optimizers):
            states = optimizer.state_dict()["state"].items()
            parts[f"optimizer{which or ''}"] = {f"{k}.{name}": t for k, state in states for name, t in state.items()}
        self._write(best, parts, done=False)
        self._saved = time.monotonic()
        self._cost = self._saved - start

    def finish(self, best: Best) -> None:
        """Keep the result of a training that is done."""
        if not self.done and time.monotonic() - self._start >= self.min_seconds:
            self._write(best, {}, done=True)

    def _write(self, best: Best, parts: Mapping[str, Mapping[str, Tensor]], done: bool) -> None:
        if not self.writes:
            return
        # clones: safetensors refuses tensors that share memory, as tied weights do
        tensors = {
            f"{part}.{name}": tensor.detach().cpu().clone().contiguous()
            for part, state in {**parts, "best": best.state}.items()
            for name, tensor in state.items()
        }
        if not all_finite(tensors.values()):
            return  # training is about to break down; the checkpoint before is of more use
        about = {
            "done": done,
            "best_epoch": best.epoch,
            "best_score": best.score,
            "best_record": best.record,
            "history": self.history,
        }
        write_bytes(self.path, save(tensors, {"format": FORMAT, "schema": str(SCHEMA), "about": json.dumps(about)}))


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """The tensors and the facts of a stage; None where there is no file, or none that can be read."""
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            if header.get("format") == FORMAT and int(header["schema"]) > SCHEMA:
                raise DataError(f"{path} has schema {header['schema']}, but this version reads up to {SCHEMA}; upgrade")
            about = json.loads(header["about"])
            if not about.keys() >= _ABOUT:
                raise ValueError("it lacks a part")
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118 (not a mapping)
    except DataError:
        raise
    except Exception as error:  # a damaged file can raise almost anything, and its training can be done again
        log.info("the checkpoint %s is damaged (%s); its training starts again", path, error)
        return None


def all_finite(tensors: Iterable[Tensor]) -> bool:
    """Whether no figure is infinite or NaN."""
    return all(bool(torch.isfinite(tensor).all()) for tensor in tensors)


def fingerprint(*values: Any) -> str:
    """A hash of values made of numbers, text, arrays, tensors, sequences, mappings and dataclasses; else of their repr.

    >>> fingerprint({"a": 1, "b": (2.0, None)}) == fingerprint({"b": [2.0, None], "a": 1})
    True
    """
    digest = hashlib.blake2b(digest_size=16)
    _feed(digest, values)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    if isinstance(value, Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray):
        digest.update(f"array {value.dtype} {value.shape};".encode())
        digest.update(np.ascontiguousarray(value).data)
    elif dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        _feed(digest, (type(value).__name__, fields))
    elif isinstance(value, Mapping):
        digest.update(f"mapping {len(value)};".encode())
        for key in sorted(value):
            _feed(digest, (key, value[key]))
    elif isinstance(value, tuple | list):
        digest.update(f"sequence {len(value)};".encode())
        for item in value:
            _feed(digest, item)
    else:
        plain = value.item() if isinstance(value, np.generic) else value  # a number of NumPy is that number
        digest.update(f"{type(plain).__name__} {plain!r};".encode())


def _under(tensors: Mapping[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name.removeprefix(f"{part}."): tensor for name, tensor in tensors.items() if name.startswith(f"{part}.")}
