"""Work in processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from agssl.base.processes import work


def test_one_job_runs_here_and_is_fed_until_nothing_is_left() -> None:
    queue, seen = [1, 2], []

    def done(item: int, result: int) -> None:
        seen.append((item, result))
        if item == 2:
            queue.append(7)  # what comes of one may make another

    work(lambda item: item * os.getpid(), lambda: queue.pop(0) if queue else None, done, 1)
    assert seen == [(item, item * os.getpid()) for item in (1, 2, 7)]


@pytest.mark.slow
def test_fresh_gives_every_item_its_own_process() -> None:
    items, seen = iter(range(3)), []
    work(_process, lambda: next(items, None), lambda item, result: seen.append(result), 1, fresh=True)
    assert len(set(seen)) == 3 and os.getpid() not in seen


def _process(item: int) -> int:
    return os.getpid()


_ORPHANS = """
import sys, time
sys.path.insert(0, {here!r})
from test_pool import _sleep
from agssl.base.processes import work
if __name__ == "__main__":
    items = iter(range(2))
    work(_sleep, lambda: next(items, None), lambda i, r: None, 2)
"""


def _sleep(item: int) -> None:
    print(os.getpid(), flush=True)
    time.sleep(60)


@pytest.mark.slow
def test_workers_of_a_killed_process_end(tmp_path: object) -> None:
    script = f"{tmp_path}/main.py"
    with open(script, "w") as file:
        file.write(_ORPHANS.format(here=os.path.dirname(__file__)))
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    workers = [int(process.stdout.readline()) for _ in range(2)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 20
    while any(_alive(worker) for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(_alive(worker) for worker in workers)


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
