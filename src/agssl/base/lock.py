"""Locks that no crash leaves behind: the system lets go of them when their process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from agssl.base.errors import DataError


@contextlib.contextmanager
def locked(handle: int) -> Iterator[None]:
    """Hold an open file against all who ask likewise while the block runs; wait for whoever has it now."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
    except (ImportError, OSError):  # Windows, or a file system without locks: one process at a time is up to the user
        yield
        return
    try:
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)


class Lock:
    """A lock on a folder, held from `take` to `release`; whoever asks meanwhile is told that somebody has it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._handle: int | None = None

    def take(self, what: str) -> None:
        """Take the lock.

        Raises:
            DataError: another process has it; `what` names the thing that it works on.
        """
        try:
            import fcntl
        except ImportError:  # Windows has no such locks; one process per folder is then up to the user
            return
        while self._handle is None:
            handle = os.open(self.path, os.O_RDONLY | os.O_CREAT, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The one before may have removed the file between our opening and our locking it.
                if _same(handle, self.path):
                    self._handle = handle
                    self._sign()
            except BlockingIOError as error:
                owner = os.read(handle, 20).decode(errors="replace").strip()
                raise DataError(
                    f"another process{f' ({owner})' if owner.isdecimal() else ''} is writing to {what}; "
                    "wait for it to end, or name another folder with --out"
                ) from error
            except OSError:
                self._handle = handle  # a file system without locks, or without room for our name, will do
            finally:
                if self._handle != handle:
                    os.close(handle)

    def _sign(self) -> None:
        """Leave our number for the message that the next one gets."""
        handle = os.open(self.path, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(handle, f"{os.getpid()}\n".encode())
        finally:
            os.close(handle)

    def release(self) -> None:
        """Let go of it and remove its file."""
        if self._handle is None:
            return
        with contextlib.suppress(OSError):
            if _same(self._handle, self.path):
                self.path.unlink()
        os.close(self._handle)
        self._handle = None


def _same(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
