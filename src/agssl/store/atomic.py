"""Files that are either there in full or not there at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from agssl.errors import DataError


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open `path` for writing such that it appears, complete and on disk, only when the block ends well.

    The bytes go to a temporary file in the same folder (which is made if need be), are flushed to the disk and then
    take the name in one step. If the block raises, the temporary file goes and an older `path` stays as it was.

    Raises:
        DataError: the folder or the file can't be written to. What the block itself raises passes through.
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
        with file:
            yield file
            try:
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:
                raise _unwritable(path, error) from error
        try:
            os.replace(temporary, path)
        except OSError as error:
            raise _unwritable(path, error) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


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
            os.replace(staging, path)
        except OSError as error:
            raise _unwritable(path, error) from error
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    _sync_folder(path.parent)


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


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network file systems refuse this for folders; the file's own bytes are safe by now
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError) -> DataError:
    reason = error.strerror or str(error)
    return DataError(f"cannot write {path}: {reason}; choose a folder you may write to, with room on its disk")
