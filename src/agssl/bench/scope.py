"""What of the grid is asked for: datasets, methods, seeds, settings; and the cells that this makes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agssl.bench.cells import BENCHMARK, Cell
from agssl.bench.methods import Method, choose
from agssl.data.catalog import SPECS
from agssl.shipped import FOLDER

PAPER_DATASETS = (
    "cora",
    "citeseer",
    "pubmed",
    "cs",
    "physics",
    "photo",
    "computers",
    "ogbn-arxiv",
)  # the paper's order
PRACTICE = tuple(
    f"practice/{name}.npz"  # below AGSSL_DATA
    for name in (
        "texas",
        "wisconsin",
        "chameleon_filtered",
        "actor",
        "blogcatalog",
        "cora_ml",
        "acm",
        "twitch_en",
        "minesweeper",
    )
)  # graphs of other kinds
CLOSE_UPS = ("citeseer", "cs")  # those that the paper looks at more closely
TEN_SEEDS = ("cora", "citeseer", "pubmed")  # the others are larger, and get five
STRATEGIES = {"jt": "joint training", "pf": "pre-training and fine-tuning"}
_TITLES = {spec.name: spec.title for spec in SPECS}


def title_of(dataset: str) -> str:
    """A dataset's name as papers write it; of a graph of the user's own, the last part of its path."""
    return _TITLES.get(dataset, Path(dataset).stem)


@dataclass(frozen=True)
class Scope:
    """What the user asked for; None leaves the choice to the table or figure."""

    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | None = None
    strategies: tuple[str, ...] = tuple(STRATEGIES)
    changes: Mapping[str, Any] = field(default_factory=dict)  # settings for every cell
    configs: Path = FOLDER
    split: str = BENCHMARK  # of every graph; a table decides on it

    @property
    def options(self) -> str:
        """What to write after `agssl bench NAME` to ask for this.

        >>> Scope(datasets=("cora",), seeds=(0, 1), changes={"epochs": 5}).options
        ' --datasets cora --seeds 0,1 --set epochs=5'
        """
        given = {"datasets": self.datasets, "methods": self.methods, "seeds": self.seeds}
        given["strategies"] = None if self.strategies == tuple(STRATEGIES) else self.strategies
        parts = [f"--{name} {','.join(map(str, values))}" for name, values in given.items() if values is not None]
        parts += [
            f"--set {name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in self.changes.items()
        ]
        return "".join(f" {part}" for part in parts)

    def datasets_or(self, default: Iterable[str]) -> tuple[str, ...]:
        """The datasets asked for, else these."""
        return tuple(default) if self.datasets is None else self.datasets

    def methods_or(self, default: Iterable[Method]) -> tuple[Method, ...]:
        """The methods asked for, else these."""
        return choose(default, self.methods)

    def among(self, methods: Iterable[Method]) -> tuple[Method, ...]:
        """Those of these methods that are asked for: a figure can't show any others."""
        return tuple(m for m in methods if self.methods is None or m.name in self.methods)

    def seeds_of(self, dataset: str) -> tuple[int, ...]:
        """The seeds to report on a dataset."""
        return tuple(range(10 if dataset in TEN_SEEDS else 5)) if self.seeds is None else self.seeds

    def at_most(self, count: int) -> Scope:
        """With no more than so many seeds, unless the user named them."""
        return self if self.seeds is not None else replace(self, seeds=tuple(range(count)))

    def cells(
        self,
        method: Method,
        dataset: str,
        strategy: str = "jt",
        *,
        curves: bool = False,
        cost: bool = False,
        study: str = "",
        **more: Any,
    ) -> list[Cell]:
        """A method on a dataset, one cell per seed; none where the method is not installed."""
        if method.missing() is not None:
            return []
        settings, config = method.settings(dataset, strategy, self.configs, self.changes, **more)
        return [
            Cell(dataset, method.name, settings, seed, curves, cost, config, split=self.split, study=study)
            for seed in self.seeds_of(dataset)
        ]
