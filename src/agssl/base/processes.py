"""Work side by side in processes: one place that starts them, feeds them and sees that they end."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing.connection import wait as wait_for_end
from typing import Any, Protocol, TypeVar

from agssl.base.plugins import Plugin, loaded_plugins, take_plugins

T = TypeVar("T")
R = TypeVar("R")


class Machines(Protocol):
    """Others to do the work on; `agssl.scale.cluster.Cluster` is one."""

    def tasks(
        self, call: Callable[[T], R], fresh: bool = False
    ) -> contextlib.AbstractContextManager[Callable[[T], Future[R]]]:
        """A function that begins an item; none of them is running when the block ends, however it ends."""
        ...


def work(
    call: Callable[[T], R],
    feed: Callable[[], T | None],
    done: Callable[[T, R], None],
    jobs: int,
    fresh: bool = False,
    cluster: Machines | None = None,
) -> None:
    """Call a function on every item, at most `jobs` at a time; with one job, in this process.

    Args:
        call: a function that a new process can import; what it is bound to goes to each process once.
        feed: the next item to begin, or None while there is none; it is asked again after each `done`.
        done: called here, with the item and what came of it, as soon as it is ready.
        jobs: how many processes.
        fresh: a new process for every item, so that nothing of an earlier one is left in its memory.
        cluster: on its machines instead of in processes of this one.
    """
    if jobs == 1 and not fresh and cluster is None:
        while (item := feed()) is not None:
            done(item, call(item))
        return
    with _processes(call, jobs, fresh) if cluster is None else cluster.tasks(call, fresh) as submit:
        flying: dict[Future[R], T] = {}
        while True:
            while len(flying) < jobs and (item := feed()) is not None:
                flying[submit(item)] = item
            if not flying:
                return
            ready, _ = wait(flying, return_when=FIRST_COMPLETED)
            for future in ready:
                done(flying.pop(future), future.result())


@contextlib.contextmanager
def _processes(call: Callable[[T], R], count: int, fresh: bool) -> Iterator[Callable[[T], Future[R]]]:
    """A function that begins an item in one of the processes; they are gone when the block ends, however it ends."""
    # spawn, because forking a process that has run torch threads can hang
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        count, context, _begin, (call, loaded_plugins()), max_tasks_per_child=1 if fresh else None
    )

    def submit(item: T) -> Future[R]:
        # workers inherit this: Ctrl-C reaches the whole terminal, but is ours to deal with
        with _interrupts_later():
            return pool.submit(_run, item)

    try:
        yield submit
        pool.shutdown()
    except BaseException:
        workers = set(multiprocessing.active_children()) - before
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(10)
        raise


_call: Callable[[Any], Any]  # of a worker process


def _begin(call: Callable[[Any], Any], plugins: tuple[Plugin, ...]) -> None:
    """Set up a worker process."""
    global _call
    _call = call
    _end_with_parent()
    take_plugins(plugins)


def _run(item: Any) -> Any:
    return _call(item)


def _end_with_parent() -> None:
    """End this process when its parent does, even if that was killed and could say nothing."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait_for_end([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextlib.contextmanager
def _interrupts_later() -> Iterator[None]:
    """Hold SIGINT back until the block ends; processes started in it never get one."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
