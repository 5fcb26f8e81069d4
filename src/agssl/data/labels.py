"""Labels of any kind to class numbers 0..C-1, with -1 for unlabelled."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from agssl.base.errors import GraphError

log = logging.getLogger("agssl")

# Words by which tables say that a value is missing, in lower case.
MISSING = frozenset([
    "?", "-", "--", ".", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "nil", "null", "none", "missing", "tbd",
    "undefined", "unknown", "unlabelled", "unlabeled",
])  # fmt: skip
KINDS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": lambda name: {"True": True, "False": False}[name],
}
_SEVERAL = "|;,"  # what stands between the labels of a node that has several
_MANY = 20  # numbers that are classes are few; ratings in halves from 0 to 10 are 21
_SUPPORTED = "supported is one label per node out of a set of classes"


class Labels(NamedTuple):
    """Labels as numbers, and what they stand for."""

    numbers: np.ndarray  # int64 [N]: positions in `names`, -1 for unlabelled
    names: tuple[str, ...]
    kind: str = "str"  # of KINDS: what the names were before they were text


def clean_labels(y: Any, classes: Sequence[Any] | None = None, *, required: bool = True) -> Labels:
    """Number the classes, in numeric order where all labels are numbers and in alphabetical order otherwise.

    -1, NaN, None and the empty string mean that a node has no label, and so do words like "unknown" (see `MISSING`,
    unless a class is named so in `classes`), of which a warning on the logger "agssl" tells.

    Args:
        y: whole numbers, strings, booleans or a mixture, one per node.
        classes: names of all classes; whole numbers in `y` are then positions in it, strings are looked up in it.
        required: insist on labels of at least two classes, and on what can be classes.

    >>> clean_labels(["b", "", "a", "b"])
    Labels(numbers=array([ 1, -1,  0,  1]), names=('a', 'b'), kind='str')
    >>> clean_labels([True, None, False])
    Labels(numbers=array([ 1, -1,  0]), names=('False', 'True'), kind='bool')
    """
    # a plain list goes through Python objects, lest NumPy turn a NaN among strings into the word "nan"
    values = np.asarray(y) if hasattr(y, "dtype") else _objects(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    kind = _kind(values if classes is None else np.array(list(classes), dtype=object))
    if values.dtype.kind == "O" and all(_is_number_or_none(v) for v in values.ravel()):
        values = values.astype(np.float64)  # None becomes NaN
    if values.ndim != 1:
        raise GraphError(
            f"labels have shape {values.shape}, but {_SUPPORTED}; for one-hot rows use argmax(1), for several labels "
            "per node fit once per label"
        )
    names = None if classes is None else tuple(str(c) for c in classes)
    if names is not None and len(set(names)) < len(names):
        raise GraphError(f"class names must be distinct, but got {', '.join(names)}")
    if values.dtype.kind in "iuf":
        labels, found = _from_numbers(values, names)
    else:
        labels, found = _from_texts(values, names, required)
    if required:
        if names is None:
            _check_target(labels, found)
        _check_enough(labels, found)
    return Labels(labels, found, kind)


def class_values(names: Iterable[str], kind: str) -> np.ndarray:
    """The classes as they were given: numbers, booleans or text.

    >>> class_values(("1", "2"), "int"), class_values(("01", "1"), "str")
    (array([1, 2]), array(['01', '1'], dtype='<U2'))
    """
    names = tuple(names)
    try:
        return np.array([KINDS[kind](name) for name in names])
    except (KeyError, ValueError):  # somebody has named the classes anew
        return np.array(names)


def natural_kind(names: Iterable[str]) -> str:
    """What names in a text file most likely are: whole numbers, booleans or text.

    >>> natural_kind(["2", "10"]), natural_kind(["01", "1"]), natural_kind(["False", "True"])
    ('int', 'str', 'bool')
    """
    names = set(names)
    plain = (name.isascii() and name.isdecimal() and (name == "0" or name[0] != "0") for name in names)
    if names and all(plain) and max(map(len, names)) <= 15:  # as many digits as a float keeps
        return "int"
    return "bool" if names and names <= {"True", "False"} else "str"


def read_labels(cells: Sequence[Any]) -> Sequence[Any]:
    """Labels out of a text file as what they most likely are; cells that are no text stay as they are.

    >>> read_labels(["1", " 2 ", "", "?"]), read_labels(["1", "01"])
    ([1, 2, '', '?'], ['1', '01'])
    """
    if not all(cell is None or isinstance(cell, str) for cell in cells):
        return cells
    trimmed = [(cell or "").strip() for cell in cells]
    names = {cell for cell in trimmed if _kind_of(cell)}
    read = KINDS[natural_kind(names)]
    return [read(cell) if cell in names else cell for cell in trimmed]


def _objects(y: Any) -> np.ndarray:
    rows = list(y)
    values = np.empty(len(rows), dtype=object)
    for node, row in enumerate(rows):
        if isinstance(row, list | tuple | set | frozenset) or np.ndim(row):
            if len(row) == 1:
                (row,) = row
            else:
                raise _several(node, row)
        values[node] = row
    return values


def _kind(values: np.ndarray) -> str:
    if values.dtype.kind != "O":
        return {"b": "bool", "i": "int", "u": "int", "f": "float"}.get(values.dtype.kind, "str")
    kinds = {_kind_of(value) for value in values.ravel().tolist()} - {""}
    return kinds.pop() if len(kinds) == 1 else "float" if kinds == {"int", "float"} else "str"


def _kind_of(value: Any) -> str:
    """The kind of one label; nothing for a missing one."""
    text = _text(value)
    if text in ("", "-1") or text.lower() in MISSING:
        return ""
    for kind, types in (("bool", bool | np.bool_), ("int", int | np.integer), ("float", float | np.floating)):
        if isinstance(value, types):
            return kind
    return "str"


def _from_numbers(values: np.ndarray, names: tuple[str, ...] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), -1, values)
        odd = np.flatnonzero(~((values == np.floor(values)) & (np.abs(values) < 2**53)))
        if len(odd):
            raise GraphError(
                f"the label of node {odd[0]} is {values[odd[0]]}, which is not a class but a measured number; "
                f"{_SUPPORTED} (whole numbers or names, NaN or -1 where there is none): bin the numbers, as in low, "
                "middle, high"
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


def _from_texts(
    values: np.ndarray, names: tuple[str, ...] | None, required: bool
) -> tuple[np.ndarray, tuple[str, ...]]:
    texts = np.array([_text(v) for v in values.tolist()], dtype=str)
    unique, first, inverse = np.unique(texts, return_index=True, return_inverse=True)
    where = {str(u): int(node) for u, node in zip(unique, first, strict=True)}
    lost = {text for text in where if text.lower() in MISSING and text not in (names or ())}
    if lost and required:
        _tell(Counter(texts.tolist()), lost)
    present = [text for text in where if text not in ("", "-1") and text not in lost]
    if names is None:
        numbers = {t: _number(t) for t in present}
        if all(n is not None for n in numbers.values()):
            for text, number in numbers.items():
                if number is not None and number < 0:
                    raise _negative(where[text], text)
            present.sort(key=lambda t: (numbers[t], t))
        names = tuple(present)
        if required:
            _check_single(names, where)
    for text in present:
        if text not in names:
            raise GraphError(
                f"the label of node {where[text]} is {text!r}, which is none of the classes "
                f"{', '.join(names)}; correct it or add that class"
            )
    position = {name: i for i, name in enumerate(names)} | dict.fromkeys(["", "-1", *lost], -1)
    return np.array([position[str(u)] for u in unique], dtype=np.int64)[inverse], names


def _tell(counts: Counter[str], lost: set[str]) -> None:
    words = ", ".join(f"{word!r} ({counts[word]})" for word in sorted(lost, key=lambda word: -counts[word]))
    total = sum(counts[word] for word in lost)
    look = f"{total} labels look" if total > 1 else "1 label looks"
    log.warning(f"{look} missing: {words}; taken as unlabelled (a class of that name needs another one)")


def _check_single(names: tuple[str, ...], where: dict[str, int]) -> None:
    """Refuse cells with several labels: what stands between the separators is a label elsewhere, too."""
    for separator in _SEVERAL:
        parts = {name: {part.strip() for part in name.split(separator)} for name in names if separator in name}
        uses = Counter(part for found in parts.values() for part in found)
        for name, found in parts.items():
            alone = all(part in names for part in found)
            # "Physics, applied" is one name; "action|drama" beside "drama|crime" and "crime|action" is none
            shared = separator != "," and all(part in names or uses[part] > 1 for part in found)
            if len(found) > 1 and "" not in found and (alone or shared):
                raise _several(where[name], name)


def _several(node: int, value: Any) -> GraphError:
    return GraphError(
        f"node {node} has several labels, {value!r}; {_SUPPORTED}: keep one of them, or fit once per label"
    )


def _check_target(labels: np.ndarray, names: tuple[str, ...]) -> None:
    """Refuse a column of measured numbers: many values, broken ones or hardly any of them twice."""
    values = [_number(name) for name in names]
    if len(names) <= _MANY or None in values:
        return
    broken = any(value != math.floor(value) for value in values if value is not None)
    labelled = int((labels >= 0).sum())
    if broken or 2 * len(names) > labelled:
        raise GraphError(
            f"the labels of {labelled} nodes are {len(names)} different numbers ({names[0]}, {names[1]}, ...), as of a "
            f"measured quantity; {_SUPPORTED}: bin the numbers, as in low, middle, high, or name another column"
        )


def _text(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)).strip()


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
