"""What a fit keeps of itself until its run is in place: the hidden folder `.agssl` inside the run.

lock          held by the process at work
plan.json     what was asked for; the fit can go on when the same is asked for again
seed-0/       finished seeds, as in the run (metrics.json comes last: with it, the seed is finished)
stages/       what was trained of seeds that are not, see `agssl.store.checkpoints`
moving.json   the names that are on their way into the run: there only while it is put in place
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agssl.base.atomic import is_temporary, replace, sync_folder, write_json
from agssl.base.errors import DataError
from agssl.base.lock import Lock

FOLDER = ".agssl"
FORMAT = "agssl-unfinished"
SCHEMA = 1


class Unfinished:
    """The unfinished fit in a run folder."""

    def __init__(self, run: Path, plan: Mapping[str, Any]) -> None:
        self.run, self.plan = run, plan
        self.folder = run / FOLDER
        self.lock = Lock(self.folder / "lock")

    def begin(self, restart: bool = False) -> None:
        """Lock the folder and take up what is there; refuse what was begun with another plan, unless to restart."""
        self.folder.mkdir(exist_ok=True)
        self.lock.take(str(self.run))
        try:
            self._take_back()
            stored = None if restart else self._stored()
            if stored is None:
                self._empty()
                document = {"format": FORMAT, "schema": SCHEMA, "plan": self.plan}
                write_json(self.folder / "plan.json", document)
            elif stored != json.loads(json.dumps(self.plan)):
                raise DataError(
                    f"{self.run} holds an unfinished fit with {difference(stored, self.plan)}; ask for the same to go "
                    "on, name another folder with --out, or drop it with --restart"
                )
            for path in self.folder.rglob("*.tmp"):
                if is_temporary(path.name):
                    path.unlink(missing_ok=True)  # nobody else may write here now
        except BaseException:
            self.lock.release()
            with contextlib.suppress(OSError):
                self.folder.rmdir()  # only if nothing is in it
            raise

    def finished(self, seeds: Iterable[int]) -> dict[int, dict[str, Any]]:
        """The metrics of those of the seeds that are finished."""
        found: dict[int, dict[str, Any]] = {}
        for seed in seeds:
            path = self.folder / f"seed-{seed}" / "metrics.json"
            if path.is_file():
                found[seed] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def anything(self) -> bool:
        """Whether there is something that would be missed."""
        return any(path.is_file() and path.parent != self.folder for path in self.folder.rglob("*"))

    def move(self, names: list[str]) -> None:
        """Put these files and folders into the run, `run.json` last; a kill in between leaves nothing half done."""
        write_json(self.folder / "moving.json", names)
        for name in sorted(names, key=lambda name: name == "run.json"):
            remove(self.run / name)
            replace(self.folder / name, self.run / name)
        sync_folder(self.run)
        self.clear()

    def clear(self) -> None:
        """Remove all of it, the plan first: without it, what a kill may leave counts for nothing."""
        (self.folder / "plan.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.lock.release()

    def tidy(self) -> None:
        """Beside a finished run, remove what a kill left of putting it in place; an unfinished fit stays."""
        begun = (self.folder / "plan.json").is_file() and not (self.folder / "moving.json").is_file()
        if self.folder.is_dir() and not begun:
            self.lock.take(str(self.run))
            self.clear()

    def _take_back(self) -> None:
        """Undo a move that was cut short: `run.json` moves last, so without it here the move was complete."""
        note = self.folder / "moving.json"
        if not note.is_file():
            return
        if not (self.folder / "run.json").is_file():
            self._empty()
            return
        for name in json.loads(note.read_text(encoding="utf-8")):
            if not (self.folder / name).exists() and (self.run / name).exists():
                replace(self.run / name, self.folder / name)
        note.unlink()

    def _stored(self) -> dict[str, Any] | None:
        path = self.folder / "plan.json"
        if not path.is_file():
            return None
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            newer, plan = document["schema"] > SCHEMA, document["plan"]
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is damaged ({error}); start again with --restart") from error
        if newer:
            raise DataError(
                f"{path} has schema {document['schema']}, but this version reads up to {SCHEMA}; upgrade agssl, or "
                "start again with --restart"
            )
        return dict(plan)

    def _empty(self) -> None:
        for path in sorted(self.folder.iterdir(), key=lambda path: path.name != "plan.json"):
            if path != self.lock.path:
                remove(path)


def remove(path: Path) -> None:
    """Remove a file or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """What differs between two plans, in words."""
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    parts = [f"{name} = {old.get(name)}, not {new.get(name)}" for name in names if name != "data"]
    return "; ".join(parts) or "other data (its edges, features, labels or split have changed)"
