"""One bar for a whole fit in Python, or lines where no bar can be drawn."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from agssl.config import LABELS, Settings, TeacherSpec
from agssl.pretext.base import ALPHA_GRID
from agssl.pretext.prepare import make_task
from agssl.store.checkpoints import Record

_EVERY = 0.1  # seconds between updates of the bar
_LINE = 5.0  # seconds between lines


def count_stages(settings: Settings, again: bool = False) -> int:
    """How many trainings a fit has: one per network, alpha, fold of crossfit and generation.

    With `again`, one more, with all labels. (Networks of the folds of a split train side by side, as one.)

    >>> count_stages(Settings(method="gcn")), count_stages(Settings(method="gcn"), again=True)
    (1, 2)
    >>> count_stages(Settings(tasks=("par", "clu"), alpha=1.0, weights_from="train", generations=1))
    3
    """
    if settings.method == "gcn":
        return 1 + again
    alphas = [_alphas(settings, text) for text in (settings.pool if settings.method == "agssl" else settings.tasks)]
    if settings.method == "agssl":
        folds = settings.folds * len(settings.pool) if settings.weights_from == "crossfit" else 0
        return sum(alphas) + folds + settings.generations + again
    return max(alphas) * (2 if settings.method == "autossl" else 1) + again


def _alphas(settings: Settings, text: str) -> int:
    spec = TeacherSpec.parse(text)
    if spec.task == LABELS:
        return 1
    task = make_task(spec.task)
    alpha = settings.alpha_of(task.name)
    return len(task.alphas) if alpha is None else len(ALPHA_GRID) if alpha == "auto" else 1


class FitProgress:
    """How far a fit is, on stderr: a bar on terminals and in notebooks, else a line every few seconds.

    Use it as a context manager, and as the fit's `watch`.

    Args:
        settings: of the fit.
        epochs: most epochs of a stage.
        again: whether a network of all labels follows.
    """

    def __init__(self, settings: Settings, epochs: int, again: bool = False) -> None:
        self.stages, self.epochs = count_stages(settings, again), epochs
        self.begun, self.stage, self.best = 0, "", 0.0
        self.shown, self.start = 0.0, time.monotonic()
        self.live: Any = None
        self.task: Any = None

    def __enter__(self) -> FitProgress:
        from rich import progress
        from rich.console import Console

        console = Console(stderr=True, highlight=False)
        if console.is_terminal or console.is_jupyter:
            columns = [
                progress.BarColumn(bar_width=24),
                progress.TaskProgressColumn(),
                progress.TextColumn("{task.description}"),
                progress.TimeElapsedColumn(),
                progress.TextColumn("left:"),
                progress.TimeRemainingColumn(),
            ]
            self.live = progress.Progress(*columns, console=console)
            self.live.start()
            self.task = self.live.add_task("preparing", total=self.stages)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            if error is None:
                self.live.update(self.task, completed=self.stages, description="done")
            self.live.stop()

    def __call__(self, stage: str, record: Record) -> None:
        """Hear of an epoch."""
        if stage != self.stage or record["epoch"] == 0:
            self.begun, self.stage, self.best = self.begun + 1, stage, 0.0
        self.best = max(self.best, record.get("val_accuracy", 0.0))
        now = time.monotonic()
        if now - self.shown < (_LINE if self.live is None else _EVERY):
            return
        self.shown = now
        text = stage + (f", best validation {self.best:.1%}" if self.best else "")
        # a search may train more networks than expected: the bar then waits at its end
        share = min(self.stages, self.begun - 1 + (record["epoch"] + 1) / self.epochs)
        if self.live is not None:
            self.live.update(self.task, completed=share, description=text)
        else:
            seconds = now - self.start
            print(f"agssl: {share / self.stages:.0%}, {seconds:.0f} s: {text}", file=sys.stderr, flush=True)
