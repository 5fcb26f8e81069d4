"""The file that labels are written to: on disk before anybody is told that they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agssl.base.atomic import write_text
from agssl.base.errors import DataError
from agssl.base.lock import Lock
from agssl.data.label_files import HEADER, read_label_file
from agssl.store.run_writer import csv_text


class LabelFile:
    """Labels by the ids of their nodes, in the order in which they were given; replaced as a whole at every change.

    Somebody may change the file by hand while it is open here: it is read again before anything is added to it. Another
    process that opens it is refused.

    Args:
        path: `id,label` as CSV; it need not be there yet.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = Lock(self.path.parent / f".{self.path.name}.lock")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.take(str(self.path))
        except OSError as error:
            reason = error.strerror or str(error)
            raise DataError(f"can't write labels to {self.path}: {reason}; name another file with --out") from error
        self._seen: tuple[int, ...] | None = None
        self._labels: dict[str, str] = {}
        try:
            self.refresh()
        except BaseException:
            self.close()
            raise

    @property
    def labels(self) -> Mapping[str, str]:
        """What is on disk, as of the last look at it."""
        return self._labels

    def refresh(self) -> bool:
        """Read the file again if it has changed; tells whether it had."""
        stamp = self._stamp()
        if stamp == self._seen:
            return False
        self._labels = {} if stamp is None else read_label_file(self.path, to_write=True)
        self._seen = stamp
        return True

    def put(self, node: str, label: str | None) -> None:
        """Give a node a label, or take away the one it has; when this returns, it is on disk."""
        self.refresh()
        labels = {name: other for name, other in self._labels.items() if name != node}  # the latest is the last
        if label is not None:
            labels[node] = label
        write_text(self.path, csv_text(HEADER, labels.items()))
        self._labels, self._seen = labels, self._stamp()

    def close(self) -> None:
        """Let others have the file."""
        self._lock.release()

    def _stamp(self) -> tuple[int, ...] | None:
        """What tells one state of the file from another."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns
