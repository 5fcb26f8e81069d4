"""NumPy archives read without trust: nothing pickled, and nothing larger than the memory that is free."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from agssl.base.errors import DataError
from agssl.base.system import free_memory, size_text


class Archive(Mapping[str, np.ndarray]):
    """The arrays of an `.npz` file by name, each read when it is asked for.

    Raises:
        DataError: the file is no such archive, or an array in it is damaged, pickled or too large.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as members:
                self._sizes = {m.filename.removesuffix(".npy"): m.file_size for m in members.infolist()}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, NotImplementedError) as error:
            raise self._unreadable(error) from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __contains__(self, name: object) -> bool:
        return name in self._sizes

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._sizes:
            raise DataError(f"{self.path} has no array {name!r}, only {', '.join(self._sizes) or 'none'}; add it")
        room = free_memory()
        if room is not None and self._sizes[name] > room:
            raise DataError(
                f"the array {name!r} of {self.path} unpacks to {size_text(self._sizes[name])}, but "
                f"{size_text(room)} of memory is free; it is damaged, or too large for this machine"
            )
        try:
            with zipfile.ZipFile(self.path) as members, members.open(f"{name}.npy") as stream:
                return _read(stream, self._sizes[name])
        except (OSError, EOFError, zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError) as error:
            raise self._unreadable(error, name) from error
        # a header is a Python literal: what is wrong with it can raise almost anything
        except (ValueError, TypeError, OverflowError, MemoryError, RuntimeError, SyntaxError, TokenError) as error:
            raise self._unreadable(error, name) from error

    def _unreadable(self, error: Exception, name: str | None = None) -> DataError:
        what = f"cannot read {self.path}" if name is None else f"cannot read the array {name!r} of {self.path}"
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        return DataError(f"{what}: {reason}; it must be an .npz archive of plain arrays, written whole")


def _read(stream: Any, size: int) -> np.ndarray:
    """One array; its header must promise just the bytes that are there, before any memory is taken for them."""
    version = np.lib.format.read_magic(stream)
    reader = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if reader is None:
        raise ValueError(f"version {version} of the array format is not known")
    shape, fortran, dtype = reader(stream)
    if dtype.hasobject:
        raise ValueError("it holds pickled objects, which are never read")
    count = 1
    for side in shape:
        if side < 0:
            raise ValueError(f"its shape is {shape}")
        count *= int(side)  # a Python number: no overflow
    room = size - stream.tell()
    if count * dtype.itemsize != room:
        raise ValueError(f"its shape is {shape}, but it has {room} bytes")
    data = stream.read()
    array = np.frombuffer(data, dtype=dtype, count=count) if dtype.itemsize else np.zeros(count, dtype)
    return array.reshape(shape, order="F" if fortran else "C").copy()
