"""What the machine has to give: processors, memory that is free, and memory that is taken."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path


def size_text(count: int) -> str:
    """Bytes for people.

    >>> size_text(3 << 30), size_text(200 << 20)
    ('3.0 GB', '200 MB')
    """
    return f"{count / 2**30:.1f} GB" if count >= 2**30 else f"{count / 2**20:.0f} MB"


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(5025), duration(49)
    ('1 h 24 min', '49 s')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def cores(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """How many processors this process may use: by its affinity, and by the share that its control groups have."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([own, *_group_shares(proc, groups)]))


def _group_shares(proc: Path, groups: Path) -> Iterator[int]:
    """Whole processors of the control group of this process and of those above it (version 2, then version 1)."""
    for folder, version in _group_folders(proc, groups, "cpu"):
        try:
            if version == 2:
                most, period = (folder / "cpu.max").read_text().split()
            else:
                most, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
            if most != "max" and int(most) > 0:
                yield int(most) // int(period)
        except (OSError, ValueError, ZeroDivisionError):
            continue


def held_memory() -> int:
    """Bytes that this process has in memory; 0 where it is not known."""
    return _kilobytes(Path("/proc/self/status"), "VmRSS:") or 0


def free_memory(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Bytes that this process may still take: the least of the machine's, its control groups' and its own limits."""
    if not sys.platform.startswith("linux"):
        return None
    limits = [_kilobytes(proc / "meminfo", "MemAvailable:"), *_group_rooms(proc, groups), _own_room(proc)]
    known = [limit for limit in limits if limit is not None]
    return max(0, min(known)) if known else None


def _own_room(proc: Path) -> int | None:
    """What `ulimit -v` leaves."""
    import resource

    most, taken = resource.getrlimit(resource.RLIMIT_AS)[0], _kilobytes(proc / "self/status", "VmSize:")
    return None if most == resource.RLIM_INFINITY or taken is None else most - taken


def _group_rooms(proc: Path, groups: Path) -> Iterator[int | None]:
    """What is left in the control group of this process and in those above it."""
    for folder, version in _group_folders(proc, groups, "memory"):
        old = ("memory.limit_in_bytes", "memory.usage_in_bytes")
        most, taken = (_number(folder / name) for name in (("memory.max", "memory.current") if version == 2 else old))
        if most is not None and taken is not None:
            # what the kernel keeps of files in memory is given back when it is wanted
            yield most - taken + (_kilobytes(folder / "memory.stat", "inactive_file", 1) or 0)


def _group_folders(proc: Path, groups: Path, controller: str) -> Iterator[tuple[Path, int]]:
    """The folders of the control group of this process and of those above it, with their version."""
    try:
        lines = (proc / "self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        base, version = (groups / controller, 1) if controllers else (groups, 2)
        folder = base / path.lstrip("/")
        while True:
            yield folder, version
            if folder == base or base not in folder.parents:
                break
            folder = folder.parent


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # no such file, or "max"
        return None


def _kilobytes(path: Path, name: str, unit: int = 1024) -> int | None:
    try:
        for line in path.read_text().splitlines():
            if line.startswith(f"{name} ") or line.startswith(f"{name}\t"):
                return int(line.split()[1]) * unit
    except (OSError, ValueError, IndexError):
        pass
    return None


def peak_mb() -> float | None:
    """The largest memory that this process or one of its finished children ever had; None where it is not known."""
    try:
        import resource
        import sys
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(w).ru_maxrss for w in who) * unit / 2**20
