"""Reading JSON lines that are still being appended to (`agssl.base.atomic.append_json`)."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

log = logging.getLogger("agssl")


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects in a file, each with its position for `json_line`; a file that is not there has none.

    A line that is damaged is passed over with a warning. A last line without an end is being written at this moment, or
    its process was killed: if it is not whole, it counts as not written.
    """
    if not path.exists():
        return
    start = 0
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                value = json.loads(line)
            except ValueError:
                value = None
            if isinstance(value, dict):
                yield start, value
            elif line.endswith(b"\n"):
                log.warning("%s: line %d is damaged and passed over; what it said counts as missing", path, number)
            start += len(line)


def json_line(path: Path, start: int) -> dict[str, Any]:
    """The object at a position of a file."""
    with open(path, "rb") as file:
        file.seek(start)
        value: dict[str, Any] = json.loads(file.readline())
    return value
