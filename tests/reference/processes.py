"""Processes as the system knows them (Linux)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether a process is there, and not only waits for its parent to notice its end."""
    found = _state(pid)
    return found is not None and found[0] != "Z"


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have started."""
    parents = {int(path.name): _state(int(path.name)) for path in Path("/proc").iterdir() if path.name.isdecimal()}
    found = [pid]
    for one in found:  # grows meanwhile
        found += [child for child, state in parents.items() if state is not None and state[1] == one]
    return found[1:]


def title(pid: int) -> str:
    """The command line of a process, or what it calls itself."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def until(true: Callable[[], object], seconds: float = 60) -> None:
    """Wait for something to come about."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.1)


def _state(pid: int) -> tuple[str, int] | None:
    """Its state and its parent."""
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    return state, int(parent)
