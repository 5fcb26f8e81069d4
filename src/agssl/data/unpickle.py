"""Old pickles of plain data, read without running anything that they ask for.

A pickle is a program that can import and call whatever Python has. This one can import six names, none of which stands
for the thing of that name: each is a class of ours that checks what it is filled with, and whose `__setstate__` keeps a
pickle from setting anything else, on the class itself or on what it makes.
"""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from agssl.base.errors import DataError


class _Holder:
    """What a name makes, whatever it is called with; this one can't be filled."""

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("it fills in what is no array")


class _Dictionary(_Holder, dict):
    pass


class _Type(_Holder):
    """A number's type: a letter and a size, and later its byte order."""

    def __init__(self, text: Any, *_: Any) -> None:
        if not isinstance(text, str) or not re.fullmatch("[iufb][1248]", text):
            raise pickle.UnpicklingError(f"it has numbers of the type {str(text)[:20]!r}")
        self.dtype = np.dtype(text)

    def __setstate__(self, state: Any) -> None:
        if state[1] not in ("<", ">", "|", "="):
            raise pickle.UnpicklingError("it has numbers of an unknown byte order")
        self.dtype = self.dtype.newbyteorder(state[1])


class _Array(_Holder):
    """An array: empty, until its bytes come."""

    array = np.empty(0)

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, raw = state
        if not isinstance(kind, _Type) or not isinstance(raw, (str, bytes)) or not isinstance(shape, tuple):
            raise pickle.UnpicklingError("it has an array of no numbers")
        flat = np.frombuffer(raw.encode("latin1") if isinstance(raw, str) else raw, dtype=kind.dtype)
        # reshape checks the shape against the bytes that are there, so nothing is allocated on the file's word
        self.array = flat.reshape(shape, order="F" if fortran else "C").astype(kind.dtype.newbyteorder("="))


class Matrix(_Holder):
    """The attributes of a sparse matrix, whatever they are."""

    def __setstate__(self, state: Any) -> None:
        self.parts = {str(name): value.array if isinstance(value, _Array) else value for name, value in state.items()}


_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("scipy.sparse.csr", "csr_matrix"): Matrix,
    ("collections", "defaultdict"): _Dictionary,
    ("__builtin__", "list"): _Holder,  # what a defaultdict says it would make
}


# Python's own class, since the one in C takes memory for as many objects as a file says it will mention.
class _Unpickler(pickle._Unpickler):
    # Extension codes may stand for objects that other packages have loaded, whatever their names.
    dispatch: ClassVar[dict[int, Any]] = {
        code: load
        for code, load in pickle._Unpickler.dispatch.items()
        if code not in (pickle.EXT1[0], pickle.EXT2[0], pickle.EXT4[0])
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which such a file never needs")
        return _ALLOWED[module, name]


def unpickle(path: Path) -> Any:
    """The array, `Matrix`, list or dictionary in the file.

    Raises:
        DataError: the file is damaged, or asks for anything but plain data.
    """
    try:
        with open(path, "rb") as file:
            value = _Unpickler(file, encoding="latin1").load()
    except Exception as error:  # a damaged pickle can raise almost anything
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"cannot read {path}: {reason}; replace the file by the published one") from error
    return value.array if isinstance(value, _Array) else value
