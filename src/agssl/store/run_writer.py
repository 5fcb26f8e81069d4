"""Writing a run directory (see `agssl.store.run` for what is in it) such that a run is there in full or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agssl.base.atomic import write_bytes, write_json, write_text
from agssl.base.errors import DataError, GraphError, SettingsError, TrainingError
from agssl.config import Settings
from agssl.store.earlier import finished_run, refuse_finished
from agssl.store.unfinished import FOLDER, Unfinished, remove

if TYPE_CHECKING:
    import numpy as np

    from agssl.data.graph import Graph
    from agssl.store.checkpoints import Record
    from agssl.store.fitted import FittedModel

PREDICTIONS, MODEL_CARD = "predictions.csv", "MODEL_CARD.md"
_OURS = re.compile(r"MODEL_CARD\.md|config\.toml|metrics\.json|pictures|predictions\.csv|report\.html|seed-\d+")
# The same command would break down in the same way again, so there is nothing to go on with.
_HOPELESS = (TrainingError, GraphError, SettingsError)


class RunWriter:
    """A run in the making: files gather in a hidden folder inside `path` and take their places all at the end.

    Use it as a context manager around the training: that `path` can't be written to, or is being written to, shows on
    entry. If the block is interrupted, what it has trained stays in the hidden folder, and the next writer with the
    same plan goes on from there; an earlier run in `path` is as it was until `commit`.

    Args:
        path: the folder of the run.
        plan: all that was asked for, seeds apart; what was begun with another plan is refused.
        restart: drop what was begun.
        overwrite: replace a finished run, which is refused otherwise.
        seeds: of the run, to tell how a finished one differs.
    """

    def __init__(
        self,
        path: str | Path,
        plan: Mapping[str, Any] | None = None,
        restart: bool = False,
        overwrite: bool = False,
        seeds: Sequence[int] = (),
    ) -> None:
        self.path, self.restart, self.overwrite, self.seeds = Path(path), restart, overwrite, seeds
        self.unfinished = Unfinished(self.path, plain(plan or {}))
        self._made: list[Path] = []

    @property
    def staging(self) -> Path:
        """Where the folders of the seeds are to be written."""
        return self.unfinished.folder

    def __enter__(self) -> RunWriter:
        if self.path.exists() and not self.path.is_dir():
            raise DataError(f"{self.path} is a file, but a run needs a folder; name another with --out")
        try:
            if self.path.is_dir() and not _may_replace(self.path):
                raise DataError(
                    f"{self.path} is not empty and not a run of agssl, so it is left alone; name another folder "
                    "with --out"
                )
            if not self.overwrite:
                refuse_finished(self.path, self.unfinished.plan, self.seeds)
            for folder in reversed([self.path, *self.path.parents]):
                if not folder.exists():
                    folder.mkdir(exist_ok=True)
                    self._made.append(folder)
            self.unfinished.begin(self.restart)
        except (OSError, DataError) as error:
            self._remove_made()
            if isinstance(error, DataError):
                raise
            reason = error.strerror or str(error)
            raise DataError(
                f"cannot write the run to {self.path}: {reason}; name a folder you may write to with --out"
            ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, _HOPELESS) or not self.unfinished.anything():
            with contextlib.suppress(OSError):
                self.unfinished.clear()
            self._remove_made()
            return
        self.unfinished.lock.release()
        error.add_note(f"what was trained is kept in {self.path}: give the same command again to go on")

    def _remove_made(self) -> None:
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()  # only if nothing is in it

    def commit(self, about: Mapping[str, Any], settings: Settings, split: str, metrics: Mapping[str, Any]) -> None:
        """Write what concerns all seeds and put the run in place."""
        import tomli_w

        from agssl.store.model_card import model_card

        values = settings.to_dict()
        if settings.patience is None:
            values["patience"] = 0  # TOML knows no None
        values |= {"split": split, "seeds": list(about["seeds"])}
        write_text(self.staging / "config.toml", tomli_w.dumps(dict(sorted(values.items(), key=_tables_last))))
        write_json(self.staging / "metrics.json", plain(metrics))
        write_json(self.staging / "run.json", plain({**about, "plan": self.unfinished.plan}))
        write_text(self.staging / MODEL_CARD, model_card(about, settings, split, metrics))
        names = [MODEL_CARD, "config.toml", "metrics.json", "run.json", *(f"seed-{seed}" for seed in about["seeds"])]
        names += [PREDICTIONS] if (self.staging / PREDICTIONS).exists() else []
        try:
            (self.path / "run.json").unlink(missing_ok=True)  # from here on it is no run, until the new one is whole
            for old in self.path.iterdir():
                if _OURS.fullmatch(old.name):
                    remove(old)
            self.unfinished.move(names)
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(f"cannot put the run into {self.path}: {reason}; name another folder with --out") from error


def write_seed(
    folder: Path, graph: Graph, fitted: FittedModel, history: Mapping[str, Sequence[Record]], metrics: Mapping[str, Any]
) -> None:
    """Write the folder of one seed; its metrics come last, and with them it is finished.

    Args:
        folder: where to.
        graph: the graph with its split.
        fitted: the fitted model.
        history: by stage, one record per epoch.
        metrics: the results.
    """
    import numpy as np

    from agssl.store.fitted import save_fitted

    assert graph.split is not None
    buffer = io.BytesIO()
    np.savez(buffer, **graph.split.to_arrays())  # type: ignore[arg-type]
    write_bytes(folder / "split.npz", buffer.getvalue())
    rounded = {
        stage: {name: [_figure(value) for value in values] for name, values in columns(records).items()}
        for stage, records in history.items()
    }
    write_text(folder / "history.json", json.dumps(rounded, allow_nan=False) + "\n")
    names = node_names(graph)
    write_text(folder / "predictions.csv", _predictions(graph, fitted, names))
    if fitted.weights is not None:
        rows = ([name, *(f"{w:.6f}" for w in row)] for name, row in zip(names, fitted.weights.tolist(), strict=True))
        write_text(folder / "task_weights.csv", csv_text(["node", *fitted.task_names], rows))
    save_fitted(fitted, folder / "model.safetensors")
    write_json(folder / "metrics.json", plain(metrics))


def node_names(graph: Graph) -> list[str]:
    """A name for each node: its own, or its number."""
    return [str(i) for i in range(graph.num_nodes)] if graph.node_names is None else graph.node_names.tolist()


def csv_text(header: Sequence[str], rows: Any) -> str:
    """Rows as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def columns(records: Sequence[Record]) -> dict[str, list[float | None]]:
    """Records turned into one list per figure; None where a record lacks it.

    >>> columns([{"epoch": 0, "loss": 2.0}, {"epoch": 1}])
    {'epoch': [0, 1], 'loss': [2.0, None]}
    """
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def records(found: Mapping[str, Sequence[float | None]]) -> list[Record]:
    """What `columns` was made of.

    >>> records({"epoch": [0, 1], "loss": [2.0, None]})
    [{'epoch': 0, 'loss': 2.0}, {'epoch': 1}]
    """
    rows = zip(*found.values(), strict=True)
    return [{name: value for name, value in zip(found, row, strict=True) if value is not None} for row in rows]


def plain(value: Any) -> Any:
    """The value as JSON takes it: figures that are not finite become null.

    >>> plain({"loss": float("nan"), "seeds": (0, 1)})
    {'loss': None, 'seeds': [0, 1]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _predictions(graph: Graph, fitted: FittedModel, names: list[str]) -> str:
    parts = [""] * graph.num_nodes
    assert graph.split is not None
    for part, nodes in graph.split.parts().items():
        for node in nodes.tolist():
            parts[node] = part
    probabilities: np.ndarray = fitted.confidence(fitted.logits)
    chosen = fitted.decide(probabilities)
    best = probabilities[range(len(chosen)), chosen].tolist()
    rows = (
        [names[i], fitted.classes[chosen[i]], f"{best[i]:.6f}", "" if y < 0 else graph.classes[y], parts[i]]
        for i, y in enumerate(graph.y.tolist())
    )
    return csv_text(["node", "prediction", "probability", "label", "part"], rows)


def write_predictions(folder: Path, seeds: Sequence[int]) -> None:
    """Write what all seeds, whose folders are there, say together: the class by their mean probability."""
    from agssl.store.fitted import load_fitted, together

    paths = [folder / f"seed-{seed}" for seed in seeds]
    classes = load_fitted(paths[0] / "model.safetensors").classes
    models = (load_fitted(path / "model.safetensors") for path in paths)
    probabilities, chosen = together((model, model.logits) for model in models)
    best = probabilities[range(len(chosen)), chosen].tolist()
    with open(paths[0] / "predictions.csv", encoding="utf-8", newline="") as file:
        rows = [
            [row["node"], classes[chosen[i]], f"{best[i]:.6f}", row["label"]]
            for i, row in enumerate(csv.DictReader(file))
        ]
    write_text(folder / PREDICTIONS, csv_text(["node", "prediction", "probability", "label"], rows))


def _figure(value: float | None) -> float | None:
    """With as many digits as a 32-bit float has."""
    if isinstance(value, int):
        return value
    return None if value is None or not math.isfinite(value) else float(f"{value:.7g}")


def _may_replace(path: Path) -> bool:
    """Whether a folder is a run, or has nothing in it but what an interrupted run left."""
    if (path / "run.json").exists():
        return finished_run(path) is not None
    # with a plan, the folder was one of ours before: a kill while it took its new place leaves it like this
    return (path / FOLDER / "plan.json").is_file() or all(child.name == FOLDER for child in path.iterdir())


def _tables_last(item: tuple[str, Any]) -> bool:
    return isinstance(item[1], Mapping)
