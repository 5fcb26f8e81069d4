"""How far a fit is, and how long it will still take, on stderr: a live line where one can be drawn, else a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from agssl.base.system import duration
from agssl.config import Settings
from agssl.fitting.job import Metrics
from agssl.fitting.schedule import Schedule, Unit
from agssl.fitting.seeds import Observer
from agssl.fitting.time_left import Running, TimeLeft
from agssl.metrics import metric_text
from agssl.store.checkpoints import Record
from agssl.train.loop import Schedule as Epochs
from agssl.train.loop import Watch

_EVERY = 0.1  # seconds between updates of the live line: an epoch may take a millisecond
_FIRST = 2.0  # seconds after which a log has a first word on the time that is left
_WAIT = 5.0  # seconds left that are worth that word
_WORTH = 1.0  # seconds of a training that are worth a line in a log


class Progress(Observer):
    """Progress on stderr: one line for each training and each seed; use it as a context manager.

    Args:
        settings: of the fit.
        epochs: most epochs of a training, and its patience.
        again: whether a network of all labels follows in each seed.
        prefix: of every line in a log.
        seeds: whether to tell of seeds.
    """

    def __init__(
        self, settings: Settings, epochs: Epochs, again: bool = False, prefix: str = "", seeds: bool = True
    ) -> None:
        self.settings, self.epochs, self.again, self.prefix, self.seeds = settings, epochs, again, prefix, seeds
        self.left: TimeLeft | None = None
        self.start, self.shown, self.begun = time.monotonic(), 0.0, False
        self.live: Any = None
        self.task: Any = None

    def __enter__(self) -> Progress:
        from rich import progress
        from rich.console import Console

        console = Console(stderr=True, highlight=False)
        if console.is_terminal or console.is_jupyter:
            columns = [
                progress.TextColumn("{task.description}"),
                progress.BarColumn(bar_width=24),
                progress.TextColumn("{task.fields[note]}"),
                progress.TimeElapsedColumn(),
                progress.TextColumn("{task.fields[left]}"),
            ]
            self.live = progress.Progress(*columns, console=console, transient=True)
            self.live.start()
            self.task = self.live.add_task("preparing", total=None, note="", left="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def planned(self, schedule: Schedule) -> None:
        """What there is to do."""
        self.left = TimeLeft(self.settings, self.epochs, schedule, self.again)

    def began(self, unit: Unit) -> None:
        """A unit is begun."""
        if self.left is not None:
            self.left.begin(unit)

    def watch(self, unit: Unit) -> Watch:
        """What hears of the epochs of a unit in this process."""
        estimate = self.left
        assert estimate is not None

        def hear(stage: str, record: Record) -> None:
            self._tell(unit, estimate.hear(unit, stage, record))
            stage = stage if estimate.running is None else estimate.running.stage
            now = time.monotonic()
            if self.live is None and not self.begun and now - self.start > _FIRST:
                left = estimate.seconds()
                self.begun = left is not None
                if left is not None and left > _WAIT:
                    self._say(self._name(unit, stage) + self._time_left())
            elif self.live is not None and now - self.shown > _EVERY:
                self.shown, best = now, None if estimate.running is None else estimate.running.accuracy
                note = [f"epoch {record['epoch'] + 1:.0f}", f"loss {record['loss']:.4f}", *_best(best)]
                self._update(self._name(unit, stage), ", ".join(note))

        return hear

    def ended(self, unit: Unit, seconds: float, metrics: Metrics) -> None:
        """A unit is done, here or in another process."""
        assert self.left is not None
        here = unit in self.left.here
        self._tell(unit, self.left.end(unit, seconds, sum(metrics["epochs"].values())))
        if unit.task is not None and metrics["best"] and not here and (self.live is not None or seconds > _WORTH):
            best = f"best validation {metrics['best']['val_accuracy']:.1%}, {sum(metrics['epochs'].values())} epochs"
            self._say(f"{self._name(unit, f'teacher {unit.task}')}: {best}, {seconds:.1f} s{self._time_left()}")
        if self.live is not None:
            self._update("", "")

    def done(self, metrics: Metrics) -> None:
        """A seed is ready."""
        if not self.seeds:
            return
        metric = self.settings.metric
        value = {part: metric_text(metric, metrics[part][metric]) for part in ("val", "test") if metrics[part]}
        name = "" if metric == "accuracy" else f"{metric} "
        test = f", test {value['test']}" if "test" in value else ""
        part = "held-out" if "folds" in metrics["split"] else "validation"
        self._say(f"seed {metrics['seed']}: {name}{part} {value['val']}{test}, {metrics['seconds']:.1f} s")

    def _tell(self, unit: Unit, run: Running | None) -> None:
        """A line for a training in this process that has ended."""
        if run is not None and (self.live is not None or run.seconds > _WORTH):
            what = [*_best(run.accuracy), f"{run.epochs} epochs", f"{run.seconds:.1f} s"]
            self._say(f"{self._name(unit, run.stage)}: {', '.join(what)}{self._time_left()}")

    def _name(self, unit: Unit, stage: str) -> str:
        return f"seed {unit.seed}, {stage}" if self.seeds else stage

    def _time_left(self) -> str:
        left = None if self.left is None else self.left.seconds()
        return "" if not left else f"; about {duration(left)} left"

    def _update(self, name: str, note: str) -> None:
        """Draw the live line."""
        left = None if self.left is None else self.left.seconds()
        taken = time.monotonic() - self.start
        how: dict[str, Any] = {"note": note} | ({"description": name} if name else {})
        if left is not None:
            how |= {"completed": taken, "total": taken + left, "left": f"about {duration(left)} left"}
        self.live.update(self.task, **how)

    def _say(self, text: str) -> None:
        if self.live is not None:
            self.live.console.print(text, markup=False)
        else:
            print(f"{self.prefix}{text}", file=sys.stderr, flush=True)


def _best(accuracy: float | None) -> list[str]:
    return [] if accuracy is None else [f"best validation {accuracy:.1%}"]
