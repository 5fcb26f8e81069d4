"""Files that are either there in full or not there at all. Nothing else in the package writes a file."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from agssl.base.errors import DataError
from agssl.base.lock import locked

_TEMPORARY = re.compile(r"\..+\.(\d+)-[0-9a-f]{8}\.tmp")
_STRAY = 600.0  # seconds without a write after which a temporary file whose process is gone is nobody's
# Errors that only writing can cause: what else the block does, such as a download, has others of its own.
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC)}


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open `path` for writing such that it appears, complete and on disk, only when the block ends well.

    The bytes go to a temporary file in the same folder (which is made if need be), are flushed to the disk and then
    take the name in one step. If the block raises, the temporary file goes and an older `path` stays as it was. What
    killed processes left in the folder is swept when a process first writes there.

    Raises:
        DataError: the folder or the file can't be written to, or its disk is full. What else the block raises passes
            through.
    """
    path = Path(path)
    temporary = path.parent / f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # "x" and not tempfile: the file gets the permissions of the user's umask, as any other file would
        file = open(temporary, "xb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        try:
            with file:
                yield file
                try:
                    file.flush()
                    os.fsync(file.fileno())
                except OSError as error:
                    raise _unwritable(path, error) from error
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise _unwritable(path, error) from error
            raise
        replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    _sweep_once(path.parent.resolve())


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new folder that appears under `path` with all its files, on disk, only when the block ends well.

    The block gets a hidden folder beside `path` to write into; if it raises, that folder goes.

    Raises:
        DataError: something is at `path` already (an empty folder may be), or the place can't be written to.
    """
    path = Path(os.path.abspath(path))
    staging = path.parent / f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise DataError(f"{path} exists already and is left alone; remove it, or name another folder")
        staging.mkdir(parents=True)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield staging
        try:
            for file in staging.iterdir():
                with open(file, "rb+") as handle:
                    os.fsync(handle.fileno())
        except OSError as error:
            raise _unwritable(path, error) from error
        replace(staging, path)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    sync_folder(path.parent)
    _sweep_once(path.parent)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `path` atomically."""
    with atomic_write(path) as file:
        file.write(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` to `path` atomically, as UTF-8."""
    write_bytes(path, text.encode())


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` to `path` atomically, as JSON that any reader accepts (NaN is an error, not a token)."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def append_json(path: str | os.PathLike[str], value: Any) -> int:
    """Append `value` to `path` as one line of JSON, on disk when this returns; gives the position where it begins.

    A kill leaves the line, nothing, or a beginning of the line; the next call removes such a beginning. Processes that
    append to one file at the same time wait for each other.

    Raises:
        DataError: the file can't be written to, or its disk is full; it then is as it was.
    """
    path = Path(path)
    line = json.dumps(value, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab+", buffering=0) as file, locked(file.fileno()):
            end = _heal(file)
            try:
                written = 0
                while written < len(line):
                    written += file.write(line[written:])
                os.fsync(file.fileno())
            except OSError:
                file.truncate(end)
                raise
    except OSError as error:
        raise _unwritable(path, error) from error
    if not end:
        sync_folder(path.parent)
    return end


def _heal(file: FileIO) -> int:
    """Remove what a killed process left of its line, or end a last line that is whole; gives the file's size."""
    size = file.seek(0, os.SEEK_END)
    start, tail = size, b""
    while start and b"\n" not in tail:
        step = min(start, 1 << 16)
        start -= step
        file.seek(start)
        tail = file.read(step) + tail
    tail = tail[tail.rfind(b"\n") + 1 :]
    if not tail:
        return size
    try:
        json.loads(tail)
    except ValueError:
        file.truncate(size - len(tail))
        return size - len(tail)
    file.write(b"\n")  # written by hand: only a whole object is JSON
    return size + 1


def replace(source: Path, target: Path) -> None:
    """Give a file or a folder another name on the same disk, in one step."""
    try:
        os.replace(source, target)
    except OSError as error:
        raise _unwritable(target, error) from error


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power cut."""
    if os.name != "posix":
        return
    # some network file systems refuse this for folders; the files' own bytes are safe by now
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def is_temporary(name: str) -> bool:
    """Whether a file of this name is one that has not got its own yet."""
    return _TEMPORARY.fullmatch(name) is not None


def sweep(folder: Path, older: float = _STRAY) -> None:
    """Remove temporary files and folders nobody has written to for some time, whose processes are gone from here."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _TEMPORARY.fullmatch(entry.name)
            if match is None or _alive(int(match[1])):
                continue
            with contextlib.suppress(OSError):  # another process sweeps too
                # age as well, because the process may live on another machine that shares the folder
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > older:
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path)
                    else:
                        os.unlink(entry.path)


@functools.cache
def _sweep_once(folder: Path) -> None:
    sweep(folder)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's, or not to be known
    return True


def _unwritable(path: Path, error: OSError) -> DataError:
    reason = error.strerror or str(error)
    return DataError(f"cannot write {path}: {reason}; choose a folder you may write to, with room on its disk")
