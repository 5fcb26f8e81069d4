"""Work side by side in processes: one place that starts them, feeds them and sees that they end."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing.connection import wait as wait_for_end
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from agssl.base.plugins import Plugin, loaded_plugins, take_plugins

T = TypeVar("T")
R = TypeVar("R")

ALONE = 0.5  # seconds of work that are not worth another process
FORKS = sys.platform.startswith("linux")  # from a process of its own that has only imported modules


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


def work_along(
    call: Callable[[T], R],
    here: Callable[[T], R],
    feed: Callable[[bool], T | None],
    done: Callable[[T, R], None],
    jobs: int,
) -> None:
    """As `work`, with this process for one of the `jobs`: it begins at once, and the others join when they are up.

    So little work costs no waiting for processes: what this one has done before they are up, they are not asked for.
    The calls of `feed` and `done` may come from threads, but only one at a time.

    Args:
        call: as for `work`.
        here: does an item in this process.
        feed: as for `work`; it is told whether another process asks.
        done: as for `work`.
        jobs: how many, this one among them.
    """
    queue = _Queue(feed, done)
    if jobs == 1:
        queue.serve(here)
        return
    with _processes(call, jobs - 1, patient=False) as submit:

        def other() -> None:
            with queue.errors_kept():
                if not queue.over.wait(ALONE):
                    submit(None).result()  # with nothing to do, which tells that it is up
                    queue.serve(lambda item: submit(item).result(), other=True)

        for _ in range(jobs - 1):
            threading.Thread(target=other, daemon=True).start()
        queue.serve(here)
        queue.over.set()
        queue.check()


class _Queue(Generic[T, R]):
    """Items that several threads take from one feed."""

    def __init__(self, feed: Callable[[bool], T | None], done: Callable[[T, R], None]) -> None:
        self.feed, self.done = feed, done
        self.flying = 0
        self.changed = threading.Condition()
        self.over = threading.Event()
        self.error: BaseException | None = None

    def serve(self, call: Callable[[T], R], other: bool = False) -> None:
        """Do items until there are none left and none is in work that might bring new ones, or one has failed."""
        while (item := self._take(other)) is not None:
            result = call(item)
            with self.changed:
                self.flying -= 1
                self.done(item, result)
                self.changed.notify_all()

    def _take(self, other: bool) -> T | None:
        with self.changed:
            while self.error is None:
                item = self.feed(other)
                if item is not None:
                    self.flying += 1
                    return item
                if not self.flying:
                    return None
                self.changed.wait()
            return None

    @contextlib.contextmanager
    def errors_kept(self) -> Iterator[None]:
        """Keep what is raised in the block for `check`, and let nobody take another item."""
        try:
            yield
        except BaseException as error:
            with self.changed:
                self.error = self.error or error
                self.changed.notify_all()

    def check(self) -> None:
        """Raise what was raised in a thread."""
        if self.error is not None:
            raise self.error


@contextlib.contextmanager
def _processes(
    call: Callable[[T], R], count: int, fresh: bool = False, patient: bool = True
) -> Iterator[Callable[[T | None], Future[R]]]:
    """A function that begins an item (None: nothing) in one of the processes; they are gone when the block ends.

    Unless `patient`, a block that ends well has nothing more for them to do, and does not wait until they are up.
    """
    # never by forking this process, which can hang where torch has run threads
    context = multiprocessing.get_context("forkserver" if FORKS else "spawn")
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        count, context, _begin, (call, loaded_plugins(), dict(os.environ)), max_tasks_per_child=1 if fresh else None
    )

    def submit(item: T | None) -> Future[R]:
        # workers inherit this: Ctrl-C reaches the whole terminal, but is ours to deal with
        with _interrupts_later(), _main_hidden():
            return pool.submit(_run, item)

    try:
        yield submit
        if patient:
            pool.shutdown()
    finally:
        workers = set(multiprocessing.active_children()) - before
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(10)


def warm_up(module: str) -> None:
    """Let workers that are wanted later be up at once: what they need is imported meanwhile, in another process.

    Returns at once, and does nothing where workers can't be forked from such a process.

    Args:
        module: what to import.
    """
    if FORKS and multiprocessing.parent_process() is None:
        from multiprocessing import forkserver  # which Windows lacks

        multiprocessing.set_forkserver_preload([module])
        with _interrupts_later(), _main_hidden():
            forkserver.ensure_running()


_call: Callable[[Any], Any]  # of a worker process


def _begin(call: Callable[[Any], Any], plugins: tuple[Plugin, ...], environment: dict[str, str]) -> None:
    """Set up a worker process."""
    global _call
    os.environ.update(environment)  # as it is now: where workers are forked from, it is that of an earlier time
    _call = call
    _end_with_parent()
    take_plugins(plugins)


def _run(item: Any) -> Any:
    return None if item is None else _call(item)


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


_main = threading.Lock()


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Let processes that start in the block not run the user's script again: what they do is imported by name."""
    with _main:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = script
