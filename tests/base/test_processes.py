"""Work in processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from agssl.base import processes
from agssl.base.errors import DataError
from agssl.base.processes import work, work_along


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
from test_processes import _sleep
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


def _double(item: int) -> tuple[int, int]:
    return 2 * item, os.getpid()


def test_little_work_is_done_before_another_process_is_up() -> None:
    items, seen = iter(range(1, 4)), []
    start = time.monotonic()
    work_along(_double, _double, lambda other: next(items, None), lambda item, result: seen.append(result), 3)
    assert seen == [(2 * item, os.getpid()) for item in (1, 2, 3)]
    assert time.monotonic() - start < 0.5


def test_others_join_and_do_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ALONE", 0.0)
    items, found = iter(range(1, 200)), {}

    def here(item: int) -> tuple[int, int]:
        time.sleep(0.2)
        return _double(item)

    def feed(other: bool) -> int | None:
        joined = len({process for _, process in found.values()}) == 2
        return next(items, None) if not joined else None

    work_along(_double, here, feed, found.__setitem__, 2)
    assert os.getpid() in {process for _, process in found.values()} and len(found) > 1
    assert all(double == 2 * item for item, (double, _) in found.items())


def _fail(item: int) -> None:
    raise DataError(f"item {item}")


def test_what_another_raises_is_raised_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ALONE", 0.0)
    items = iter(range(1, 200))
    with pytest.raises(DataError, match="item"):
        work_along(_fail, lambda item: time.sleep(0.2), lambda other: next(items, None), lambda item, _: None, 2)


_NO_GUARD = """
import time
from agssl.base import processes
from operator import neg
processes.ALONE, found = 0.0, []
items = iter([1, 2])
print("script")
def here(item):
    time.sleep(0 if len(found) else 8)
    return -item
processes.work_along(neg, here, lambda other: next(items, None), lambda item, result: found.append(result), 2)
print(sorted(found))
"""


@pytest.mark.slow
def test_a_script_without_a_guard_is_not_run_again(tmp_path: object) -> None:
    script = f"{tmp_path}/main.py"
    with open(script, "w") as file:
        file.write(_NO_GUARD)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.stdout == "script\n[-2, -1]\n" and not done.stderr
