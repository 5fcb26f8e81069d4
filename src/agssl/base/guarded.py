"""A command that does not outlive whoever started it, not even if that one is killed.

    python -m agssl.base.guarded COMMAND [WORD ...]

runs the command with low priority, and ends it when standard input ends: the pipe to it closes with its owner.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

PATIENCE = 5.0  # seconds that a command has to end by itself, once it is asked to
NICE = 10


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a guarded command; `stop` ends it, and so does the end of this process.

    Args:
        command: the program and its arguments.
        options: for `subprocess.Popen`, but not stdin.
    """
    words = [sys.executable, "-m", "agssl.base.guarded", *command]
    # a session of its own: Ctrl-C in the terminal is for us alone
    return subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True, **options)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a guarded command and wait until it is over."""
    if process.stdin is not None:
        process.stdin.close()
    process.wait()


def main(command: Sequence[str], owner: int) -> int:
    """Run the command until it ends, or until the pipe from its owner does; gives its exit code."""
    if hasattr(os, "nice"):
        os.nice(max(0, NICE - os.nice(0)))  # os.nice(0) is what it is now
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def watch() -> None:
        while os.read(owner, 1):
            pass
        child.terminate()
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()

    threading.Thread(target=watch, daemon=True).start()
    return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.fileno()))
