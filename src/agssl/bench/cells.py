"""A cell of the grid: one method on one dataset with one seed, and what makes it the same cell."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agssl.base.plugins import plugin_hashes
from agssl.base.spec import Spec
from agssl.config import Settings, effective
from agssl.encoders import ENCODERS
from agssl.integrate import INTEGRATORS
from agssl.pretext.prepare import make_task, partition_plan

BENCHMARK = "benchmark"  # the split of cells that name no other
SCHEMA = 2  # raise it when records change their meaning: older ones are then run again


@dataclass(frozen=True, eq=False)
class Cell:
    """One fit to be measured. Two cells with the same key are the same, whichever table asks for them."""

    dataset: str
    method: str  # a name of `agssl.bench.methods`
    settings: Settings
    seed: int
    curves: bool = False  # keep learning curves too
    cost: bool = False  # measure time and memory: in a process of its own, one at a time, nothing taken from a cache
    config: str | None = None  # the shipped config that settings came from; what it says is in the settings
    whole: bool = False  # take nothing from other cells: its time is that of a fit, and its teachers are compared
    tries: tuple[str, ...] = ()  # networks or classifiers, named as teachers are, of which validation chooses one
    split: str = BENCHMARK  # of the graph, see `agssl.data.splits`
    study: str = ""  # what is measured in place of predictions: a name of `agssl.bench.studies`, with its settings

    @cached_property
    def key(self) -> str:
        """A hash of the dataset, the settings that count, their plug-ins, the seed, and how it is measured."""
        settings = effective(self.settings)
        named = settings.get("tasks", ())
        choose = {task: make_task(task).alphas for task in named if self.settings.alpha_of(task) is None}
        settings |= {"alphas": choose} if choose else {}
        kinds: list[type] = [type(make_task(task)) for task in self.settings.all_tasks]
        integration = settings.get("integration", "")
        kinds += [INTEGRATORS[integration]] if integration in INTEGRATORS else []
        kinds.append(ENCODERS[Spec.parse(self.settings.encoder).name])
        hashes = plugin_hashes(*kinds)
        settings |= {"plugins": hashes} if hashes else {}
        settings |= partition_plan(self.settings)
        parts = [SCHEMA, self.dataset, settings, self.seed, self.cost]
        parts += [["whole", *self.tries]] if self.whole else []
        parts += [["split", self.split]] if self.split != BENCHMARK else []
        parts += [["study", self.study]] if self.study else []
        return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=8).hexdigest()

    @property
    def strategy(self) -> str | None:
        """jt or pf; None for a plain GCN, where there is nothing to choose."""
        return self.settings.strategy if self.settings.has_strategy else None

    @property
    def teacher_group(self) -> tuple[str, int, str, bool]:
        """Cells of one group train the same teachers, so it pays to run them one after the other."""
        kind = self.method if self.whole else self.settings.strategy
        return self.dataset, self.seed, kind if self.split == BENCHMARK else f"{kind}-{self.split}", self.cost

    @property
    def duration_group(self) -> tuple[str, str, str | None, bool, bool]:
        """Cells of one group take about as long."""
        return self.dataset, self.method, self.strategy, self.cost, self.whole

    def __str__(self) -> str:
        split = None if self.split == BENCHMARK else f"split {self.split}"
        parts = [
            self.dataset,
            self.method,
            self.strategy,
            split,
            self.study,
            "cost" if self.cost else None,
            f"seed {self.seed}",
        ]
        return " ".join(part for part in parts if part)


def file_stem(dataset: str) -> str:
    """A dataset as part of a file's name: a graph of the user's own comes as a path.

    >>> file_stem("/some where/my graph.csv")
    'my-graph'
    """
    return re.sub(r"[^\w.+-]+", "-", Path(dataset).stem)


def unique(cells: Iterable[Cell]) -> list[Cell]:
    """Each cell once; if any asks for curves, the one that is kept does."""
    kept: dict[str, Cell] = {}
    for cell in cells:
        if cell.key not in kept or (cell.curves and not kept[cell.key].curves):
            kept[cell.key] = cell
    return list(kept.values())
