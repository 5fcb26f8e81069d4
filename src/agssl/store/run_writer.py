"""Writing a run directory (see `agssl.store.run` for what is in it) such that a run is there in full or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agssl.config import Settings
from agssl.errors import DataError
from agssl.store.atomic import write_bytes, write_json, write_text
from agssl.store.run import FORMAT

if TYPE_CHECKING:
    import numpy as np

    from agssl.data.graph import Graph
    from agssl.store.model import Bundle
    from agssl.train.loop import Record

_STAGING = ".agssl-"
_OURS = re.compile(r"config\.toml|metrics\.json|pictures|report\.html|seed-\d+")


class RunWriter:
    """A run in the making: files gather in a hidden folder inside `path` and take their places all at the end.

    Use it as a context manager around the training: that `path` can't be written to shows on entry, and if the block
    fails, or ends without `commit`, nothing stays and an earlier run in `path` is as it was.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.staging = self.path / f"{_STAGING}{os.getpid()}-{secrets.token_hex(4)}"
        self._made: list[Path] = []

    def __enter__(self) -> RunWriter:
        if self.path.exists() and not self.path.is_dir():
            raise DataError(f"{self.path} is a file, but a run needs a folder; name another with --out")
        try:
            if self.path.is_dir() and not _may_replace(self.path):
                raise DataError(
                    f"{self.path} is not empty and not a run of agssl, so it is left alone; name another folder "
                    "with --out"
                )
            for folder in reversed([self.path, *self.path.parents]):
                if not folder.exists():
                    folder.mkdir(exist_ok=True)
                    self._made.append(folder)
            self.staging.mkdir()
        except OSError as error:
            self.discard()
            reason = error.strerror or str(error)
            raise DataError(
                f"cannot write the run to {self.path}: {reason}; name a folder you may write to with --out"
            ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    def discard(self) -> None:
        """Remove what was not committed, and the folders made for it."""
        shutil.rmtree(self.staging, ignore_errors=True)
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()  # only if nothing is in it

    def commit(self, about: Mapping[str, Any], settings: Settings, split: str, metrics: Mapping[str, Any]) -> None:
        """Write what concerns all seeds and put the run in place."""
        import tomli_w

        values = settings.to_dict()
        if settings.patience is None:
            values["patience"] = 0  # TOML knows no None
        values |= {"split": split, "seeds": list(about["seeds"])}
        write_text(self.staging / "config.toml", tomli_w.dumps(dict(sorted(values.items(), key=_tables_last))))
        write_json(self.staging / "metrics.json", plain(metrics))
        write_json(self.staging / "run.json", plain(about))
        try:
            (self.path / "run.json").unlink(missing_ok=True)  # from here on it is no run, until the new one is whole
            for old in self.path.iterdir():
                if _OURS.fullmatch(old.name):
                    shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
            # run.json comes last: it is what makes the folder a run
            for new in sorted(self.staging.iterdir(), key=lambda file: file.name == "run.json"):
                os.replace(new, self.path / new.name)
            self.staging.rmdir()
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(f"cannot put the run into {self.path}: {reason}; name another folder with --out") from error


def write_seed(
    folder: Path, graph: Graph, bundle: Bundle, history: Mapping[str, Sequence[Record]], metrics: Mapping[str, Any]
) -> None:
    """Write the folder of one seed.

    Args:
        folder: where to.
        graph: the graph with its split.
        bundle: the fitted model.
        history: by stage, one record an epoch.
        metrics: the results.
    """
    import numpy as np

    from agssl.store.model import save_bundle

    assert graph.split is not None
    buffer = io.BytesIO()
    np.savez(buffer, **graph.split.to_arrays())  # type: ignore[arg-type]
    write_bytes(folder / "split.npz", buffer.getvalue())
    write_json(folder / "metrics.json", plain(metrics))
    from agssl.train.loop import columns

    rounded = {
        stage: {name: [_figure(value) for value in values] for name, values in columns(records).items()}
        for stage, records in history.items()
    }
    write_text(folder / "history.json", json.dumps(rounded, allow_nan=False) + "\n")
    names = node_names(graph)
    write_text(folder / "predictions.csv", _predictions(graph, bundle, names))
    if bundle.weights is not None:
        rows = ([name, *(f"{w:.6f}" for w in row)] for name, row in zip(names, bundle.weights.tolist(), strict=True))
        write_text(folder / "task_weights.csv", csv_text(["node", *bundle.task_names], rows))
    save_bundle(bundle, folder / "model.safetensors")


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


def _predictions(graph: Graph, bundle: Bundle, names: list[str]) -> str:
    from agssl.explain.node import softmax

    parts = [""] * graph.num_nodes
    assert graph.split is not None
    for part, nodes in graph.split.to_arrays().items():
        for node in nodes.tolist():
            parts[node] = part
    probabilities: np.ndarray = softmax(bundle.logits)
    best, chosen = probabilities.max(1).tolist(), probabilities.argmax(1).tolist()
    rows = (
        [names[i], bundle.classes[chosen[i]], f"{best[i]:.6f}", "" if y < 0 else graph.classes[y], parts[i]]
        for i, y in enumerate(graph.y.tolist())
    )
    return csv_text(["node", "prediction", "probability", "label", "part"], rows)


def _figure(value: float | None) -> float | None:
    """With as many digits as a 32-bit float has."""
    if isinstance(value, int):
        return value
    return None if value is None or not math.isfinite(value) else float(f"{value:.7g}")


def _may_replace(path: Path) -> bool:
    """Whether a folder is a run, or has nothing in it but what an interrupted run left."""
    try:
        about = json.loads((path / "run.json").read_text(encoding="utf-8"))
        return isinstance(about, dict) and about.get("format") == FORMAT
    except FileNotFoundError:
        return all(child.name.startswith(_STAGING) for child in path.iterdir())
    except ValueError:
        return False


def _tables_last(item: tuple[str, Any]) -> bool:
    return isinstance(item[1], Mapping)
