"""A cell of the grid: one method on one dataset with one seed; its identity, and its record on disk."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agssl.base.atomic import write_text
from agssl.base.plugins import plugin_hashes
from agssl.config import Settings, effective
from agssl.integrate import INTEGRATORS
from agssl.pretext.prepare import make_task

log = logging.getLogger("agssl")

FORMAT = "agssl-bench"
SCHEMA = 1  # raise it when records change their meaning: older ones are then run again

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Cell:
    """One fit to be measured. Two cells with the same key are the same, whichever table asks for them."""

    dataset: str
    method: str  # a name of `agssl.bench.methods`
    settings: Settings
    seed: int
    curves: bool = False  # keep learning curves too
    fresh: bool = False  # measure time and memory: in a process of its own, one at a time, nothing taken from a cache
    config: str | None = None  # the shipped config that settings came from; what it says is in the settings

    @cached_property
    def key(self) -> str:
        """A hash of the dataset, the settings that count, their plug-ins, the seed, and whether cost is measured."""
        settings = effective(self.settings)
        named = settings.get("tasks", ())
        choose = {task: make_task(task).alphas for task in named if self.settings.alpha_of(task) is None}
        settings |= {"alphas": choose} if choose else {}
        kinds: list[type] = [type(make_task(task)) for task in named]
        integration = settings.get("integration", "")
        kinds += [INTEGRATORS[integration]] if integration in INTEGRATORS else []
        hashes = plugin_hashes(*kinds)
        settings |= {"plugins": hashes} if hashes else {}
        identity = [SCHEMA, self.dataset, settings, self.seed, self.fresh]
        return hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=8).hexdigest()

    @property
    def strategy(self) -> str | None:
        """jt or pf; None for a plain GCN, where there is nothing to choose."""
        return None if self.settings.method == "gcn" else self.settings.strategy

    @property
    def group(self) -> tuple[str, int, str, bool]:
        """Cells of one group train the same teachers, so it pays to run them one after the other."""
        return self.dataset, self.seed, self.settings.strategy, self.fresh

    @property
    def kind(self) -> tuple[str, str, str | None, bool]:
        """Cells of one kind take about as long."""
        return self.dataset, self.method, self.strategy, self.fresh

    @property
    def path(self) -> str:
        """Where the record is, below the folder of results."""
        parts = [self.method, *([self.strategy] if self.strategy else []), *(["cost"] if self.fresh else [])]
        return f"{folder_name(self.dataset)}/{'-'.join(parts)}-{self.seed}-{self.key[:8]}.json"

    def __str__(self) -> str:
        parts = [self.dataset, self.method, self.strategy, "cost" if self.fresh else None, f"seed {self.seed}"]
        return " ".join(part for part in parts if part)


def folder_name(dataset: str) -> str:
    """A dataset as the name of a folder: a graph of the user's own comes as a path."""
    return re.sub(r"[^\w.+-]+", "-", Path(dataset).stem)


class Records:
    """The records in a folder, by the keys of their cells."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._found: dict[str, Record] = {}
        for path in sorted(self.folder.glob("*/*.json")):
            self._take(path)

    def _take(self, path: Path) -> None:
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            log.warning("%s is damaged and passed over; its cell counts as missing", path)
            return
        if isinstance(record, dict) and (record.get("format"), record.get("schema")) == (FORMAT, SCHEMA):
            self._found[record["key"]] = record

    def get(self, cell: Cell) -> Record | None:
        """The record of a cell, or None: it is missing, or lacks the curves that are asked for."""
        record = self._found.get(cell.key)
        return None if record is None or (cell.curves and "curves" not in record) else record

    def of(self, cells: Iterable[Cell]) -> list[Record]:
        """The records that there are of these cells, in their order."""
        return [record for cell in cells if (record := self.get(cell)) is not None]

    def add(self, record: Record) -> None:
        """Know a record that has been written meanwhile."""
        self._found[record["key"]] = record

    def __iter__(self) -> Iterator[Record]:
        return iter(self._found.values())


def write_record(folder: str | Path, cell: Cell, record: Record) -> None:
    """Put a record in its place, whole or not at all; one line a figure's list keeps it small."""
    write_text(Path(folder) / cell.path, json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n")


def unique(cells: Iterable[Cell]) -> list[Cell]:
    """Each cell once; if any asks for curves, the one that is kept does."""
    kept: dict[str, Cell] = {}
    for cell in cells:
        if cell.key not in kept or (cell.curves and not kept[cell.key].curves):
            kept[cell.key] = cell
    return list(kept.values())
