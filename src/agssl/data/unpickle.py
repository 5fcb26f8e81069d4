"""Old pickles of plain data, read without running anything that they ask for.

A pickle is a program for a small machine that can import and call whatever Python has. Here that machine knows six
names, none of which stands for the thing of that name: each makes a holder of ours, which checks what it is given and
becomes an array in the end. Opcodes that such a file never needs are taken out.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from agssl.base.errors import DataError

_ORDERS = ("<", ">", "|", "=")


class _Maker:
    """What a name stands for: something to call, and nothing to change (a pickle may set attributes)."""

    __slots__ = ("make",)
    make: Callable[..., Any]

    def __init__(self, make: Callable[..., Any]) -> None:
        object.__setattr__(self, "make", make)

    def __setattr__(self, name: str, value: Any) -> None:
        raise pickle.UnpicklingError(f"it sets {name!r} of a name")

    def __call__(self, *args: Any) -> Any:
        return self.make(*args)


class _Type:
    """A number's type: a letter and a size, and later its byte order."""

    def __init__(self, text: Any, *_: Any) -> None:
        if not isinstance(text, str) or text[:1] not in tuple("iufb") or text[1:] not in ("1", "2", "4", "8"):
            raise pickle.UnpicklingError(f"it has numbers of the type {str(text)[:20]!r}")
        self.dtype = np.dtype(text)

    def build(self, state: Any) -> None:
        order = state[1]
        if order not in _ORDERS:
            raise pickle.UnpicklingError("it has numbers of an unknown byte order")
        self.dtype = self.dtype.newbyteorder(order)


class _Array:
    """An array: empty, until its bytes come."""

    def __init__(self, *_: Any) -> None:
        self.array = np.empty(0)

    def build(self, state: Any) -> None:
        _, shape, kind, fortran, raw = state
        if not isinstance(kind, _Type) or not isinstance(raw, (str, bytes)) or not isinstance(shape, tuple):
            raise pickle.UnpicklingError("it has an array of no numbers")
        data = raw.encode("latin1") if isinstance(raw, str) else raw
        flat = np.frombuffer(data, dtype=kind.dtype)
        # reshape checks the shape against the bytes that are there, so nothing is allocated on the file's word
        self.array = flat.reshape(shape, order="F" if fortran else "C").astype(kind.dtype.newbyteorder("="))


class Matrix:
    """The attributes of a sparse matrix, whatever they are."""

    def build(self, state: Any) -> None:
        """Keep those that are arrays or plain tuples."""
        if not isinstance(state, dict):
            raise pickle.UnpicklingError("it has a matrix without attributes")
        self.parts = {str(name): value.array if isinstance(value, _Array) else value for name, value in state.items()}


_ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"): _Maker(_Array),
    ("numpy", "ndarray"): _Maker(_Array),
    ("numpy", "dtype"): _Maker(_Type),
    ("scipy.sparse.csr", "csr_matrix"): _Maker(Matrix),
    ("collections", "defaultdict"): _Maker(lambda *_: defaultdict(list)),
    ("__builtin__", "list"): _Maker(lambda *_: []),
}

_UNUSED = ("PERSID", "BINPERSID", "INST", "OBJ", "EXT1", "EXT2", "EXT4", "NEWOBJ_EX", "NEXT_BUFFER", "READONLY_BUFFER")


# Python's own class, since the one in C takes memory for as many objects as a file says it will mention.
class _Unpickler(pickle._Unpickler):
    """Builds arrays, matrices, lists and dictionaries, and nothing else."""

    dispatch: ClassVar[dict[int, Any]] = {
        code: load
        for code, load in pickle._Unpickler.dispatch.items()
        if code not in [getattr(pickle, name)[0] for name in _UNUSED]
    }
    stack: list[Any]

    def find_class(self, module: str, name: str) -> Any:
        """One of the six names, or an error."""
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which such a file never needs") from None

    def load_call(self) -> None:
        """Call a name of ours (opcodes REDUCE and NEWOBJ)."""
        arguments, maker = self.stack.pop(), self.stack[-1]
        if not isinstance(maker, _Maker) or not isinstance(arguments, tuple):
            raise pickle.UnpicklingError("it calls what is no name")
        self.stack[-1] = maker(*arguments)

    def load_build(self) -> None:
        """Fill in a holder of ours."""
        state = self.stack.pop()
        if not isinstance(self.stack[-1], (_Type, _Array, Matrix)):
            raise pickle.UnpicklingError("it fills in what is no array")
        self.stack[-1].build(state)

    dispatch[pickle.REDUCE[0]] = dispatch[pickle.NEWOBJ[0]] = load_call
    dispatch[pickle.BUILD[0]] = load_build


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
