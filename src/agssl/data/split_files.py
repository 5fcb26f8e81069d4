"""Splits from a file.

`.npz`: boolean masks or index lists named train, val, test, and, where nodes of val train as well, their `fold`.
`.json`: an object with such lists, of indices or of node names. `.csv`: either columns `id,split` with train, val, test
or nothing for each node, or columns train, val, test with 0 or 1 on one row per node.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from agssl.base.errors import DataError, GraphError
from agssl.data.arrays import Archive
from agssl.data.splits import PARTS, Split, public_origin

_OTHER_NAMES = {"valid": "val", "validation": "val"}
FOLDED = ("fold", "measure")  # in a file that a run wrote, see `Split`
_ENDINGS = ("_mask", "_idx", "_index")
_BITS = {"1": True, "true": True, "0": False, "false": False, "": False}


def read_split(path: Path, num_nodes: int, node_names: np.ndarray | None = None) -> Split:
    """The split in the file `path`, not yet checked against labels."""
    if not path.is_file():
        raise DataError(f"the split file {path} does not exist; check the path")
    try:
        parts = {".npz": _from_npz, ".json": _from_json, ".csv": _from_csv}[path.suffix.lower()](path)
    except (ValueError, OSError, RecursionError, csv.Error) as error:
        raise DataError(f"cannot read the split file {path}: {error}; write it anew") from error
    fold = {name: parts.pop(name) for name in FOLDED if name in parts}
    arrays = {part: _nodes(part, parts[part], path, num_nodes, node_names) for part in parts} | fold
    try:
        return Split.from_arrays(arrays, origin=str(path))
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from error


def part_name(text: str) -> str | None:
    """Which part a user's word means, if any.

    >>> part_name("valid_mask"), part_name("Test"), part_name("dev")
    ('val', 'test', None)
    """
    word = text.strip().lower()
    for ending in _ENDINGS:
        word = word.removesuffix(ending)
    word = _OTHER_NAMES.get(word, word)
    return word if word in PARTS else None


def _from_npz(path: Path) -> dict[str, Any]:
    arrays = Archive(path)
    fold = {name: arrays[name] for name in FOLDED if name in arrays}
    return {part: arrays[key] for key in arrays if (part := part_name(key))} | fold


def _from_json(path: Path) -> dict[str, Any]:
    value = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(value, dict):
        raise DataError(
            f"the split file {path} holds a {type(value).__name__}; expected an object with train, val and test"
        )
    return {part: value[key] for key in value if (part := part_name(key))}


def _from_csv(path: Path) -> dict[str, Any]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        header, *rows = [row for row in csv.reader(file) if row] or [[]]
    header = [column.strip() for column in header]
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise DataError(
                f"{path} line {line} has {len(row)} cells, but the header has {len(header)}; make them equal"
            )
    if "id" in header and "split" in header:
        return _from_words(path, [(row[header.index("id")], row[header.index("split")]) for row in rows])
    masks = {part: i for i, column in enumerate(header) if (part := part_name(column))}
    if not masks:
        raise DataError(
            f"the split file {path} has the columns {', '.join(header) or 'none'}; expected id,split or train,val,test"
        )
    return {part: np.array([_bit(path, line, row[i]) for line, row in enumerate(rows, 2)]) for part, i in masks.items()}


def _from_words(path: Path, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    parts: dict[str, Any] = {part: [] for part in PARTS}
    for line, (node, word) in enumerate(pairs, start=2):
        part = part_name(word)
        if part is None and word.strip():
            raise DataError(f"{path} line {line} has the split {word!r}; write train, val, test or nothing")
        if part is not None:
            parts[part].append(node.strip())
    return parts


def _bit(path: Path, line: int, text: str) -> bool:
    if text.strip().lower() not in _BITS:
        raise DataError(f"{path} line {line} has {text!r} in a mask; write 0 or 1")
    return _BITS[text.strip().lower()]


def _nodes(part: str, values: Any, path: Path, num_nodes: int, names: np.ndarray | None) -> np.ndarray:
    """Indices or mask as an array; node names and indices in text are looked up."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError) as error:  # lists of unequal lengths, say
        raise GraphError(f"the {part} part of {path} is no list of nodes; write indices, names or a mask") from error
    if array.dtype.kind == "b" and array.shape[:1] != (num_nodes,):
        raise GraphError(f"the {part} mask in {path} has {array.size} entries, but the graph has {num_nodes} nodes")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "UO":
        return array
    position = {str(n): i for i, n in enumerate(names if names is not None else range(num_nodes))}
    unknown = [v for v in array.ravel().tolist() if str(v) not in position]
    if unknown:
        raise GraphError(f"the {part} part of {path} has the node {unknown[0]!r}, which the graph lacks; check its ids")
    return np.array([position[str(v)] for v in array.ravel().tolist()], dtype=np.int64)


def splits_from_masks(masks: Mapping[str, np.ndarray], num_nodes: int, where: str) -> tuple[Split, ...]:
    """The numbered splits of masks [S, N] named train, val and test (the last may be absent).

    Args:
        masks: by part; booleans, or 0 and 1.
        num_nodes: N.
        where: they are from, for messages.
    """
    shape = next((mask.shape for mask in masks.values()), ())
    for part, mask in masks.items():
        if mask.ndim != 2 or mask.shape != shape or mask.shape[1] != num_nodes:
            raise GraphError(
                f"{where}: the {part} masks have shape {mask.shape}, but the graph has {num_nodes} nodes; "
                "give one row per split, equally many for train, val and test"
            )
        if mask.dtype.kind != "b" and not (mask.dtype.kind in "iu" and np.isin(mask, (0, 1)).all()):
            raise GraphError(f"{where}: the {part} masks are no masks but {mask.dtype}; write true or false")
    return tuple(
        Split.from_arrays({part: mask[number].astype(bool) for part, mask in masks.items()}, public_origin(number))
        for number in range(shape[0] if shape else 0)
    )


def split_from_words(words: list[str], ids: np.ndarray, where: str) -> Split | None:
    """The split that one word per node describes; None where all words are empty."""
    parts: dict[str, list[int]] = {part: [] for part in PARTS}
    for node, word in enumerate(words):
        if not word:
            continue
        part = part_name(word)
        if part is None:
            raise GraphError(
                f"{where}: node {str(ids[node])!r} has the split {word!r}; write train, val, test or nothing"
            )
        parts[part].append(node)
    if not any(parts.values()):
        return None
    return Split.from_arrays({part: np.array(nodes, dtype=np.int64) for part, nodes in parts.items()})
