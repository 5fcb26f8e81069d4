"""Commands that end with whoever started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agssl.base import guarded

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills by signals")
SLEEPER = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{process}/stat").read_text().split(")")[1][:3] if Path("/proc").exists() else True


def number(path: Path) -> int:
    for _ in range(400):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.05)
    raise AssertionError("it did not start")


def ends(process: int) -> bool:
    for _ in range(400):
        if not alive(process):
            return True
        time.sleep(0.05)
    return False


def test_the_exit_code_and_the_output_are_those_of_the_command(tmp_path: Path) -> None:
    process = guarded.start([sys.executable, "-c", "print('hello'); raise SystemExit(3)"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read() == b"hello\n" and process.wait() == 3
    process.stdout.close()
    guarded.stop(process)


def test_stop_ends_the_command(tmp_path: Path) -> None:
    process = guarded.start([sys.executable, "-c", SLEEPER, str(tmp_path / "pid")])
    child = number(tmp_path / "pid")
    guarded.stop(process)
    assert ends(child)


def test_a_killed_owner_takes_the_command_with_it(tmp_path: Path) -> None:
    lines = (
        "import sys, time; from agssl.base import guarded; "
        f"guarded.start([sys.executable, '-c', {SLEEPER!r}, sys.argv[1]]); time.sleep(60)"
    )
    variables = os.environ | {"PYTHONPATH": str(Path(guarded.__file__).parents[2])}
    owner = subprocess.Popen([sys.executable, "-c", lines, str(tmp_path / "pid")], env=variables)
    child = number(tmp_path / "pid")
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    assert ends(child)
