"""What hears of the seeds of `agssl fit`: the progress that a person sees, and a tracker where one is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agssl.fitting.seeds import Observer

if TYPE_CHECKING:
    from agssl.config import Settings
    from agssl.fitting.progress import Progress
    from agssl.fitting.schedule import Schedule, Unit
    from agssl.store.checkpoints import Record
    from agssl.track import Tracker
    from agssl.train.loop import Watch


class Following(Observer):
    """Progress, and beside it a tracker for each seed."""

    def __init__(self, progress: Progress, kind: str, out: Path, settings: Settings) -> None:
        self.progress, self.kind, self.out, self.settings = progress, kind, out, settings
        self.tracker: Tracker | None = None

    def planned(self, schedule: Schedule) -> None:
        """What there is to do."""
        self.progress.planned(schedule)

    def began(self, unit: Unit) -> None:
        """A seed is begun."""
        self.progress.began(unit)

    def watch(self, unit: Unit) -> Watch:
        """The watcher of one seed."""
        from agssl.track import Tracker

        shown = self.progress.watch(unit)
        # beside the run and not in it, where files show up only when all is done
        where = self.out.parent / "tensorboard" if self.kind == "tensorboard" else None
        name = f"{self.out.name}/seed-{unit.seed}"
        tracker = self.tracker = Tracker(self.kind, where, name, self.settings.to_dict())

        def both(stage: str, record: Record) -> None:
            shown(stage, record)
            tracker(stage, record)

        return both

    def ended(self, unit: Unit, seconds: float, metrics: dict[str, Any]) -> None:
        """A seed is done."""
        self.progress.ended(unit, seconds, metrics)

    def done(self, metrics: dict[str, Any]) -> None:
        """Say that a seed is ready, and close its tracker."""
        if self.tracker is not None:
            self.tracker.result(metrics)
            self.tracker.close()
            self.tracker = None
        self.progress.done(metrics)
