"""Fits in the background: a process of their own with the latest labels, one at a time."""

from __future__ import annotations

import csv
import json
import logging
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agssl.annotate.session import AHEAD, Learned, Session
from agssl.base import guarded
from agssl.base.atomic import write_text
from agssl.base.errors import AgsslError, TrainingError
from agssl.data.label_files import HEADER
from agssl.store.run_writer import PREDICTIONS, csv_text

log = logging.getLogger("agssl")

SHARE = 0.05  # of the labels that are new, from which on a fit is worth while at once
FEWEST = 3  # new labels, likewise
PAUSE = 5.0  # seconds without a new label, after which any are enough
TICK = 0.25  # seconds between looks


class Refitter(threading.Thread):
    """Fits whenever there are enough new labels, and tells the session what came of it.

    Args:
        session: has the labels.
        command: the words of `agssl fit`, from the graph on.
        plugins: words for `agssl suggest`.
        folder: for what is only needed here.
    """

    def __init__(self, session: Session, command: Sequence[str], plugins: Sequence[str], folder: Path) -> None:
        super().__init__(name="refit", daemon=True)
        self.session, self.command, self.plugins, self.folder = session, command, plugins, folder
        self.over = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()

    def run(self) -> None:
        """Fit until `end`."""
        done, fitted, last, since = -1, 0, -1, time.monotonic()
        number = 0
        while not self.over.wait(TICK):
            try:
                version, count, labels = self.session.snapshot()
            except Exception:  # the file can't be read at the moment; the page says so
                continue
            if version != last:
                last, since = version, time.monotonic()
            waited = time.monotonic() - since >= PAUSE
            new = abs(count - fitted)
            if version == done or not enough(self.session.counts()) or not (waited or new >= FEWEST + SHARE * fitted):
                continue
            done, fitted, number = version, count, number + 1
            self._fit(number, count, labels)

    def end(self) -> None:
        """Stop, and whatever is running with it."""
        self.over.set()
        with self._starting:
            if self._process is not None:
                guarded.stop(self._process)
        self.join()

    def _fit(self, number: int, count: int, labels: dict[str, str]) -> None:
        session, start = self.session, time.monotonic()
        with session.lock:
            session.fitting = {"labels": count}
        try:
            found = self._learned(number, count, labels, start)
        except (AgsslError, OSError, ValueError, KeyError) as error:
            if not self.over.is_set():
                with session.lock:
                    session.problem = str(error)
        else:
            session.learn(found)
        finally:
            with session.lock:
                session.fitting = None

    def _learned(self, number: int, count: int, labels: dict[str, str], start: float) -> Learned:
        run, file = self.folder / f"run-{number}", self.folder / f"labels-{number}.csv"
        write_text(file, csv_text(HEADER, labels.items()))
        summary = self._agssl("fit", *self.command, "--labels", str(file), "--out", str(run), "--json")
        suggested: list[dict[str, Any]] = []
        if count < self.session.graph.num_nodes:
            suggested = self._agssl("suggest", str(run), "-n", str(AHEAD), "--json", *self.plugins)
        with open(run / PREDICTIONS, encoding="utf-8", newline="") as lines:
            rows = [(row["prediction"], float(row["probability"])) for row in csv.DictReader(lines)]
        shutil.rmtree(run, ignore_errors=True)
        file.unlink(missing_ok=True)
        return Learned(
            count,
            {name: summary["estimate"][name] for name in ("metric", "value", "low", "high")},
            time.monotonic() - start,
            [(one["index"], one["reason"]) for one in suggested],
            [prediction for prediction, _ in rows],
            np.array([probability for _, probability in rows]),
        )

    def _agssl(self, *words: str) -> Any:
        """The JSON value that a command prints."""
        out, errors = self.folder / "stdout", self.folder / "stderr"
        with open(out, "wb") as stdout, open(errors, "wb") as stderr:
            with self._starting:
                if self.over.is_set():
                    raise TrainingError("it was stopped")
                command = [sys.executable, "-m", "agssl", *words]
                self._process = guarded.start(command, stdout=stdout, stderr=stderr)
            code = self._process.wait()
        if code:
            lines = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["it said nothing"]
            raise TrainingError(f"the fit in the background has failed: {lines[-1].removeprefix('agssl: error: ')}")
        return json.loads(out.read_text(encoding="utf-8"))


def enough(counts: dict[str, int]) -> bool:
    """Whether labels can be held out: at least two classes that have two of them.

    >>> enough({"a": 5, "b": 1}), enough({"a": 2, "b": 2, "c": 0})
    (False, True)
    """
    return sum(count > 1 for count in counts.values()) >= 2
