"""Freed buffers stay with the process: handing them back to the kernel costs a third of a step on large graphs."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # glibc's names of the two settings


@cache
def keep_freed_memory() -> bool:
    """Raise glibc's mmap and trim thresholds, once a process; returns whether it took effect."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        libc = ctypes.CDLL("libc.so.6")
        # 32 MiB is the most that glibc accepts as mmap threshold.
        return bool(libc.mallopt(M_MMAP_THRESHOLD, 32 << 20) and libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1))
    except (OSError, AttributeError):
        return False
