"""What a person sees while models train: a live line on a terminal, else a line for each finished seed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agssl.cli.common import say

if TYPE_CHECKING:
    from agssl.config import Settings
    from agssl.track import Tracker

_LONG = 30.0  # seconds of a stage that are worth a line in a log
_EVERY = 0.1  # seconds between updates: an epoch may take a millisecond

EpochWatch = Callable[[str, dict[str, float]], None]


class Progress:
    """Progress on stderr; use it as a context manager.

    Args:
        seeds: how many seeds there are.
        epochs: most epochs of a stage.
        alone: one seed at a time is trained, in this process; else only finished seeds are shown.
        metric: that finished seeds are told in.
    """

    def __init__(self, seeds: int, epochs: int, alone: bool, metric: str = "accuracy") -> None:
        self.seeds, self.epochs, self.alone, self.metric = seeds, epochs, alone, metric
        self.live: Any = None
        self.task: Any = None

    def __enter__(self) -> Progress:
        if not sys.stderr.isatty():
            return self
        from rich import progress
        from rich.console import Console

        columns = [
            progress.TextColumn("{task.description}"),
            progress.BarColumn(bar_width=24),
            progress.TextColumn("{task.completed}/{task.total}"),
            progress.TextColumn("{task.fields[note]}"),
            progress.TimeElapsedColumn(),
        ]
        self.live = progress.Progress(*columns, console=Console(stderr=True, highlight=False), transient=True)
        self.live.start()
        if not self.alone:
            self.task = self.live.add_task("seeds", total=self.seeds, note="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def watch(self, seed: int) -> EpochWatch:
        """The watcher of one seed."""
        if self.live is None:
            return _lines(seed)
        if self.task is not None:
            self.live.remove_task(self.task)
        self.task = self.live.add_task(f"seed {seed}, preparing", total=self.epochs, note="")
        stage_now, best, shown = "", 0.0, 0.0

        def update(stage: str, record: dict[str, float]) -> None:
            nonlocal stage_now, best, shown
            if stage != stage_now or record["epoch"] == 0:
                stage_now, best, shown = stage, 0.0, 0.0
            best = max(best, record.get("val_accuracy", 0.0))
            now = time.monotonic()
            if now - shown < _EVERY:
                return
            shown = now
            note = f"loss {record['loss']:.4f}" + (f", best validation {best:.1%}" if best else "")
            text = f"seed {seed}, {stage}, epoch"
            self.live.update(self.task, description=text, completed=int(record["epoch"]) + 1, note=note)

        return update

    def taught(self, seed: int, task: str) -> None:
        """Say that a teacher is trained, where teachers are trained side by side."""
        text = f"seed {seed}: the teacher {task} is trained"
        if self.live is None:
            say(text)
        else:
            self.live.console.print(text)

    def done(self, metrics: dict[str, Any]) -> None:
        """Say that a seed is finished."""
        from agssl.metrics import metric_text

        value = {
            part: metric_text(self.metric, metrics[part][self.metric]) for part in ("val", "test") if metrics[part]
        }
        name = "" if self.metric == "accuracy" else f"{self.metric} "
        test = f", test {value['test']}" if "test" in value else ""
        part = "held-out" if "folds" in metrics["split"] else "validation"
        line = f"seed {metrics['seed']}: {name}{part} {value['val']}{test}, {metrics['seconds']:.1f} s"
        if self.live is None:
            say(line)
            return
        self.live.console.print(line)
        if not self.alone:
            self.live.advance(self.task)


def _lines(seed: int) -> EpochWatch:
    """A line for each stage that took long: a log that stays empty for an hour helps nobody."""
    now, best, start = "", 0.0, time.monotonic()

    def update(stage: str, record: dict[str, float]) -> None:
        nonlocal now, best, start
        if stage != now or record["epoch"] == 0:
            seconds = time.monotonic() - start
            if now and seconds > _LONG:
                say(f"seed {seed}, {now}: " + (f"best validation {best:.1%}, " if best else "") + f"{seconds:.0f} s")
            now, best, start = stage, 0.0, time.monotonic()
        best = max(best, record.get("val_accuracy", 0.0))

    return update


class Following:
    """Progress, and beside it a tracker for each seed where one is wanted."""

    def __init__(self, progress: Progress, kind: str | None, out: Path, settings: Settings) -> None:
        self.progress, self.kind, self.out, self.settings = progress, kind, out, settings
        self.tracker: Tracker | None = None

    def watch(self, seed: int) -> EpochWatch:
        """The watcher of one seed."""
        shown = self.progress.watch(seed)
        if self.kind is None:
            return shown
        from agssl.track import Tracker

        # beside the run and not in it, where files show up only when all is done
        where = self.out.parent / "tensorboard" if self.kind == "tensorboard" else None
        tracker = self.tracker = Tracker(self.kind, where, f"{self.out.name}/seed-{seed}", self.settings.to_dict())

        def both(stage: str, record: dict[str, float]) -> None:
            shown(stage, record)
            tracker(stage, record)

        return both

    def done(self, metrics: dict[str, Any]) -> None:
        """Say that a seed is finished, and close its tracker."""
        if self.tracker is not None:
            self.tracker.result(metrics)
            self.tracker.close()
            self.tracker = None
        self.progress.done(metrics)
