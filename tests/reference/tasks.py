"""What workers are given to do: they import it from here."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from agssl.base.errors import GraphError


def share(numbers: np.ndarray, item: int) -> tuple[int, float, int, str]:
    """Use what all items share, and tell where."""
    if item < 0:
        raise GraphError(f"item {item} is\nnegative")
    return item, float(numbers[item]), os.getpid(), os.getcwd()


def lose(folder: str, item: int) -> int:
    """Be killed the first time, as if the machine were lost."""
    mark = Path(folder) / f"begun-{item}"
    if item == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item * 10


def sleep_long(folder: str, item: int) -> None:
    """Be interrupted."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(120)
