"""A run directory: everything about one `agssl fit`, in files that other programs can read.

run.json             what was run: graph, seeds, versions; the folder is a run when this is there
config.toml          the settings, to be used again with --config
metrics.json         the results over all seeds, as `agssl fit --json` prints them
MODEL_CARD.md        for people: data, labels, what it is worth, its limits
predictions.csv      node, prediction, probability, label: by the mean probability over all seeds
seed-0/              of each seed:
  split.npz          train, val, test as node indices, to be used again with --split
  metrics.json       the results of this seed
  history.json       by stage, one column per figure, one entry per epoch
  predictions.csv    node, prediction, probability, label, part
  task_weights.csv   node, and its weight of each teacher (where there are teachers)
  model.safetensors  the model, see `agssl.store.fitted`
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agssl.base.errors import AgsslError, DataError, SettingsError
from agssl.config import RUN_KEYS, Settings, read_toml
from agssl.data.columns import TableOptions
from agssl.data.label_files import NONE
from agssl.store.unfinished import FOLDER

if TYPE_CHECKING:
    from agssl.data.graph import Graph
    from agssl.data.splits import Split
    from agssl.store.fitted import FittedModel

FORMAT = "agssl-run"
SCHEMA = 1


@dataclass(frozen=True)
class GraphSource:
    """Where a graph came from and how it was read, so that it can be opened again and known to be the same."""

    given: str  # as the user wrote it
    path: str | None  # absolute, None for a named dataset
    knn: int | None
    knn_metric: str
    label: str
    name: str
    nodes: int
    fingerprint: str
    weight: str | None = None
    unweighted: bool = True  # runs that do not say so are of a version that used no edge weights
    options: dict[str, Any] = field(default_factory=dict)  # of `TableOptions`
    labels: str | None = None  # an absolute path, or "none", as for `read_graph`

    def __post_init__(self) -> None:
        names = (self.knn_metric, self.label, self.name, self.weight or "", self.labels or "")
        texts = (self.given, self.path or "", self.fingerprint, *names)
        numbers = (self.nodes, self.knn or 0)
        if not all(isinstance(text, str) and "\0" not in text for text in texts):
            raise TypeError("a name, path or label is no text")
        if not all(isinstance(number, int) for number in numbers):
            raise TypeError("nodes or knn is no whole number")
        if not isinstance(self.unweighted, bool):
            raise TypeError("unweighted is neither true nor false")
        try:
            TableOptions.of(self.options)
        except (AgsslError, AttributeError) as error:
            raise TypeError(f"options: {error}") from error

    @classmethod
    def of(
        cls,
        graph: Graph,
        given: str,
        knn: int | None,
        knn_metric: str,
        label: str,
        weight: str | None = None,
        unweighted: bool = False,
        labels: str | None = None,
        **options: Any,
    ) -> GraphSource:
        """The source of a graph that `open_graph` opened by these arguments."""
        from agssl.data.datasets import is_dataset

        path = None if is_dataset(given) else str(Path(given).resolve())
        about = (graph.name, graph.num_nodes, graph.fingerprint, weight, unweighted)
        labels = labels if labels in (None, NONE) else str(Path(labels).resolve())
        return cls(given, path, knn, knn_metric, label, *about, TableOptions.of(options).given(), labels)

    def open(self, moved: str | None = None) -> Graph:
        """The same graph, without a split of ours; `moved` says where it is now."""
        from agssl.data.resolve import open_graph

        # the run may have moved together with its graph, so the path as it was given counts too
        text = moved or (self.given if self.path is None or not Path(self.path).exists() else self.path)
        try:
            how: dict[str, Any] = {"weight": self.weight, "unweighted": self.unweighted, "labels": self.labels}
            how |= self.options
            graph = open_graph(text, split=None, knn=self.knn, knn_metric=self.knn_metric, label=self.label, **how)
        except AgsslError as error:
            cure = "" if moved else "; if it has moved, name it with --graph"
            raise DataError(f"can't open the graph of the run again: {error}{cure}") from error
        if graph.fingerprint != self.fingerprint:
            why = "is not the graph of the run" if moved else "has changed since the run"
            raise DataError(f"{text} {why}: other edges or features; restore it, or fit again")
        return graph


@dataclass(frozen=True)
class Run:
    """A run directory, open for reading."""

    path: Path
    about: Mapping[str, Any]  # run.json
    moved: str | None = None  # where its graph is now, if not where it was

    @classmethod
    def open(cls, path: str | Path, moved: str | None = None) -> Run:
        """The run in a folder; one that isn't a run, is too new or damaged is a `DataError`.

        Args:
            path: the folder.
            moved: where its graph is now, if it was moved since.
        """
        path = Path(path)
        if not path.exists():
            raise DataError(f"the run {path} does not exist; give a folder written by `agssl fit --out`")
        if not (path / "run.json").is_file() and (path / FOLDER / "plan.json").is_file():
            raise DataError(f"the run {path} is not finished; give its `agssl fit` command again to go on with it")
        if not (path / "run.json").is_file():
            raise DataError(f"{path} is not a run: it has no run.json; give a folder written by `agssl fit --out`")
        about = _read_json(path / "run.json")
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise DataError(f"{path} is not a run of agssl; give a folder written by `agssl fit --out`")
        schema = about.get("schema")
        if not isinstance(schema, int):
            raise _damaged(path / "run.json", f"schema is {schema!r}")
        if schema > SCHEMA:
            raise DataError(f"{path} has schema {schema}, but this version reads up to {SCHEMA}; upgrade agssl")
        run = cls(path, about, moved)
        _ = run.seeds, run.source  # a damaged file shows now and not in the middle of the work
        return run

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that were run."""
        seeds = self.about.get("seeds")
        if not isinstance(seeds, list) or not seeds or not all(isinstance(seed, int) for seed in seeds):
            raise _damaged(self.path / "run.json", f"seeds is {seeds!r}")
        return tuple(seeds)

    @cached_property
    def source(self) -> GraphSource:
        """Where the graph came from."""
        try:
            graph = dict(self.about["graph"])
            if "metric" in graph:  # as runs of before --knn-metric have it
                graph["knn_metric"] = graph.pop("metric")
            return GraphSource(**graph)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(self.path / "run.json", f"graph: {error}") from error

    @cached_property
    def settings(self) -> Settings:
        """The settings of the fit."""
        values = read_toml(self.path / "config.toml", RUN_KEYS)
        return Settings.from_dict({name: value for name, value in values.items() if name not in RUN_KEYS})

    @cached_property
    def metrics(self) -> dict[str, Any]:
        """The results over all seeds."""
        value = _read_json(self.path / "metrics.json")
        if not isinstance(value, dict):
            raise _damaged(self.path / "metrics.json", "not an object")
        return value

    def folder(self, seed: int | None = None) -> Path:
        """The folder of a seed, by default the first."""
        seed = self.seeds[0] if seed is None else seed
        if seed not in self.seeds:
            raise SettingsError(f"{self.path} has no seed {seed}; it has {', '.join(map(str, self.seeds))}")
        return self.path / f"seed-{seed}"

    def graph(self, seed: int | None = None) -> Graph:
        """The graph, opened again, with the split of that seed."""
        from agssl.data.splits import check_split

        split, graph = self.split(seed), self.source.open(self.moved)
        return graph.with_split(check_split(split, graph.y))

    def split(self, seed: int | None = None) -> Split:
        """The split of a seed."""
        from agssl.data.arrays import Archive
        from agssl.data.splits import Split

        path = self.folder(seed) / "split.npz"
        try:
            arrays = Archive(path)
            parts = {name: arrays[name] for name in ("train", "val", "test")}
            parts |= {name: arrays[name] for name in ("fold", "measure") if name in arrays}
        except DataError as error:
            raise _damaged(path, str(error)) from error
        about = self.seed_metrics(seed).get("split")
        return Split.from_arrays(parts, str(about.get("origin", path) if isinstance(about, dict) else path))

    def fitted(self, seed: int | None = None) -> FittedModel:
        """The model of a seed."""
        from agssl.store.fitted import load_fitted

        return load_fitted(self.folder(seed) / "model.safetensors")

    def seed_metrics(self, seed: int | None = None) -> dict[str, Any]:
        """The results of a seed."""
        path = self.folder(seed) / "metrics.json"
        value = _read_json(path)
        if not isinstance(value, dict):
            raise _damaged(path, "not an object")
        return value

    def history(self, seed: int | None = None) -> dict[str, dict[str, list[float | None]]]:
        """By stage and figure, one entry per epoch."""
        path = self.folder(seed) / "history.json"
        value = _read_json(path)
        if not isinstance(value, dict) or not all(isinstance(stage, dict) for stage in value.values()):
            raise _damaged(path, "not an object of objects")
        return value

    def predictions(self, seed: int | None = None) -> list[dict[str, str]]:
        """The rows of predictions.csv."""
        path = self.folder(seed) / "predictions.csv"
        try:
            with open(path, encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise _damaged(path, str(error)) from error
        if len(rows) != self.source.nodes or any("node" not in row or None in row.values() for row in rows):
            raise _damaged(path, f"{len(rows)} whole rows for {self.source.nodes} nodes")
        return rows


def describe(source: GraphSource, seeds: tuple[int, ...], **more: Any) -> dict[str, Any]:
    """The content of run.json."""
    import platform
    from datetime import UTC, datetime

    import numpy as np
    import torch

    from agssl.base.version import __version__

    versions = {
        "agssl": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "graph": asdict(source),
        "seeds": list(seeds),
        "versions": versions,
        **more,
    }


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"can't read {path}: {error.strerror}; is the run complete?") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> DataError:
    return DataError(f"{path} is damaged ({why}); fit again")
