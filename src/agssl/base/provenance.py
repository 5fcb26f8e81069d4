"""What made a number: the kind of machine, and the commit of this source."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def machine(threads: int) -> dict[str, Any]:
    """What kind of machine this is; nothing that tells which one."""
    import torch

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


@functools.cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def commit() -> str | None:
    """The commit of this source, with a + if it was changed since; None where it is not under version control."""
    here = Path(__file__).resolve().parents[1]

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", here, *words], capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if git("ls-files", "--error-unmatch", "__init__.py") is None:  # a package installed inside someone else's checkout
        return None
    head, changed = git("rev-parse", "--short=10", "HEAD"), git("status", "--porcelain", "--", ".")
    return head and head + ("+" if changed else "")
