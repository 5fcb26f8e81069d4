"""Labels of any kind to class numbers 0..C-1, with -1 for unlabelled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from agssl.base.errors import GraphError


def clean_labels(
    y: Any, classes: Sequence[Any] | None = None, *, required: bool = True
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Number the classes, in numeric order where all labels are numbers and in alphabetical order otherwise.

    -1, NaN, None and the empty string mean that a node has no label.

    Args:
        y: whole numbers, strings, booleans or a mixture, one per node.
        classes: names of all classes; whole numbers in `y` are then positions in it, strings are looked up in it.
        required: insist on labels of at least two classes.

    >>> clean_labels(["b", "", "a", "b"])
    (array([ 1, -1,  0,  1]), ('a', 'b'))
    """
    # a plain list goes through Python objects, lest NumPy turn a NaN among strings into the word "nan"
    values = np.asarray(y) if hasattr(y, "dtype") else np.array(list(y), dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype.kind == "O" and all(_is_number_or_none(v) for v in values.ravel()):
        values = values.astype(np.float64)  # None becomes NaN
    if values.ndim != 1:
        raise GraphError(
            f"labels have shape {values.shape}, expected one label per node; for one-hot rows use argmax(1)"
        )
    names = None if classes is None else tuple(str(c) for c in classes)
    if names is not None and len(set(names)) < len(names):
        raise GraphError(f"class names must be distinct, but got {', '.join(names)}")
    if values.dtype.kind in "iuf":
        labels, found = _from_numbers(values, names)
    else:
        labels, found = _from_texts(values, names)
    if required:
        _check_enough(labels, found)
    return labels, found


def _from_numbers(values: np.ndarray, names: tuple[str, ...] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), -1, values)
        odd = np.flatnonzero(~((values == np.floor(values)) & (np.abs(values) < 2**53)))
        if len(odd):
            raise GraphError(
                f"the label of node {odd[0]} is {values[odd[0]]}, which is not a class; "
                "labels must be whole numbers or names, NaN or -1 where there is none"
            )
    numbers = values.astype(np.int64)
    bad = np.flatnonzero(numbers < -1)
    if len(bad):
        raise _negative(int(bad[0]), numbers[bad[0]])
    labelled = numbers >= 0
    if names is not None:
        bad = np.flatnonzero(numbers >= len(names))
        if len(bad):
            raise GraphError(
                f"the label of node {bad[0]} is {numbers[bad[0]]}, but there are {len(names)} class names; "
                "number the classes from 0 in the order of their names"
            )
        return numbers, names
    unique, inverse = np.unique(numbers[labelled], return_inverse=True)
    labels = np.full(len(numbers), -1, dtype=np.int64)
    labels[labelled] = inverse
    return labels, tuple(str(u) for u in unique)


def _from_texts(values: np.ndarray, names: tuple[str, ...] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    texts = np.array([_text(v) for v in values.tolist()], dtype=str)
    unique, first, inverse = np.unique(texts, return_index=True, return_inverse=True)
    present = [str(u) for u in unique if u not in ("", "-1")]
    if names is None:
        numbers = {t: _number(t) for t in present}
        if all(n is not None for n in numbers.values()):
            for text, number in numbers.items():
                if number is not None and number < 0:
                    raise _negative(int(first[unique == text][0]), text)
            present.sort(key=lambda t: (numbers[t], t))
        names = tuple(present)
    for text in present:
        if text not in names:
            raise GraphError(
                f"the label of node {first[unique == text][0]} is {text!r}, which is none of the classes "
                f"{', '.join(names)}; correct it or add that class"
            )
    position = {name: i for i, name in enumerate(names)} | {"": -1, "-1": -1}
    return np.array([position[str(u)] for u in unique], dtype=np.int64)[inverse], names


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (value.decode() if isinstance(value, bytes) else str(value)).strip()


def _is_number_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float, np.number)) and not isinstance(value, bool))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _negative(node: int, value: Any) -> GraphError:
    return GraphError(f"the label of node {node} is {value}; labels count from 0, and -1 means unlabelled")


def _check_enough(labels: np.ndarray, names: tuple[str, ...]) -> None:
    used = np.unique(labels[labels >= 0])
    if not len(used):
        raise GraphError(f"none of the {len(labels)} nodes has a label; label a few nodes of each class")
    if len(used) == 1:
        raise GraphError(
            f"all labelled nodes are of the one class {names[used[0]]!r}; label some nodes of at least one other class"
        )
