"""Running the cells that are missing, side by side, with an estimate of the time left."""

from __future__ import annotations

import functools
import shutil
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from agssl.base.errors import AgsslError
from agssl.base.processes import work
from agssl.bench.cells import Cell, unique
from agssl.bench.measure import Workspace, prepare_targets, run_cell
from agssl.bench.records import CellRecord, Records

if TYPE_CHECKING:
    from agssl.scale.cluster import Cluster


class Grid:
    """The cells still to run.

    Args:
        cells: all that are wanted, in order of importance.
        records: what there is; cells with a record are not run again.
    """

    def __init__(self, cells: Iterable[Cell], records: Records) -> None:
        self.records = records
        self.wanted = unique(cells)
        self.missing = [cell for cell in self.wanted if cell not in records]
        self.present = len(self.wanted) - len(self.missing)
        self.failed: dict[Cell, str] = {}

    def run(
        self,
        workspace: Workspace,
        jobs: int,
        on_done: Callable[[Cell, CellRecord | str, TimeLeft], None],
        cluster: Cluster | None = None,
    ) -> None:
        """Run what is missing; a cell that fails is noted in `failed`, and the others go on.

        Args:
            workspace: where to, and with how many threads.
            jobs: how many side by side; those that measure cost come last, one at a time.
            on_done: hears of every finished cell: its record, or why it failed, and what is left.
            cluster: where to run them instead of here; cost is always measured here.
        """
        estimate = TimeLeft(self.missing, self.records, jobs)

        def done(cell: Cell, result: CellRecord | str) -> None:
            running.subtract([cell.teacher_group])
            if isinstance(result, str):
                self.failed[cell] = result
            else:
                self.records.add(result)  # here and not where it was run, whose files we may not see
            estimate.finish(cell, result)
            if not cell.cost and all(other.teacher_group != cell.teacher_group for other in estimate.left.values()):
                # nobody will ask for these teachers again
                shutil.rmtree(workspace.checkpoints(cell), ignore_errors=True)
            on_done(cell, result, estimate)

        running: Counter[tuple] = Counter()
        shared = in_order([cell for cell in self.missing if not cell.cost])

        def feed() -> Cell | None:
            # cells of a group that is running may want what is being trained there: better begin another group
            cell = next((c for c in shared if not running[c.teacher_group]), shared[0] if shared else None)
            if cell is not None:
                shared.remove(cell)
                running.update([cell.teacher_group])
            return cell

        attempt = functools.partial(_attempt, workspace)
        work(attempt, feed, done, max(1, min(jobs, len(shared))), cluster=cluster)
        alone = in_order([cell for cell in self.missing if cell.cost])
        first = iter({(cell.dataset, cell.settings.tasks): cell for cell in alone}.values())
        prepare = functools.partial(prepare_targets, workspace)
        work(prepare, lambda: next(first, None), lambda cell, _: None, 1, fresh=True)
        waiting = iter(alone)
        work(attempt, lambda: next(waiting, None), done, 1, fresh=True)


def _attempt(workspace: Workspace, cell: Cell) -> CellRecord | str:
    """The record of a cell, or why there is none."""
    try:
        return run_cell(workspace, cell)
    except AgsslError as error:
        return str(error)
    except Exception as error:  # torch's, or want of memory: the other cells need not suffer
        return f"{type(error).__name__}: {error}"


def in_order(cells: Sequence[Cell]) -> list[Cell]:
    """Dataset by dataset, seed by seed, cells that train single networks before those that build on them."""
    datasets = list(dict.fromkeys(cell.dataset for cell in cells))
    methods = {"gcn": 0, "single": 1}
    return sorted(
        cells,
        key=lambda c: (datasets.index(c.dataset), c.seed, c.settings.strategy, methods.get(c.settings.method, 2)),
    )


class TimeLeft:
    """The time left, from finished cells of the same group; else of the same method or dataset; else of any."""

    def __init__(self, missing: Sequence[Cell], records: Records, jobs: int) -> None:
        self.jobs = jobs
        self.left = {cell.key: cell for cell in missing}
        self._seconds: defaultdict[tuple, list[float]] = defaultdict(list)
        for record in records:
            kind = (record["dataset"], record["method"], record["strategy"], record["cost"])
            self._note((*kind, record.get("whole", False)), record["seconds"])

    def finish(self, cell: Cell, result: CellRecord | str) -> None:
        """Take a cell off what is left."""
        self.left.pop(cell.key, None)
        if not isinstance(result, str):
            self._note(cell.duration_group, result["seconds"])

    def _note(self, kind: tuple, seconds: float) -> None:
        for key in (kind, kind[:2], (kind[0],), ()):
            self._seconds[key].append(seconds)

    def seconds(self) -> float | None:
        """Seconds until all is done; None before anything is known."""
        if not self._seconds:
            return None
        return sum(self._of(cell) / (1 if cell.cost else self.jobs) for cell in self.left.values())

    def _of(self, cell: Cell) -> float:
        kind = cell.duration_group
        key = next(key for key in (kind, kind[:2], (kind[0],), ()) if self._seconds.get(key))
        return statistics.fmean(self._seconds[key])
