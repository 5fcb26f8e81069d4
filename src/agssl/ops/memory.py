"""Freed buffers stay with the process: handing them back to the kernel costs a third of a step on large graphs."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # glibc's names of the two settings


@cache
def keep_freed_memory() -> bool:
    """Tell glibc, once per process, to keep all memory on its heap and never to trim it; gives whether that worked."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        libc = ctypes.CDLL("libc.so.6")
        # No mmap at all, since glibc would not raise its threshold beyond 32 MiB, and wide layers are larger.
        return bool(libc.mallopt(M_MMAP_MAX, 0) and libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1))
    except (OSError, AttributeError):
        return False
